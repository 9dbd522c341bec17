package dataapi_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"palmares/internal/catalog"
	"palmares/internal/dataapi"
	"palmares/internal/dataset"
	"palmares/internal/quota"
	"palmares/internal/record"
)

// newExports returns exports that are being written until the test ends.
func newExports(t *testing.T) *dataset.Exports {
	t.Helper()
	e := dataset.New(dataset.Config{Dir: t.TempDir(), Release: "1.2.3", Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return e
}

func serveExports(t *testing.T, c *catalog.Catalog, meter *quota.Meter) *service {
	t.Helper()
	return newServiceWith(t, c, dataapi.Config{Meter: meter, Exports: newExports(t)}).listen()
}

// covered is a catalogue with a top set.
func covered() *catalog.Catalog {
	c := small()
	c.Tools[1].Tier, c.Tools[1].Verifiability, c.Tools[1].Body = 1, ptr(9), "Une introduction.\n\n## Prise en main\n\nDes mots."
	return c
}

func (s *service) manifest() (m dataset.Manifest) {
	s.t.Helper()
	s.get("/data/v1/export").OK().Into(&m)
	return m
}

func (s *service) file(name string) dataset.File {
	s.t.Helper()
	x := dataset.Export{Manifest: s.manifest()}
	return *x.File(name)
}

func TestTheExportIsAnExactCopy(t *testing.T) {
	s := serveExports(t, covered(), nil)
	m := s.manifest()
	if len(m.Files) != len(dataset.Files) || m.Feed != "flux-1" || m.Version != 1 || m.Position != 7 || m.State != s.live.Feed.State || m.PublishedAt != published {
		t.Errorf("%+v", m)
	}
	kinds := map[string]*catalog.Kind{"outils.ndjson.zst": catalog.ToolKind, "comparatifs.ndjson.zst": catalog.ComparisonKind, "cimetiere.ndjson.zst": catalog.RetiredKind, "pages.ndjson.zst": catalog.PageKind}
	var all []record.Change
	for _, f := range m.Files {
		r := s.get(f.Path, "Authorization: good", "Accept-Encoding: zstd, gzip, br").OK().HasHeader("Content-Type", f.Type).HasHeader("ETag", `"`+f.SHA256+`"`).HasHeader("Content-Encoding", "")
		if sum := sha256.Sum256(r.Raw); hex.EncodeToString(sum[:]) != f.SHA256 || int64(len(r.Raw)) != f.Bytes || r.Header.Get("Content-Length") != fmt.Sprint(f.Bytes) {
			t.Errorf("%s is not as the manifest says: %+v", r, f)
		}
		if f.Name() == "catalogue.json" {
			all = append(all, record.Change{Kind: catalog.CatalogueKind, Slug: "catalogue", Hash: record.Hash(r.Raw)})
		}
		if kind, ok := kinds[f.Name()]; ok {
			z, err := zstd.NewReader(strings.NewReader(string(r.Raw)))
			if err != nil {
				t.Fatal(err)
			}
			for lines := bufio.NewScanner(z); lines.Scan(); {
				var head struct{ Slug string }
				if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
					t.Fatal(err)
				}
				all = append(all, record.Change{Kind: kind, Slug: head.Slug, Hash: record.Hash(lines.Bytes())})
			}
			z.Close()
		}
		if head := s.do("HEAD", f.Path, "Authorization: good").OK(); head.Body != "" || head.Header.Get("Content-Length") != fmt.Sprint(f.Bytes) {
			t.Errorf("%v", head.Header)
		}
	}
	if got := record.State(all); got != m.State {
		t.Errorf("the files have the state %s, the manifest %s", got, m.State)
	}
	if page := s.changes(fmt.Sprintf("?after=%d&feed=%s", m.Position, m.Feed)); len(page.Data) != 0 || page.Meta.State != m.State {
		t.Errorf("the feed goes on with %+v", page)
	}
}

func TestTheLatestFileHasAnAddress(t *testing.T) {
	s := serveExports(t, covered(), almostUsedUp(t))
	for _, f := range s.manifest().Files {
		s.get("/data/v1/export/latest/"+f.Name(), "Authorization: good").Is(307).HasHeader("Location", f.Path).HasHeader("X-RateLimit-Remaining", "3")
	}
	s.get("/data/v1/export/latest/outils.ndjson.zst").Is(307)
	s.get("/data/v1/export/latest/outils.parquet").Fails(404, "not_found")
	s.get("/data/v1/export/latest").Fails(404, "not_found")
}

func TestADownloadCanBeResumed(t *testing.T) {
	s := serveExports(t, covered(), nil)
	f := s.file("outils.csv")
	whole := s.get(f.Path).OK().HasHeader("Accept-Ranges", "bytes")
	rest := s.get(f.Path, "Range: bytes=100-", `If-Range: "`+f.SHA256+`"`).Is(206).HasHeader("Content-Range", fmt.Sprintf("bytes 100-%d/%d", f.Bytes-1, f.Bytes)).HasHeader("ETag", `"`+f.SHA256+`"`)
	if string(rest.Raw) != string(whole.Raw[100:]) {
		t.Error("the part is not a part of the file")
	}
	if r := s.get(f.Path, "Range: bytes=100-", `If-Range: "autre"`).OK(); string(r.Raw) != string(whole.Raw) {
		t.Error("a part of another file was sent")
	}
	s.get(f.Path, fmt.Sprintf("Range: bytes=%d-", f.Bytes)).Fails(416, "invalid_range").HasHeader("Content-Range", fmt.Sprintf("bytes */%d", f.Bytes)).HasHeader("ETag", "")
	for _, header := range []string{"Range: bananas=0-9", "Range: bananas"} { // another unit is ignored
		if r := s.get(f.Path, header).OK(); string(r.Raw) != string(whole.Raw) {
			t.Errorf("%s: a part was sent", header)
		}
	}
	s.get(f.Path, "Range: Bytes=0-9").Is(206).HasHeader("Content-Range", fmt.Sprintf("bytes 0-9/%d", f.Bytes))
	s.get(f.Path, "Range: bytes=9-0").Fails(416, "invalid_range")
	s.get(f.Path, `If-None-Match: "x", W/"`+f.SHA256+`"`).Is(304).HasHeader("ETag", `"`+f.SHA256+`"`)
	s.get(f.Path, `If-Match: "x"`, "If-Modified-Since: Mon, 16 Nov 2026 09:30:00 GMT").OK() // for others
	r := s.get("/data/v1/export").OK()
	s.get("/data/v1/export", "If-None-Match: "+r.Header.Get("ETag")).Is(304)
}

func TestOnlyTheLastTwoVersionsOfTheExportExist(t *testing.T) {
	s := serveExports(t, covered(), nil)
	first := s.manifest()
	changed := covered()
	changed.Tools[0].Tagline = "Version 2"
	s.publish(changed)
	s.get(first.Files[0].Path).OK()
	if m := s.manifest(); m.Version != 2 || m.Files[0].Path == first.Files[0].Path {
		t.Errorf("%+v", m)
	}
	last := covered()
	last.Pages = nil
	s.publish(last)
	s.get(first.Files[0].Path).Fails(410, "version_gone")
	s.get(strings.Replace(first.Files[0].Path, "/v1-", "/v3-", 1)).Fails(410, "version_gone") // by another release
	for _, path := range []string{
		strings.Replace(first.Files[0].Path, "/v1-", "/v5-", 1), "/data/v1/export/", "/data/v1/export/v1", "/data/v1/export/v1-0/outils.csv", "/data/v1/export/outils.csv",
		first.Files[0].Path + "/", "/data/v1/export/v4-000000000000/manifest.json", "/data/v1/export/lock/outils.csv", "/data/v1/export/v4-000000000000%2Foutils.csv",
	} {
		s.get(path).Fails(404, "not_found")
	}
	heads := covered()
	heads.Settings.Dataset = catalog.DatasetHead
	s.publish(heads)
	m := s.manifest()
	if len(m.Files) != len(dataset.Files)-2 {
		t.Errorf("%+v", m.Files)
	}
	s.get(strings.Replace(m.Files[0].Path, "outils.ndjson.zst", dataset.ChunksFile, 1), "Authorization: good").Fails(404, "not_found")
	off := covered()
	off.Settings.Dataset = catalog.DatasetOff
	s.publish(off)
	s.get("/data/v1/export").Fails(404, "not_found")
	s.get(m.Files[0].Path).Fails(404, "not_found")
}

func TestChunksNeedAKey(t *testing.T) {
	s := serveExports(t, covered(), nil)
	for _, name := range []string{dataset.ChunksFile, "chunks.ndjson.gz"} {
		f := s.file(name)
		if f.Rows != 2 {
			t.Fatalf("%+v", f)
		}
		s.get(f.Path).Fails(401, "missing_api_key").HasHeader("WWW-Authenticate", "Bearer")
		s.get(f.Path, "Authorization: good").OK()
	}
}

func TestAnExportThatIsNotThereIsUnavailable(t *testing.T) {
	idle := dataset.New(dataset.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Timeout: time.Millisecond})
	s := newServiceWith(t, covered(), dataapi.Config{Exports: idle}).listen()
	s.get("/data/v1/export").Fails(503, "unavailable", "L’export de la version 1 se prépare").HasHeader("Retry-After", "10")
	s = serve(t, covered(), nil)
	s.get("/data/v1/export").Fails(503, "unavailable", "/data/v1/changes").HasHeader("Retry-After", "60")
	s.show(complete(&catalog.Catalog{}), &record.Feed{ID: "flux-1"})
	s.get("/data/v1/export").Fails(404, "not_found")
}

func TestFilesAreCountedLikeOtherAnswers(t *testing.T) {
	s := serveExports(t, covered(), almostUsedUp(t))
	var m dataset.Manifest
	s.get("/data/v1/export", "Authorization: good").OK().HasHeader("X-RateLimit-Remaining", "2").Into(&m)
	f := m.Files[0]
	s.get(f.Path, "Authorization: bad").Fails(401, "invalid_api_key")
	s.get(f.Path, "Authorization: unreachable").Fails(503, "unavailable")
	s.get(f.Path+"?cle=plm_"+strings.Repeat("a", 38)).Fails(400, "invalid_parameter")
	s.get(f.Path, "Authorization: good").OK().HasHeader("X-RateLimit-Remaining", "1").HasHeader("CDN-Cache-Control", "no-store")
	s.get(f.Path, "Authorization: good", `If-None-Match: "`+f.SHA256+`"`).Is(304).HasHeader("X-RateLimit-Remaining", "1")
	for _, method := range []string{"GET", "HEAD"} {
		s.do(method, f.Path, "Authorization: good", fmt.Sprintf("Range: bytes=%d-", f.Bytes)).Is(416).HasHeader("X-RateLimit-Remaining", "1")
	}
	s.get(f.Path, "Authorization: good", "Range: bytes=1-").Is(206).HasHeader("X-RateLimit-Remaining", "0")
	s.get(f.Path, "Authorization: good").Fails(429, "quota_exceeded", "/data/v1/export")
	s.get(f.Path, "Authorization: good", fmt.Sprintf("Range: bytes=%d-", f.Bytes), `If-Range: "autre"`).Fails(429, "quota_exceeded") // the whole file
	s.get("/data/v1/export", "Authorization: good").Fails(429, "quota_exceeded")
	s.get("/data/v1/export", "Authorization: bad").Fails(401, "invalid_api_key")
	s.get("/data/v1/export?cle=plm_"+strings.Repeat("a", 38)).Fails(400, "invalid_parameter")
}

// heavy is a catalogue whose files do not fit into the buffers of a connection.
func heavy() *catalog.Catalog {
	c := covered()
	source := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 24<<20)
	for i := range text {
		text[i] = 'a' + byte(source.UintN(26))
	}
	c.Tools[0].Body = string(text)
	return c
}

// A slowDownload is a large answer that was asked for, of which nothing is read yet.
type slowDownload struct {
	path  string
	conn  net.Conn
	ended chan struct{} // closed once the server has sent everything or given up
}

// read reads the answer and returns its length.
func (d *slowDownload) read() (int64, error) {
	resp, err := http.ReadResponse(bufio.NewReader(d.conn), nil)
	if err != nil {
		return 0, err
	}
	return io.Copy(io.Discard, resp.Body)
}

// downloads asks for large answers, a file among them, from a server whose answers have a
// deadline.
func downloads(t *testing.T, stall, deadline time.Duration) (all []*slowDownload) {
	t.Helper()
	exports := newExports(t)
	s := newServiceWith(t, heavy(), dataapi.Config{Exports: exports, StallTimeout: stall})
	x, err := exports.Get(t.Context(), s.live) // before the deadline begins
	if err != nil {
		t.Fatal(err)
	}
	ended := map[string]chan struct{}{}
	for _, path := range []string{x.Files[0].Path, "/data/v1/changes", "/data/v1/records/outil"} {
		ended[path] = make(chan struct{})
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended[r.URL.Path])
		s.handler.ServeHTTP(w, r)
	}))
	srv.Config.WriteTimeout = deadline
	srv.Start()
	t.Cleanup(srv.Close)
	for path := range ended {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		key := "good"
		if path == "/data/v1/changes" { // of another caller: both are so large that one has room for one
			key = "other"
		}
		fmt.Fprintf(conn, "GET %s?slug=a HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n\r\n", path, key)
		all = append(all, &slowDownload{path: path, conn: conn, ended: ended[path]})
	}
	return all
}

func TestASlowReaderGetsEverythingAndAStuckOneIsCutOff(t *testing.T) {
	const deadline = 300 * time.Millisecond
	steady := downloads(t, time.Hour, deadline)
	<-time.After(2 * deadline) // of the server, which these answers may exceed
	for _, d := range steady {
		if n, err := d.read(); err != nil || n < 10<<20 {
			t.Errorf("%s: %d bytes: %v", d.path, n, err)
		}
	}
	for _, d := range downloads(t, time.Millisecond, time.Hour) {
		<-d.ended // although nothing was taken
		if n, err := d.read(); err == nil {
			t.Errorf("%s: a reader that took nothing got all %d bytes", d.path, n)
		}
	}
}
