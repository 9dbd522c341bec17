package main

import (
	"cmp"
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// nextRelease builds a palmares with one more migration, which only adds.
func nextRelease(t *testing.T) (binary string) {
	t.Helper()
	migrations, err := filepath.Glob("../../internal/store/migrations/*.sql")
	if err != nil || len(migrations) == 0 {
		t.Fatal("no migrations", err)
	}
	overlay, err := patientSource()
	if err != nil {
		t.Fatal(err)
	}
	overlay[fmt.Sprintf("../../internal/store/migrations/%04d_next.sql", len(migrations)+1)] = `
		CREATE TABLE next_release (id TEXT NOT NULL PRIMARY KEY);
		ALTER TABLE accounts ADD COLUMN nickname TEXT NOT NULL DEFAULT '';
		ALTER TABLE usage ADD COLUMN colour TEXT NOT NULL DEFAULT '';`
	binary = filepath.Join(t.TempDir(), "palmares-next")
	if err := build(binary, overlay); err != nil {
		t.Fatal(err)
	}
	return binary
}

func TestThisReleaseAndTheNextServeSideBySide(t *testing.T) {
	database := databases.Postgres(t)
	next := nextRelease(t)
	key := customer(t, database, "ada@example.org", "developer", 1)[0]
	old := serveProcess(t, "--database", database)
	newer := startProcess(t, next, "--database", database).serves()
	old.knows(key)
	newer.knows(key)
	remaining := 1000
	count := func(nodes ...*process) {
		t.Helper()
		for _, n := range nodes {
			remaining--
			resp, body := n.get("/api/v1/stats", key)
			if got := resp.Header.Get("X-RateLimit-Remaining"); resp.StatusCode != 200 || got != fmt.Sprint(remaining) {
				t.Errorf("%s, %s remain; want %d: %s", resp.Status, got, remaining, body)
			}
		}
	}
	count(old, newer, old, newer)
	must(t, "publish", marked(t, "A", 3), "--database", database) // by the old one
	for _, n := range []*process{old, newer} {
		n.until("/api/v1/tools?limit=1", func(_ *http.Response, body string) bool { return strings.Contains(body, `"tagline":"A"`) })
	}
	old.stop()
	old = serveProcess(t, "--database", database) // an old node starts again among new ones
	old.knows(key)
	count(old, newer)
	if newer.log.Contains(countsAlone) {
		t.Errorf("the new node counted alone:\n%s", newer.log)
	}
	db, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows int
	if err := db.QueryRow(`SELECT count(*) FROM next_release`).Scan(&rows); err != nil {
		t.Errorf("the new node has not migrated: %v", err)
	}
}

func TestAFolderOfTheFirstReleaseIsAnsweredAsThen(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/first-release.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, answers := t.TempDir(), ""
	for _, file := range archive.Files {
		if file.Name == "answers" {
			answers = string(file.Data)
			continue
		}
		writeFile(t, filepath.Join(dir, file.Name), file.Data)
	}
	if answers == "" {
		t.Fatal("no answers to compare with")
	}
	databases.EachDSN(t, func(t *testing.T, database string) {
		must(t, "publish", dir, "--database", database)
		c := newCrawler(t, database)
		for want := range strings.Lines(answers) {
			path, _, _ := strings.Cut(want, " ")
			resp, body := c.fetch(path)
			got := fmt.Sprintf("%s %d %s %s", path, resp.StatusCode, cmp.Or(resp.Header.Get("Location"), "-"), cmp.Or(resp.Header.Get("X-Total-Count"), "-"))
			if resp.StatusCode < 400 {
				got += " " + body
			}
			if got+"\n" != want {
				t.Errorf("answers\n%s\nwant\n%s", got, want)
			}
		}
	})
}
