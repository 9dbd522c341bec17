package webhook

import (
	"net/http"
	"slices"
	"time"
)

// A Result is the result of one request.
type Result struct {
	At         time.Time
	Duration   time.Duration
	Status     int // 0 without a response
	Outcome    Outcome
	Response   string
	RetryAfter time.Duration // 0 unless the receiver sent it
}

// unsignedRetry is the delay of a delivery that this node could not sign. It is short
// because another node may have the key, or this one after a restart.
const unsignedRetry = time.Minute

// Judge returns the effect of a delivery's n-th attempt. chance, in [0, 1), is for the
// jitter. After 410 the delivery stays pending: its endpoint is disabled, and its owner
// may make it active again. A delivery that could not be signed was not attempted.
func Judge(n int, r Result, s Schedule, chance float64) Verdict {
	v := Verdict{
		Attempt: Attempt{
			Number: n, At: r.At, Duration: r.Duration, Status: Status(r.Status), Outcome: r.Outcome, Response: r.Response,
		},
		State: Delivered,
		Gone:  r.Outcome == HTTPStatus && r.Status == http.StatusGone,
	}
	end := r.At.Add(r.Duration)
	switch {
	case r.Outcome == OK:
		return v
	case r.Outcome == Secret:
		v.State, v.Untried, v.NextAt = Pending, true, wholeMillisecond(end.Add(unsignedRetry))
		return v
	case r.RetryAfter > 0:
		v.HoldUntil = wholeMillisecond(end.Add(min(r.RetryAfter, MaxRetryAfter)))
	}
	v.ProbeAt = wholeMillisecond(end)
	if n > AlwaysTried {
		v.ProbeAt = wholeMillisecond(end.Add(min(ProbeEvery, slices.Max(s)))) // schedules for tests have shorter delays
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

// wholeMillisecond rounds up. The store truncates to milliseconds, which would make
// deliveries early.
func wholeMillisecond(t time.Time) time.Time {
	return t.Add(time.Millisecond - 1).Truncate(time.Millisecond)
}
