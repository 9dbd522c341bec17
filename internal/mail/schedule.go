package mail

import "time"

// sendTimeout is for one attempt: creating the link and talking to the mail server,
// from the first packet to the last response.
const sendTimeout = 30 * time.Second

// Lease is how long a claimed mail belongs to its claimer: long enough to send it and
// to store the outcome.
const Lease = 2 * sendTimeout

// retryDelays are the pauses after the first failures; the last one is repeated. The
// first outlasts a restart of the mail server, the first three outlast greylisting.
var retryDelays = []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour}

// usefulFor returns for how long after its request a mail is worth sending. After an
// hour without a sign-in link people have requested another; the other mails matter
// days later too.
func usefulFor(k Kind) time.Duration {
	if k == SignIn {
		return time.Hour
	}
	return 3 * 24 * time.Hour
}

// retryAt returns when to retry a mail that has just failed, for the last time when it
// stops being useful. ok is false after that.
func retryAt(c Claim, now time.Time) (at time.Time, ok bool) {
	end := c.CreatedAt.Add(usefulFor(c.Kind))
	if !now.Before(end) {
		return time.Time{}, false
	}
	at = now.Add(retryDelays[min(c.Attempts, len(retryDelays)-1)])
	if at.After(end) {
		at = end
	}
	return at, true
}
