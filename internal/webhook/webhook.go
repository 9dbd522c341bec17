// Package webhook notifies customers of what is published, at least once.
//
// A publication creates the bytes of its events and stores them, with one delivery for
// each endpoint that subscribes to them, in its own transaction. A Dispatcher, on any
// node, claims due deliveries under a lease, signs the bytes according to Standard
// Webhooks and posts them. A guard refuses addresses in private networks. If a process
// dies, its leases end and other processes take over.
//
// This package has the rules (schedule, signature, guard, breaker, meaning of responses);
// package accountdb keeps the rows and imports this package for its types.
package webhook

import (
	"slices"
	"time"

	"palmares/internal/catalog"
)

// Ping is the type of the test event that an owner sends to an endpoint.
const Ping = "webhook.ping"

// Types are the events that an endpoint may subscribe to, in the order of the
// documentation. Pings are always sent.
var Types = catalog.ChangeTypes

// A State is whether an endpoint receives deliveries.
type State string

// The owner can only choose Active and Paused. An endpoint that is not active gets no
// new deliveries; those it has are held.
const (
	Active    State = "active"
	Paused    State = "paused"    // by its owner
	Suspended State = "suspended" // its account is not Pro; derived, never stored
	Disabled  State = "disabled"  // by us, see Reason; its owner can make it active again
)

// A Reason is why an endpoint was disabled.
type Reason string

// The reasons.
const (
	Gone    Reason = "gone"    // it sent 410
	Failing Reason = "failing" // no success in DisableAfter
)

// An Endpoint is a customer's URL that receives events. The store creates it; its
// owner changes URL, Events and State, attempts change the rest.
type Endpoint struct {
	ID            string    `json:"id"`
	AccountID     string    `json:"-"`
	URL           string    `json:"url"`
	Events        []string  `json:"events,format:emitnull"` // sorted; nil for all
	State         State     `json:"state"`
	Reason        Reason    `json:"disabled_reason"` // why it is Disabled, otherwise ""
	DisabledAt    time.Time `json:"disabled_at"`
	Failures      int       `json:"failures"`        // attempts failed in a row
	FailingSince  time.Time `json:"failing_since"`   // the first of them; zero after a success
	NotBefore     time.Time `json:"-"`               // nothing is sent before, by Retry-After
	ProbeAt       time.Time `json:"-"`               // while the breaker is open, nothing is tried again before
	LastSuccessAt time.Time `json:"last_success_at"` // zero for never
	LastFailure   Failure   `json:",inline"`         // zero for never

	// OldSecretUntil is until when the previous secret signs too, see Overlaps. It is
	// deleted some time after that.
	OldSecretUntil time.Time `json:"old_secret_until"`

	CreatedAt time.Time `json:"created_at"`
	ResumedAt time.Time `json:"-"` // when its owner last made it active again; zero for never

	// MailedFor is what FailingSince was when the owner was last mailed about failures.
	MailedFor time.Time `json:"-"`
}

// A Failure is an attempt that failed.
type Failure struct {
	At      time.Time `json:"last_failure_at"` // when it ended
	Outcome Outcome   `json:"last_failure_outcome"`
	Status  Status    `json:"last_failure_status"`
}

// Failing reports whether an endpoint that should receive deliveries did not accept the
// last one.
func (w Endpoint) Failing() bool { return w.State == Active && w.Failures > 0 }

// LastError says in French why the last attempt failed; "" if it did not.
func (w Endpoint) LastError() string {
	if w.Failures == 0 {
		return ""
	}
	return w.LastFailure.Outcome.French(w.LastFailure.Status)
}

// Broken reports whether the breaker is open.
func (w Endpoint) Broken() bool { return w.State == Active && !w.ProbeAt.IsZero() }

// Overlaps reports whether the previous secret signs too.
func (w Endpoint) Overlaps(now time.Time) bool { return now.Before(w.OldSecretUntil) }

// A Change is an owner's change of an endpoint; nil leaves a field unchanged.
type Change struct {
	URL    *string
	Events *[]string // pointing to nil for all
	State  *State    // Active or Paused
}

// MaxEndpoints is how many endpoints an account may have.
const MaxEndpoints = 10

// A DeliveryState is the progress of a delivery.
type DeliveryState string

// A pending delivery is due at NextAt, if its endpoint is active by then.
const (
	Pending   DeliveryState = "pending"
	Delivered DeliveryState = "delivered"
	Failed    DeliveryState = "failed" // after the last attempt of the schedule
)

// DeliveryStates are all states, and DeliveryTypes the types of what is delivered.
var (
	DeliveryStates = []DeliveryState{Pending, Delivered, Failed}
	DeliveryTypes  = append(slices.Clone(Types), Ping)
)

// Why there is a delivery.
const (
	OfEvent    = "event"    // a publication
	OfPing     = "ping"     // a test by the owner
	OfResend   = "resend"   // the owner resent one delivery
	OfRecovery = "recovery" // the owner recovers all that was missed
)

// A Delivery is one event on its way to one endpoint.
type Delivery struct {
	ID         string        `json:"id"`
	EndpointID string        `json:"endpoint_id"`
	EventID    string        `json:"event_id"` // the webhook-id, the same when an event is sent again
	Type       string        `json:"type"`
	Sequence   int64         `json:"sequence"` // 0 for a ping
	Origin     string        `json:"origin"`
	State      DeliveryState `json:"state"`
	CreatedAt  time.Time     `json:"created_at"`
	NextAt     time.Time     `json:"next_attempt_at"` // earliest next one, see NotBefore and ProbeAt; zero unless Pending
	LeaseEnd   time.Time     `json:"-"`               // until when a node may be sending it; zero if none is
	Count      int           `json:"attempt_count"`   // of the attempts that have an outcome
	Last       *Attempt      `json:"last_attempt"`    // nil before the first
	// Attempts are all of them, oldest first. Lists leave them out, and Body.
	Attempts []Attempt `json:"attempts,omitzero"`
	// Body is a string, not an object: to find out why a signature does not match, a
	// receiver needs the exact bytes that were signed.
	Body string `json:"body,omitzero"`
}

// Sending reports whether a request is being sent.
func (d *Delivery) Sending(now time.Time) bool { return d.State == Pending && d.LeaseEnd.After(now) }

// An Attempt is one request and its outcome.
type Attempt struct {
	Number   int           `json:"number"` // from 1
	At       time.Time     `json:"at"`
	Duration time.Duration `json:"duration_ms"`
	Status   Status        `json:"status"`
	Outcome  Outcome       `json:"outcome"`
	Response string        `json:"response"` // the first 1,024 bytes of its body, as text
}

// A Claim is a delivery that this node has leased, with everything needed to send it.
type Claim struct {
	DeliveryID string
	EndpointID string
	EventID    string
	Type       string
	Body       []byte // the bytes to sign and send
	URL        string
	Secret     string    // sealed
	OldSecret  string    // sealed; "" if there is none or it has expired
	Attempt    int       // number of this attempt, from 1
	LeaseEnd   time.Time // distinguishes this claim from a later one of the same delivery
}

// A Verdict is the effect of an attempt on its delivery and endpoint. Judge returns
// it, the store applies it.
type Verdict struct {
	Attempt Attempt
	State   DeliveryState
	NextAt  time.Time // if Pending
	Gone    bool      // disable the endpoint now
	Untried bool      // nothing was sent: there is no attempt, and the endpoint is not affected

	// HoldUntil is the end of the receiver's Retry-After, which applies to all of its
	// deliveries; zero without one.
	HoldUntil time.Time

	// ProbeAt is when one delivery is tried again if the breaker is open: later if this one
	// was tried again. Zero after a success.
	ProbeAt time.Time
}

// A Recovery is a stored request to send everything that an endpoint missed.
type Recovery struct {
	ID         string    `json:"id"` // rcv_
	EndpointID string    `json:"endpoint_id"`
	Since      time.Time `json:"since"`
	CreatedAt  time.Time `json:"created_at"`
	DoneAt     time.Time `json:"done_at"`    // zero while it runs
	Count      int       `json:"deliveries"` // created so far
}

// The times of the contract.
const (
	RequestTimeout = 15 * time.Second // from the DNS lookup to the last byte of the response
	Lease          = 2 * RequestTimeout
	MaxInFlight    = 4                   // requests at once to one endpoint, over all nodes, without pings
	BreakAfter     = 10                  // failures in a row until the breaker opens
	BreakSpread    = 30 * time.Second    // between the first and the last of them, at least
	AlwaysTried    = 2                   // attempts of each delivery that an open breaker does not delay
	ProbeEvery     = 5 * time.Minute     // while the breaker is open
	DisableAfter   = 5 * 24 * time.Hour  // without a success
	Overlap        = 24 * time.Hour      // of two secrets
	Keep           = 30 * 24 * time.Hour // events and deliveries
	KeyHolds       = 24 * time.Hour      // a request to create an endpoint, which may be sent again with its key
	PingsAMinute   = 5
	// ResendsAMinute is more than anybody clicks. Recover sends many.
	ResendsAMinute = 60
)
