package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"palmares/internal/testkit"
)

var (
	calendarHours   = flag.Int("calendar-hours", 3, "how many hours come while nodes are killed")
	calendarChanges = flag.Int("calendar-changes", 16, "how many changes come in one minute while nodes and the database are killed; at most 200")
)

// calendarFolder returns a folder in which records wait for one hour, all of which mention a word, and other records that are
// drafts, which mention Lagune.
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
		"outils/lagune.md":     "---\ndraft: true\n" + fmt.Sprintf(tool, "Lagune", "lagune", "aliases: [marais]\n", "Un avis sur la plage."),
		"comparatifs/trio.md":  "---\npublished: false\ntitle: La Lagune\ntool_a: ancre\ntool_b: borne\nwinner: borne\nwinner_note: Lagune.\n---\n",
		"pages/plage.md":       "---\ndraft: true\ntitle: Lagune\nmenu: header\n---\nVenez.\n",
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
// failure its address, tells nothing. Drafts are mentioned nowhere.
func (c *crawler) mentions() (paths []string, status map[string]int) {
	c.t.Helper()
	c.found, c.seen = nil, map[string]bool{}
	c.slugs = []string{"zanzibar", "duo", "salon", "adieu", "lagune", "trio", "plage"}
	c.start = []string{
		"/outils/zanzibar", "/outils/zanzibar.md", "/avis/zanzibar", "/avis/ancre", "/alternatives/zanzibar", "/comparatifs/duo", "/salon", "/adieu", "/a-venir", "/calendrier.ics",
		"/media/outils/zanzibar.png", "/data/v1/search?q=salon", "/data/v1/records/outil?slug=ancre", "/data/v1/records/page?slug=salon", "/data/v1/history/zanzibar",
		"/outils/lagune", "/outils/lagune.md", "/outils/marais", "/comparatifs/trio", "/plage", "/data/v1/search?q=plage", "/data/v1/records/comparatif?slug=trio",
	}
	status = map[string]int{}
	for _, path := range append(c.crawl(), "/data/v1/changes") {
		resp, body := c.fetch(path)
		status[path] = resp.StatusCode
		if resp.StatusCode == http.StatusOK && strings.Contains(strings.ToLower(body), "zanzibar") {
			paths = append(paths, path)
		}
		if resp.StatusCode == http.StatusOK && strings.Contains(strings.ToLower(body), "lagune") {
			c.t.Errorf("%s has a draft", path)
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

// A crowdedMinute is a folder in which a day of the year 2099 begins with many changes: each second of its
// first minute has a new tool, a new text of another and a new page, and its first one all announced prices.
type crowdedMinute struct {
	day    string              // in UTC, when it begins in Paris
	from   string              // the day that begins
	events map[string][]string // what each instant changes, as "type slug"
	passed string              // a time when all of it is due
}

// add writes the files of the minute, and returns what is to happen.
func (m crowdedMinute) add(t *testing.T, dir string) crowdedMinute {
	t.Helper()
	m.events = map[string][]string{}
	midnight, err := time.Parse(time.RFC3339, m.day+"T23:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	m.from = midnight.AddDate(0, 0, 1).Format(time.DateOnly)
	tool := "name: T\ndomain: t.example\ncategory: code\npricing: payant\nprice: 1 €/mois\ntagline: %s\nupdated_at: 2026-01-01\n%s---\n"
	for i := range *calendarChanges / 4 {
		name := fmt.Sprintf("%s-%d", m.day, i)
		instant := midnight.Add(time.Duration(i) * time.Second).Format(time.RFC3339)
		publishAt := "publish_at: " + instant + "\n"
		for file, text := range map[string]string{
			"outils/neuf-" + name:           fmt.Sprintf(tool, "Neuf", publishAt),
			"outils/base-" + name:           fmt.Sprintf(tool, "Avant", ""),
			"outils/base-" + name + ".next": fmt.Sprintf(tool, "Après", publishAt),
			"outils/prix-" + name:           fmt.Sprintf(tool, "Cher", "announced:\n  - from: "+m.from+"\n    price: 2 €/mois\n"),
			"pages/page-" + name:            "title: Page\n" + publishAt + "---\nUn texte.\n",
		} {
			writeFile(t, filepath.Join(dir, file+".md"), []byte("---\n"+text))
		}
		m.events[instant] = append(m.events[instant], "tool.created neuf-"+name, "tool.updated base-"+name, "page.updated page-"+name, "catalog.updated ")
		first := midnight.Format(time.RFC3339)
		m.events[first] = append(m.events[first], "pricing.updated prix-"+name, "tool.updated prix-"+name)
	}
	m.passed = midnight.Add(time.Hour).Format(time.RFC3339)
	return m
}

// A siege is three nodes on a PostgreSQL server, all of which are killed again and again.
type siege struct {
	*testing.T
	server          *testkit.PostgresServer
	clock           *databaseClock
	nodes           [3]*process
	kills, failures int // of nodes, and of the database
}

func (s *siege) start(i int) {
	s.nodes[i] = startProcess(s.T, "patient", "--database", s.clock.dsn, "--quota", "off", "--demo", "off")
}

// made returns how many versions have made themselves.
func (s *siege) made() (n int) {
	if err := s.clock.db.QueryRowContext(s.Context(), `SELECT count(*) FROM publications WHERE due <> ''`).Scan(&n); err != nil {
		s.Fatal(err)
	}
	return n
}

// lay kills nodes and the database, each time some versions and some milliseconds later, until a number of
// versions have made themselves.
func (s *siege) lay(versions int) {
	for seen := s.made(); seen < versions; {
		next := min(versions, seen+1+rand.IntN(3))
		testkit.Until(s.T, fmt.Sprintf("version %d of %d that make themselves", next, versions), func() bool {
			seen = s.made()
			return seen >= next
		})
		<-time.After(time.Duration(rand.IntN(40)) * time.Millisecond)
		if i := rand.IntN(4); i < len(s.nodes) {
			s.nodes[i].kill()
			s.start(i)
			s.kills++
			continue
		}
		if err := errors.Join(s.server.Kill(), s.server.Resume()); err != nil {
			s.Fatal(err)
		}
		s.failures++
	}
}

// check compares what has happened with what was to happen.
func (s *siege) check(minutes ...crowdedMinute) {
	st := databases.OpenDSN(s.T, s.clock.dsn)
	versions, err := st.Catalogue.Versions(s.Context(), 1000)
	if err != nil {
		s.Fatal(err)
	}
	due, got, want := map[int64]string{}, map[string][]string{}, map[string][]string{}
	for _, v := range versions {
		if due[v.Number] = v.Due; v.Due != "" {
			got[v.Due] = append(got[v.Due], "version") // once
		}
	}
	for after := int64(0); ; {
		page, err := st.Events.List(s.Context(), after, "", 1000)
		if err != nil {
			s.Fatal(err)
		}
		if len(page.Events) == 0 {
			break
		}
		for _, e := range page.Events {
			if after++; e.Sequence != after {
				s.Fatalf("event %d follows %d", e.Sequence, after-1)
			}
			if hour := due[e.Version]; hour != "" {
				got[hour] = append(got[hour], e.Type+" "+e.Slug)
			}
		}
	}
	p, err := st.Catalogue.Load(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	for _, m := range minutes {
		for instant, events := range m.events {
			want[instant] = append(events, "version")
		}
		for i := range *calendarChanges / 4 {
			name := fmt.Sprintf("%s-%d", m.day, i)
			price := p.Catalog.Tool("prix-" + name)
			if len(price.PriceHistory) != 1 || price.PriceHistory[0].ChangedAt != m.from || price.Price != "2 €/mois" {
				s.Errorf("prix-%s costs %s: %+v", name, price.Price, price.PriceHistory)
			}
			if next := p.Catalog.Tool("base-" + name); next.Tagline != "Après" || p.Catalog.Tool("neuf-"+name) == nil {
				s.Errorf("base-%s: %+v", name, next)
			}
		}
	}
	sorted := cmpopts.SortSlices(func(a, b string) bool { return a < b })
	if diff := cmp.Diff(want, got, sorted); diff != "" {
		s.Errorf("what happened at which hour (-want +got):\n%s", diff)
	}
	for _, n := range s.nodes {
		if n.url == "" {
			n.serves()
		}
		n.until("/data/v1/changes?limit=1", func(_ *http.Response, body string) bool { return strings.Contains(body, p.Feed.State) })
	}
}

// Everything that a minute brings happens once, at its second, although the nodes and the database are
// killed meanwhile; and so it does in an hour after that minute in which no node ran.
func TestEveryChangeOfACrowdedMinuteHappensOnceWhateverIsKilled(t *testing.T) {
	t.Parallel() // it mostly waits
	server, err := testkit.StartPostgres(testkit.PostgresOptions{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := &siege{T: t, server: server, clock: newDatabaseClock(t, server.URL("postgres"))}
	s.clock.db.SetMaxIdleConns(0) // each may be the last of its server
	dir := marked(t, "A", 3)
	seen, missed := crowdedMinute{day: "2099-03-02"}.add(t, dir), crowdedMinute{day: "2099-03-03"}.add(t, dir)
	must(t, "publish", dir, "--database", s.clock.dsn)
	for i := range s.nodes {
		s.start(i)
	}
	for _, n := range s.nodes {
		n.serves()
	}
	begin := time.Now()
	s.clock.exec(`UPDATE faked.clock SET ahead = timestamptz '2099-03-02T22:59:59Z' - now()`)
	s.lay(len(seen.events))
	t.Logf("%d changes at %d instants happened within %s, while nodes were killed %d times and the database %d times",
		*calendarChanges, len(seen.events), time.Since(begin).Round(time.Second), s.kills, s.failures)
	s.check(seen)

	for _, n := range s.nodes {
		n.kill()
	}
	s.clock.exec(fmt.Sprintf(`UPDATE faked.clock SET ahead = timestamptz '%s' - now()`, missed.passed))
	begin, s.kills, s.failures = time.Now(), 0, 0
	for i := range s.nodes {
		s.start(i)
	}
	s.lay(len(seen.events) + len(missed.events))
	t.Logf("an hour late, as many happened within %s, while nodes were killed %d times and the database %d times",
		time.Since(begin).Round(time.Second), s.kills, s.failures)
	s.check(seen, missed)
}
