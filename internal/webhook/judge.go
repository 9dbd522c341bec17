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

// Judge says what the result of a delivery's n-th attempt makes of it. chance, in
// [0, 1), is for the jitter. A delivery that meets 410 goes on waiting: its
// endpoint is disabled, and its owner may make it active again.
func Judge(n int, r Result, s Schedule, chance float64) Verdict {
	v := Verdict{
		Attempt: Attempt{Number: n, At: r.At, Duration: r.Duration, Status: r.Status, Outcome: r.Outcome, Response: r.Response},
		State:   Delivered,
		Gone:    r.Outcome == HTTPStatus && r.Status == http.StatusGone,
	}
	if r.Outcome == OK {
		return v
	}
	delay, more := s.delay(n, r.RetryAfter, chance)
	if !more {
		v.State = Failed
		return v
	}
	v.State = Pending
	// The store keeps milliseconds and cuts the rest off; nothing is to be early for it.
	v.NextAt = r.At.Add(r.Duration).Add(delay + time.Millisecond - 1).Truncate(time.Millisecond)
	return v
}
