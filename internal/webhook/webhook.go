// Package webhook tells customers of every change of the catalogue, at least once.
//
// An event's bytes are made by the publication that caused it and stored with one
// delivery for each endpoint that wants it, in one transaction. From there a
// Dispatcher, on any node, claims what is due under a lease, signs those bytes as
// Standard Webhooks has it, and posts them past a guard that lets no request go to
// an address inside the house. A process that dies leaves a lease that ends, hence
// nothing needs a rescuer.
//
// The rules are here (schedule, signature, guard, what an answer means); package
// store keeps the rows and imports this package for its words.
package webhook

import (
	"time"

	"palmares/internal/catalog"
)

// Ping is the type of the event that an endpoint's owner sends to herself.
const Ping = "webhook.ping"

// Types are the events that an endpoint may ask for, in the order of the documents.
// A ping is sent whatever was asked for.
var Types = catalog.ChangeTypes

// A State says whether an endpoint is sent anything.
type State string

// Only Active and Paused are chosen by the owner. An endpoint that is not active
// is given no new deliveries; those it has wait.
const (
	Active    State = "active"
	Paused    State = "paused"    // by its owner
	Suspended State = "suspended" // its account is not Pro at the moment: derived, never stored
	Disabled  State = "disabled"  // by us: see Reason; its owner makes it active again
)

// Why an endpoint was disabled.
const (
	Gone    = "gone"    // it answered 410
	Failing = "failing" // no success in DisableAfter
)

// An Endpoint is an address that a customer wants to be told at. The store makes
// it; its owner changes URL, Events and State, attempts change the rest.
type Endpoint struct {
	ID        string
	AccountID string
	URL       string
	Events    []string // sorted; nil for all
	State     State
	Reason    string // why it is Disabled, otherwise ""
	CreatedAt time.Time

	// OldSecretUntil is when the previous secret stops signing too. It is forgotten
	// some time after that; see Overlaps.
	OldSecretUntil time.Time

	Failures      int       // attempts failed in a row
	FailingSince  time.Time // the first of them; zero after a success
	NotBefore     time.Time // until then nothing is sent, as it just failed; zero: at any time
	LastSuccessAt time.Time // zero: never
	DisabledAt    time.Time
}

// Overlaps tells whether the previous secret signs too.
func (w *Endpoint) Overlaps(now time.Time) bool { return now.Before(w.OldSecretUntil) }

// A Change is what an owner changes of an endpoint; nil leaves as it is.
type Change struct {
	URL    *string
	Events *[]string // to nil: all
	State  *State    // Active or Paused
}

// MaxEndpoints is how many endpoints an account may have.
const MaxEndpoints = 10

// A DeliveryState says what became of a delivery.
type DeliveryState string

// A pending delivery is due at NextAt, if its endpoint is active by then.
const (
	Pending   DeliveryState = "pending"
	Delivered DeliveryState = "delivered"
	Failed    DeliveryState = "failed" // after the last attempt of the schedule
)

// Why there is a delivery.
const (
	OfEvent    = "event"    // a publication
	OfPing     = "ping"     // its owner asked for a test
	OfResend   = "resend"   // its owner asked for one again
	OfRecovery = "recovery" // its owner asked for all that was missed
)

// A Delivery is one event on its way to one endpoint.
type Delivery struct {
	ID         string
	EndpointID string
	EventID    string // the webhook-id, the same when an event is sent again
	Type       string
	Sequence   int64 // 0 for a ping
	Origin     string
	State      DeliveryState
	CreatedAt  time.Time
	NextAt     time.Time // zero unless Pending
	Attempts   []Attempt // oldest first; only the last one in a list of deliveries
	Count      int       // of the attempts that have an outcome
}

// An Attempt is one request and what came of it.
type Attempt struct {
	Number   int // from 1
	At       time.Time
	Duration time.Duration
	Status   int     // of the answer; 0 when there was none
	Outcome  Outcome // what that means
	Response string  // the first 1,024 bytes of the answer's body, as text
}

// An Outcome is what an attempt came to, as logs, metrics and the API name it.
type Outcome string

// Every outcome but OK is a failure, and every one but Secret an attempt.
const (
	OK         Outcome = "delivered"
	HTTPStatus Outcome = "http_status" // any answer but 2xx
	Timeout    Outcome = "timeout"
	Resolve    Outcome = "dns"
	Connect    Outcome = "connection"
	TLS        Outcome = "tls"
	Blocked    Outcome = "blocked" // the guard refused the address
	Secret     Outcome = "secret"  // the secret cannot be opened with the keys this node has
)

// A Claim is a delivery that this node has leased, with what it needs to be sent.
type Claim struct {
	DeliveryID string
	EndpointID string
	EventID    string
	Type       string
	Body       []byte // the bytes to sign and send
	URL        string
	Secret     string    // sealed
	OldSecret  string    // sealed; "" when there is none or its time is over
	Attempt    int       // the number of this attempt, from 1
	LeaseEnd   time.Time // tells this claim from a later one of the same delivery
}

// A Verdict is what an attempt's result makes of its delivery and endpoint; Judge
// gives it, the store writes it.
type Verdict struct {
	Attempt Attempt
	State   DeliveryState
	NextAt  time.Time // when Pending
	Gone    bool      // the endpoint is to be disabled at once
	Untried bool      // nothing was sent: no attempt, and nothing is said of the endpoint

	// HoldUntil is until when the receiver asked to be left alone, with whatever
	// delivery; zero when it did not.
	HoldUntil time.Time
}

// A Recovery is a stored request to send again all that an endpoint missed.
type Recovery struct {
	ID         string // rcv_
	EndpointID string
	Since      time.Time
	CreatedAt  time.Time
	DoneAt     time.Time // zero while it runs
	Count      int       // deliveries it has made so far
}

// The times of the contract.
const (
	AnswerWithin = 15 * time.Second // a request, from the name to the last byte of the answer
	Lease        = 2 * AnswerWithin
	MaxInFlight  = 4                   // requests at once to one endpoint, over all nodes
	BreakAfter   = 10                  // failures in a row until only the oldest due delivery is tried
	ProbeEvery   = 5 * time.Minute     // from then on, at least this often
	DisableAfter = 5 * 24 * time.Hour  // without a success
	Overlap      = 24 * time.Hour      // of two secrets
	Keep         = 30 * 24 * time.Hour // events and deliveries
	PingsAMinute = 5
)
