package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel carries notifications that something changed, not what: a notification may
// be lost, a counter in a table is not.
const channel = "palmares"

const (
	// listenRetry is the pause before the first new attempt to listen, listenRetryMax the
	// longest.
	listenRetry, listenRetryMax = 50 * time.Millisecond, time.Second
	// A connection that has been silent for listenIdle is pinged and has listenAnswer to
	// answer.
	listenIdle, listenAnswer = 5 * time.Second, time.Second
)

func (*postgresDialect) notify(ctx context.Context, tx *sql.Tx) error {
	return Exec(ctx, tx, `SELECT pg_notify($1, '')`, channel)
}

func (d *postgresDialect) listen(ctx context.Context, wake func()) error {
	pause := listenRetry
	for ctx.Err() == nil {
		if d.listenOnce(ctx, wake) {
			pause = listenRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, listenRetryMax)
	}
	return nil
}

// listenOnce listens until its connection breaks, and reports whether it ever worked.
// It returns no error: server.Watch polls as well and logs when the database becomes
// unreachable and when it is back.
func (d *postgresDialect) listenOnce(ctx context.Context, wake func()) (listened bool) {
	conn, err := pgx.ConnectConfig(ctx, d.config)
	if err != nil {
		return false
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), listenAnswer)
		defer cancel()
		_ = conn.Close(closing) // it is discarded either way
	}()
	if err := responds(ctx, func(ctx context.Context) error {
		_, err := conn.Exec(ctx, "LISTEN "+channel)
		return err
	}); err != nil {
		return false
	}
	wake()
	for {
		waiting, cancel := context.WithTimeout(ctx, listenIdle)
		_, err := conn.WaitForNotification(waiting)
		silent := errors.Is(waiting.Err(), context.DeadlineExceeded)
		cancel()
		switch {
		case err == nil:
			wake()
		case ctx.Err() != nil || !silent:
			return true
		case responds(ctx, conn.Ping) != nil:
			return true
		}
	}
}

// responds runs a query to which a healthy connection responds at once.
func responds(ctx context.Context, query func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, listenAnswer)
	defer cancel()
	return query(ctx)
}
