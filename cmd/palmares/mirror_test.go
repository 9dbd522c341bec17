package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"palmares/internal/testkit"
)

// make chaos has many more publications and kills, and crawls after each publication.
var (
	mirrorPublications = flag.Int("publications", 3, "how often the origin of mirrors publishes")
	mirrorCrawls       = flag.Int("crawl-every", 3, "after how many publications the mirrors are compared with their origin")
	mirrorKills        = flag.Int("mirror-kills", 1, "how often a mirror is killed while it copies")
)

// An edition is the folder of a catalogue that changes all the time.
type edition struct {
	t    *testing.T
	dir  string
	step int
}

func (e *edition) write(name, text string) {
	e.t.Helper()
	writeFile(e.t, filepath.Join(e.dir, name), []byte(text))
}

func (e *edition) remove(name string) {
	e.t.Helper()
	if err := os.Remove(filepath.Join(e.dir, name)); err != nil {
		e.t.Fatal(err)
	}
}

// tool writes a tool with some more fields.
func (e *edition) tool(slug, price, fields string) {
	e.t.Helper()
	e.write("outils/"+slug+".md", fmt.Sprintf("---\nname: Outil %s\ndomain: %s.example\ncategory: code\npricing: payant\nprice: %s\ntagline: Un outil de plus\nscore: %d\ntested_at: 2026-10-01\nlogo: images/%s.png\n%s---\nUn avis.\n\n## Suite\n\nVoir [Plume](plume.md) et ![l’écran](/images/%s.png).\n",
		slug, slug, price, 5+e.step%5, "etape", fields, "etape"))
}

// next makes the next of the changes: every kind of them, in turn.
func (e *edition) next() {
	e.t.Helper()
	round, slug := e.step/7, fmt.Sprintf("neuf-%d", e.step/7)
	switch e.step % 7 {
	case 0: // a new tool, and a new picture that others use, too
		picture := magazinePictures(e.t)[[]string{"titre.png", "plume/logo.png", "banc.png"}[round%3]]
		writeFile(e.t, filepath.Join(e.dir, "images/etape.png"), picture)
		e.tool(slug, "10 €/mois", "")
	case 1: // another price and other figures
		e.tool(slug, "12 €/mois", "verifiability: 4\nscore_note: Relu.\n")
	case 2: // a rename
		e.remove("outils/" + slug + ".md")
		e.tool(slug+"-bis", "12 €/mois", "aliases: ["+slug+"]\n")
	case 3: // a retirement
		e.remove("outils/" + slug + "-bis.md")
		e.write("cimetiere/"+slug+"-bis.md", "---\nname: Neuf\ncategory: code\nreason: mort\nretired_at: 2026-11-01\nsuccessor: plume\n---\nIl a *fermé*.\n")
	case 4: // a restoration
		e.remove("cimetiere/" + slug + "-bis.md")
		e.tool(slug+"-bis", "15 €/mois", "")
	case 5: // two tools become one, a page comes, and drafts that nobody sees
		e.remove("outils/" + slug + "-bis.md")
		e.tool(slug, "15 €/mois", "aliases: ["+slug+"-bis]\n")
		e.write("pages/etape.md", fmt.Sprintf("---\ntitle: Étape %d\nmenu: header\n---\nUne page.\n", e.step))
		e.write("pages/brouillon.md", fmt.Sprintf("---\ntitle: Étape %d\ndraft: true\n---\nUne page.\n", e.step))
	case 6: // the settings
		text, err := os.ReadFile(filepath.Join(e.dir, "catalogue.yaml"))
		if err != nil {
			e.t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "\n")
		e.write("catalogue.yaml", fmt.Sprintf("name: Le Rabot %d\n%s", e.step, rest))
	}
	e.step++
}

// state returns the state of what a server serves, and the day of its last update.
func (p *process) state() string {
	p.t.Helper()
	resp, body, err := p.try("/data/v1/changes?limit=1")
	if err != nil {
		return err.Error()
	}
	var page struct{ Meta struct{ State string } }
	_ = json.Unmarshal([]byte(body), &page) // a server that starts says something else
	return page.Meta.State + " of " + resp.Header.Get("X-Service-Updated-At")
}

// follows waits until a mirror has what its origin has.
func (p *process) follows(origin *process) {
	p.t.Helper()
	want, got := origin.state(), ""
	if !testkit.Await(func() bool { got = p.state(); return got == want }) {
		p.t.Fatalf("the mirror has %s, the origin %s\n%s", got, want, p.log)
	}
}

// records returns the paths of all records under /data, and of the histories of tools.
func (p *process) records() (paths []string) {
	p.t.Helper()
	var page struct{ Data []struct{ Kind, Slug string } }
	if _, body := p.get("/data/v1/changes?limit=1000"); json.Unmarshal([]byte(body), &page) != nil {
		p.t.Fatal(body)
	}
	for _, c := range page.Data { // also those that are no longer there
		paths = append(paths, "/data/v1/records/"+c.Kind+"?slug="+c.Slug)
		if c.Kind == "outil" {
			paths = append(paths, "/data/v1/history/"+c.Slug)
		}
	}
	return paths
}

// isOwn reports whether a page says something about its server.
func isOwn(path string) bool {
	return path == "/donnees" || path == "/donnees.md" || strings.HasPrefix(path, "/data/v1/export") || strings.HasPrefix(path, "/data/v1/changes")
}

// TestAMirrorOfAMirrorAnswersAsItsOrigin follows every link of the site after publications,
// asks the API for everything, and compares the responses of an origin, of its mirror, and of a
// mirror of that, while others read from them.
func TestAMirrorOfAMirrorAnswersAsItsOrigin(t *testing.T) {
	t.Parallel()
	database := databases.SQLite(t)
	e := &edition{t: t, dir: publishMagazine(t, database)}
	now := magazineDays[len(magazineDays)-1]
	origin := newCrawler(t, database)
	nodes := []*crawler{origin}
	for _, database := range []string{databases.Postgres(t), databases.SQLite(t)} {
		behind := nodes[len(nodes)-1]
		nodes = append(nodes, newCrawler(t, database, "--mirror", behind.url, "--mirror-interval", "200ms"))
	}
	stop := readAlways(t, nodes)
	defer stop()
	for i := range *mirrorPublications + 1 {
		if i > 0 {
			e.next()
			now = now.Add(24 * time.Hour)
			publishOn(t, now, e.dir, database)
			want := fmt.Sprint(len(magazineDays) + i)
			origin.until("/api/v1/stats", func(r *http.Response, _ string) bool { return r.Header.Get("X-Service-Version") == want })
		}
		for _, node := range nodes[1:] {
			node.follows(origin.process)
		}
		if i%*mirrorCrawls == 0 && i > 0 {
			compareNodes(t, nodes, fmt.Sprintf("publication %d", i))
		}
		if t.Failed() {
			return
		}
	}
}

// compareNodes crawls the first node and compares all answers with those of the others.
func compareNodes(t *testing.T, nodes []*crawler, when string) {
	t.Helper()
	origin := nodes[0]
	origin.found, origin.seen, origin.start = nil, map[string]bool{}, origin.records()
	paths := slices.DeleteFunc(origin.crawl(), isOwn)
	pictures := 0
	for _, path := range paths {
		if strings.HasPrefix(path, "/media/") {
			pictures++
		}
		want := origin.answer(path)
		for i, node := range nodes[1:] {
			if got := node.answer(path); got != want {
				t.Errorf("%s: %s differs at mirror %d:\n%.2000s\n--- origin:\n%.2000s", when, path, i+1, got, want)
				return
			}
		}
	}
	if len(paths) < 150 || pictures < 5 {
		t.Errorf("%s: only %d paths and %d pictures were compared", when, len(paths), pictures)
	}
}

// readAlways reads from all nodes until the returned function is called: no answer may be
// an error.
func readAlways(t *testing.T, nodes []*crawler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, node := range nodes {
		running.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				path := []string{"/", "/api/v1/tools", "/outils/plume", "/prix", "/data/v1/changes?limit=3"}[i%5]
				resp, _, err := node.try(path)
				if err == nil && resp.StatusCode != http.StatusOK {
					t.Errorf("%s of %s: %s", path, node.url, resp.Status)
					return
				}
				<-time.After(5 * time.Millisecond) // the nodes have more to do
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

func TestAMirrorIsNotReadyBeforeItsFirstCopyAndServesItWithoutItsOrigin(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		source, address, ops := databases.SQLite(t), freeAddress(t), freeAddress(t)
		args := []string{"--database", database, "--quota", "off", "--mirror", "http://" + address, "--mirror-interval", "100ms", "--ops-listen", ops}
		listen := freeAddress(t)
		p := startProcess(t, "patient", append(args, "--listen", listen)...)
		p.url = "http://" + listen
		testkit.Until(t, "the first sentence", func() bool {
			return p.log.Contains("cannot be reached") && p.log.Contains("not ready before the first copy")
		})
		for _, path := range []string{"/readyz", "/", "/api/v1/tools", "/data/v1/changes"} {
			if resp, _ := p.get(path); resp.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s before the first copy: %s", path, resp.Status)
			}
		}
		refuses(t, "mirror of http://"+address, "publish", marked(t, "local", 3), "--database", database)

		must(t, "publish", marked(t, "A", 20), "--database", source)
		origin := serveProcess(t, "--database", source, "--quota", "off", "--listen", address)
		p.serves()
		p.url = "http://" + listen
		p.follows(origin)
		resp, body := p.get("/outils/t1")
		if link := resp.Header.Values("Link"); resp.StatusCode != 200 || !slices.Contains(link, "<http://"+address+`/outils/t1>; rel="canonical"`) || !strings.Contains(body, "T1") {
			t.Errorf("%s %q", resp.Status, link)
		}
		if out := must(t, "verify", origin.url, "--database", database); !strings.HasPrefix(out, "equal: 21 records, sha256-") {
			t.Error(out)
		}
		metrics := &process{t: t, url: "http://" + ops, log: p.log}
		if _, body := metrics.get("/metrics"); !strings.Contains(body, "\npalmares_mirror_age_seconds ") {
			t.Error("there is no age in the metrics")
		}
		want := p.state()
		origin.stop()
		must(t, "publish", marked(t, "B", 19), "--database", source, "--allow-removals")
		refuses(t, "1 missing here, 19 different", "verify", p.url, "--database", source)
		p.stop()

		again := serveProcess(t, args...) // the origin is down
		if got := again.state(); got != want {
			t.Errorf("after a restart: %s, not %s", got, want)
		}
		origin = serveProcess(t, "--database", source, "--quota", "off", "--listen", address)
		again.follows(origin)
		refuses(t, "mirror of http://"+address, "publish", marked(t, "local", 3), "--database", database)
		must(t, "mirror", "reset", "--detach", "--database", database)
		must(t, "publish", marked(t, "local", 3), "--database", database, "--allow-removals")
		testkit.Until(t, "the refusal of a database that is no mirror", func() bool { return again.log.Contains("is no mirror") })
		if again.log.Contains("panic") {
			t.Error(again.log)
		}
	})
}

func TestAMirrorWithAKeyHearsOfPublicationsAtOnce(t *testing.T) {
	source := databases.SQLite(t)
	must(t, "publish", marked(t, "A", 5), "--database", source)
	must(t, "account", "create", "ada@example.org", "--database", source)
	key := strings.TrimSpace(must(t, "key", "create", "ada@example.org", "--name", "mirror", "--database", source))
	origin := serveProcess(t, "--database", source)
	t.Setenv("PALMARES_MIRROR_KEY", key)
	p := serveProcess(t, "--database", databases.SQLite(t), "--mirror", origin.url, "--mirror-interval", "24h", "--quota", "off")
	for _, mark := range []string{"A", "B", "C"} {
		must(t, "publish", marked(t, mark, 5), "--database", source)
		p.until("/api/v1/tools", func(_ *http.Response, body string) bool { return strings.Count(body, `"tagline":"`+mark+`"`) == 5 })
	}
}

func TestAKilledMirrorHasAVersionOfItsOriginOrTheNext(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		source := databases.SQLite(t)
		var origin *process
		var killed []int // ids of processes
		st := databases.OpenDSN(t, database)
		states := map[string]bool{}
		for i := range *mirrorKills {
			must(t, "publish", marked(t, fmt.Sprint("version ", i), 1000), "--database", source)
			if origin == nil {
				origin = serveProcess(t, "--database", source, "--quota", "off")
			}
			want := fmt.Sprint(i + 1)
			origin.until("/api/v1/stats", func(r *http.Response, _ string) bool { return r.Header.Get("X-Service-Version") == want })
			state, _, _ := strings.Cut(origin.state(), " ")
			states[state] = true

			asked := origin.log.Count(`"path":"/data/v1/`)
			p := startProcess(t, "patient", "--database", database, "--mirror", origin.url, "--mirror-interval", "50ms", "--quota", "off")
			p.killed = true
			testkit.Until(t, "the begin of a copy", func() bool { return origin.log.Count(`"path":"/data/v1/`) > asked+1 })
			kill := time.AfterFunc(time.Duration(i%5)*150*time.Millisecond, func() { _ = p.cmd.Process.Kill() })
			<-p.ended
			kill.Stop()
			killed = append(killed, p.cmd.Process.Pid)
			feed, err := st.Catalogue.Feed(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(feed.Changes) > 0 && !states[feed.State] {
				t.Errorf("killed %d times: the state %s was never published", i+1, feed.State)
			}
		}
		p := serveProcess(t, "--database", database, "--quota", "off", "--mirror", origin.url, "--mirror-interval", "50ms")
		p.follows(origin)
		p.stop()
		for _, id := range killed {
			if left, err := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("palmares-draft-%d-*", id))); err != nil || len(left) > 0 {
				t.Errorf("a killed process left %v, %v", left, err)
			}
		}
	})
}
