package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"palmares/internal/record"
	"palmares/internal/testkit"
)

// A follower is a copy of a catalogue, kept by following its feed.
type follower struct {
	feed   string
	next   int64
	hashes map[[2]string]string
}

// follow reads what is new and expects to have the state of the server.
func (m *follower) follow(p *process) {
	p.t.Helper()
	for more := true; more; {
		var page struct {
			Data []struct {
				Kind, Slug, Hash string
				Deleted          bool
				Record           json.RawMessage
			}
			Meta struct {
				Feed, State string
				Next        int64
				More        bool
			}
		}
		resp, body := p.get(fmt.Sprintf("/data/v1/changes?after=%d&limit=7", m.next))
		if err := json.Unmarshal([]byte(body), &page); err != nil || resp.StatusCode != 200 || resp.Header.Get("X-Service-Version") == "" {
			p.t.Fatalf("%v: %s %s", err, resp.Status, body)
		}
		for _, c := range page.Data {
			if c.Deleted {
				delete(m.hashes, [2]string{c.Kind, c.Slug})
				continue
			}
			if m.hashes[[2]string{c.Kind, c.Slug}] = record.Hash(c.Record); c.Hash != record.Hash(c.Record) {
				p.t.Errorf("%s %s has another hash than %s", c.Kind, c.Slug, c.Hash)
			}
		}
		if m.feed, m.next, more = page.Meta.Feed, page.Meta.Next, page.Meta.More; more {
			continue
		}
		var all []record.Change
		for key, hash := range m.hashes {
			all = append(all, record.Change{Kind: record.Kind(key[0]), Slug: key[1], Hash: hash})
		}
		if got := record.State(all); got != page.Meta.State {
			p.t.Errorf("the copy has the state %s, the server %s", got, page.Meta.State)
		}
	}
}

func newFollower() *follower { return &follower{hashes: map[[2]string]string{}} }

func TestACopyFollowsPublicationsAndRestarts(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		p := serveProcess(t, "--database", database, "--quota", "off")
		m := newFollower()
		m.follow(p)
		for i, mark := range []string{"A", "B", "C"} {
			must(t, "publish", marked(t, mark, 20-i), "--database", database, "--allow-removals")
			p.until("/api/v1/stats", func(r *http.Response, _ string) bool { return r.Header.Get("X-Service-Version") == fmt.Sprint(i+1) })
			m.follow(p)
			if len(m.hashes) != 20-i+1 {
				t.Errorf("%d records after publication %d", len(m.hashes), i+1)
			}
		}
		feed, next := m.feed, m.next
		p.stop()
		p = serveProcess(t, "--database", database, "--quota", "off")
		if m.follow(p); m.feed != feed || m.next != next {
			t.Errorf("after a restart: %s at %d, was %s at %d", m.feed, m.next, feed, next)
		}
		if resp, body := p.get(fmt.Sprintf("/data/v1/changes?after=%d", next+1)); resp.StatusCode != 409 || !strings.Contains(body, "foreign_cursor") {
			t.Errorf("%s %s", resp.Status, body)
		}
	})
}

func TestARenewedFeedIsAnotherOne(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		must(t, "publish", marked(t, "A", 3), "--database", database)
		p := serveProcess(t, "--database", database, "--quota", "off")
		m := newFollower()
		m.follow(p)
		p.stop()
		must(t, "feed", "renew", "--database", database)
		p = serveProcess(t, "--database", database, "--quota", "off")
		if resp, body := p.get(fmt.Sprintf("/data/v1/changes?after=%d&feed=%s", m.next, m.feed)); resp.StatusCode != 409 {
			t.Errorf("%s %s", resp.Status, body)
		}
		again := newFollower()
		if again.follow(p); again.feed == m.feed || len(again.hashes) != len(m.hashes) {
			t.Errorf("%d records of %s", len(again.hashes), again.feed)
		}
	})
}

func TestTheDemoHasAFeedOfItsOwn(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + t.TempDir() + "/palmares.db"
	p := serveProcess(t, "--database", database, "--demo", "on", "--quota", "off")
	m := newFollower()
	if m.follow(p); !strings.HasPrefix(m.feed, "demo-") || len(m.hashes) < 66 {
		t.Errorf("%d records of %s", len(m.hashes), m.feed)
	}
	must(t, "publish", marked(t, "A", 200), "--database", database)
	p.until("/api/v1/stats", func(r *http.Response, _ string) bool { return r.Header.Get("X-Service-Version") == "1" })
	if resp, body := p.get(fmt.Sprintf("/data/v1/changes?after=%d&feed=%s", m.next, m.feed)); resp.StatusCode != 409 {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// A killed process leaves a part of an export behind. The next one removes it, writes the
// export anew, and the one after that finds it.
func TestAnExportSurvivesKillsAndRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database, exports := "sqlite:"+dir+"/palmares.db", dir+"/palmares.db-export"
	folder := t.TempDir() + "/catalogue"
	must(t, "generate", folder, "--tools", "1000")
	must(t, "publish", folder, "--database", database)
	folders := func(pattern string) []string {
		found, err := filepath.Glob(exports + "/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	p := serveProcess(t, "--database", database, "--quota", "off")
	request, err := http.NewRequestWithContext(t.Context(), "GET", p.url+"/data/v1/export", nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() {
		resp, err := client.Do(request)
		if err == nil {
			err = resp.Body.Close()
		}
		asked <- err
	}()
	testkit.Until(t, "writing", func() bool { return len(folders("building-*/outils.ndjson.zst"))+len(folders("v1-*")) > 0 })
	p.kill()
	<-asked
	p = serveProcess(t, "--database", database, "--quota", "off")
	testkit.Until(t, "removing what is left", func() bool { return len(folders("building-*")) == 0 })
	body := ""
	p.until("/data/v1/export", func(r *http.Response, b string) bool { body = b; return r.StatusCode == 200 })
	if len(folders("*-*")) != 1 {
		t.Fatalf("%s, with %v", body, folders("*"))
	}
	p.stop()
	written, err := os.Stat(folders("v1-*/manifest.json")[0])
	if err != nil {
		t.Fatal(err)
	}
	p = serveProcess(t, "--database", database, "--quota", "off")
	if _, again := p.get("/data/v1/export"); again != body {
		t.Errorf("another manifest after a restart: %s", again)
	}
	if now, err := os.Stat(folders("v1-*/manifest.json")[0]); err != nil || !now.ModTime().Equal(written.ModTime()) {
		t.Errorf("the export was written again after a restart: %v", err)
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
