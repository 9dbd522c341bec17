package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var calendarHours = flag.Int("calendar-hours", 3, "how many hours come while nodes are killed")

// calendarFolder returns a folder in which records wait for one hour, all of which mention a word.
func calendarFolder(t *testing.T) string {
	t.Helper()
	dir := marked(t, "A", 3)
	tool := "name: %s\ndomain: %s.example\ncategory: code\npricing: payant\nprice: 2 €/mois\ntagline: Un outil\nscore: 8\n%s---\n%s\n"
	for name, text := range map[string]string{
		"outils/ancre.md":      "---\n" + fmt.Sprintf(tool, "Ancre", "ancre", "", "Un avis."),
		"outils/borne.md":      "---\n" + fmt.Sprintf(tool, "Borne", "borne", "announced:\n  - from: 2099-05-01\n    price: 3 €/mois\n", "Un avis."),
		"outils/ancre.next.md": "---\npublish_at: 2099-03-02T09:00\n" + fmt.Sprintf(tool, "Ancre", "ancre", "", "Un avis sur Zanzibar."),
		"outils/zanzibar.md":   "---\npublish_at: 2099-03-02T09:00\n" + fmt.Sprintf(tool, "Zanzibar", "zanzibar", "image: images/zanzibar.png\n", "Un avis."),
		"comparatifs/duo.md":   "---\npublish_at: 2099-03-02T09:00\ntitle: Zanzibar ou Borne\ntool_a: zanzibar\ntool_b: borne\nwinner: borne\nwinner_note: Net.\n---\n",
		"pages/salon.md":       "---\npublish_at: 2099-03-02T09:00\ntitle: Zanzibar au salon\nmenu: header\n---\nVenez.\n",
		"pages/adieu.md":       "---\nunpublish_at: 2099-03-02T09:00\ntitle: Adieu\n---\nBientôt fini.\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "images"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "images", "zanzibar.png"), picture.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mentions returns the paths at which a server mentions the word of calendarFolder, among all that can
// be reached and those of its records, and the status of each. That a search repeats its words, and a
// failure its address, tells nothing.
func (c *crawler) mentions() (paths []string, status map[string]int) {
	c.t.Helper()
	c.found, c.seen = nil, map[string]bool{}
	c.slugs = []string{"zanzibar", "duo", "salon", "adieu"}
	c.start = []string{
		"/outils/zanzibar", "/outils/zanzibar.md", "/avis/zanzibar", "/avis/ancre", "/alternatives/zanzibar", "/comparatifs/duo", "/salon", "/adieu", "/a-venir", "/calendrier.ics",
		"/media/outils/zanzibar.png", "/data/v1/search?q=salon", "/data/v1/records/outil?slug=ancre", "/data/v1/records/page?slug=salon", "/data/v1/history/zanzibar",
	}
	status = map[string]int{}
	for _, path := range append(c.crawl(), "/data/v1/changes") {
		resp, body := c.fetch(path)
		status[path] = resp.StatusCode
		if resp.StatusCode == http.StatusOK && strings.Contains(strings.ToLower(body), "zanzibar") {
			paths = append(paths, path)
		}
	}
	return paths, status
}

func TestWhatIsScheduledIsNowhereBeforeItsHourAndEverywhereAfter(t *testing.T) {
	clock := newDatabaseClock(t, databases.Postgres(t))
	must(t, "publish", calendarFolder(t), "--database", clock.dsn)
	clock.exec(`UPDATE faked.clock SET ahead = timestamptz '2099-03-02T07:00:00Z' - now()`)
	c := newCrawler(t, clock.dsn, "--demo", "off")
	before, status := c.mentions()
	if len(before) > 0 || status["/adieu"] != http.StatusOK || status["/salon"] != http.StatusNotFound || status["/media/outils/zanzibar.png"] == http.StatusOK {
		t.Errorf("before its hour it is at %q; %v", before, status)
	}
	clock.exec(`UPDATE faked.clock SET ahead = timestamptz '2099-03-02T08:00:00Z' - now()`)
	c.until("/salon", func(resp *http.Response, _ string) bool { return resp.StatusCode == http.StatusOK })
	after, status := c.mentions()
	for _, path := range []string{
		"/", "/outils/zanzibar", "/outils/zanzibar.md", "/avis/ancre", "/comparatifs/duo", "/salon", "/sitemap.xml", "/flux.atom", "/api/v1/tools", "/api/v1/tools/zanzibar",
		"/data/v1/records/outil?slug=ancre", "/data/v1/records/page?slug=salon", "/data/v1/changes",
	} {
		if !slices.Contains(after, path) {
			t.Errorf("after its hour it is not at %s (%d)", path, status[path])
		}
	}
	if status["/adieu"] != http.StatusGone {
		t.Errorf("/adieu: %d", status["/adieu"])
	}
	if again := must(t, "publish", calendarFolder(t), "--database", clock.dsn); !strings.Contains(again, "nothing changed: version 2 stands") {
		t.Errorf("the same folder changes something: %s", again)
	}
}

// versionHours returns the hours at which versions made themselves, oldest first.
func versionHours(t *testing.T, database string) (hours []string) {
	t.Helper()
	for line := range strings.Lines(must(t, "log", "--json", "--limit", "1000", "--database", database)) {
		var v struct{ Due string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err, line)
		}
		if v.Due != "" {
			hours = append(hours, v.Due)
		}
	}
	slices.Reverse(hours)
	return hours
}

// Three nodes make one version of every hour, although one of them is killed at each.
func TestEveryHourComesOnceWhileNodesAreKilled(t *testing.T) {
	clock := newDatabaseClock(t, databases.Postgres(t))
	dir := marked(t, "A", 3)
	if err := os.Mkdir(filepath.Join(dir, "pages"), 0o700); err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2099, 3, 2, 8, 0, 0, 0, time.UTC)
	var want []string
	for i := range *calendarHours {
		hour := begin.Add(time.Duration(i) * time.Hour).Format(time.RFC3339)
		want = append(want, hour)
		text := fmt.Sprintf("---\ntitle: Page %d\npublish_at: %s\n---\nUn texte.\n", i, hour)
		if err := os.WriteFile(filepath.Join(dir, "pages", fmt.Sprintf("page-%d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "publish", dir, "--database", clock.dsn)
	start := func() *process { return serveProcess(t, "--database", clock.dsn, "--quota", "off", "--demo", "off") }
	nodes := []*process{start(), start(), start()}
	var slowest time.Duration
	for i, hour := range want {
		clock.exec(fmt.Sprintf(`UPDATE faked.clock SET ahead = timestamptz '%s' - now()`, hour))
		set := time.Now()
		killed := nodes[i%3]
		killed.killed = true
		if err := killed.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		nodes[(i+1)%3].until(fmt.Sprintf("/page-%d", i), func(resp *http.Response, _ string) bool { return resp.StatusCode == http.StatusOK })
		slowest = max(slowest, time.Since(set))
		nodes[i%3] = start()
	}
	t.Logf("%d hours, the slowest page was there after %s", len(want), slowest.Round(time.Millisecond))
	if got := versionHours(t, clock.dsn); !slices.Equal(got, want) {
		t.Errorf("versions made themselves at %v, want %v", got, want)
	}
}
