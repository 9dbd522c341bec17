package main

import (
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"palmares/internal/testkit"
)

func TestASecondServerOnASQLiteFileIsRefused(t *testing.T) {
	t.Parallel()
	database := databases.SQLite(t)
	first := serveProcess(t, "--database", database)
	out, err := palmares(t.Context(), "serve", "--listen", "localhost:0", "--database", database).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another palmares serve uses ") {
		t.Fatalf("%v: %s", err, out)
	}
	must(t, "publish", marked(t, "A", 3), "--database", database)
	must(t, "account", "list", "--database", database)
	first.until("/api/v1/stats", func(_ *http.Response, body string) bool { return strings.Contains(body, `"tools_total":3,`) })
	first.kill()
	serveProcess(t, "--database", database)
}

func TestADatabaseFileThatVanishesIsReportedAndTheCatalogueStays(t *testing.T) {
	t.Parallel() // it mostly waits for the next health check
	database := databases.SQLite(t)
	must(t, "publish", marked(t, "A", 3), "--database", database)
	ops, err := testkit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	s := serveProcess(t, "--database", database, "--ops-listen", ops)
	path := strings.TrimPrefix(database, "sqlite:")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	s.logs("something is wrong with the database")
	if _, body := s.get("/api/v1/stats"); !strings.Contains(body, `"tools_total":3,`) {
		t.Errorf("what is served: %s", body)
	}
	metrics := &process{t: t, url: "http://" + ops, log: s.log}
	metrics.until("/metrics", func(_ *http.Response, body string) bool { return strings.Contains(body, "\npalmares_database_up 0\n") })
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	s.logs("the database is in order again")
}

func TestAnEmptiedDatabaseNeverTurnsIntoTheDemo(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		must(t, "publish", marked(t, "A", 3), "--database", database)
		s := serveProcess(t, "--database", database)
		driver, name := "pgx", database
		if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
			driver, name = "sqlite", "file:"+path+"?_busy_timeout=10000"
		}
		db, err := sql.Open(driver, name)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), `UPDATE catalogue SET version = 0`); err != nil {
			t.Fatal(err)
		}
		s.logs("the database has no catalogue any more")
		if _, body := s.get("/api/v1/stats"); !strings.Contains(body, `"tools_total":3,`) {
			t.Errorf("what is served: %s", body)
		}
	})
}

// What runs a server in deploy/ turns the demo off.
func TestTheFilesForProductionHaveNoDemo(t *testing.T) {
	for name, line := range map[string]string{
		"Dockerfile":       "PALMARES_DEMO=off",
		"compose.yaml":     `PALMARES_DEMO: "off"`,
		"kubernetes.yaml":  `{name: PALMARES_DEMO, value: "off"}`,
		"palmares.service": "Environment=PALMARES_DEMO=off",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
		if err != nil || !strings.Contains(string(text), line) {
			t.Errorf("deploy/%s does not set %s (%v)", name, line, err)
		}
	}
}
