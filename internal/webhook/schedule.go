package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A Schedule says how long after the end of the attempt before it each attempt
// is due. The first one is due at once, so its delay is always 0; a delivery has
// failed after as many attempts as there are delays.
type Schedule []time.Duration

// DefaultSchedule is that of the contract: ten attempts in a little over three days.
func DefaultSchedule() Schedule {
	return Schedule{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
		5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// ParseSchedule reads a schedule as an operator writes one: "0s,5s,5m".
func ParseSchedule(text string) (Schedule, error) {
	var s Schedule
	for part := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || d < 0 {
			return nil, fmt.Errorf("%q in the schedule is not a length of time: write delays as 0s,5s,5m,2h", part)
		}
		s = append(s, d)
	}
	if s[0] != 0 {
		return nil, errors.New("a schedule begins with 0s: the first attempt is made at once")
	}
	return s, nil
}

func (s Schedule) String() string {
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = d.String()
	}
	return strings.Join(parts, ",")
}

// maxJitter is the share of a delay that chance may add to it, so that the
// deliveries of one failure do not come back all at once.
const maxJitter = 0.1

// MaxRetryAfter is how far a receiver may put the next attempt off.
const MaxRetryAfter = 24 * time.Hour

// delay is how long after its n-th attempt a delivery is due again, and false
// when that was the last. chance is in [0, 1). A receiver's wish to wait makes it
// later, never earlier.
func (s Schedule) delay(n int, retryAfter time.Duration, chance float64) (time.Duration, bool) {
	if n >= len(s) {
		return 0, false
	}
	d := s[n] + time.Duration(float64(s[n])*maxJitter*chance)
	return max(d, min(retryAfter, MaxRetryAfter)), true
}

// RetryAfter reads the header of that name, seconds or a date (RFC 9110, section
// 10.2.3): how long to wait from now, at most MaxRetryAfter. 0 is for what asks
// for nothing, is over, or cannot be read.
func RetryAfter(header string, now time.Time) time.Duration {
	header = strings.Trim(header, " \t")
	if header != "" && strings.Trim(header, "0123456789") == "" {
		digits := strings.TrimLeft(header, "0")
		if len(digits) > len("86400") {
			return MaxRetryAfter
		}
		var seconds time.Duration
		for _, c := range digits {
			seconds = seconds*10 + time.Duration(c-'0')
		}
		return min(seconds*time.Second, MaxRetryAfter)
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), MaxRetryAfter)
}
