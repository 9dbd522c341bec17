// Package mail writes to the owners of accounts.
//
// A mail is queued in the database as an address, a kind and what it is about,
// never as a text: a link is made at the moment the mail is handed over, so that no
// secret waits in a table. One that cannot be handed over is tried again.
//
// A Queue, on any node, claims what is due under a lease, renders it and gives it to
// a sender: SMTP, or the log where no mail server is configured. A mail server that
// is down keeps mails in the queue and nobody waiting. A mail is sent twice only when
// its process or its connection died between the server's taking it and our knowing.
//
// The words are here (templates), the rules too (schedule, what an answer means);
// package store keeps the rows and imports this package for its types.
package mail

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Kind says what a mail is about.
type Kind string

// The kinds, and what Request.About holds for each.
const (
	SignIn           Kind = "sign_in"           // ""; the link is made when it is sent
	ConfirmDeletion  Kind = "confirm_deletion"  // ""; the link is made when it is sent
	EndpointDisabled Kind = "endpoint_disabled" // the endpoint's id
	PaymentFailed    Kind = "payment_failed"    // the day on which Pro ends, 2026-12-06
	PlanEnded        Kind = "plan_ended"        // the day on which keys above the plan's number are suspended
)

// kinds are all of them, in the order above.
var kinds = []Kind{SignIn, ConfirmDeletion, EndpointDisabled, PaymentFailed, PlanEnded}

// Known tells whether there is such a kind.
func (k Kind) Known() bool { return slices.Contains(kinds, k) }

// A Request is a mail to be written.
type Request struct {
	To    string
	Kind  Kind
	About string
}

// A Claim is a mail that is due and belongs to its claimer until its lease ends.
type Claim struct {
	ID    string
	Lease string // names the claim; the store's own
	Request
	CreatedAt time.Time // when it was last asked for
	Attempts  int       // that failed before this one
}

// A Verdict is what became of a claimed mail.
type Verdict struct {
	RetryAt time.Time // zero: it was sent or given up, and is forgotten
	Failure string    // the class of what failed; "" when it was sent
}

// A Message is a mail as its reader sees it.
type Message struct {
	To      string
	Subject string
	Text    string
	HTML    string
	Link    string // the secret one that Text and HTML hold; "" for none
	Hook    string // the webhook's URL that they hold, whose path may be a secret of its owner's; "" for none
	Date    time.Time
}

// ErrObsolete is what Config.Link, Config.Endpoint and Config.Check answer when there
// is nothing left to write about: the account or the endpoint has gone meanwhile, or
// what was wrong is in order.
var ErrObsolete = errors.New("what the mail is about has gone")

// A Failure is why a mail could not be handed over.
type Failure struct {
	Class     string // one of the words below
	Permanent bool   // another attempt would end the same
	Detail    string // for the operator: no secret, and no word of the server about a person
}

func (f *Failure) Error() string {
	if f.Detail == "" {
		return f.Class
	}
	return f.Class + ": " + f.Detail
}

// The classes of failures.
const (
	failedConnect  = "connect"  // no connection, or it broke
	failedTimeout  = "timeout"  // the server took too long
	failedTLS      = "tls"      // no encryption, or a certificate that we do not trust
	failedAuth     = "auth"     // the server does not take our user or password
	failedServer   = "server"   // it does not want our mails at the moment, or from us
	failedRefused  = "refused"  // it does not want this mail or does not know its reader
	failedMessage  = "message"  // the mail cannot be written down
	failedInternal = "internal" // its link or its subject matter could not be had
)

// Mask makes an address fit for a log: enough to find the mail a person asks about,
// too little to write to her.
func Mask(address string) string {
	local, domain, ok := strings.Cut(address, "@")
	if !ok {
		return "…"
	}
	_, size := utf8.DecodeRuneInString(local)
	return local[:size] + "…@" + domain
}
