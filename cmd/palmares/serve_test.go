package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestTheDemoIsServedUntilSomethingIsPublished(t *testing.T) {
	t.Parallel()
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
	if len(seen) < 25 {
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
var mediaPaths = regexp.MustCompile(`/media/[0-9a-f]{64}[\w-]*\.\w+`)

func TestWithoutTheDemoNothingIsServedUntilSomethingIsPublished(t *testing.T) {
	t.Parallel()
	s := serveProcess(t, "--demo", "off", "--database", databases.SQLite(t))
	resp, body := s.get("/api/v1/tools")
	if resp.StatusCode != 200 || body != `{"data":[],"meta":{"total":0,"page":1,"limit":50,"pages":0}}` || resp.Header.Get("X-Service-Updated-At") != "1970-01-01" {
		t.Errorf("%s %v %s", resp.Status, resp.Header, body)
	}
	if resp, _ := s.get("/readyz"); resp.StatusCode != 200 {
		t.Errorf("readyz: %s", resp.Status)
	}
}

func TestAVersionCanBeSearchedAsSoonAsItIsServed(t *testing.T) {
	t.Parallel()
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
