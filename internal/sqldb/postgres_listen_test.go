package sqldb

import (
	"context"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"palmares/internal/testkit"
)

func TestAListenerWhoseConnectionIsCutListensAgain(t *testing.T) {
	dsn := databases.Postgres(t)
	s := openDSN(t, dsn)
	woken := testkit.Listening(t, openDSN(t, dsn+"&application_name=listener").Listen)
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
