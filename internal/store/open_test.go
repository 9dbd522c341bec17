package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"palmares/internal/testkit"
)

func TestOpenRefusesAnInvalidDatabaseAddress(t *testing.T) {
	for _, dsn := range []string{"", "data/palmares.db", "mysql://root:hunter2@localhost/x", "postgres:hunter2", "sqlite", "sqlite:", "sqlite::memory:"} {
		s, err := Open(t.Context(), dsn)
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
		s := open(t, "sqlite:"+path)
		publish(t, s, catalogue(tool("a", "1 €/mois")), monday)
		info, err := os.Stat(path)
		if err != nil {
			t.Errorf("%q: the database is elsewhere: %v", name, err)
			continue
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%q has mode %o; want 600, it contains addresses", name, mode)
		}
		if n := len(loaded(t, open(t, "sqlite:"+path)).Catalog.Tools); n != 1 {
			t.Errorf("%q: opened again it has %d tools; want 1", name, n)
		}
	}
}

func TestARelativeSQLitePathIsResolvedAtOpen(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	s := open(t, "sqlite:data/palmares.db")
	t.Chdir(t.TempDir())
	publish(t, s, catalogue(), monday)
	if _, err := os.Stat(filepath.Join(dir, "data", "palmares.db")); err != nil {
		t.Error(err)
	}
}

// refused opens a SQLite path that must be refused and left as it is.
func refused(t *testing.T, path string, kind error, says string) {
	t.Helper()
	before, _ := os.ReadFile(path) // nothing for a folder
	s, err := Open(t.Context(), "sqlite:"+path)
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

func TestATableOfAnotherProgramIsLeftUnchangedInPostgreSQL(t *testing.T) {
	dsn := testkit.Postgres(t)
	other, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Exec("CREATE TABLE strangers (id INTEGER); CREATE TABLE records (id INTEGER); INSERT INTO records VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), dsn)
	if !errors.Is(err, ErrNotOurs) || !strings.Contains(err.Error(), `"records"`) {
		t.Fatalf("Open = %v; want ErrNotOurs that names the table", err)
	}
	var id, tables int
	err = other.QueryRow("SELECT (SELECT id FROM records), (SELECT count(*) FROM pg_tables WHERE schemaname = 'public')").Scan(&id, &tables)
	if err != nil || id != 7 || tables != 2 {
		t.Errorf("the stranger's row is %d among %d tables, %v; want 7 among 2", id, tables, err)
	}

	// What the message advises.
	if _, err := other.Exec("CREATE SCHEMA palmares"); err != nil {
		t.Fatal(err)
	}
	publish(t, open(t, dsn+"&search_path=palmares"), catalogue(), monday)
}

func TestADatabaseOfANewerVersionIsRefusedAndLeftUnchanged(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		publish(t, s, catalogue(tool("a", "1 €/mois")), monday)
		if _, err := s.writes.Exec("INSERT INTO palmares_schema (version) VALUES (99)"); err != nil {
			t.Fatal(err)
		}
		before := dump(t, s)
		_, err := Open(t.Context(), dsn)
		if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), fmt.Sprintf("knows version %d", unreleased+steps(t))) || !strings.Contains(err.Error(), "upgrade") {
			t.Errorf("Open = %v; want ErrNewer with both versions and what to do", err)
		}
		if after := dump(t, s); after != before {
			t.Error("the database was changed")
		}
	})
}

// steps returns how many migrations this program has.
func steps(t *testing.T) int {
	t.Helper()
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestOfManyProcessesThatStartAtOnceOneCreatesTheTables(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		const processes, stores = 4, 8
		var all sync.WaitGroup
		for range processes {
			cmd := childCommand("open", dsn)
			all.Go(func() {
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("a process that started at the same time: %v\n%s", err, out)
				}
			})
		}
		for range stores {
			all.Go(func() {
				s, err := Open(t.Context(), dsn)
				if err != nil {
					t.Error(err)
					return
				}
				if _, _, err := s.State(t.Context()); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var taken, last, states int
		err := open(t, dsn).reads.QueryRow("SELECT count(*), max(version), (SELECT count(*) FROM catalogue) FROM palmares_schema").Scan(&taken, &last, &states)
		if want := steps(t); err != nil || taken != want || last != unreleased+want || states != 1 {
			t.Errorf("%d steps up to version %d, %d state rows, %v; want %d, %d, 1", taken, last, states, err, want, want)
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
	publish(t, open(t, "sqlite:"+path), catalogue(tool("a", "1 €/mois")), monday)
	if err := <-released; err != nil {
		t.Error(err)
	}
}

func TestOpeningDoesNotWaitForAPublication(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		opened := 0
		_, err := s.Catalogue.Publish(t.Context(), catalogue(tool("a", "1 €/mois")), PublishOptions{Now: at(monday), Progress: func(Progress) {
			other := open(t, dsn) // within the transaction
			if v := loaded(t, other).Version; v != 0 {
				t.Errorf("version %d is visible before it is published", v)
			}
			opened++
		}})
		if err != nil || opened == 0 {
			t.Errorf("opened %d times, %v", opened, err)
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
		_, err := Open(t.Context(), test.dsn)
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
	_, err = Open(t.Context(), strings.Replace(dsn, "postgres@", "reader@", 1))
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
	s, err := Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, s, catalogue(tool("a", "1 €/mois")), monday)
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
		cmd := asNobody(childCommand("open", dsn))
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
	if v := loaded(t, open(t, "sqlite:"+path)).Version; v != 1 {
		t.Errorf("version %d afterwards; want 1", v)
	}
}

// One SQL text for both databases depends on this: some drivers bind by order of
// appearance, silently wrong.
func TestPlaceholdersBindByNumber(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		var got string
		err := s.reads.QueryRowContext(t.Context(), `SELECT CAST($2 AS TEXT) || CAST($1 AS TEXT) || CAST($2 AS TEXT) || CAST($3 AS TEXT)`, "a", "b", "c").Scan(&got)
		if err != nil || got != "babc" {
			t.Errorf("$2 $1 $2 $3 gave %q, %v; want babc", got, err)
		}
		if _, err := s.writes.ExecContext(t.Context(), `UPDATE catalogue SET url = $2, changed_on = $1, published_at = $2 WHERE id = $3`, "day", "url", 1); err != nil {
			t.Fatal(err)
		}
		var on, url, at string
		err = s.reads.QueryRowContext(t.Context(), `SELECT changed_on, url, published_at FROM catalogue`).Scan(&on, &url, &at)
		if err != nil || on != "day" || url != "url" || at != "url" {
			t.Errorf("changed_on %q, url %q, published_at %q, %v", on, url, at, err)
		}
	})
}

func TestACancelledContextIsReportedAsSuch(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, errLoad := s.Catalogue.Load(ctx)
		_, _, errState := s.State(ctx)
		_, errPublish := s.Catalogue.Publish(ctx, catalogue(), PublishOptions{Now: at(monday)})
		for _, err := range []error{errLoad, errState, errPublish} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v; want context.Canceled", err)
			}
		}
	})
}
