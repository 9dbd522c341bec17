package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"palmares/internal/sqldb"
)

// waitingTo returns a waiter that logs to out.
func waitingTo(out io.Writer) *waiter {
	return &waiter{log: slog.New(slog.NewJSONHandler(out, nil)), url: "http://localhost:8080", tell: func(string) {}}
}

func TestANodeThatWaitsForItsDatabaseReportsEachReasonOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := fmt.Errorf("%w: connection refused", sqldb.ErrUnavailable)
		starting := fmt.Errorf("%w: the database system is starting up", sqldb.ErrUnavailable)
		reset := func(port int) error {
			return fmt.Errorf("%w: read tcp 127.0.0.1:%d->127.0.0.1:5432: connection reset by peer", sqldb.ErrUnavailable, port)
		}
		answers := []error{refused, refused, starting, refused, starting, reset(40001), reset(40002), nil}
		var out strings.Builder
		w := waitingTo(&out)
		value, err := whenReachable(t.Context(), w, func(context.Context) (int, error) {
			err := answers[0]
			answers = answers[1:]
			return len(answers), err
		})
		if value != 0 || err != nil {
			t.Errorf("whenReachable = %d, %v", value, err)
		}
		// The next thing that needs the database repeats no reason either.
		answers = []error{starting, nil}
		if _, err := whenReachable(t.Context(), w, func(context.Context) (int, error) {
			err := answers[0]
			answers = answers[1:]
			return 0, err
		}); err != nil {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 3 || !strings.Contains(lines[0], "http://localhost:8080/ and waits for its database") ||
			!strings.Contains(lines[0], "refused") || !strings.Contains(lines[1], "starting up") || !strings.Contains(lines[2], "reset") {
			t.Errorf("reported:\n%s", out.String())
		}
	})
}

func TestWaitingEndsWithItsContextAndWithWhatItCannotFix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		w := waitingTo(&out)
		password := errors.New("wrong password")
		if _, err := whenReachable(t.Context(), w, func(context.Context) (int, error) { return 0, password }); !errors.Is(err, password) {
			t.Errorf("whenReachable = %v; want that the password is wrong", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		attempts := 0
		_, err := whenReachable(ctx, w, func(context.Context) (int, error) {
			if attempts++; attempts == 2 {
				cancel()
			}
			return 0, sqldb.ErrUnavailable
		})
		if !errors.Is(err, context.Canceled) || attempts != 2 {
			t.Errorf("whenReachable = %v after %d attempts; want context.Canceled after 2", err, attempts)
		}
		// A database that accepts connections and then hangs is waited for too.
		hung := false
		if _, err := whenReachable(t.Context(), w, func(ctx context.Context) (int, error) {
			if !hung {
				hung = true
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 0, nil
		}); err != nil {
			t.Error(err)
		}
	})
}
