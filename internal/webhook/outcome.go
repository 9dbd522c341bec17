package webhook

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An Outcome is the result of an attempt, as logs, metrics and the API name it.
type Outcome string

// Every outcome except OK is a failure. Secret does not count as an attempt.
const (
	OK         Outcome = "delivered"
	HTTPStatus Outcome = "http_status" // any response except 2xx
	Timeout    Outcome = "timeout"
	Resolve    Outcome = "dns"
	Connect    Outcome = "connection"
	TLS        Outcome = "tls"
	Blocked    Outcome = "blocked" // the guard refused the address
	Secret     Outcome = "secret"  // this node has no key for the endpoint's secret
)

var frenchOutcomes = map[Outcome]string{
	Timeout: "pas de réponse à temps",
	Resolve: "nom de domaine introuvable",
	Connect: "connexion impossible",
	TLS:     "certificat ou TLS en défaut",
	Blocked: "adresse interdite, car interne à un réseau",
	Secret:  "secret illisible de notre côté\u00a0: remplacez-le",
}

var frenchOrigins = map[string]string{OfPing: "essai", OfResend: "renvoi", OfRecovery: "récupération"}

// Reason says in French why there is a delivery; "" for a publication.
func (d *Delivery) Reason() string { return frenchOrigins[d.Origin] }

// French describes the outcome of an attempt.
func (a *Attempt) French() string { return a.Outcome.French(a.Status) }

// Took says in French how long an attempt took.
func (a *Attempt) Took() string {
	if a.Duration < time.Second {
		return strconv.FormatInt(a.Duration.Milliseconds(), 10) + "\u00a0ms"
	}
	return strings.Replace(fmt.Sprintf("%.1f\u00a0s", a.Duration.Seconds()), ".", ",", 1)
}

// A Status is the HTTP status of a response, 0 without one.
type Status int

// French describes an outcome, with the status of the response if there was one.
func (o Outcome) French(status Status) string {
	if words := frenchOutcomes[o]; words != "" {
		return words
	}
	return "réponse " + strconv.Itoa(int(status))
}
