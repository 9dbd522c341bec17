package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/node"
)

// make chaos has many more kills, and sends more requests meanwhile.
var (
	publicationKills = flag.Int("publication-kills", 1, "how many publications are killed")
	readRate         = flag.Int("read-rate", 100, "how many requests are sent each second while publications are killed")
)

// TestKilledPublicationsTearNothing publishes one catalogue after the other, kills the
// publishing process at another point each time, and reads all the while: every answer is
// entirely from one of them.
func TestKilledPublicationsTearNothing(t *testing.T) {
	t.Parallel()
	const tools = 500
	databases.EachDSN(t, func(t *testing.T, database string) {
		must(t, "publish", marked(t, "first", tools), "--database", database)
		s := serveProcess(t, "--database", database, "--quota", "off")
		r := newWholeReader(s, tools)
		stop := r.start()
		killed, took, begin := 0, time.Duration(0), time.Now()
		for i := 0; killed < *publicationKills && !t.Failed(); i++ {
			mark, at := fmt.Sprintf("mark%d", i), time.Now()
			folder := marked(t, mark, tools)
			if i%12 == 0 {
				said, _ := publishKilled(t, folder, database, time.Hour) // which is never
				took = time.Since(at)
				r.expect(said, mark)
				continue
			}
			// From before it has read the folder to after it has committed, but first in the middle.
			if said, wasKilled := publishKilled(t, folder, database, took*time.Duration(i*5%12)/10); wasKilled {
				killed++
			} else {
				r.expect(said, mark)
			}
		}
		stop()
		t.Logf("%d publications were killed and %d completed in %s; %d requests, %.0f/s, each answered with one of %d versions",
			killed, r.completed, time.Since(begin).Round(time.Second), r.requests.Load(), float64(r.requests.Load())/time.Since(begin).Seconds(), len(r.versions))
		checkEvents(t, database)
		checkStored(t, database)
		for _, mark := range []string{"A", "B"} {
			r.expect(must(t, "publish", marked(t, mark, tools), "--database", database), mark)
		}
		checkEvents(t, database)
	})
}

// A wholeReader reads pages of a catalogue whose tools all have one mark, and expects
// everything that it is told about a version to agree.
type wholeReader struct {
	*process
	tools     int
	requests  atomic.Int64
	newest    atomic.Int64 // the highest version that was seen
	completed int          // publications

	mu       sync.Mutex
	versions map[int64]string // their marks
	etags    map[string]string
}

func newWholeReader(s *process, tools int) *wholeReader {
	return &wholeReader{process: s, tools: tools, versions: map[int64]string{}, etags: map[string]string{}}
}

// start sends requests until stop is called. On a slow machine they are fewer than planned.
func (r *wholeReader) start() (stop func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	tick := time.NewTicker(time.Second / time.Duration(*readRate))
	var readers sync.WaitGroup
	for range 16 {
		readers.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					if err := r.read(); err != nil {
						r.t.Error(err)
						return
					}
				}
			}
		})
	}
	return func() {
		cancel()
		readers.Wait()
		tick.Stop()
	}
}

const perPage = 50

var taglines = regexp.MustCompile(`"tagline":"(\w+)"`)

// read reads one page.
func (r *wholeReader) read() error {
	before := r.newest.Load()
	page := int(r.requests.Add(1))%(r.tools/perPage) + 1
	resp, body, err := r.try(fmt.Sprintf("/api/v1/tools?limit=%d&page=%d", perPage, page))
	if err != nil {
		return fmt.Errorf("a read failed: %w", err)
	}
	version, err := strconv.ParseInt(resp.Header.Get("X-Service-Version"), 10, 64)
	mark := taglines.FindStringSubmatch(body)
	if err != nil || mark == nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %v %.500s", resp.Status, resp.Header, body)
	}
	if n := strings.Count(body, mark[0]); n != perPage {
		return fmt.Errorf("page %d of version %d has %d tools of %s; want all %d", page, version, n, mark[1], perPage)
	}
	if version < before {
		return fmt.Errorf("version %d was served after version %d", version, before)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest.Store(max(r.newest.Load(), version))
	id, etag := fmt.Sprint(version, " ", page), resp.Header.Get("ETag")
	if r.versions[version] != "" && r.versions[version] != mark[1] || r.etags[id] != "" && r.etags[id] != etag || etag == "" {
		return fmt.Errorf("version %d was %s and is %s; page %d was %s and is %s", version, r.versions[version], mark[1], page, r.etags[id], etag)
	}
	r.versions[version], r.etags[id] = mark[1], etag
	return nil
}

var publishedVersion = regexp.MustCompile(`published version (\d+)`)

// expect waits until the version that publish reported is served.
func (r *wholeReader) expect(said, mark string) {
	r.t.Helper()
	version := publishedVersion.FindStringSubmatch(said)
	if version == nil {
		r.t.Fatalf("publish said %q", said)
	}
	r.completed++
	r.until("/api/v1/tools?limit=1", func(resp *http.Response, body string) bool {
		found := taglines.FindStringSubmatch(body)
		return resp.Header.Get("X-Service-Version") == version[1] && found != nil && found[1] == mark
	})
}

// checkStored expects a database that is sound and that holds a complete catalogue:
// publishing what it exports changes nothing.
func checkStored(t *testing.T, database string) {
	t.Helper()
	if file, ok := strings.CutPrefix(database, "sqlite:"); ok {
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var found string
		if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&found); err != nil || found != "ok" {
			t.Errorf("the database is damaged: %s %v", found, err)
		}
	}
	dir := t.TempDir() + "/export"
	must(t, "export", dir, "--database", database)
	if said := must(t, "publish", dir, "--database", database); !strings.Contains(said, "nothing changed") {
		t.Errorf("publishing what was exported: %s", said)
	}
}

// checkEvents expects one sequence without gaps, and the catalogue in the state of
// its last event.
func checkEvents(t *testing.T, database string) {
	t.Helper()
	st, err := node.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close() // not when the test ends: it is called hundreds of times
	bodies(t, st)
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
