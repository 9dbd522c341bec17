package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/quota"
	"palmares/internal/testkit"
)

// openLookups calls State until every lookup connection is open. Each call opens one
// more, unless the machine is too busy for that.
func openLookups(t *testing.T, s *Store) {
	t.Helper()
	testkit.Until(t, "the opening of every lookup connection", func() bool {
		if _, _, err := s.State(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.lookups.Stats().OpenConnections == lookupConnections
	})
}

// Over a long distance each round trip costs a tenth of a second.
func TestALookupIsOneRoundTrip(t *testing.T) {
	proxy := testkit.NewProxy(t, databases.Postgres(t))
	s := open(t, proxy.DSN)
	ada := create(t, s, "ada@example.org", account.Developer)
	text, _ := createKey(t, s, ada.Email, "1")
	hash := account.HashKey(text)
	now := today(t, s) // also opens the connection that counts
	openLookups(t, s)
	<-time.After(1100 * time.Millisecond) // after a second the driver would ping by itself
	for what, ask := range map[string]func() error{
		"State":         func() error { _, _, err := s.State(t.Context()); return err },
		"Keys.ByHash":   func() error { _, err := s.Keys.ByHash(t.Context(), hash); return err },
		"Keys.ByHashes": func() error { _, err := s.Keys.ByHashes(t.Context(), [][32]byte{hash, {}}); return err },
		"Usage.Count": func() error {
			_, err := s.Usage.Count(t.Context(), now, quota.Usage{Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 1}}})
			return err
		},
	} {
		before := proxy.RoundTrips()
		if err := ask(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if n := proxy.RoundTrips() - before; n != 1 {
			t.Errorf("%s took %d round trips; want 1", what, n)
		}
	}
}

func TestLookupsDoNotWaitForTheOtherConnections(t *testing.T) {
	s := open(t, databases.Postgres(t))
	ada := create(t, s, "ada@example.org", account.Developer)
	text, _ := createKey(t, s, ada.Email, "1")
	together, free := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range maxConnections {
		all.Go(func() {
			if err := s.read(t.Context(), func(*sql.Tx) error {
				together <- struct{}{}
				<-free
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	for range maxConnections {
		<-together
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, _, err := s.State(ctx); err != nil {
		t.Errorf("State: %v", err)
	}
	if _, err := s.Keys.ByHash(ctx, account.HashKey(text)); err != nil {
		t.Errorf("Keys.ByHash: %v", err)
	}
	if _, err := s.Usage.Count(ctx, "", quota.Usage{}); err != nil {
		t.Errorf("Usage.Count: %v", err)
	}
	close(free)
	all.Wait()
}

func TestALookupOnABrokenConnectionIsRepeated(t *testing.T) {
	dsn := databases.Postgres(t)
	s, other := open(t, dsn), open(t, dsn)
	openLookups(t, s)
	if _, err := other.writes.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.State(t.Context()); err != nil {
		t.Errorf("after a restart of the server: %v", err)
	}
}

func TestASlowLookupDiscardsNoConnections(t *testing.T) {
	s := open(t, databases.Postgres(t))
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if _, err := s.Keys.ByHash(expired, [32]byte{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Keys.ByHash = %v", err)
	}
	if _, err := s.Usage.Count(expired, "", quota.Usage{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Usage.Count = %v", err)
	}
	if onPostgres(s).staleBefore.Load() != 0 || onPostgres(s).lookupsStaleBefore.Load() != 0 {
		t.Error("a lookup that timed out discarded connections")
	}
}

func TestCountingZeroRequestsCreatesNoRow(t *testing.T) {
	s := open(t, databases.Postgres(t))
	ada, bob := create(t, s, "ada@example.org", account.Developer), create(t, s, "bob@example.org", account.Developer)
	now := today(t, s)
	grant(t, s, now, quota.Usage{
		Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 3}},
		Networks: []quota.NetworkCount{{Network: pseudonym(1), Requests: 4}},
	})
	tally := grant(t, s, now, quota.Usage{
		Accounts: []quota.AccountCount{{Account: ada.ID}, {Account: bob.ID}},
		Networks: []quota.NetworkCount{{Network: pseudonym(1)}, {Network: pseudonym(2)}},
	})
	if tally.Accounts[ada.ID] != (quota.Counted{Used: 3}) || tally.Networks[pseudonym(1)] != (quota.Counted{Used: 4}) || len(tally.Accounts)+len(tally.Networks) != 2 {
		t.Errorf("a look found %+v", tally)
	}
	saved(t, s, now, quota.Usage{
		Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 3}},
		Networks: []quota.NetworkCount{{Network: pseudonym(1), Requests: 4}},
	})
}

// A node vanishes during its commit: others soon get the rows that it locked.
func TestALostCommitLocksItsRowsForSecondsOnly(t *testing.T) {
	proxy := testkit.NewProxy(t, databases.Postgres(t))
	vanishing, other := open(t, proxy.DSN), open(t, proxy.Direct)
	create(t, vanishing, "ada@example.org", account.Developer)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	held := make(chan struct{})
	go func() {
		ended <- vanishing.writeKeys(ctx, func(tx *sql.Tx) error {
			_, err := lockAccount(ctx, tx, "ada@example.org")
			proxy.Drop()
			close(held)
			return err
		})
	}()
	<-held
	if _, _, err := other.Keys.Create(t.Context(), "ada@example.org", "1", monday); err != nil {
		t.Errorf("the row of a node that vanished: %v", err)
	}
	cancel()
	<-ended
}

func TestOnlyPublicationsAndMigrationsHaveNoTimeouts(t *testing.T) {
	s := open(t, databases.Postgres(t))
	limits := func(write func(context.Context, func(*sql.Tx) error) error) (statement, idle string) {
		if err := write(t.Context(), func(tx *sql.Tx) error {
			return tx.QueryRow(`SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')`).Scan(&statement, &idle)
		}); err != nil {
			t.Fatal(err)
		}
		return statement, idle
	}
	if statement, idle := limits(s.write); statement != "10s" || idle != "5s" {
		t.Errorf("a small write: %s, %s", statement, idle)
	}
	if statement, idle := limits(s.writeLarge); statement != "0" || idle != "0" {
		t.Errorf("a publication: %s, %s", statement, idle)
	}
	for _, name := range []string{"tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout"} {
		if onPostgres(s).config.RuntimeParams[name] == "" {
			t.Errorf("the server does not know when to give up a node that is gone: no %s", name)
		}
	}
}

// A save gives up a locked row before the next save, half a second later.
func TestASaveDoesNotWaitLongForARow(t *testing.T) {
	s := open(t, databases.Postgres(t))
	ada := create(t, s, "ada@example.org", account.Developer)
	added := quota.Usage{Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 1}}}
	save(t, s, "2026-11-16", added)
	if err := s.write(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(`UPDATE usage SET requests = requests`); err != nil {
			return err
		}
		err := s.Usage.Save(t.Context(), "2026-11-16", added) // longer than idleLimit would end this transaction
		if !errors.Is(err, ErrBusy) {
			t.Errorf("Usage.Save = %v; want ErrBusy", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	save(t, s, "2026-11-16", added)
}

func TestAStandbyIsWaitedFor(t *testing.T) {
	dsn := databases.Postgres(t)
	s := open(t, dsn)
	if _, err := s.writes.Exec(`DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET default_transaction_read_only = on'; END $$`); err != nil {
		t.Fatal(err)
	}
	standby := open(t, dsn)
	_, err := standby.Usage.DayKey(t.Context(), "2026-11-16", quota.Key{})
	if !errors.Is(err, ErrUnavailable) || !errors.Is(err, ErrReadOnly) {
		t.Errorf("on a server that only reads: %v; want ErrUnavailable and ErrReadOnly", err)
	}
}

func TestOfTwoServersTheWritableOneIsUsed(t *testing.T) {
	address, err := url.Parse(testkit.NewProxy(t, databases.Postgres(t)).DSN)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, "postgres://postgres@"+closedAddress+","+address.Host+address.Path+"?target_session_attrs=read-write")
	create(t, s, "ada@example.org", account.Developer)
}

func TestNodesThatPruneAtOnceDoNotDeadlock(t *testing.T) {
	dsn := databases.Postgres(t)
	nodes := []*Store{open(t, dsn), open(t, dsn), open(t, dsn)}
	if _, err := nodes[0].writes.Exec(`INSERT INTO network_usage (day, network, requests) SELECT '2026-11-15', md5(n::text), 1 FROM generate_series(1, $1) n`, 3*pruneRows); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, s := range nodes {
		all.Go(func() {
			if err := s.Usage.Prune(t.Context(), "2026-11-16", "2025-01-01"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := nodes[0].Usage.Prune(t.Context(), "2026-11-16", "2025-01-01"); err != nil {
		t.Error(err)
	}
	saved(t, nodes[0], "2026-11-15", quota.Usage{})
}
