package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel is where nodes hear that something changed. What it was they read
// themselves: a notification may be lost, a counter in a table is not.
const channel = "palmares"

const (
	// listenRetry is the pause before the first new attempt to listen, and the longest.
	listenRetry, listenRetryMost = 50 * time.Millisecond, time.Second
	// A connection that has been silent for listenSilence is asked whether it lives, and
	// has listenAnswer to say so.
	listenSilence, listenAnswer = 5 * time.Second, time.Second
)

// notify tells every node that listens, when the transaction commits. On SQLite there
// are no other nodes, and other processes look often enough.
func (s *Store) notify(ctx context.Context, tx *sql.Tx) error {
	if !s.postgres {
		return nil
	}
	_, err := tx.ExecContext(ctx, `SELECT pg_notify($1, '')`, channel)
	return err
}

// Listen calls wake whenever something was published or a key or an account changed,
// and each time that it has begun to listen, as something may have been missed. It
// blocks until ctx ends and gives nil then; a connection that breaks or goes silent
// is made anew. What wake does must be quick. On SQLite it only waits for the end.
func (s *Store) Listen(ctx context.Context, wake func()) error {
	if !s.postgres {
		<-ctx.Done()
		return nil
	}
	pause := listenRetry
	for ctx.Err() == nil {
		if s.listenOnce(ctx, wake) {
			pause = listenRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, listenRetryMost)
	}
	return nil
}

// listenOnce listens until its connection is of no more use, and tells whether it
// ever was. What went wrong is not reported: the Watch that polls besides says when
// the database is away and when it is back.
func (s *Store) listenOnce(ctx context.Context, wake func()) (listened bool) {
	conn, err := pgx.ConnectConfig(ctx, s.server)
	if err != nil {
		return false
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), listenAnswer)
		defer cancel()
		_ = conn.Close(ending) // whatever it was, it is over
	}()
	if err := answers(ctx, func(ctx context.Context) error {
		_, err := conn.Exec(ctx, "LISTEN "+channel)
		return err
	}); err != nil {
		return false
	}
	wake()
	for {
		waiting, cancel := context.WithTimeout(ctx, listenSilence)
		_, err := conn.WaitForNotification(waiting)
		silent := errors.Is(waiting.Err(), context.DeadlineExceeded)
		cancel()
		switch {
		case err == nil:
			wake()
		case ctx.Err() != nil || !silent:
			return true
		case answers(ctx, conn.Ping) != nil:
			return true
		}
	}
}

// answers runs what a connection that lives does at once.
func answers(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, listenAnswer)
	defer cancel()
	return ask(ctx)
}
