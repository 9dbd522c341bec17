package main

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A crawler finds what a server answers.
type crawler struct {
	*process
	key   string
	start []string // paths that no page links to
	slugs []string // of records that no list has
	found []string
	seen  map[string]bool
}

func newCrawler(t *testing.T, database string, args ...string) *crawler {
	t.Helper()
	key := customer(t, database, "ada@example.org", "pro", 1)[0]
	address := freeAddress(t)
	p := serveProcess(t, append([]string{"--database", database, "--quota", "off", "--listen", address, "--base-url", "https://rabot.example"}, args...)...)
	p.url = "http://" + address
	return &crawler{process: p, key: key, seen: map[string]bool{}}
}

// answer returns everything of an answer that must be the same in a copy. Feeds tell the
// events of their database, and /donnees has its version.
func (c *crawler) answer(path string) string {
	c.t.Helper()
	resp, body := c.fetch(path)
	if strings.HasSuffix(path, ".atom") || strings.HasPrefix(path, "/donnees") {
		return resp.Status
	}
	text := resp.Status + "\n"
	for _, name := range []string{"Content-Type", "Etag", "Location", "Cache-Control", "X-Total-Count", "X-Service-Updated-At"} {
		text += name + ": " + resp.Header.Get(name) + "\n"
	}
	for _, link := range resp.Header.Values("Link") {
		text += "Link: " + link + "\n"
	}
	return text + "\n" + body
}

// fetch sends one request and follows no redirect.
func (c *crawler) fetch(path string) (*http.Response, string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.url+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if name, value, _ := strings.Cut(c.key, ": "); strings.HasPrefix(path, "/api/") {
		req.Header.Set(name, value)
	}
	resp, err := client.Transport.RoundTrip(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp, string(body)
}

var (
	linkPattern = regexp.MustCompile(`(?:href|src|action)="([^"]*)"|\]\(([^)\s]*)\)|https://rabot\.example(/[^\s"'<>)]*)|(/media/[0-9a-f]{64}[\w-]*\.\w+)`)
	slugPattern = regexp.MustCompile(`"slug":\s?"([a-z0-9-]+)"`)
)

// crawl returns every path of the site that can be reached, and every one of the API.
func (c *crawler) crawl() []string {
	c.t.Helper()
	slugs, templates := map[string]bool{}, c.operations()
	for _, slug := range c.slugs {
		slugs[slug] = true
	}
	for _, path := range append(c.start, "/", "/sitemap.xml", "/robots.txt", "/llms.txt", "/flux.atom") {
		c.add(path)
	}
	for _, path := range templates {
		if !strings.Contains(path, "{slug}") {
			c.add(path)
		}
	}
	for i := 0; i < len(c.found); i++ {
		resp, body := c.fetch(c.found[i])
		if resp.StatusCode >= 500 {
			c.t.Errorf("%s: %s", c.found[i], resp.Status)
		}
		if strings.HasPrefix(c.found[i], "/api/") {
			for _, m := range slugPattern.FindAllStringSubmatch(body, -1) {
				slugs[m[1]] = true
			}
		}
		for slug := range slugs {
			for _, path := range templates {
				if strings.Contains(path, "{slug}") {
					c.add(strings.Replace(path, "{slug}", slug, 1))
				}
			}
		}
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "image/") {
			continue
		}
		for _, m := range linkPattern.FindAllStringSubmatch(body+` href="`+html.EscapeString(resp.Header.Get("Location"))+`"`, -1) {
			path, _, _ := strings.Cut(html.UnescapeString(m[1]+m[2]+m[3]+m[4]), "#")
			c.add(strings.TrimPrefix(path, "https://rabot.example"))
		}
	}
	slices.Sort(c.found)
	return c.found
}

// add adds a path unless it was seen. Pages of accounts differ with every visit.
func (c *crawler) add(path string) {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "{}") || c.seen[path] {
		return
	}
	for _, own := range []string{"/compte", "/data/v1/export", "/data/v1/changes"} { // of each database
		if strings.HasPrefix(path, own) {
			return
		}
	}
	c.seen[path] = true
	c.found = append(c.found, path)
}

// operations returns the paths of the API's document.
func (c *crawler) operations() (paths []string) {
	c.t.Helper()
	var document struct{ Paths map[string]any }
	_, body := c.fetch("/api/v1/openapi.json")
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		c.t.Fatal(err)
	}
	for path := range document.Paths {
		paths = append(paths, path)
	}
	return paths
}
