package mail

import "time"

// handOver is the most that one mail may take: making its link and talking to the
// mail server, from the first packet to the last answer.
const handOver = 30 * time.Second

// Lease is how long a claimed mail belongs to whoever claimed it: long enough for
// handing it over and writing down what came of it.
const Lease = 2 * handOver

// waits are the pauses after the first failures; the last one is repeated. The
// first outlasts a restart of the mail server and greylisting is over with the third.
var waits = []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour}

// patience is how long after it was asked for a mail is still of use. Whoever
// waited an hour for a link has asked for another; the rest says what its reader has
// to know days later too.
func patience(k Kind) time.Duration {
	if k == SignIn {
		return time.Hour
	}
	return 3 * 24 * time.Hour
}

// retryAt tells when a mail that failed now is tried again, for the last time when
// its patience ends. ok is false when that is behind it.
func retryAt(c Claim, now time.Time) (at time.Time, ok bool) {
	end := c.CreatedAt.Add(patience(c.Kind))
	if !now.Before(end) {
		return time.Time{}, false
	}
	at = now.Add(waits[min(c.Attempts, len(waits)-1)])
	if at.After(end) {
		at = end
	}
	return at, true
}

// stale tells whether a mail waited so long that it would only puzzle its reader:
// nobody was there to send it. The lease on top leaves the attempt at the end of its
// patience its time.
func stale(c Claim, now time.Time) bool {
	return now.After(c.CreatedAt.Add(patience(c.Kind) + Lease))
}
