package mail

import "time"

// A Standing is what mails about payments and the plan depend on.
type Standing struct {
	Pro        bool
	GraceUntil time.Time // when Pro ends for want of a payment; zero while it does not
}

// PaymentFailedTo returns the mail that a payment failed and that Pro ends at
// graceUntil.
func PaymentFailedTo(to string, graceUntil time.Time) Request {
	return Request{To: to, Kind: PaymentFailed, About: isoDay(graceUntil)}
}

// PlanEndedTo returns the mail that Pro has ended and that keys in excess of the plan
// are suspended at keysDue.
func PlanEndedTo(to string, keysDue time.Time) Request {
	return Request{To: to, Kind: PlanEnded, About: isoDay(keysDue)}
}

// Obsolete reports whether a mail about payments or the plan is no longer true of its
// reader, who may have paid since it was queued.
func (r Request) Obsolete(s Standing) bool {
	switch r.Kind {
	case PaymentFailed:
		return !s.Pro || s.GraceUntil.IsZero() || isoDay(s.GraceUntil) != r.About
	case PlanEnded:
		return s.Pro
	}
	return false
}

func isoDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }
