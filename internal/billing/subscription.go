package billing

import (
	"fmt"
	"time"
)

// Grace is how long an account stays Pro after its first failed payment. Stripe
// retries the card during that time.
const Grace = 21 * 24 * time.Hour

// A Subscription is what an account pays, as last read from Stripe. It is created, without
// an ID, when the account first starts to pay; after that only EffectOf changes it. Its JSON is what the
// owner of the account exports.
type Subscription struct {
	AccountID  string    `json:"-"`
	CustomerID string    `json:"stripe_customer_id"`               // "" if the account never started to pay
	ID         string    `json:"stripe_subscription_id,omitempty"` // of the subscription that counts; "" if there is none
	Status     Status    `json:"status,omitempty"`
	PeriodEnd  time.Time `json:"period_end,omitzero"`
	CancelAt   time.Time `json:"cancel_at,omitzero"`   // zero while it renews
	GraceUntil time.Time `json:"grace_until,omitzero"` // zero unless a payment has failed
	Granted    bool      `json:"-"`                    // the account is Pro because of it, not by the operator
	Version    int64     `json:"-"`                    // increases with every write
}

// A Status is Stripe's status of a subscription.
type Status string

// The statuses that Stripe has.
const (
	None              Status = "" // there is no subscription
	Active            Status = "active"
	Trialing          Status = "trialing"
	PastDue           Status = "past_due"
	Unpaid            Status = "unpaid"
	Incomplete        Status = "incomplete" // the first payment has not been made
	IncompleteExpired Status = "incomplete_expired"
	Paused            Status = "paused"
	Canceled          Status = "canceled"
)

// weights rank the subscriptions of a customer: the highest counts.
var weights = map[Status]int{
	Active: 8, Trialing: 7, PastDue: 6, Unpaid: 5, Paused: 4, Incomplete: 3, Canceled: 2, IncompleteExpired: 1,
}

// Live reports whether the subscription charges or may do so again. An account that has
// one changes it in the Customer Portal and cannot start a second.
func (s Status) Live() bool {
	switch s {
	case Active, Trialing, PastDue, Unpaid, Paused:
		return true
	}
	return false
}

// Charges reports whether the subscription charges, or may once a payment is made.
func (s Status) Charges() bool { return s.Live() || s == Incomplete }

// Paid reports whether everything is paid, or a trial runs.
func (s Status) Paid() bool { return s == Active || s == Trialing }

// Failed reports whether a payment is overdue.
func (s Status) Failed() bool { return s == PastDue || s == Unpaid }

// A Reading is what Stripe returned for one subscription of a customer.
type Reading struct {
	ID        string
	Pro       bool // it is to Pro and not to something else that the operator sells
	Status    Status
	Created   time.Time
	PeriodEnd time.Time
	CancelAt  time.Time
}

// A Finding is a reading to be stored.
type Finding struct {
	Reading    Reading
	AccountID  string
	Version    int64  // of the stored subscription before the reading
	EventID    string // the event that caused the reading; "" for none
	ObservedAt time.Time
}

// after returns the subscription as it is after a reading, and reports whether it makes
// its account Pro. A failed payment opens one grace period, however often it is read;
// only a payment closes it, so that a subscription that stays unpaid, paused in between
// or not, does not get another.
func (s Subscription) after(r Reading, now time.Time) (next Subscription, pro bool) {
	next = s
	next.ID, next.Status, next.PeriodEnd, next.CancelAt = r.ID, r.Status, r.PeriodEnd, r.CancelAt
	switch {
	case r.Status == Active || r.Status == Trialing:
		next.GraceUntil = time.Time{}
		return next, true
	case r.Status.Failed():
		if s.GraceUntil.IsZero() || s.ID != r.ID {
			next.GraceUntil = now.Add(Grace)
		}
		return next, now.Before(next.GraceUntil)
	case r.Status == Paused && s.ID == r.ID:
		return next, false
	}
	next.GraceUntil = time.Time{}
	return next, false
}

// choose returns the subscription that counts among all that a customer ever had.
func choose(all []Reading) (Reading, error) {
	var best Reading
	for _, r := range all {
		weight, known := weights[r.Status]
		if !known {
			// Guessing would take Pro from somebody who pays, or give it for free.
			return Reading{}, fmt.Errorf("the subscription %s has the status %q, which this version does not know: "+
				"nothing was changed; update palmares", r.ID, r.Status)
		}
		switch have := weights[best.Status]; {
		case weight > have, weight == have &&
			(r.Created.After(best.Created) || r.Created.Equal(best.Created) && r.ID > best.ID):
			best = r
		}
	}
	return best, nil
}
