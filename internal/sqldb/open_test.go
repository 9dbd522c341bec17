package sqldb

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"palmares/internal/testkit"
)

func TestOpenRefusesAnInvalidDatabaseAddress(t *testing.T) {
	for _, dsn := range []string{"", "data/palmares.db", "mysql://root:hunter2@localhost/x", "postgres:hunter2", "sqlite", "sqlite:", "sqlite::memory:"} {
		s, err := openTables(t.Context(), dsn)
		if err == nil {
			s.Close()
			t.Errorf("Open(%q) succeeded", dsn)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error of Open(%q) has the password: %v", dsn, err)
		}
	}
}

func TestASQLitePathMayContainAnyCharacter(t *testing.T) {
	for _, name := range []string{"a b.db", "a?b=c.db", "a#b.db", "a%20b.db", "été ☀.db", "a&b;c'd\"e.db", "sub/deeper/x.db", "file:x.db"} {
		path := filepath.Join(t.TempDir(), "parent", name)
		s := openDSN(t, "sqlite:"+path)
		mustAdd(t, s, 1)
		info, err := os.Stat(path)
		if err != nil {
			t.Errorf("%q: the database is elsewhere: %v", name, err)
			continue
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%q has mode %o; want 600, it contains addresses", name, mode)
		}
		if n := number(t, openDSN(t, "sqlite:"+path)); n != 1 {
			t.Errorf("%q: opened again it has number %d; want 1", name, n)
		}
	}
}

func TestARelativeSQLitePathIsResolvedAtOpen(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	s := openDSN(t, "sqlite:data/palmares.db")
	t.Chdir(t.TempDir())
	mustAdd(t, s, 1)
	if _, err := os.Stat(filepath.Join(dir, "data", "palmares.db")); err != nil {
		t.Error(err)
	}
}

// refused opens a SQLite path that must be refused and left as it is.
func refused(t *testing.T, path string, kind error, says string) {
	t.Helper()
	before, _ := os.ReadFile(path) // nothing for a folder
	s, err := openTables(t.Context(), "sqlite:"+path)
	if err == nil {
		s.Close()
		t.Fatalf("%s was opened", path)
	}
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), says) {
		t.Errorf("Open = %v; want %v with the path and %q", err, kind, says)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Errorf("%s was changed", path)
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(path + suffix); err == nil {
			t.Errorf("%s%s was left behind", path, suffix)
		}
	}
}

func TestAFileThatIsNoDatabaseIsRefusedAndLeftUnchanged(t *testing.T) {
	for _, content := range []string{"hello", strings.Repeat("palmares\n", 10_000)} {
		path := filepath.Join(t.TempDir(), "notes.txt")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, path, ErrNotSQLite, "not a SQLite database")
	}
}

func TestAFolderIsRefused(t *testing.T) {
	refused(t, t.TempDir(), ErrNotADatabase, "is a folder")
}

func TestASQLiteDatabaseOfAnotherProgramIsRefusedAndLeftUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec("CREATE TABLE tools (id INTEGER); INSERT INTO tools VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, path, ErrForeignFile, "another program")
}

// Litestream opens a new file as soon as it is there, perhaps before our first transaction.
func TestTheTablesOfLitestreamMakeNoForeignDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palmares.db")
	litestream, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := litestream.Exec(`PRAGMA journal_mode = wal;
		CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
		CREATE TABLE _litestream_lock (id INTEGER)`); err != nil {
		t.Fatal(err)
	}
	if err := litestream.Close(); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, openDSN(t, "sqlite:"+path), 1)
}

func TestATableOfAnotherProgramIsLeftUnchangedInPostgreSQL(t *testing.T) {
	dsn := testkit.Postgres(t)
	other, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Exec("CREATE TABLE strangers (id INTEGER); CREATE TABLE tools (id INTEGER); INSERT INTO tools VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	_, err = openTables(t.Context(), dsn)
	if !errors.Is(err, ErrNotOurs) || !strings.Contains(err.Error(), `"tools"`) {
		t.Fatalf("Open = %v; want ErrNotOurs that names the table", err)
	}
	var id, tables int
	err = other.QueryRow("SELECT (SELECT id FROM tools), (SELECT count(*) FROM pg_tables WHERE schemaname = 'public')").Scan(&id, &tables)
	if err != nil || id != 7 || tables != 2 {
		t.Errorf("the stranger's row is %d among %d tables, %v; want 7 among 2", id, tables, err)
	}

	// What the message advises.
	if _, err := other.Exec("CREATE SCHEMA palmares"); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, openDSN(t, dsn+"&search_path=palmares"), 1)
}

func TestADatabaseOfANewerVersionIsRefusedAndLeftUnchanged(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		s := openDSN(t, dsn)
		mustAdd(t, s, 1)
		if _, err := s.writes.Exec("INSERT INTO palmares_schema VALUES (99, '')"); err != nil {
			t.Fatal(err)
		}
		before := testkit.Dump(t, s.reads)
		_, err := openTables(t.Context(), dsn)
		if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), fmt.Sprintf("knows version %d", newest)) || !strings.Contains(err.Error(), "upgrade") {
			t.Errorf("Open = %v; want ErrNewer with both versions and what to do", err)
		}
		if after := testkit.Dump(t, s.reads); after != before {
			t.Error("the database was changed")
		}
	})
}

func TestOfManyProcessesThatStartAtOnceOneCreatesTheTables(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		const processes, stores = 4, 8
		var all sync.WaitGroup
		for range processes {
			cmd := childCommand(dsn)
			all.Go(func() {
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("a process that started at the same time: %v\n%s", err, out)
				}
			})
		}
		for range stores {
			all.Go(func() {
				s, err := openTables(t.Context(), dsn)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.Poll(t.Context(), numberQuery); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var taken, last, states int
		err := openDSN(t, dsn).reads.QueryRow(`
			SELECT count(*), max(version), (SELECT count(*) FROM state WHERE name = 'new') FROM palmares_schema`).
			Scan(&taken, &last, &states)
		if err != nil || taken != newest-unreleased || last != newest || states != 1 {
			t.Errorf("%d steps up to version %d, %d state rows, %v", taken, last, states, err)
		}
	})
}

func TestOpeningWaitsForAProcessThatHasTheFileLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palmares.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", sqliteURI(path, 0, "_txlock", "exclusive"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	released := make(chan error)
	go func() {
		<-time.After(3 * busyTimeout) // longer than one attempt waits
		released <- tx.Rollback()
	}()
	mustAdd(t, openDSN(t, "sqlite:"+path), 1)
	if err := <-released; err != nil {
		t.Error(err)
	}
}

func TestOpeningDoesNotWaitForAWriter(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		s := openDSN(t, dsn)
		err := s.WriteLarge(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), `UPDATE state SET number = 1`)
			if n := number(t, openDSN(t, dsn)); n != 0 {
				t.Errorf("the number is %d before the commit", n)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestAPostgreSQLThatCannotBeUsedIsExplainedWithoutThePassword(t *testing.T) {
	dsn := testkit.Postgres(t)
	host := dsn[strings.Index(dsn, "?"):]
	for _, test := range []struct{ dsn, says string }{
		{"postgres://ada:hunter2@" + closedAddress + "/palmares", "cannot be reached"},
		{"postgres://ada:hunter2@/postgres" + host, "refuses this user or password"},
		{"postgres://postgres:hunter2@/nowhere" + host, "does not exist"},
		{"postgres://postgres:hunter2@/postgres" + host + "&search_path=nowhere", "no schema"},
		{"postgres://ada:hunter2%zz@localhost/palmares", "cannot be read"},
		{"postgres://ada:hunter2@localhost:port/palmares", "cannot be read"},
	} {
		_, err := openTables(t.Context(), test.dsn)
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("Open(%s) = %v; want ErrUnreachable and %q", test.dsn, err, test.says)
		}
		if text := fmt.Sprintf("%v %+v %q", err, err, errors.Unwrap(err)); strings.Contains(text, "hunter2") {
			t.Errorf("the message has the password: %s", text)
		}
	}
}

func TestAPostgreSQLUserWhoMayNotCreateTablesIsExplained(t *testing.T) {
	dsn := testkit.Postgres(t)
	admin, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if _, err := admin.Exec("REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE reader LOGIN"); err != nil {
		t.Fatal(err)
	}
	defer func() { // roles belong to the server, not to the database
		if _, err := admin.Exec("DROP ROLE reader"); err != nil {
			t.Error(err)
		}
	}()
	_, err = openTables(t.Context(), strings.Replace(dsn, "postgres@", "reader@", 1))
	if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "may create tables") {
		t.Errorf("Open = %v; want ErrReadOnly and what the user must be allowed", err)
	}
}

func TestAReadOnlyFolderIsExplained(t *testing.T) {
	// Not t.TempDir(), which only its owner may enter: the child is nobody.
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "palmares.db")
	s, err := openTables(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	mustAdd(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	binary := readableBinary(t, dir)
	if err := errors.Join(os.Chmod(path, 0o444), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	for _, dsn := range []string{
		"sqlite:" + path,                                // neither file nor folder may be written
		"sqlite:" + filepath.Join(dir, "new.db"),        // nothing may be created
		"sqlite:" + filepath.Join(dir, "sub", "new.db"), // nor a folder
	} {
		cmd := asNobody(childCommand(dsn))
		cmd.Path = binary
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), "read-only: ") || !strings.Contains(string(out), dir) {
			t.Errorf("%s: %v, %q; want a failure explained as read-only", dsn, err, out)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if n := number(t, openDSN(t, "sqlite:"+path)); n != 1 {
		t.Errorf("number %d afterwards; want 1", n)
	}
}

// One SQL text for both databases depends on this: some drivers bind by order of
// appearance, silently wrong.
func TestPlaceholdersBindByNumber(t *testing.T) {
	each(t, func(t *testing.T, s *DB) {
		var got string
		err := s.reads.QueryRowContext(t.Context(), `SELECT CAST($2 AS TEXT) || CAST($1 AS TEXT) || CAST($2 AS TEXT) || CAST($3 AS TEXT)`, "a", "b", "c").Scan(&got)
		if err != nil || got != "babc" {
			t.Errorf("$2 $1 $2 $3 gave %q, %v; want babc", got, err)
		}
		if _, err := s.writes.ExecContext(t.Context(), `UPDATE state SET name = $2, number = $1 WHERE id = $3`, 7, "name", 1); err != nil {
			t.Fatal(err)
		}
		var name string
		var number int64
		err = s.reads.QueryRowContext(t.Context(), `SELECT name, number FROM state`).Scan(&name, &number)
		if err != nil || name != "name" || number != 7 {
			t.Errorf("name %q, number %d, %v", name, number, err)
		}
	})
}

func TestACancelledContextIsReportedAsSuch(t *testing.T) {
	each(t, func(t *testing.T, s *DB) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		errRead := s.Read(ctx, func(*sql.Tx) error { return nil })
		_, errPoll := s.Poll(ctx, numberQuery)
		for _, err := range []error{errRead, errPoll, add(ctx, s, 1)} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v; want context.Canceled", err)
			}
		}
	})
}

// asNobody makes a command run as nobody, because root may write anywhere.
func asNobody(cmd *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

// readableBinary copies this binary to a folder that every user may enter.
func readableBinary(t *testing.T, dir string) string {
	t.Helper()
	from, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(dir, "sqldb.test"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		t.Fatal(err)
	}
	return to.Name()
}
