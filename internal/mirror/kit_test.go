package mirror

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/zstd"

	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/dataapi"
	"palmares/internal/record"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
	"palmares/internal/web"
)

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

var monday = time.Date(2026, 11, 16, 9, 30, 0, 250_000_000, time.UTC)

// An origin serves what a mirror reads: the feed, pictures, and an export of its own.
type origin struct {
	t     *testing.T
	store *testdb.DB
	url   string
	live  atomic.Pointer[snapshot.Snapshot]
	clock *testkit.Clock

	// fault may answer a request instead of next.
	fault atomic.Pointer[func(w http.ResponseWriter, r *http.Request, next http.Handler)]
	mu    sync.Mutex
	asked map[string]int // requests, by path; of a picture /media, of a file /export
	key   string         // of the last request under /data
}

// newOrigin returns an origin with a database, and thus a feed, of its own.
func newOrigin(t *testing.T) *origin {
	t.Helper()
	o := &origin{t: t, store: databases.OpenDSN(t, testkit.SQLite(t)), clock: testkit.NewClock(monday), asked: map[string]int{}}
	o.load()
	server := httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(server.Close)
	o.url = server.URL
	return o
}

func (o *origin) serve(w http.ResponseWriter, r *http.Request) {
	o.count(r)
	if fault := o.fault.Load(); fault != nil {
		(*fault)(w, r, http.HandlerFunc(o.answer))
		return
	}
	o.answer(w, r)
}

func (o *origin) count(r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name := r.URL.Path
	switch {
	case strings.HasPrefix(name, "/media/"):
		name = "/media"
		if r.Header.Get("Authorization") != "" {
			o.t.Error("the key is sent where none is needed")
		}
	case strings.HasPrefix(name, manifestPath+"/"):
		name = "/export"
	}
	o.asked[name]++
	if strings.HasPrefix(r.URL.Path, "/data/") {
		o.key = r.Header.Get("Authorization")
	}
}

// lastKey returns the Authorization of the last request for data. One that was cancelled may
// still be arriving.
func (o *origin) lastKey() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.key
}

// requests returns how often each path was requested since the last call.
func (o *origin) requests() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	asked := o.asked
	o.asked = map[string]int{}
	return asked
}

func (o *origin) answer(w http.ResponseWriter, r *http.Request) {
	snap := o.live.Load()
	switch {
	case r.URL.Path == manifestPath:
		w.Header().Set("X-Service-Updated-At", snap.UpdatedAt)
		tag := fmt.Sprintf(`"v%d"`, snap.Version)
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		m, _ := o.export(snap)
		_ = json.NewEncoder(w).Encode(m)
	case strings.HasPrefix(r.URL.Path, manifestPath+"/"):
		_, files := o.export(snap)
		content, ok := files[r.URL.Path]
		if !ok {
			http.Error(w, `{"error":"cette version n’est plus là"}`, http.StatusGone)
			return
		}
		_, _ = w.Write(content)
	case strings.HasPrefix(r.URL.Path, "/media/"):
		hash, ext, _ := strings.Cut(path.Base(r.URL.Path), ".")
		content, err := o.store.Pictures.Read(r.Context(), hash)
		if known, ok := snap.Pictures[hash]; err != nil || !ok || known != ext {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	default:
		dataapi.New(dataapi.Config{
			Live:    snapshot.Fixed(snap),
			Streams: dataapi.NewStreams(r.Context(), 0),
			Callers: func(context.Context, *http.Request) (web.Caller, error) { return web.Caller{}, nil },
		}).ServeHTTP(w, r)
	}
}

// export returns the manifest of a version and its files by path.
func (o *origin) export(snap *snapshot.Snapshot) (map[string]any, map[string][]byte) {
	feed, files := snap.Feed, map[string][]byte{}
	m := map[string]any{"feed": feed.ID, "version": snap.Version, "position": feed.Last, "state": feed.State}
	var list []map[string]any
	for _, kind := range record.Kinds {
		var text []byte
		rows := 0
		for _, c := range feed.Changes {
			if r, ok := record.Find(snap.Catalog, c.Kind, c.Slug); ok && c.Kind == kind && !c.Deleted {
				text = append(r.Append(text, c.Images), '\n')
				rows++
			}
		}
		name := fmt.Sprintf("%s/v%d-test/%s", manifestPath, snap.Version, fileNames[kind])
		if kind == record.Catalogue {
			name += ".json"
		} else {
			name += ".ndjson.zst"
			e, _ := zstd.NewWriter(nil)
			text = e.EncodeAll(text, nil)
		}
		sum := sha256.Sum256(text)
		files[name] = text
		list = append(list, map[string]any{"path": name, "rows": rows, "bytes": len(text), "sha256": hex.EncodeToString(sum[:]), "type": "x"})
	}
	m["files"] = list
	return m, files
}

// publish publishes a folder a day after the one before.
func (o *origin) publish(files fstest.MapFS) {
	o.t.Helper()
	read, err := content.ReadFS(o.t.Context(), files, content.Options{InMemory: true})
	if err != nil || len(read.Problems) > 0 {
		o.t.Fatal(err, read)
	}
	o.clock.Advance(24 * time.Hour)
	if _, err := o.store.Catalogue.Publish(o.t.Context(), read.Catalog, catalogdb.PublishOptions{Now: o.clock.Now, AllowRemovals: true, Pictures: read.Pictures}); err != nil {
		o.t.Fatal(err)
	}
	o.load()
}

func (o *origin) load() { o.live.Store(shown(o.t, o.store.CatalogDB)) }

// shown returns what a server of a database serves.
func shown(t *testing.T, st *catalogdb.Store) *snapshot.Snapshot {
	t.Helper()
	p, err := st.Catalogue.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot.Build(p.Catalog, p.Version, cmp.Or(p.ChangedOn, snapshot.NeverUpdated))
	s.SetFeed(p.Feed)
	return s
}

// breaks sets what answers instead of the origin; nil for the origin itself.
func (o *origin) breaks(fault func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	if fault == nil {
		o.fault.Store(nil)
		return
	}
	o.fault.Store(&fault)
}

// A mirrored is a mirror with its database.
type mirrored struct {
	*Follower
	t   *testing.T
	log *testkit.Log
}

func follow(t *testing.T, o *origin, st *testdb.DB) *mirrored {
	t.Helper()
	m := &mirrored{t: t, log: &testkit.Log{}}
	var err error
	m.Follower, err = New(Config{
		Origin: o.url, Store: st.CatalogDB, Shared: st.SQL.Shared(), Interval: time.Minute, Now: testkit.NewClock(monday.AddDate(1, 0, 0)).Now,
		Log: slog.New(slog.NewTextHandler(m.log, nil)), TempDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	m.node = "one" // as if it had been restarted each time
	t.Cleanup(m.client.Close)
	return m
}

// syncs checks once and expects to have what the origin has.
func (m *mirrored) syncs(o *origin) {
	m.t.Helper()
	if err := m.Check(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
	m.equals(o)
}

// equals compares records, the date and pictures with those of the origin.
func (m *mirrored) equals(o *origin) {
	m.t.Helper()
	want, got := o.live.Load(), shown(m.t, m.cfg.Store)
	if want.Feed.State != got.Feed.State || want.UpdatedAt != got.UpdatedAt {
		m.t.Errorf("the mirror has %s of %s, the origin %s of %s", got.Feed.State, got.UpdatedAt, want.Feed.State, want.UpdatedAt)
	}
	if state := record.First("", got.Catalog, 1, "").State; state != got.Feed.State {
		m.t.Errorf("the records have the state %s, the feed %s", state, got.Feed.State)
	}
	for name, p := range want.Catalog.Pictures {
		mine := got.Catalog.Pictures[name]
		if !slices.Equal(p.Variants, mine.Variants) || p.Hash != mine.Hash {
			m.t.Errorf("%s is %+v, not %+v", name, mine, p)
		}
		for file := range p.Names() {
			a, err := o.store.Pictures.Read(m.t.Context(), file)
			b, otherErr := m.cfg.Store.Pictures.Read(m.t.Context(), file)
			if err != nil || otherErr != nil || !bytes.Equal(a, b) {
				m.t.Errorf("%s: %v, %v", name, err, otherErr)
			}
		}
	}
	m.leavesNothing()
}

func (m *mirrored) leavesNothing() {
	m.t.Helper()
	if left, err := os.ReadDir(m.cfg.TempDir); err != nil || len(left) > 0 {
		m.t.Errorf("left behind: %v, %v", left, err)
	}
}

// fails checks once and expects a sentence and no change.
func (m *mirrored) fails(parts ...string) {
	m.t.Helper()
	before := shown(m.t, m.cfg.Store)
	err := m.Check(m.t.Context())
	if err == nil {
		m.t.Errorf("no error; want %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			m.t.Errorf("%q does not say %q", err, part)
		}
	}
	if after := shown(m.t, m.cfg.Store); after.Version != before.Version || after.Feed.State != before.Feed.State {
		m.t.Errorf("after %q there is version %d, and was %d", err, after.Version, before.Version)
	}
	m.leavesNothing()
}

// drawing returns a picture.
func drawing(width int, shade byte) []byte {
	img := image.NewRGBA(image.Rect(0, 0, width, width))
	for i := range width {
		img.Set(i, i, color.RGBA{shade, byte(i), 90, 255})
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img) // to memory
	return b.Bytes()
}

// some returns a folder of n tools, with a comparison, a retired tool, a page and
// pictures.
func some(n int) fstest.MapFS {
	files := fstest.MapFS{}
	write(files, "catalogue.yaml", "name: Origine\nurl: https://origine.example\nlogo: images/logo.png\nintroduction: Un *essai*.\ncategories:\n  - slug: code\n    label: Code\n")
	for i := range n {
		setTool(files, fmt.Sprintf("outil-%d", i), fmt.Sprintf("price: %d €/mois", i+1), "")
	}
	write(files, "comparatifs/duel.md", "---\ntitle: Duel\ntool_a: outil-0\ntool_b: outil-1\nwinner: outil-0\nwinner_note: Net.\n---\nLe texte.\n")
	write(files, "cimetiere/ancien.md", "---\nname: Ancien\ncategory: code\nreason: mort\nretired_at: 2026-01-01\nsuccessor: outil-0\n---\nFini.\n")
	write(files, "pages/methode.md", "---\ntitle: Méthode\n---\nNous testons. ![Vue](/images/vue/écran.png)\n")
	files["images/logo.png"] = &fstest.MapFile{Data: drawing(16, 1)}
	files["images/vue/écran.png"] = &fstest.MapFile{Data: drawing(700, 2)}
	return files
}

func write(files fstest.MapFS, name, text string) { files[name] = &fstest.MapFile{Data: []byte(text)} }

// setTool writes a tool with some more fields.
func setTool(files fstest.MapFS, slug, price, fields string) {
	write(files, "outils/"+slug+".md", fmt.Sprintf("---\nname: %s\ndomain: %s.example\ncategory: code\npricing: payant\n%s\ntagline: Un outil.\nscore: 7.5\ntier: 2\n%s---\nUn avis de « %s ».\n\n## Suite\n\nBien.\n",
		slug, slug, price, fields, slug))
}
