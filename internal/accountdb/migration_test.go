package accountdb

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"palmares/internal/catalogdb"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

// earlier are the migrations of databases that exist, each with the beginning of its SHA-256.
var earlier = map[string]string{
	"0001_accounts.sql": "7b0a6de3659ad6b6", "0002_certificates.sql": "10cf0ed78f8fc514", "0003_desk.sql": "1b43a4eb8e00e52a",
	"0004_readers.sql": "1e3dd70238612a81", "0004_readership.sql": "ff500f953e169f72",
}

func TestADatabaseOfAnEarlierProgramGetsTheTablesOfThisOne(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		files := fstest.MapFS{}
		for name, want := range earlier {
			path := "migrations/" + name
			text, err := fs.ReadFile(migrations, path)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%x", sha256.Sum256(text))[:16]; got != want {
				t.Errorf("%s was changed: %s; add another", name, got)
			}
			files[path] = &fstest.MapFile{Data: text}
		}
		part := Part()
		part.Migrations = files
		db, err := sqldb.Open(t.Context(), dsn, sqldb.Config{Parts: []sqldb.Part{catalogdb.Part(), part}})
		if err != nil {
			t.Fatal(err)
		}
		// That program goes on while this one starts.
		s := open(t, dsn)
		follow := `INSERT INTO follows (id, reader, sealed, hash, topic, pace, created_at, told, told_from, period, mails) VALUES ('a', '', '', '', '', '', '', 0, 0, '', 0)`
		if err := sqldb.WriteOnce(t.Context(), db, follow); err != nil {
			t.Fatal(err)
		}
		mailed, err := sqldb.Value[string](t.Context(), s.SQL.Reads(), `SELECT mailed FROM follows`)
		if err != nil || mailed != "" {
			t.Errorf("it was mailed %q, %v", mailed, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}
