package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"palmares/internal/account"
	"palmares/internal/testkit"
)

// listening runs Listen until the test ends and returns a function that waits for the
// next wake-up.
func listening(t *testing.T, s *Store) (woken func(what string)) {
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

func TestEveryNodeIsNotifiedOfPublicationsAndKeys(t *testing.T) {
	dsn := databases.Postgres(t)
	s := open(t, dsn)
	var nodes []func(string)
	for range 3 {
		woken := listening(t, open(t, dsn))
		woken("the beginning")
		nodes = append(nodes, woken)
	}
	hear := func(what string) {
		for _, woken := range nodes {
			woken(what)
		}
	}
	publish(t, s, catalogue(tool("a", "1 €/mois")), monday)
	hear("a publication")
	ada := create(t, s, "ada@example.org", account.Developer)
	hear("an account")
	_, key, err := s.Keys.Create(t.Context(), ada.Email, "x", monday)
	if err != nil {
		t.Fatal(err)
	}
	hear("a key")
	if err := s.Keys.Revoke(t.Context(), account.AnyOwner(), key.ID, monday); err != nil {
		t.Fatal(err)
	}
	hear("a revocation")
}

func TestAListenerWhoseConnectionIsCutListensAgain(t *testing.T) {
	dsn := databases.Postgres(t)
	s := open(t, dsn)
	woken := listening(t, open(t, dsn+"&application_name=listener"))
	woken("the beginning")
	for i := range 3 {
		cut := 0
		if err := s.writes.QueryRow(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'listener'`).Scan(&cut); err != nil || cut == 0 {
			t.Fatalf("%d connections were cut: %v", cut, err)
		}
		woken("the new beginning")
		publish(t, s, catalogue(tool("a", fmt.Sprintf("%d €/mois", i+1))), monday)
		woken("a publication")
	}
}

func TestListenEndsWithItsContextAndLeavesNothing(t *testing.T) {
	for _, dsn := range []string{"sqlite:" + filepath.Join(t.TempDir(), "x.db"), databases.Postgres(t)} {
		s := open(t, dsn)
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
