package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTheDemoIsServedUntilSomethingIsPublished(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, database string) {
		s := serveProcess(t, "--database", database, "--demo", "on", "--quota", "off")
		var stats struct {
			ToolsTotal int `json:"tools_total"`
		}
		resp, body := s.get("/api/v1/stats")
		if err := json.Unmarshal([]byte(body), &stats); err != nil || stats.ToolsTotal < 60 {
			t.Fatalf("%s %v", body, err)
		}
		if !strings.Contains(s.log.String(), "demo") || resp.Header.Get("X-Service-Updated-At") == "" {
			t.Errorf("the log at start: %s", s.log)
		}
		_, tool := s.get("/api/v1/tools/varlope")
		if !strings.Contains(tool, `"canonical_url":"`+s.url+`/outils/varlope"`) {
			t.Errorf("the demo's URLs are not the server's: %s", tool)
		}
		for _, path := range []string{"/", "/licence", "/healthz", "/readyz"} {
			if resp, _ := s.get(path); resp.StatusCode != 200 {
				t.Errorf("%s: %s", path, resp.Status)
			}
		}
		must(t, "publish", marked(t, "A", 3), "--database", database)
		s.until("/api/v1/stats", func(_ *http.Response, body string) bool { return strings.Contains(body, `"tools_total":3,`) })
	})
}

func TestThePicturesOfTheDemoAreServedUntilSomethingIsPublished(t *testing.T) {
	database, folder := databases.SQLite(t), marked(t, "A", 3)
	t.Setenv("TMPDIR", "/nonexistent") // as in a container with a read-only file system
	s := serveProcess(t, "--database", database, "--demo", "on", "--quota", "off")
	seen := map[string]bool{}
	for _, page := range []string{"/", "/outils", "/outils/ocrelune", "/avis/babilune", "/comparatifs/mandibule-vs-escouade", "/methode"} {
		resp, body := s.get(page)
		found := mediaPaths.FindAllString(body, -1)
		if resp.StatusCode != 200 || len(found) == 0 {
			t.Errorf("%s: %s, with %d pictures", page, resp.Status, len(found))
		}
		for _, path := range found {
			if seen[path] {
				continue
			}
			seen[path] = true
			resp, body := s.get(path)
			h := resp.Header
			if resp.StatusCode != 200 || h.Get("Content-Type") != http.DetectContentType([]byte(body)) || !strings.HasPrefix(h.Get("Content-Type"), "image/") || !strings.Contains(h.Get("Cache-Control"), "immutable") {
				t.Errorf("%s on %s: %s %v", path, page, resp.Status, h)
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("only %d pictures", len(seen))
	}
	must(t, "publish", folder, "--database", database)
	s.until("/api/v1/stats", func(_ *http.Response, body string) bool { return strings.Contains(body, `"tools_total":3,`) })
	for path := range seen {
		if resp, _ := s.get(path); resp.StatusCode != 404 {
			t.Errorf("%s after a publication: %s", path, resp.Status)
		}
	}
}

// mediaPaths finds the addresses of pictures.
var mediaPaths = regexp.MustCompile(`/media/[0-9a-f]{64}\.\w+`)

func TestWithoutTheDemoNothingIsServedUntilSomethingIsPublished(t *testing.T) {
	s := serveProcess(t, "--demo", "off", "--database", databases.SQLite(t))
	resp, body := s.get("/api/v1/tools")
	if resp.StatusCode != 200 || body != `{"data":[],"meta":{"total":0,"page":1,"limit":50,"pages":0}}` || resp.Header.Get("X-Service-Updated-At") != "1970-01-01" {
		t.Errorf("%s %v %s", resp.Status, resp.Header, body)
	}
	if resp, _ := s.get("/readyz"); resp.StatusCode != 200 {
		t.Errorf("readyz: %s", resp.Status)
	}
}

// TestKilledPublicationsTearNothing publishes one of two catalogues again and
// again, kills the publishing process at another point each time, and reads all
// the while: every answer is entirely from one of them.
func TestKilledPublicationsTearNothing(t *testing.T) {
	const tools, kills = 1500, 12
	a, b := marked(t, "A", tools), marked(t, "B", tools)
	databases.EachDSN(t, func(t *testing.T, database string) {
		begin := time.Now()
		must(t, "publish", a, "--database", database)
		took := time.Since(begin)
		s := serveProcess(t, "--database", database, "--quota", "off")
		ctx, stop := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() { readWhole(ctx, s, tools) })
		}
		killed := 0
		for i := range kills {
			// From before it has read the folder to after it has committed.
			if publishKilled(t, []string{b, a}[i%2], database, took*time.Duration(i)/(kills-2)) {
				killed++
			}
		}
		stop()
		readers.Wait()
		t.Logf("%d of %d publications were killed", killed, kills)
		checkEvents(t, database)
		must(t, "publish", b, "--database", database)
		must(t, "publish", a, "--database", database)
		checkEvents(t, database)
	})
}

// readWhole reads pages and expects each to be entirely of one mark.
func readWhole(ctx context.Context, s *process, tools int) {
	for page := 1; ctx.Err() == nil; page = page%8 + 1 {
		_, body, err := s.try(fmt.Sprintf("/api/v1/tools?limit=200&page=%d", page))
		if err != nil {
			s.t.Errorf("a read failed: %v", err)
			return
		}
		ofA, ofB := strings.Count(body, `"tagline":"A"`), strings.Count(body, `"tagline":"B"`)
		if ofA != 0 && ofB != 0 || ofA+ofB != min(200, tools-200*(page-1)) {
			s.t.Errorf("page %d has %d tools of A and %d of B", page, ofA, ofB)
			return
		}
	}
}

// checkEvents expects one sequence without gaps, and the catalogue in the state of
// its last event.
func checkEvents(t *testing.T, database string) {
	t.Helper()
	st := databases.OpenDSN(t, database)
	next := int64(1)
	for {
		page, err := st.Events.List(t.Context(), next-1, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Events) == 0 {
			break
		}
		for _, e := range page.Events {
			if e.Sequence != next {
				t.Fatalf("event %d follows %d", e.Sequence, next-1)
			}
			next++
		}
	}
	published, err := st.Catalogue.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range published.Catalog.Tools {
		if tool.Tagline != published.Catalog.Tools[0].Tagline {
			t.Fatalf("the stored catalogue is a mix: %s and %s", tool.Tagline, published.Catalog.Tools[0].Tagline)
		}
	}
}

func TestStoppingIsCleanAndSaysNothingSecret(t *testing.T) {
	database := databases.SQLite(t)
	must(t, "account", "create", "ada@example.org", "--database", database)
	key := strings.TrimSpace(must(t, "key", "create", "ada@example.org", "--name", "x", "--database", database))
	s := serveProcess(t, "--database", database, "--demo", "on", "--ops-listen", "localhost:0")
	if resp, _ := s.get("/api/embeddings/varlope", "Authorization: Bearer "+key); resp.StatusCode != 200 {
		t.Errorf("embeddings with a key: %s", resp.Status)
	}
	if resp, _ := s.get("/api/embeddings/varlope"); resp.StatusCode != 401 {
		t.Errorf("embeddings without: %s", resp.Status)
	}
	s.stop()
	if s.log.Contains(key[4:]) {
		t.Error("the log has the key")
	}
}

func TestAVersionCanBeSearchedAsSoonAsItIsServed(t *testing.T) {
	const tools = 5000
	database := databases.SQLite(t)
	must(t, "publish", marked(t, "Zibeline", tools), "--database", database)
	s := serveProcess(t, "--database", database, "--quota", "off")
	finds := func(word string) {
		t.Helper()
		if _, body := s.get("/outils.md?q=" + word); !strings.Contains(body, "5\u202f000\u00a0outils") {
			t.Errorf("right after the version was served, %s is not found in it:\n%.300s", word, body)
		}
	}
	finds("zibeline")
	must(t, "publish", marked(t, "Mangouste", tools), "--database", database)
	s.until("/api/v1/tools/t0", func(_ *http.Response, body string) bool { return strings.Contains(body, "Mangouste") })
	finds("mangouste")
}
