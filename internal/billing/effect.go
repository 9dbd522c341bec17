package billing

import (
	"time"

	"palmares/internal/account"
)

// An Effect is what a reading changes for an account.
type Effect struct {
	Subscription Subscription // as it is from now on
	Plan         account.Plan // the account's from now on
	KeysDue      time.Time    // when keys in excess of a lower plan are suspended; zero unless PlanEnded

	// Mails to the owner.
	PaymentFailed bool // Pro ends at Subscription.GraceUntil unless a payment is made
	PlanEnded     bool // Pro has ended
}

// EffectOf returns the effect of a reading on an account with a plan and a
// subscription. An account granted Pro by the operator is neither downgraded nor
// mailed: only Pro that came from a subscription ends with it.
func EffectOf(plan account.Plan, s Subscription, r Reading, now time.Time) Effect {
	next, pro := s.after(r, now)
	e := Effect{Plan: plan}
	switch {
	case pro && plan != account.Pro:
		e.Plan, next.Granted = account.Pro, true
	case !pro && s.Granted:
		e.Plan, next.Granted = account.Developer, false
	}
	e.Subscription = next
	e.PaymentFailed = next.Granted && !next.GraceUntil.IsZero() && !next.GraceUntil.Equal(s.GraceUntil)
	if e.Plan != plan && e.Plan != account.Pro {
		e.PlanEnded, e.KeysDue = true, now.Add(account.KeyGrace)
	}
	return e
}
