package remote

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/problem"
	"palmares/internal/publication"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
	"palmares/internal/web"
)

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

var sunday = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// A node is a handler on a real server.
type node struct {
	t       *testing.T
	store   *testdb.DB
	temp    string
	handler *Handler
	url     string
	token   string
	clock   *testkit.Clock
	log     *testkit.Log
	bytes   atomic.Int64 // received in bodies
}

// serve starts a node that accepts one token. Its temporary folders are the test's.
func serve(t *testing.T, st *testdb.DB) *node {
	t.Helper()
	n := &node{t: t, store: st, temp: t.TempDir(), clock: testkit.NewClock(sunday), log: &testkit.Log{}}
	n.handler = NewHandler(Config{Store: st.CatalogDB, Tokens: st.Tokens, NotFound: http.NotFoundHandler(), Now: n.clock.Now, Log: slog.New(slog.NewTextHandler(n.log, nil)), TempDir: n.temp})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &countedBody{r.Body, &n.bytes}
		n.handler.ServeHTTP(w, r)
	}))
	server.Config.ReadTimeout = 10 * time.Second
	server.Start()
	t.Cleanup(server.Close)
	n.url = server.URL
	n.token = n.create("ci", time.Time{})
	return n
}

type countedBody struct {
	io.ReadCloser
	n *atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	return n, err
}

func (n *node) create(name string, expires time.Time) string {
	n.t.Helper()
	token, _, err := n.store.Tokens.Create(n.t.Context(), name, expires, sunday)
	if err != nil {
		n.t.Fatal(err)
	}
	return token
}

// publishes fails the test unless that version is published, and nothing was left
// behind.
func (n *node) publishes(version int64) {
	n.t.Helper()
	head, err := n.store.Catalogue.Head(n.t.Context())
	if err != nil || head.Version != version {
		n.t.Errorf("version %d is published, %v; want %d", head.Version, err, version)
	}
	// The answer may arrive a moment before the upload has ended.
	testkit.Until(n.t, "the end of all uploads", func() bool { return len(n.handler.uploads) == 0 })
	var left []os.DirEntry
	if !testkit.Await(func() bool { left, err = os.ReadDir(n.temp); return err != nil || len(left) == 0 }) {
		n.t.Errorf("left behind: %v, %v", left, err)
	}
}

// post sends a stream as it is.
func (n *node) post(query string, body io.Reader, headers ...string) *testkit.Reply {
	n.t.Helper()
	req := testkit.NewRequest(n.t, http.MethodPost, n.url+cataloguePath+query, "", append([]string{"Authorization: Bearer " + n.token, "Content-Encoding: zstd"}, headers...)...)
	req.Body = io.NopCloser(body)
	req.ContentLength = -1
	return testkit.Send(n.t, req)
}

// A sink keeps what is shown.
type sink struct {
	findings []publication.Finding
	most     int // findings at once
	report   string
	progress func(stage string)
}

func (s *sink) Progress(stage string, _, _ int) {
	if s.progress != nil {
		s.progress(stage)
	}
}

func (s *sink) Findings(all []publication.Finding) error {
	s.findings, s.most = append(s.findings, all...), max(s.most, len(all))
	return nil
}

func (s *sink) Report(lines ...problem.Text) error {
	for _, line := range lines {
		s.report += line.English + "\n"
	}
	return nil
}

// publish publishes a folder through a client.
func (n *node) publish(dir string, expect *int64, change func(*publication.Job)) (*sink, error) {
	n.t.Helper()
	client, err := NewClient(n.url, n.token)
	if err != nil {
		n.t.Fatal(err)
	}
	defer client.Close()
	root, err := content.Open(dir)
	if err != nil {
		n.t.Fatal(err)
	}
	defer root.Close()
	shown := &sink{}
	job := &publication.Job{Dir: dir, Name: "catalogue", Now: func() time.Time { return sunday }, Sink: shown}
	if change != nil {
		change(job)
	}
	return shown, client.Publish(n.t.Context(), job, root, expect, nil)
}

const catalogueYAML = "name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n"

func tool(tagline string) string {
	return "---\nname: Scie\ndomain: scie.example\ncategory: code\npricing: payant\nprice: 1 €/mois\ntagline: " + tagline + "\nupdated_at: 2026-11-01\n---\n"
}

// folder writes files, given as names and texts in turn, beside a catalogue.yaml.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	files = append([]string{"catalogue.yaml", catalogueYAML}, files...)
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(files[i+1]), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAFolderIsPublishedWithWhereItComesFrom(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		n := serve(t, st)
		shown, err := n.publish(folder(t, "outils/scie.md", tool("Coupe.")), new(int64), func(j *publication.Job) {
			j.Source = catalogdb.Source{Revision: "0123abc", Author: "Ada", Clean: true}
		})
		if want := "added     outils/scie\npublished version 1: 1 added; now 1 tool, 0 comparisons, 0 retired tools, 1 category\n"; err != nil || shown.report != want {
			t.Errorf("%v, report:\n%s", err, shown.report)
		}
		n.publishes(1)
		versions, err := st.Catalogue.Versions(t.Context(), 10)
		if want := (catalogdb.Source{Revision: "0123abc", Author: "Ada", Token: "ci", Clean: true}); err != nil || len(versions) != 1 || versions[0].Source != want {
			t.Errorf("versions: %+v, %v", versions, err)
		}
		tokens, err := st.Tokens.List(t.Context())
		if err != nil || !tokens[0].LastUsedAt.Equal(sunday) {
			t.Errorf("tokens: %+v, %v", tokens, err)
		}
		client, err := NewClient(n.url, n.token)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if head, err := client.Head(t.Context()); err != nil || head != (catalogdb.Head{Version: 1, By: "Ada", Revision: "0123abc", Author: "Ada", Clean: true, Since: 1}) {
			t.Errorf("head: %+v, %v", head, err)
		}
		if n.log.String() != "" {
			t.Errorf("log:\n%s", n.log)
		}
	})
}

func TestAFolderIsRefusedForWhatTheCommandRefuses(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		n := serve(t, st)
		if _, err := n.publish(folder(t, "outils/scie.md", tool("Coupe.")), nil, nil); err != nil {
			t.Fatal(err)
		}
		dir := folder(t, "outils/scie.md", tool("Scie.")+"# Titre\n")
		shown, err := n.publish(dir, nil, nil)
		if err == nil || err.Error() != "1 problem in catalogue: fix it and run the command again" || len(shown.findings) != 1 || shown.findings[0].Severity != "error" {
			t.Errorf("%v, findings %+v", err, shown.findings)
		}
		dir = folder(t, "outils/scie.md", tool("Scie."))
		shown, err = n.publish(dir, nil, func(j *publication.Job) { j.Strict = true })
		if err == nil || err.Error() != "1 warning in catalogue: fix it, or run the command without --strict" || len(shown.findings) != 1 {
			t.Errorf("%v, findings %+v", err, shown.findings)
		}
		if _, err = n.publish(folder(t), nil, nil); err == nil || !strings.HasPrefix(err.Error(), "1 published tool is missing: scie; ") {
			t.Error(err)
		}
		if _, err = n.publish(dir, new(int64), nil); err == nil || !strings.HasPrefix(err.Error(), "version 1 was published in the meantime, after version 0: publish again") {
			t.Error(err)
		}
		shown, err = n.publish(dir, nil, func(j *publication.Job) { j.DryRun = true })
		if err != nil || !strings.Contains(shown.report, "would publish version 2") {
			t.Errorf("%v, report:\n%s", err, shown.report)
		}
		n.publishes(1)
		for status, query := range map[int]string{422: "?strict=true&name=x", 409: "?expect=0"} {
			n.post(query, bytes.NewReader(stream(t, dirEntry("outils"), file("catalogue.yaml", catalogueYAML), file("outils/scie.md", tool("Scie."))))).Is(status)
		}
		n.publishes(1)
	})
}

func TestPicturesThatTheServerHasAreNotSentAgain(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		n := serve(t, st)
		big, small := picture(t, 400), picture(t, 8)
		page := func(title string) string {
			return "---\ntitle: " + title + "\n---\n![a](/images/big.png) ![b](/images/a/small.gif)\n"
		}
		files := []string{"images/big.png", string(big), "images/a/small.gif", string(small)}
		first, err := n.publish(folder(t, append(files, "pages/p.md", page("Un"))...), nil, nil)
		if err != nil || n.bytes.Load() < int64(len(big)) || len(first.findings) != 1 {
			t.Fatalf("%d bytes of at least %d, findings %+v: %v", n.bytes.Load(), len(big), first.findings, err)
		}
		n.bytes.Store(0)
		again, err := n.publish(folder(t, append(files, "pages/p.md", page("Deux"), "images/copie.png", string(big), "pages/q.md", "---\ntitle: Q\n---\n![c](/images/copie.png)\n")...), nil, nil)
		if err != nil || n.bytes.Load() > 4000 {
			t.Errorf("%d bytes were sent: %v", n.bytes.Load(), err)
		}
		if len(again.findings) != 1 || again.findings[0] != first.findings[0] {
			t.Errorf("findings %+v; want %+v", again.findings, first.findings)
		}
		n.publishes(2)
		published, err := st.Catalogue.Load(t.Context())
		if err != nil || len(published.Catalog.Pictures) != 3 || published.Catalog.Pictures["images/copie.png"].Hash != published.Catalog.Pictures["images/big.png"].Hash {
			t.Errorf("pictures: %+v, %v", published.Catalog.Pictures, err)
		}
	})
}

// picture returns a PNG of that width that does not compress.
func picture(t *testing.T, width int) []byte {
	t.Helper()
	img, x := image.NewGray(image.Rect(0, 0, width, width)), uint32(1)
	for i := range img.Pix {
		x = x*1664525 + 1013904223
		img.Pix[i] = byte(x >> 24)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// strangerToken has the form of a token, and is none.
const strangerToken = "plp_PalmaresPalmaresPalmaresPalmares1JnShv"

// page answers as the site does.
func page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, s-maxage=60")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.WriteHeader(http.StatusNotFound)
}

func TestWithoutATokenThereIsNothingAndTheFirstWorksAtOnce(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		handler := NewHandler(Config{Store: st.CatalogDB, Tokens: st.Tokens, NotFound: http.HandlerFunc(page), Now: func() time.Time { return sunday }, Log: slog.New(slog.DiscardHandler)})
		ask := func(method, path, token string) *testkit.Reply {
			return testkit.Serve(t, handler, testkit.NewRequest(t, method, "https://catalogue.example"+path, "", "Authorization: Bearer "+token))
		}
		for _, path := range []string{"/publish/v1/catalogue", "/publish/", "/publish/v2"} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				ask(method, path, "x").Is(404).HasHeader("Cache-Control", "no-store")
				ask(method, path, strangerToken).Is(404).HasHeader("Cache-Control", "no-store")
			}
		}
		token, _, err := st.Tokens.Create(t.Context(), "ci", time.Time{}, sunday)
		if err != nil {
			t.Fatal(err)
		}
		ask(http.MethodGet, "/publish/v1/catalogue", token).Is(200)
		ask(http.MethodGet, "/publish/v2", token).Is(404).HasHeader("Cache-Control", "no-store")
	})
}

func TestStrangersDoNotWaitForADatabaseThatHangs(t *testing.T) {
	st := databases.OpenDSN(t, databases.SQLite(t))
	clock := testkit.NewClock(sunday)
	newHandler := func() *Handler {
		return NewHandler(Config{Store: st.CatalogDB, Tokens: st.Tokens, NotFound: http.HandlerFunc(page), Now: clock.Now, Log: slog.New(slog.DiscardHandler)})
	}
	ask := func(h *Handler, status int) {
		t.Helper()
		var all sync.WaitGroup
		for range 250 {
			all.Go(func() {
				testkit.Serve(t, h, testkit.NewRequest(t, "GET", "https://catalogue.example/publish/v1/catalogue", "")).Is(status)
			})
		}
		all.Wait()
	}
	unknown, known := newHandler(), newHandler()
	ask(known, 404)
	clock.Advance(time.Hour)
	pool := st.SQL.Reads()
	for range pool.Stats().MaxOpenConnections { // so that nobody else has one
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	ask(known, 404)
	ask(unknown, 503)
}

func TestAnotherMethodIsAnsweredWithThoseOfThePath(t *testing.T) {
	n := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	for path, allow := range map[string]string{
		cataloguePath: "GET, HEAD, POST", picturesPath: "POST", versionsPath: "GET, HEAD", versionsPath + "/1": "GET, HEAD", revertPath: "POST",
	} {
		for _, method := range []string{http.MethodPut, http.MethodDelete} {
			testkit.Send(t, testkit.NewRequest(t, method, n.url+path, "", "Authorization: Bearer "+n.token)).
				Fails(405, "method_not_allowed", "use "+allow).HasHeader("Allow", allow)
		}
	}
	testkit.Send(t, testkit.NewRequest(t, "GET", n.url+cataloguePath+"?x=plm_000000000000000000000000000000001UrRXC", "", "Authorization: Bearer "+n.token)).
		Fails(400, "invalid_parameter", "an API key does not belong in an address")
}

// The stream may be complete although the body is not: then something was lost.
func TestABodyWithoutItsEndIsIncomplete(t *testing.T) {
	n := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	body := stream(t, file("catalogue.yaml", catalogueYAML))
	for what, framed := range map[string]string{
		"shorter than its length":    fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body)+10, body),
		"chunked, without the last":  fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(body), body),
		"chunked, with half a chunk": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(body)+10, body),
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Encoding: zstd\r\n%s", cataloguePath, n.token, framed)
		if err := errors.Join(err, conn.(*net.TCPConn).CloseWrite()); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") || !strings.Contains(string(answer), "broken or incomplete") {
			t.Errorf("%s: %s, %v", what, answer, err)
		}
	}
	n.publishes(0)
}

func TestABadTokenIsRefusedBeforeAnythingIsRead(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		n := serve(t, st)
		old := n.create("old", sunday)
		revoked, lost, err := st.Tokens.Create(t.Context(), "lost", time.Time{}, sunday)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Tokens.Revoke(t.Context(), lost.ID, sunday); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct{ token, code, words string }{
			{"", "missing_token", "PALMARES_TOKEN"},
			{"plm_000000000000000000000000000000001UrRXC", "invalid_token", "API key"},
			{n.token[:41], "invalid_token", "copied"},
			{strangerToken, "invalid_token", "does not know"},
			{old, "expired_token", `"old" expired on 2026-11-15`},
			{revoked, "revoked_token", `"lost" was revoked`},
		} {
			body, end := io.Pipe() // nothing ever comes out of it
			req := testkit.NewRequest(t, http.MethodPost, n.url+cataloguePath, "", "Content-Encoding: zstd", "Expect: 100-continue")
			if test.token != "" {
				req.Header.Set("Authorization", "Bearer "+test.token)
			}
			req.Body, req.ContentLength = body, -1
			testkit.Send(t, req).Fails(401, test.code, test.words).HasHeader("WWW-Authenticate", "Bearer")
			_ = end.Close()
		}
		n.publishes(0)
		if strings.Contains(n.log.String(), "plp_") {
			t.Errorf("log:\n%s", n.log)
		}
		n.clock.Advance(time.Minute) // the others still work
		if _, err := n.publish(folder(t), nil, nil); err != nil {
			t.Error(err)
		}
	})
}

// An entry is one of a tar stream.
type entry struct {
	tar.Header
	content string
}

func file(name, content string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(content))}, content}
}

func dirEntry(name string) entry {
	return entry{tar.Header{Name: name + "/", Typeflag: tar.TypeDir}, ""}
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compressed(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

func stream(t testing.TB, entries ...entry) []byte {
	t.Helper()
	return compressed(t, archive(t, entries...))
}

// A badStream is a body that is refused.
type badStream struct {
	what   string
	body   []byte
	status int
	words  string
}

func badStreams(t testing.TB, settings entry) []badStream {
	t.Helper()
	good, plain := stream(t, settings), archive(t, settings)
	link := func(kind byte) entry {
		return entry{tar.Header{Name: "x", Linkname: "catalogue.yaml", Typeflag: kind}, ""}
	}
	unknown := file("images/x.png", "")
	unknown.PAXRecords = map[string]string{checksumRecord: strings.Repeat("0", 64)}
	both := file("images/x.png", "x")
	both.PAXRecords = unknown.PAXRecords
	return []badStream{
		{"nothing", nil, 400, "broken or incomplete"},
		{"half a stream", good[:len(good)/2], 400, "broken or incomplete"},
		{"all but its last byte", good[:len(good)-1], 400, "broken or incomplete"},
		{"something behind it", append(bytes.Clone(good), "rest"...), 400, "broken or incomplete"},
		{"no compression", plain, 400, "broken or incomplete"},
		{"no tar", compressed(t, []byte(strings.Repeat("x", 2000))), 400, "broken or incomplete"},
		{"a file shorter than it says", compressed(t, plain[:520]), 400, "broken or incomplete"},
		{"a stream that was cut between two files", compressed(t, plain[:1024]), 400, "broken or incomplete"},
		{"a path out of the folder", stream(t, settings, file("../x", "x")), 400, "in the upload is not a path inside the folder"},
		{"an absolute path", stream(t, file("/x", "x")), 400, "not a path inside"},
		{"an unclean path", stream(t, file("a/./x", "x")), 400, "not a path inside"},
		{"a path that is not UTF-8", stream(t, file("x\xff", "x")), 400, "not a path inside"},
		{"a name that is too long", stream(t, file(strings.Repeat("x", 256), "x")), 400, "not a path inside"},
		{"a symbolic link", stream(t, settings, link(tar.TypeSymlink)), 400, "neither a file nor a folder"},
		{"a hard link", stream(t, settings, link(tar.TypeLink)), 400, "neither a file nor a folder"},
		{"a device", stream(t, settings, link(tar.TypeBlock)), 400, "neither a file nor a folder"},
		{"a pipe", stream(t, settings, link(tar.TypeFifo)), 400, "neither a file nor a folder"},
		{"a file twice", stream(t, settings, settings), 400, "comes twice"},
		{"a folder twice", stream(t, dirEntry("outils"), dirEntry("outils")), 400, "comes twice"},
		{"a file in a file", stream(t, settings, file("catalogue.yaml/x", "x")), 400, "comes before its folder"},
		{"a file before its folder", stream(t, file("outils/x.md", "x")), 400, "comes before its folder"},
		{"a picture that is not known", stream(t, dirEntry("images"), unknown), 409, "no longer has the picture"},
		{"a known picture with content", stream(t, dirEntry("images"), both), 400, "one of the two"},
		{"one byte too many", stream(t, settings, file("x", strings.Repeat("x", 1<<20))), 413, "1 MiB"},
		{"too many entries", stream(t, repeated(11)...), 413, "10 files"},
		{"a bomb behind the end", compressed(t, append(archive(t, settings), make([]byte, 5<<20)...)), 413, "1 MiB"},
	}
}

func TestABadStreamPublishesNothingAndLeavesNothing(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		n := serve(t, st)
		n.handler.limits.bytes, n.handler.limits.entries, n.handler.limits.stream = 1<<20, 10, 4<<20
		settings := file("catalogue.yaml", catalogueYAML)
		for _, test := range badStreams(t, settings) {
			t.Run(test.what, func(t *testing.T) {
				n := &node{t: t, store: n.store, temp: n.temp, handler: n.handler, url: n.url, token: n.token}
				n.post("", bytes.NewReader(test.body)).Is(test.status).Contains(test.words, "nothing was changed")
				n.publishes(0)
			})
		}
		good := stream(t, settings)
		n.post("?strict=perhaps", bytes.NewReader(good)).FailsOn(400, "invalid_parameter", "strict")
		n.post("?max_age=-1", bytes.NewReader(good)).FailsOn(400, "invalid_parameter", "max_age")
		n.post("?author=%0A", bytes.NewReader(good)).FailsOn(400, "invalid_parameter", "author")
		req := testkit.NewRequest(t, http.MethodPost, n.url+cataloguePath, "x", "Authorization: Bearer "+n.token)
		testkit.Send(t, req).Fails(415, "unsupported_media_type")
		n.publishes(0)
		n.post("", bytes.NewReader(good)).Is(200).Contains(`{"done":{"version":1}}`)
		n.publishes(1)
	})
}

func repeated(n int) (list []entry) {
	for i := range n {
		list = append(list, file(fmt.Sprint(i), ""))
	}
	return list
}

func TestAStalledUploadIsCutOff(t *testing.T) {
	n := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	n.handler.limits.stall = 50 * time.Millisecond
	body, end := io.Pipe()
	defer end.Close()
	n.post("", io.MultiReader(bytes.NewReader(stream(t, dirEntry("outils"))[:20]), body)).Fails(400, "invalid_upload", "stalled")
	n.publishes(0)
}

func TestAVersionHasTheTimeAtWhichItIsStored(t *testing.T) {
	n := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	folder := stream(t, file("catalogue.yaml", catalogueYAML))
	body, end := io.Pipe()
	answer := make(chan *testkit.Reply)
	go func() { answer <- n.post("", body) }()
	_, _ = end.Write(folder[:20])
	testkit.Until(t, "the begin of the upload", func() bool { return n.bytes.Load() > 0 })
	n.clock.Advance(24 * time.Hour)
	_, _ = end.Write(folder[20:])
	_ = end.Close()
	(<-answer).Is(200)
	versions, err := n.store.Catalogue.Versions(t.Context(), 1)
	if err != nil || !versions[0].PublishedAt.Equal(sunday.Add(24*time.Hour)) {
		t.Errorf("versions: %+v, %v", versions, err)
	}
}

func TestAThirdUploadIsToldToWait(t *testing.T) {
	n := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	answers := make(chan *testkit.Reply, maxUploads)
	var ends []*io.PipeWriter
	for range maxUploads {
		body, end := io.Pipe()
		ends = append(ends, end)
		go func() { answers <- n.post("", body) }()
	}
	testkit.Until(t, "two uploads", func() bool { return len(n.handler.uploads) == maxUploads })
	n.post("", bytes.NewReader(stream(t))).Fails(503, "unavailable", "try again").HasHeader("Retry-After", "60")
	for _, end := range ends {
		_, _ = end.Write(stream(t, file("catalogue.yaml", catalogueYAML)))
		_ = end.Close()
	}
	for range maxUploads {
		(<-answers).Is(200)
	}
	n.publishes(1)
}

func TestAFileThatChangesWhileItIsSentIsNotPublished(t *testing.T) {
	n := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	dir := folder(t, "outils/scie.md", tool("Coupe."))
	shown := &sink{progress: func(stage string) {
		if stage == "sending" { // catalogue.yaml is sent
			if err := os.WriteFile(filepath.Join(dir, "outils/scie.md"), []byte(tool("Scie.")), 0o600); err != nil {
				t.Error(err)
			}
		}
	}}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "outils/scie.md"), past, past); err != nil {
		t.Fatal(err)
	}
	_, err := n.publish(dir, nil, func(j *publication.Job) { j.Sink = shown })
	if err == nil || err.Error() != "outils/scie.md in catalogue changed while it was being sent: publish again; nothing was published" {
		t.Error(err)
	}
	n.publishes(0)
}

func TestAClientTellsWhatItKnows(t *testing.T) {
	redirect := httptest.NewServer(http.RedirectHandler("https://elsewhere.example/x", http.StatusFound))
	defer redirect.Close()
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) }))
	defer html.Close()
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, test := range []struct{ server, token, want string }{
		{"http://catalogue.example", strangerToken, "clear text"},
		{"https://catalogue.example", " \n", "PALMARES_TOKEN is not set"},
		{gone.URL, strangerToken[:40], "PALMARES_TOKEN is not a token that"},
		{gone.URL, strangerToken[:20] + "\n" + strangerToken[20:], "PALMARES_TOKEN is not a token that"},
		{gone.URL, "plm_000000000000000000000000000000001UrRXC", "PALMARES_TOKEN is an API key"},
		{redirect.URL, " " + strangerToken + "\r\n", "redirects to https://elsewhere.example/x: "},
		{html.URL, strangerToken, "answered 502 Bad Gateway"},
		{nothing.URL, strangerToken, "does not accept folders"},
		{gone.URL, strangerToken, "cannot be reached"},
	} {
		client, err := NewClient(test.server, test.token)
		if err == nil {
			_, err = client.Head(t.Context())
			client.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %s", test.server, err, test.want)
		}
	}
}

func TestAnAnswerWithoutAnEndIsNotTakenForOne(t *testing.T) {
	st := databases.OpenDSN(t, databases.SQLite(t))
	n := serve(t, st)
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == cataloguePath {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", linesType)
			_, _ = io.WriteString(w, `{"progress":{"stage":"tools","done":1,"total":2}}`+"\n"+`{"do`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		n.handler.ServeHTTP(w, r)
	}))
	defer cut.Close()
	n.url = cut.URL
	_, err := n.publish(folder(t), nil, nil)
	if err == nil || !strings.Contains(err.Error(), "before it said whether the folder was published: `palmares log` there tells") || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTheFindingsOfAServerAreShownBeforeTheyAreTooMany(t *testing.T) {
	lines := strings.Repeat(`{"finding":{"file":"x","line":1,"severity":"warning","message":"m"}}`+"\n", maxFound+1) + `{"done":{"version":1}}`
	shown := &sink{}
	err := (&Client{}).show(&http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(lines))}, shown)
	if err != nil || shown.most != maxFound || len(shown.findings) != maxFound+1 {
		t.Errorf("%d of %d are shown at once, %v", shown.most, len(shown.findings), err)
	}
}

func TestATokenThatIsRevokedIsRefusedByEveryNodeAtOnce(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*node{serve(t, databases.OpenDSN(t, dsn)), serve(t, databases.OpenDSN(t, dsn))}
		nodes[0].token = nodes[1].token
		for i, n := range nodes {
			if _, err := n.publish(folder(t, "outils/scie.md", tool(fmt.Sprintf("Coupe %d.", i))), nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		tokens, err := nodes[0].store.Tokens.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range tokens {
			if err := nodes[0].store.Tokens.Revoke(t.Context(), token.ID, sunday); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range nodes {
			if _, err := n.publish(folder(t), nil, nil); err == nil || !strings.Contains(err.Error(), "was revoked") {
				t.Error(err)
			}
			n.publishes(2)
		}
	})
}

// Whatever is sent, nothing appears outside the folder, and the client is told what is
// wrong with it.
func FuzzAnUploadStaysInItsFolder(f *testing.F) {
	for _, b := range badStreams(f, file("catalogue.yaml", catalogueYAML)) {
		if plain, err := decompressed(b.body); err == nil && len(plain) < 1<<13 {
			f.Add(plain)
		}
	}
	lim := limits{bytes: 1 << 16, entries: 10, stream: 1 << 20}
	f.Fuzz(func(t *testing.T, plain []byte) {
		temp := t.TempDir()
		dir := filepath.Join(temp, "upload")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		x := unpacking{root: root, left: lim.bytes, isKnown: func(string) bool { return true }, elsewhere: map[string]string{}}
		err = x.unpackTar(bytes.NewReader(plain), lim)
		if _, ok := errors.AsType[*web.Error](err); err != nil && !ok {
			t.Errorf("unpack: %v", err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

func decompressed(b []byte) ([]byte, error) {
	r, err := zstd.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestWhatTheServerCannotDoHasItsOwnStatus(t *testing.T) {
	log := &testkit.Log{}
	h := &Handler{Config: Config{Log: slog.New(slog.NewTextHandler(log, nil))}}
	r := &request{Request: httptest.NewRequest(http.MethodPost, cataloguePath, nil)}
	for err, want := range map[error]int{
		sqldb.ErrBusy: 409, catalogdb.ErrUndoMoved: 409, sqldb.ErrFull: 507, sqldb.ErrUnreachable: 503, context.Canceled: 503, errors.New("secret"): 500,
	} {
		if got := h.explain(r, fmt.Errorf("at work: %w", err)); got.status != want || strings.Contains(got.text.English, "secret") {
			t.Errorf("%v: %+v; want %d", err, got, want)
		}
	}
	if !log.Contains("secret") {
		t.Error("the failure is not logged")
	}
	_, wrong := testdb.Open(t.Context(), "postgres://%")
	if got := h.explain(r, wrong); got.status != 503 || strings.Contains(got.text.English, "try again") || !strings.Contains(got.text.English, "operator") {
		t.Errorf("%v: %+v; want no hope that it passes", wrong, got)
	}
	reply := httptest.NewRecorder()
	if h.fail(reply, r, wrong); reply.Code != 503 || strings.Contains(reply.Body.String(), "try again") || reply.Header().Get("Retry-After") != web.RetryLater {
		t.Errorf("%v: %d %s %v", wrong, reply.Code, reply.Body, reply.Header())
	}
}

func TestTheServerSaysWhichPicturesItLacks(t *testing.T) {
	n := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	logo := picture(t, 8)
	if _, err := n.publish(folder(t, "images/a.png", string(logo), "pages/p.md", "---\ntitle: P\n---\n![a](/images/a.png)\n"), nil, nil); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(logo)
	known, unknown := hex.EncodeToString(sum[:]), strings.Repeat("0", 64)
	ask := func(body string) *testkit.Reply {
		return testkit.Send(t, testkit.NewRequest(t, http.MethodPost, n.url+picturesPath, body, "Authorization: Bearer "+n.token))
	}
	ask(fmt.Sprintf("[%q,%q]", known, unknown)).Is(200).Equals(fmt.Sprintf("[%q]", unknown))
	ask("[]").Is(200).Equals("[]")
	ask(`["../x"]`).Fails(400, "invalid_upload")
	ask(`{`).Fails(400, "invalid_upload")
	ask("["+strings.Repeat(`"",`, maxPictures)+`""]`).Fails(413, "payload_too_large")
}
