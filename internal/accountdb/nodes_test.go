package accountdb

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"palmares/internal/account"
	"palmares/internal/quota"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func TestEveryNodeIsNotifiedOfPublicationsAndKeys(t *testing.T) {
	dsn := databases.Postgres(t)
	s := open(t, dsn)
	var nodes []func(string)
	for range 3 {
		woken := testkit.Listening(t, open(t, dsn).SQL.Listen)
		woken("the beginning")
		nodes = append(nodes, woken)
	}
	hear := func(what string) {
		for _, woken := range nodes {
			woken(what)
		}
	}
	publish(t, s, small(tool("a", "1 €/mois")), monday)
	hear("a publication")
	ada := create(t, s, "ada@example.org", account.Developer)
	hear("an account")
	_, key, err := s.Keys.Create(t.Context(), ada.Email, "x", nil, monday)
	if err != nil {
		t.Fatal(err)
	}
	hear("a key")
	if err := s.Keys.Revoke(t.Context(), account.AnyOwner(), key.ID, monday); err != nil {
		t.Fatal(err)
	}
	hear("a revocation")
}

func TestLookupsDoNotWaitForTheOtherConnections(t *testing.T) {
	s := open(t, databases.Postgres(t))
	ada := create(t, s, "ada@example.org", account.Developer)
	text, _ := createKey(t, s, ada.Email, "1")
	together, free := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range s.SQL.Reads().Stats().MaxOpenConnections {
		all.Go(func() {
			if err := s.SQL.Read(t.Context(), func(*sql.Tx) error {
				together <- struct{}{}
				<-free
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	for range s.SQL.Reads().Stats().MaxOpenConnections {
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

func TestCountingZeroRequestsCreatesNoRow(t *testing.T) {
	s := open(t, databases.Postgres(t))
	ada, bob := create(t, s, "ada@example.org", account.Developer), create(t, s, "bob@example.org", account.Developer)
	now := today(t, s)
	grant(t, s, now, quota.Usage{
		Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 3}},
		Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 4}},
	})
	tally := grant(t, s, now, quota.Usage{
		Accounts: []quota.AccountCount{{Account: ada.ID}, {Account: bob.ID}},
		Networks: []quota.NetworkCount{{Network: nthNetwork(1)}, {Network: nthNetwork(2)}},
	})
	if tally.Accounts[ada.ID] != (quota.Counted{Used: 3}) || tally.Networks[nthNetwork(1)] != (quota.Counted{Used: 4}) || len(tally.Accounts)+len(tally.Networks) != 2 {
		t.Errorf("a look found %+v", tally)
	}
	saved(t, s, now, quota.Usage{
		Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 3}},
		Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 4}},
	})
}

// A node vanishes during its commit: others soon get the rows that it locked.
func TestALostCommitLocksItsRowsForSecondsOnly(t *testing.T) {
	defer func(was time.Duration) { sqldb.Patience = was }(sqldb.Patience)
	sqldb.Patience = 1
	proxy := testkit.NewProxy(t, databases.Postgres(t))
	vanishing, other := open(t, proxy.DSN), open(t, proxy.Direct)
	create(t, vanishing, "ada@example.org", account.Developer)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	held := make(chan struct{})
	go func() {
		ended <- writeKeys(ctx, vanishing.SQL, func(tx *sql.Tx) error {
			_, err := lockAccount(ctx, tx, "ada@example.org")
			proxy.Drop()
			close(held)
			return err
		})
	}()
	<-held
	if _, _, err := other.Keys.Create(t.Context(), "ada@example.org", "1", nil, monday); err != nil {
		t.Errorf("the row of a node that vanished: %v", err)
	}
	cancel()
	<-ended
}

// A save gives up a locked row before the next save, half a second later.
func TestASaveDoesNotWaitLongForARow(t *testing.T) {
	s := open(t, databases.Postgres(t))
	ada := create(t, s, "ada@example.org", account.Developer)
	added := quota.Usage{Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 1}}}
	save(t, s, "2026-11-16", added)
	if err := s.SQL.Write(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(`UPDATE usage SET requests = requests`); err != nil {
			return err
		}
		err := s.Usage.Save(t.Context(), "2026-11-16", added) // longer than idleLimit would end this transaction
		if !errors.Is(err, sqldb.ErrBusy) {
			t.Errorf("Usage.Save = %v; want sqldb.ErrBusy", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	save(t, s, "2026-11-16", added)
}

// persist does something until the database has time for it, as nodes do: on a slow machine it may have none at once.
// Who locked each other out would do so again.
func persist(t *testing.T, do func() error) {
	t.Helper()
	err := do()
	for errors.Is(err, sqldb.ErrBusy) || errors.Is(err, sqldb.ErrUnavailable) {
		pg, ok := errors.AsType[*pgconn.PgError](err)
		if ok && pg.Code == "40P01" { // deadlock_detected
			break
		}
		err = do()
	}
	if err != nil {
		t.Error(err)
	}
}

func TestNodesThatPruneAtOnceDoNotDeadlock(t *testing.T) {
	dsn := databases.Postgres(t)
	nodes := []*kit{open(t, dsn), open(t, dsn), open(t, dsn)}
	exec(t, nodes[0], `INSERT INTO network_usage (day, network, requests)
		SELECT '2026-11-15', md5(n::text), 1 FROM generate_series(1, 15000) n`)
	var all sync.WaitGroup
	for _, s := range nodes {
		all.Go(func() {
			persist(t, func() error { return s.Usage.Prune(t.Context(), "2026-11-16", "2025-01-01") })
		})
	}
	all.Wait()
	if err := nodes[0].Usage.Prune(t.Context(), "2026-11-16", "2025-01-01"); err != nil {
		t.Error(err)
	}
	saved(t, nodes[0], "2026-11-15", quota.Usage{})
}
