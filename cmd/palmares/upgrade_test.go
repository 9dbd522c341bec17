package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"palmares/internal/testkit"
)

// nextRelease builds a palmares with one more step of the tables, which only adds.
func nextRelease(t *testing.T) string {
	t.Helper()
	steps, err := filepath.Glob("../../internal/store/migrations/*.sql")
	if err != nil || len(steps) == 0 {
		t.Fatal("no migrations", err)
	}
	dir := t.TempDir()
	step := filepath.Join(dir, "step.sql")
	if err := os.WriteFile(step, []byte(`
		CREATE TABLE next_release (id TEXT NOT NULL PRIMARY KEY);
		ALTER TABLE accounts ADD COLUMN nickname TEXT NOT NULL DEFAULT '';
		ALTER TABLE usage ADD COLUMN colour TEXT NOT NULL DEFAULT '';`), 0o600); err != nil {
		t.Fatal(err)
	}
	place, err := filepath.Abs(fmt.Sprintf("../../internal/store/migrations/%04d_next.sql", len(steps)+1))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {place: step}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(dir, "palmares-next")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "-o", built, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return built
}

func TestThisReleaseAndTheNextServeSideBySide(t *testing.T) {
	next := nextRelease(t)
	database := testkit.Postgres(t)
	key := customer(t, database, "ada@example.org", "developer", 1)[0]
	old := serveProcess(t, "--database", database)
	command := palmares(context.WithoutCancel(t.Context()), "serve", "--listen", "localhost:0", "--drain", "0s", "--database", database)
	command.Path = next
	newer := startCommand(t, command).serves()
	for _, n := range []*served{old, newer} { // the document is free: the key is known below
		n.until("/api/v1/openapi.json", func(r *http.Response, _ string) bool { return r.StatusCode == 200 }, key)
	}
	remaining := 1000
	count := func(nodes ...*served) {
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
	for _, n := range []*served{old, newer} {
		n.until("/api/v1/tools?limit=1", func(_ *http.Response, body string) bool { return strings.Contains(body, `"tagline":"A"`) })
	}
	old.stop()
	old = serveProcess(t, "--database", database) // an old node starts again among new ones
	old.until("/api/v1/openapi.json", func(r *http.Response, _ string) bool { return r.StatusCode == 200 }, key)
	count(old, newer)
	if log := newer.log.String(); strings.Contains(log, "counted on this node alone") {
		t.Errorf("the new node counted alone:\n%s", log)
	}
	db, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows int
	if err := db.QueryRow(`SELECT count(*) FROM next_release`).Scan(&rows); err != nil {
		t.Errorf("the new node has not taken its step: %v", err)
	}
}
