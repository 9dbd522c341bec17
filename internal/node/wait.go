package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"palmares/internal/sqldb"
)

const (
	// RetryInterval is how often what needs a database that is unreachable tries again.
	RetryInterval = 500 * time.Millisecond
	// startTimeout is for an attempt during which the database hangs.
	startTimeout = 2 * time.Minute
)

// A waiter says why a node that starts waits for its database, each reason once.
type waiter struct {
	log      *slog.Logger
	url      string              // where the node listens
	tell     func(status string) // is told it in other words, too
	reported map[string]bool
}

var localPort = regexp.MustCompile(`:\d+->`)

// WithoutPort removes the local port of a connection, which differs at each attempt, from the text
// of an error.
func WithoutPort(text string) string { return localPort.ReplaceAllString(text, "->") }

func (w *waiter) report(err error) {
	reason := WithoutPort(err.Error())
	switch {
	case w.reported[reason]:
		return
	case w.reported == nil:
		w.reported = map[string]bool{}
		w.log.Warn(fmt.Sprintf("Palmarès listens on %s/ and waits for its database: %v; it retries until it can serve",
			w.url, err))
	default:
		w.log.Warn(fmt.Sprintf("Palmarès is still waiting for its database: %v", err))
	}
	w.reported[reason] = true
	w.tell("waits for its database: " + reason)
}

// whenReachable calls do until the database is reachable, and returns what it returned
// last. An error that waiting cannot fix, such as a wrong password, is returned at once.
func whenReachable[T any](ctx context.Context, w *waiter, do func(context.Context) (T, error)) (T, error) {
	for {
		attempt, cancel := context.WithTimeout(ctx, startTimeout)
		value, err := do(attempt)
		hung := attempt.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return value, ctx.Err()
		case !errors.Is(err, sqldb.ErrUnavailable) && !(hung && errors.Is(err, context.DeadlineExceeded)):
			return value, err
		}
		w.report(err)
		select {
		case <-ctx.Done():
		case <-time.After(RetryInterval):
		}
	}
}
