package webhook

import "time"

// After returns the endpoint as it is after an attempt that ended at at. Attempts that
// overlap may be stored in another order than they ended.
//
// A success closes the breaker and clears the failures. BreakAfter failures in a row open
// it, but not before they are spread over BreakSpread: the deliveries that are due together
// fail together while a receiver restarts. While it is open one request is sent at a time,
// and after AlwaysTried attempts a delivery waits for ProbeAt. One at a time would not be
// enough: a receiver that refuses at once would get all that waits within seconds, and each
// delivery would lose an attempt. Until HoldUntil, when the receiver asked for it, nothing
// is sent at all.
//
// Once per row of failures, when the breaker opens, its owner is mailed.
//
// An endpoint that sent 410, or that has failed until DisableAt, becomes Disabled,
// unless it was stopped already.
func (w Endpoint) After(v Verdict, at time.Time) Endpoint {
	if v.State == Delivered {
		w.Failures, w.FailingSince, w.NotBefore, w.ProbeAt = 0, time.Time{}, time.Time{}, time.Time{}
		w.LastSuccessAt = later(w.LastSuccessAt, at)
		return w
	}
	w.Failures++
	if !at.Before(w.LastFailure.At) {
		w.LastFailure = Failure{At: at, Outcome: v.Attempt.Outcome, Status: v.Attempt.Status}
	}
	if w.FailingSince.IsZero() || at.Before(w.FailingSince) {
		w.FailingSince = at
	}
	w.NotBefore = later(w.NotBefore, v.HoldUntil)
	if w.Failures >= BreakAfter && w.LastFailure.At.Sub(w.FailingSince) >= BreakSpread {
		w.ProbeAt = later(w.ProbeAt, v.ProbeAt)
	}
	switch {
	case w.State != Active && w.State != Suspended: // stopped by its owner, or by us
	case v.Gone:
		w.State, w.Reason, w.DisabledAt = Disabled, Gone, at
	case !at.Before(w.DisableAt()):
		w.State, w.Reason, w.DisabledAt = Disabled, Failing, at
	}
	if w.Broken() {
		w.MailedFor = later(w.MailedFor, w.FailingSince)
	}
	return w
}

// DisableAt returns when a failing endpoint is disabled unless it succeeds before: after
// DisableAfter, which starts again when its owner makes it active.
func (w Endpoint) DisableAt() time.Time { return later(w.FailingSince, w.ResumedAt).Add(DisableAfter) }

// Recovers reports whether a success at at ends an outage: BreakAfter failures in a row, a
// time in which nothing is sent, or ProbeEvery without a success. Its deliveries then need
// not wait for their next attempt. Single failures among successes are no outage: whatever
// fails again and again would lose all its attempts.
func (w Endpoint) Recovers(at time.Time) bool {
	return w.Failures >= BreakAfter || w.Failures > 0 && (w.NotBefore.After(at) || at.Sub(w.FailingSince) >= ProbeEvery)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
