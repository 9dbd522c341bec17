package sqldb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bySQLite returns a database on a SQLite file with rows, and its path.
func bySQLite(t *testing.T) (*DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "palmares.db")
	s := openDSN(t, "sqlite:"+path)
	mustAdd(t, s, 300)
	if err := s.Health(t.Context()); err != nil {
		t.Fatalf("Health of a new database: %v", err)
	}
	return s, path
}

// wantUnhealthy checks that Health returns a kind of error.
func wantUnhealthy(t *testing.T, s *DB, kind error) {
	t.Helper()
	if err := s.Health(t.Context()); !errors.Is(err, kind) {
		t.Errorf("Health = %v; want %v", err, kind)
	}
}

func TestAFileThatVanishesIsNoticedAndNothingIsWrittenToIt(t *testing.T) {
	s, path := bySQLite(t)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	wantUnhealthy(t, s, ErrVanished)
	if err := add(t.Context(), s, 1); !errors.Is(err, ErrVanished) || !IsOutage(err) || !IsPermanent(err) {
		t.Errorf("a write: %v; want ErrVanished", err)
	}
	// Nor does a new connection create it.
	if err := s.dialect.explain(s.dialect.(*sqliteDialect).fresh.PingContext(t.Context())); !errors.Is(err, ErrVanished) {
		t.Errorf("a new connection: %v; want ErrVanished", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was created in place of the one that vanished: %v", err)
	}
	// Another command creates an empty database in its place.
	openDSN(t, "sqlite:"+path)
	wantUnhealthy(t, s, ErrVanished)
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if err := s.Health(t.Context()); err != nil {
		t.Errorf("Health when the file is back: %v", err)
	}
}

func TestAFileThatIsDamagedIsNoticed(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"cut": func(path string) error { return os.Truncate(path, 4096) },
		"overwritten": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString(strings.Repeat("garbage ", 16384))
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, path := bySQLite(t)
			if err := s.dialect.purge(t.Context()); err != nil { // nothing is left in the write-ahead log
				t.Fatal(err)
			}
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			wantUnhealthy(t, s, ErrNotADatabase)
			wantUnhealthy(t, s, ErrNotADatabase)
		})
	}
}

func TestDamageThatAQueryFindsIsRemembered(t *testing.T) {
	s, _ := bySQLite(t)
	s.faults.note(Problem(ErrDamaged, nil, "damaged"))
	wantUnhealthy(t, s, ErrDamaged)
}

func TestAFullDiskIsNoticedAndItsEndToo(t *testing.T) {
	s, _ := bySQLite(t)
	var pages int
	if err := s.writes.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if err := s.writes.QueryRow("PRAGMA max_page_count = 1").Scan(&pages); err != nil { // what it has
		t.Fatal(err)
	}
	if err := add(t.Context(), s, 600); !errors.Is(err, ErrFull) {
		t.Fatalf("a write: %v; want ErrFull", err)
	}
	wantUnhealthy(t, s, ErrFull)
	if err := s.writes.QueryRow("PRAGMA max_page_count = 1000000").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	wantUnhealthy(t, s, ErrFull)
	s.unwritableFor = 0 // a minute later
	if err := s.Health(t.Context()); err != nil {
		t.Errorf("Health when there is space again: %v", err)
	}
}

func TestAFullDiskOfPostgreSQLIsNoticedAndItsEndToo(t *testing.T) {
	each(t, func(t *testing.T, s *DB) {
		s.faults.note(full(s.name, nil))
		wantUnhealthy(t, s, ErrFull)
		s.unwritableFor = 0
		if err := s.Health(t.Context()); err != nil {
			t.Errorf("Health when there is space again: %v", err)
		}
	})
}

func TestASQLiteFileHasOneServerAndOtherUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palmares.db")
	first := openDSN(t, "sqlite:"+path)
	if err := first.Claim(); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		second := openDSN(t, "sqlite:"+name)
		if err := second.Claim(); !errors.Is(err, ErrServed) || !strings.Contains(err.Error(), name) {
			t.Errorf("Claim through %s = %v; want ErrServed", name, err)
		}
		if second.Health(t.Context()) != nil {
			t.Error("a second process cannot use the database")
		}
	}
	mustAdd(t, openDSN(t, "sqlite:"+path), 1)
}

func TestFreeSpaceIsComparedWithTheSizeOfTheDatabase(t *testing.T) {
	e := &examination{}
	e.room(99, 100)
	e.room(100, 100)
	if e.found[0].Verdict != Wrong || e.found[1].Verdict != OK {
		t.Errorf("%+v", e.found)
	}
}
