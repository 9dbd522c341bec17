package testkit

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

func connect(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestDatabasesAreFreshAndSeparate(t *testing.T) {
	for range 2 {
		// The second database would refuse this if it were the first again.
		if _, err := connect(t, Postgres(t)).Exec("CREATE TABLE here (n INTEGER)"); err != nil {
			t.Error(err)
		}
	}
}

func TestADatabaseIsDroppedWithItsTestEvenWhileInUse(t *testing.T) {
	var url string
	t.Run("inner", func(inner *testing.T) {
		url = Postgres(inner)
		if err := connect(t, url).Ping(); err != nil {
			t.Fatal(err)
		}
	})
	if err := connect(t, url).Ping(); err == nil {
		t.Errorf("%s is still there", url)
	}
}

// opened stands for a store: opening it creates a table, once.
type opened struct{ dsn string }

func (opened) Close() error { return nil }

func TestMigrationsRunOncePerKindOfDatabase(t *testing.T) {
	var migrations atomic.Int64
	databases := Migrated[opened]{Open: func(ctx context.Context, dsn string) (opened, error) {
		if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
			if _, err := os.Stat(path); err == nil {
				return opened{dsn}, nil
			}
			migrations.Add(1)
			return opened{dsn}, os.WriteFile(path, []byte("migrated"), 0o600)
		}
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			return opened{}, err
		}
		defer db.Close()
		if _, err := db.ExecContext(ctx, "SELECT FROM here"); err == nil {
			return opened{dsn}, nil
		}
		migrations.Add(1)
		_, err = db.ExecContext(ctx, "CREATE TABLE here (n INTEGER)")
		return opened{dsn}, err
	}}
	t.Run("all", func(t *testing.T) {
		for range 3 {
			databases.Each(t, func(*testing.T, opened) {})
		}
	})
	want := int64(2)
	if quick() {
		want = 1
	}
	if n := int64(migrations.Load()); n != want {
		t.Errorf("migrated %d times; want once on SQLite and once on PostgreSQL", n)
	}
}

func TestAProxyFailsInEveryWayAndWorksAgain(t *testing.T) {
	p := NewProxy(t, Postgres(t))
	ask := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		db := connect(t, p.DSN)
		defer db.Close()
		return db.PingContext(ctx)
	}
	for name, fail := range map[string]func(){"refuse": p.Refuse, "drop": p.Drop, "delay": func() { p.Delay(1200 * time.Millisecond) }} {
		fail()
		if ask() == nil {
			t.Errorf("%s: the database answers", name)
		}
		p.Restore()
		Until(t, "an answer after "+name, func() bool { return ask() == nil })
	}
	if p.RoundTrips() == 0 {
		t.Error("no round trip was counted")
	}
}

func TestAClockShowsWhatItWasSetTo(t *testing.T) {
	c := NewClock(time.Unix(0, 0))
	c.Advance(time.Hour)
	if got := c.Now(); !got.Equal(time.Unix(3600, 0)) {
		t.Error(got)
	}
}

func TestAServerKeepsItsDataWhenItRestartsAndMoves(t *testing.T) {
	server, err := StartPostgres(PostgresOptions{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	first := server.Address()
	if err := server.Exec(t.Context(), "CREATE DATABASE here"); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(); err != nil || server.Address() != first {
		t.Fatalf("restarted at %s, %v; want %s", server.Address(), err, first)
	}
	here := connect(t, server.URL("here"))
	if err := here.Ping(); err != nil {
		t.Error(err)
	}
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := here.PingContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that is frozen: %v", err)
	}
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	if err := here.Ping(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(server.Kill(), server.Resume()); err != nil {
		t.Fatal(err)
	}
	if err := connect(t, server.URL("here")).Ping(); err != nil {
		t.Error(err)
	}
	if err := server.Move(); err != nil || server.Address() == first {
		t.Fatalf("moved to %s, %v; was at %s", server.Address(), err, first)
	}
	if err := connect(t, server.URL("here")).Ping(); err != nil {
		t.Error(err)
	}
}
