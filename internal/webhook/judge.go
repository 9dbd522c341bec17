package webhook

import (
	"net/http"
	"time"
)

// A Result is what came of one request, before it is known what that means for
// its delivery.
type Result struct {
	At         time.Time
	Duration   time.Duration
	Status     int // 0 when there was no answer
	Outcome    Outcome
	Response   string
	RetryAfter time.Duration // 0 unless the receiver asked for it
}

// secretAgain is when a delivery is looked at again that this node could not sign:
// soon, since another node may have the key, or this one after a restart.
const secretAgain = time.Minute

// Judge says what the result of a delivery's n-th attempt makes of it. chance, in
// [0, 1), is for the jitter. A delivery that meets 410 goes on waiting: its
// endpoint is disabled, and its owner may make it active again. One that could not
// be signed was not tried: it waits, and the receiver is not to blame.
func Judge(n int, r Result, s Schedule, chance float64) Verdict {
	v := Verdict{
		Attempt: Attempt{Number: n, At: r.At, Duration: r.Duration, Status: r.Status, Outcome: r.Outcome, Response: r.Response},
		State:   Delivered,
		Gone:    r.Outcome == HTTPStatus && r.Status == http.StatusGone,
	}
	end := r.At.Add(r.Duration)
	switch {
	case r.Outcome == OK:
		return v
	case r.Outcome == Secret:
		v.State, v.Untried, v.NextAt = Pending, true, wholeMillisecond(end.Add(secretAgain))
		return v
	case r.RetryAfter > 0:
		v.HoldUntil = wholeMillisecond(end.Add(min(r.RetryAfter, MaxRetryAfter)))
	}
	delay, more := s.delay(n, r.RetryAfter, chance)
	if !more {
		v.State = Failed
		return v
	}
	v.State = Pending
	v.NextAt = wholeMillisecond(end.Add(delay))
	return v
}

// wholeMillisecond rounds up: the store keeps milliseconds and cuts the rest off, and
// nothing is to be early for it.
func wholeMillisecond(t time.Time) time.Time {
	return t.Add(time.Millisecond - 1).Truncate(time.Millisecond)
}
