package pgtest

import (
	"database/sql"
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

func TestDatabasesAreFreshAndApart(t *testing.T) {
	for range 2 {
		db, err := sql.Open("pgx", Database(t))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		// The second database would refuse this if it were the first again.
		if _, err := db.Exec("CREATE TABLE here (n INTEGER)"); err != nil {
			t.Error(err)
		}
	}
}

func TestADatabaseIsDroppedWithItsTestEvenWhileInUse(t *testing.T) {
	var url string
	var open *sql.DB
	t.Run("inner", func(t *testing.T) {
		url = Database(t)
		var err error
		if open, err = sql.Open("pgx", url); err != nil {
			t.Fatal(err)
		}
		if err := open.Ping(); err != nil {
			t.Fatal(err)
		}
	})
	defer open.Close()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(); err == nil {
		t.Errorf("%s is still there", url)
	}
}
