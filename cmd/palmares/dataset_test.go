package main

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"palmares/internal/testkit"
)

// feed returns the id of the feed of records.
func (p *process) feed() string {
	p.t.Helper()
	_, body := p.get("/data/v1/changes?limit=1")
	_, id, found := strings.Cut(body, `"meta":{"feed":"`)
	if id, _, _ = strings.Cut(id, `"`); !found || id == "" {
		p.t.Fatalf("no feed in %s", body)
	}
	return id
}

func TestARenewedFeedIsAnotherOne(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		must(t, "publish", marked(t, "A", 3), "--database", database)
		p := serveProcess(t, "--database", database, "--quota", "off")
		former := p.feed()
		p.stop()
		must(t, "feed", "renew", "--database", database)
		p = serveProcess(t, "--database", database, "--quota", "off")
		if resp, body := p.get("/data/v1/changes?after=1&feed=" + former); resp.StatusCode != 409 || p.feed() == former {
			t.Errorf("%s %s", resp.Status, body)
		}
	})
}

func TestTheDemoHasAFeedOfItsOwn(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + t.TempDir() + "/palmares.db"
	p := serveProcess(t, "--database", database, "--demo", "on", "--quota", "off")
	former := p.feed()
	if !strings.HasPrefix(former, "demo-") {
		t.Errorf("the feed is %s", former)
	}
	must(t, "publish", marked(t, "A", 200), "--database", database)
	p.until("/api/v1/stats", func(r *http.Response, _ string) bool { return r.Header.Get("X-Service-Version") == "1" })
	if resp, body := p.get("/data/v1/changes?after=1&feed=" + former); resp.StatusCode != 409 {
		t.Errorf("%s %s", resp.Status, body)
	}
}

func TestAServerWithoutAPlaceForExportsServesTheRest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := serveProcess(t, "--database", "sqlite:"+dir+"/palmares.db", "--export-dir", dir+"/file/export", "--demo", "on", "--quota", "off")
	if resp, body := p.get("/data/v1/export"); resp.StatusCode != 503 || !strings.Contains(body, "/data/v1/changes") {
		t.Errorf("%s %s", resp.Status, body)
	}
	for _, path := range []string{"/donnees", "/data/v1/changes?limit=1", "/api/v1/stats"} {
		if resp, body := p.get(path); resp.StatusCode != 200 {
			t.Errorf("%s: %s %s", path, resp.Status, body)
		}
	}
	testkit.Until(t, "the log", func() bool { return p.log.Contains("--export-dir") })
}
