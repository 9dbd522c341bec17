package webhook

import "strconv"

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

// A Status is the HTTP status of a response, 0 without one.
type Status int

// French describes an outcome, with the status of the response if there was one.
func (o Outcome) French(status Status) string {
	if words := frenchOutcomes[o]; words != "" {
		return words
	}
	return "réponse " + strconv.Itoa(int(status))
}
