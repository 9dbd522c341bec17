package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"testing"
	"time"

	"palmares/internal/testkit"
)

// openLookups polls until every lookup connection is open. Each call opens one more, unless
// the machine is too busy for that.
func openLookups(t *testing.T, d *DB) {
	t.Helper()
	testkit.Until(t, "the opening of every lookup connection", func() bool {
		number(t, d)
		return d.lookups.Stats().OpenConnections == lookupConnections
	})
}

func lookup(ctx context.Context, d *DB) error {
	return d.Lookup(ctx, func(pool *sql.DB) error {
		var n int64
		return pool.QueryRowContext(ctx, numberQuery).Scan(&n)
	})
}

// Over a long distance each round trip costs a tenth of a second.
func TestALookupIsOneRoundTrip(t *testing.T) {
	proxy := testkit.NewProxy(t, databases.Postgres(t))
	d := openDSN(t, proxy.DSN)
	if err := count(t.Context(), d); err != nil { // opens the connection that counts
		t.Fatal(err)
	}
	openLookups(t, d)
	<-time.After(1100 * time.Millisecond) // after a second the driver would ping by itself
	for what, ask := range map[string]func() error{
		"Poll":   func() error { _, err := d.Poll(t.Context(), numberQuery, numberQuery); return err },
		"Lookup": func() error { return lookup(t.Context(), d) },
		"Count":  func() error { return count(t.Context(), d) },
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

func TestALookupOnABrokenConnectionIsRepeated(t *testing.T) {
	dsn := databases.Postgres(t)
	d, other := openDSN(t, dsn), openDSN(t, dsn)
	openLookups(t, d)
	if _, err := other.writes.Exec(`
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Poll(t.Context(), numberQuery); err != nil {
		t.Errorf("after a restart of the server: %v", err)
	}
}

func TestASlowLookupDiscardsNoConnections(t *testing.T) {
	d := openDSN(t, databases.Postgres(t))
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if err := lookup(expired, d); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Lookup = %v", err)
	}
	if err := count(expired, d); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Count = %v", err)
	}
	if onPostgres(d).staleBefore.Load() != 0 || onPostgres(d).lookupsStaleBefore.Load() != 0 {
		t.Error("a lookup that timed out discarded connections")
	}
}

func TestOnlyPublicationsAndMigrationsHaveNoTimeouts(t *testing.T) {
	d := openDSN(t, databases.Postgres(t))
	limits := func(write func(context.Context, func(*sql.Tx) error) error) (statement, idle string) {
		if err := write(t.Context(), func(tx *sql.Tx) error {
			return tx.QueryRow(`
				SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')`).
				Scan(&statement, &idle)
		}); err != nil {
			t.Fatal(err)
		}
		return statement, idle
	}
	if statement, idle := limits(d.Write); statement != "10s" || idle != "5s" {
		t.Errorf("a small write: %s, %s", statement, idle)
	}
	if statement, idle := limits(d.WriteLarge); statement != "0" || idle != "0" {
		t.Errorf("a publication: %s, %s", statement, idle)
	}
	for _, name := range []string{"tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout"} {
		if onPostgres(d).config.RuntimeParams[name] == "" {
			t.Errorf("the server does not know when to give up a node that is gone: no %s", name)
		}
	}
}

func TestAStandbyIsWaitedFor(t *testing.T) {
	dsn := databases.Postgres(t)
	d := openDSN(t, dsn)
	if _, err := d.writes.Exec(`DO $$ BEGIN
		EXECUTE 'ALTER DATABASE ' || current_database() || ' SET default_transaction_read_only = on'; END $$`); err != nil {
		t.Fatal(err)
	}
	err := add(t.Context(), openDSN(t, dsn), 1)
	if !errors.Is(err, ErrUnavailable) || !errors.Is(err, ErrReadOnly) {
		t.Errorf("on a server that only reads: %v; want ErrUnavailable and ErrReadOnly", err)
	}
}

func TestOfTwoServersTheWritableOneIsUsed(t *testing.T) {
	address, err := url.Parse(testkit.NewProxy(t, databases.Postgres(t)).DSN)
	if err != nil {
		t.Fatal(err)
	}
	mustAdd(t, openDSN(t, "postgres://postgres@"+closedAddress+","+address.Host+address.Path+"?target_session_attrs=read-write"), 1)
}
