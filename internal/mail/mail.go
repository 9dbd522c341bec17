// Package mail writes to the owners of accounts.
//
// A mail is queued in the database as an address, a kind and a subject matter, never
// as text: its link is created when it is sent, so that no secret waits in a table. Only
// the news that one to followers tells are fixed by then.
//
// A Queue, on any node, claims due mails under a lease, renders them and passes them to
// a Transport: SMTP, or the log where no mail server is configured. While the mail
// server is down, mails stay in the queue and are retried; no request waits for them. A
// mail is sent twice only if the process or the connection dies after the server has
// accepted it and before we know; one to followers is then never sent again.
//
// This package has the texts (templates) and the rules (schedule, meaning of replies);
// package accountdb keeps the rows and imports this package for its types.
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
	SignIn           Kind = "sign_in"           // where the link leads, "" for the account; the link is created when it is sent
	ConfirmDeletion  Kind = "confirm_deletion"  // ""; the link is created when it is sent
	EndpointDisabled Kind = "endpoint_disabled" // the endpoint's id
	EndpointFailing  Kind = "endpoint_failing"  // the endpoint's id
	PaymentFailed    Kind = "payment_failed"    // the day on which Pro ends, 2026-12-06
	PlanEnded        Kind = "plan_ended"        // the day on which keys above the plan's number are suspended
	ScheduleStuck    Kind = "schedule_stuck"    // the record and its hour: pages/tarifs 2026-12-06T08:00:00Z
	ReviewAsked      Kind = "review_asked"      // the working copy's id
	ReviewReturned   Kind = "review_returned"   // the working copy's id
	ReviewApproved   Kind = "review_approved"   // the working copy's id
	ConfirmFollow    Kind = "confirm_follow"    // what to follow and how soon to be told; the link is created when it is sent
	News             Kind = "news"              // how soon, and the last position; To is the id of a follow
	Reports          Kind = "reports"           // the days since and until when readers have written, with a space between
)

// kinds lists all kinds, in the order above.
var kinds = []Kind{
	SignIn, ConfirmDeletion, EndpointDisabled, EndpointFailing, PaymentFailed, PlanEnded, ScheduleStuck,
	ReviewAsked, ReviewReturned, ReviewApproved, Reports, ConfirmFollow, News,
}

// Known reports whether the kind exists.
func (k Kind) Known() bool { return slices.Contains(kinds, k) }

// A Request is a mail to be sent.
type Request struct {
	To    string
	Kind  Kind
	About string

	Content string // what News tells, written by package newsletter; "" for other kinds
}

// A Claim is a mail that is due and belongs to its claimer until its lease ends.
type Claim struct {
	ID    string
	Lease string // identifies the claim to the store
	Request
	CreatedAt time.Time // when it was last requested
	Attempts  int       // failed ones, before this one
	Begun     bool      // an earlier claimer began to hand it over and died
}

// A Copy is what a mail says of a working copy.
type Copy struct {
	Record  string // outils/plume
	Author  string // the name of who writes it
	Note    string // to the reviewer, or back to the author; "" for none
	Waiting bool   // for a review
	Ready   bool   // it was approved
}

// A Report is what a reader says is wrong.
type Report struct {
	Page    string // URL of the page
	Text    string
	Address string // of the reader; "" for none
}

// A Bulletin is what a mail tells somebody who follows something.
type Bulletin struct {
	To       string // the address
	Topics   string // the names of what is followed
	IsWeekly bool   // it is told once a week
	Entries  []Entry
	More     int    // entries that are left out
	End      string // URL that ends it
}

// Others returns how many entries there are besides the first.
func (b Bulletin) Others() int { return len(b.Entries) - 1 + b.More }

// An Entry is one thing that happened.
type Entry struct {
	Title   string
	Summary string // "" if the title says it
	Page    string // URL
}

// A Verdict is the outcome of a claimed mail.
type Verdict struct {
	RetryAt time.Time // zero if it was sent or given up: it is deleted
	Failure string    // the class of the failure, "" if it was sent
	Bounced bool      // the address does not exist
}

// A Message is a mail as its recipient sees it.
type Message struct {
	ID      string // the same for each attempt, "" for a new one
	From    string // the name of the sender, unless it has one
	To      string
	Subject string
	Text    string
	HTML    string
	Link    string // the secret link in Text and HTML, "" for none
	Hook    string // the webhook URL in Text and HTML, whose path may be secret, "" for none
	End     string // URL that ends what the mail belongs to (RFC 8058), "" for none
	Date    time.Time
}

// ErrObsolete is returned by Content and Outbox.Check when there is no reason to send
// a mail any more: the account or the endpoint was deleted, or the problem is solved.
var ErrObsolete = errors.New("the reason for the mail is gone")

// A Failure is why a mail could not be sent.
type Failure struct {
	Class     string // one of the constants below
	Permanent bool   // a retry would fail in the same way
	Bounce    bool   // the address does not exist
	Unclear   bool   // the server got all of it and did not answer
	Detail    string // for the operator: without secrets and without the server's words about a person
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
	failedTLS      = "tls"      // no encryption, or an untrusted certificate
	failedAuth     = "auth"     // the server rejects our user or password
	failedServer   = "server"   // the server accepts no mails now, or none from us
	failedRefused  = "refused"  // the server rejects this mail or its recipient
	failedMessage  = "message"  // the mail cannot be encoded
	failedInternal = "internal" // its link or subject matter could not be loaded
)

// Mask shortens an address for the log: enough to find the mail that somebody asks
// about, too little to write to them.
func Mask(address string) string {
	local, domain, ok := strings.Cut(address, "@")
	if !ok {
		return "…"
	}
	_, size := utf8.DecodeRuneInString(local)
	return local[:size] + "…@" + domain
}
