package sqldb

import (
	"context"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"palmares/internal/testkit"
)

// listening runs Listen until the test ends and returns a function that waits for the
// next wake-up.
func listening(t *testing.T, s *DB) (woken func(what string)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	wakes, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- s.Listen(ctx, func() { wakes <- struct{}{} }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func(what string) {
		t.Helper()
		testkit.Until(t, "a wake-up by "+what, func() bool {
			select {
			case <-wakes:
				return true
			default:
				return false
			}
		})
	}
}

func TestAListenerWhoseConnectionIsCutListensAgain(t *testing.T) {
	dsn := databases.Postgres(t)
	s := openDSN(t, dsn)
	woken := listening(t, openDSN(t, dsn+"&application_name=listener"))
	woken("the beginning")
	for range 3 {
		cut := 0
		if err := s.writes.QueryRow(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'listener'`).Scan(&cut); err != nil || cut == 0 {
			t.Fatalf("%d connections were cut: %v", cut, err)
		}
		woken("the new beginning")
		mustAdd(t, s, 1)
		woken("a write")
	}
}

func TestListenEndsWithItsContextAndLeavesNothing(t *testing.T) {
	for _, dsn := range []string{"sqlite:" + filepath.Join(t.TempDir(), "x.db"), databases.Postgres(t)} {
		s := openDSN(t, dsn)
		before := goleak.IgnoreCurrent()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Listen(ctx, func() { stop() }) }()
		if !s.Shared() {
			stop()
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		noneLeft(t, before)
	}
}
