package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"palmares/internal/record"
)

// A mirrored is a copy of a catalogue, kept by following its feed.
type mirrored struct {
	feed   string
	next   int64
	hashes map[[2]string]string
}

// follow reads what is new and expects to have the state of the server.
func (m *mirrored) follow(p *process) {
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

func newMirrored() *mirrored { return &mirrored{hashes: map[[2]string]string{}} }

func TestACopyFollowsPublicationsAndRestarts(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, database string) {
		p := serveProcess(t, "--database", database, "--quota", "off")
		m := newMirrored()
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

func TestTheDemoHasAFeedOfItsOwn(t *testing.T) {
	database := "sqlite:" + t.TempDir() + "/palmares.db"
	p := serveProcess(t, "--database", database, "--demo", "on", "--quota", "off")
	m := newMirrored()
	if m.follow(p); !strings.HasPrefix(m.feed, "demo-") || len(m.hashes) < 66 {
		t.Errorf("%d records of %s", len(m.hashes), m.feed)
	}
	must(t, "publish", marked(t, "A", 200), "--database", database)
	p.until("/api/v1/stats", func(r *http.Response, _ string) bool { return r.Header.Get("X-Service-Version") == "1" })
	if resp, body := p.get(fmt.Sprintf("/data/v1/changes?after=%d&feed=%s", m.next, m.feed)); resp.StatusCode != 409 {
		t.Errorf("%s %s", resp.Status, body)
	}
}
