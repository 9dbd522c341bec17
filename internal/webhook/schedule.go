package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Schedule lists for each attempt how long after the end of the previous one it is
// due. The first is due at once, so its delay is always 0. A delivery fails after as
// many attempts as there are delays.
type Schedule []time.Duration

// DefaultSchedule returns the contract's: ten attempts in a little over three days.
func DefaultSchedule() Schedule {
	return Schedule{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
		5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// ParseSchedule parses the schedule of an option: "0s,5s,5m".
func ParseSchedule(text string) (Schedule, error) {
	var s Schedule
	for part := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || d < 0 {
			return nil, fmt.Errorf("%q in the schedule is not a duration: write delays as 0s,5s,5m,2h", part)
		}
		s = append(s, d)
	}
	if s[0] != 0 {
		return nil, errors.New("a schedule begins with 0s: the first attempt is made at once")
	}
	return s, nil
}

// maxJitter is the share of a delay that is added at random, so that deliveries that
// failed together are not retried together.
const maxJitter = 0.1

// MaxRetryAfter limits how long a receiver can postpone the next attempt.
const MaxRetryAfter = 24 * time.Hour

// delay returns how long after its n-th attempt a delivery is due again, and false
// after the last one. chance is in [0, 1). Retry-After makes it later, never earlier.
func (s Schedule) delay(n int, retryAfter time.Duration, chance float64) (time.Duration, bool) {
	if n >= len(s) {
		return 0, false
	}
	d := s[n] + time.Duration(float64(s[n])*maxJitter*chance)
	return max(d, min(retryAfter, MaxRetryAfter)), true
}

// RetryAfter parses the header of that name, seconds or a date (RFC 9110, section
// 10.2.3), and returns how long to wait from now, at most MaxRetryAfter. It returns 0
// for a header that is missing, in the past, or invalid.
func RetryAfter(header string, now time.Time) time.Duration {
	header = strings.Trim(header, " \t")
	seconds, err := strconv.ParseUint(header, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) { // then it is the largest number
		return min(time.Duration(seconds)*time.Second, MaxRetryAfter)
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), MaxRetryAfter)
}
