package testkit

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// shared is the server of this test binary: the first test that needs a database
// starts it, Run stops it. It is a package variable because the tests of a binary
// share nothing else.
//
// One server for all test binaries would save the 0.8 s that each takes to start its
// own, of a run of minutes, and would need a process that outlives them.
var shared struct {
	running   atomic.Bool // Run will stop the server
	mu        sync.Mutex
	server    *PostgresServer
	err       error // why there is no server, so that only one test tries
	databases atomic.Int64
}

// Run runs the tests of a package, stops the server if one was started, and returns
// the exit code.
func Run(m *testing.M) int {
	shared.running.Store(true)
	code := m.Run()
	if quick() {
		fmt.Fprintln(os.Stderr, "testkit: "+notTested)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "testkit:", err)
			return max(code, 1)
		}
	}
	return code
}

const notTested = "PALMARES_TEST=quick: SQLite only, NOTHING WAS TESTED ON POSTGRESQL"

func quick() bool { return os.Getenv("PALMARES_TEST") == "quick" }

func server(t testing.TB) *PostgresServer {
	t.Helper()
	if quick() {
		t.Skip(notTested)
	}
	if !shared.running.Load() {
		t.Fatal("testkit: this package needs func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }")
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = StartPostgres(PostgresOptions{})
	}
	if shared.err != nil {
		t.Fatalf("testkit: %v", shared.err)
	}
	return shared.server
}

// Postgres creates an empty PostgreSQL database and returns its URL. It is dropped
// when the test ends, even while somebody is connected.
func Postgres(t testing.TB) string {
	t.Helper()
	return create(t, "template1")
}

func create(t testing.TB, template string) (dsn string) {
	t.Helper()
	srv := server(t)
	name := fmt.Sprintf("test%d", shared.databases.Add(1))
	// Not the test's context: it ends before the test's clean-up.
	ctx := context.WithoutCancel(t.Context())
	if err := srv.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatalf("testkit: %v", err)
	}
	t.Cleanup(func() {
		if err := srv.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("testkit: %v", err)
		}
	})
	return srv.URL(name)
}

// SQLite returns the DSN of a SQLite file that does not exist yet.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")
}

// Each runs a test on an empty database of both kinds, in parallel.
func Each(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	each(t, SQLite, Postgres, test)
}

func each(t *testing.T, sqlite, postgres func(testing.TB) string, test func(t *testing.T, dsn string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, sqlite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, postgres(t))
	})
}

// Migrated hands out databases with the current tables. Migrations run once per
// test binary and kind of database; every test gets a copy of the result. A package
// declares one for all of its tests:
//
//	var databases = testkit.Migrated[*sqldb.DB]{Open: open}
type Migrated[S io.Closer] struct {
	// Open opens a database and migrates it.
	Open func(ctx context.Context, dsn string) (S, error)

	file     sync.Once
	contents []byte // of the SQLite file
	template sync.Once
	database string // the migrated database on PostgreSQL
	fileErr  error
	dbErr    error
}

// Each runs a test on an opened database of both kinds, in parallel.
func (m *Migrated[S]) Each(t *testing.T, test func(t *testing.T, s S)) {
	t.Helper()
	m.EachDSN(t, func(t *testing.T, dsn string) { test(t, m.OpenDSN(t, dsn)) })
}

// EachDSN runs a test on a database of both kinds, in parallel.
func (m *Migrated[S]) EachDSN(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	each(t, m.SQLite, m.Postgres, test)
}

// OpenDSN opens a database until the end of the test.
func (m *Migrated[S]) OpenDSN(t testing.TB, dsn string) S {
	t.Helper()
	s, err := m.open(context.WithoutCancel(t.Context()), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// open is Open, tried a few times: on a busy machine PostgreSQL may take
// longer to accept a connection than the store waits.
func (m *Migrated[S]) open(ctx context.Context, dsn string) (s S, err error) {
	for range 5 {
		s, err = m.Open(ctx, dsn)
		if err == nil {
			break
		}
	}
	return s, err
}

// SQLite copies the migrated file and returns the copy's DSN.
func (m *Migrated[S]) SQLite(t testing.TB) string {
	t.Helper()
	m.file.Do(func() { m.contents, m.fileErr = m.migrateFile(t) })
	if m.fileErr != nil {
		t.Fatalf("testkit: migrate SQLite: %v", m.fileErr)
	}
	path := filepath.Join(t.TempDir(), "palmares.db")
	if err := os.WriteFile(path, m.contents, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

func (m *Migrated[S]) migrateFile(t testing.TB) ([]byte, error) {
	path := filepath.Join(t.TempDir(), "template.db")
	s, err := m.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil { // the last connection writes everything into the file
		return nil, err
	}
	return os.ReadFile(path)
}

// Postgres copies the migrated database and returns the copy's URL. The copy is
// dropped when the test ends, even while somebody is connected.
func (m *Migrated[S]) Postgres(t testing.TB) string {
	t.Helper()
	srv := server(t)
	m.template.Do(func() { m.dbErr = m.migrateTemplate(t.Context(), srv) })
	if m.dbErr != nil {
		t.Fatalf("testkit: migrate PostgreSQL: %v", m.dbErr)
	}
	return create(t, m.database)
}

func (m *Migrated[S]) migrateTemplate(ctx context.Context, srv *PostgresServer) error {
	m.database = fmt.Sprintf("migrated%d", shared.databases.Add(1))
	if err := srv.Exec(ctx, "CREATE DATABASE "+m.database); err != nil {
		return err
	}
	s, err := m.open(ctx, srv.URL(m.database))
	if err != nil {
		return err
	}
	return s.Close()
}
