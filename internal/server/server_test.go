package server

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/keyring"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
	"palmares/internal/testkit/keyringtest"
)

// A node is a whole server over a small catalogue, with keys in a map.
type node struct {
	t       *testing.T
	url     string
	handler http.Handler
	log     *testkit.Log
	keys    map[[32]byte]account.Key
	ring    *keyring.Keyring
	metrics *Metrics
}

func start(t *testing.T, site http.Handler) *node {
	t.Helper()
	log := &testkit.Log{}
	n := startLogging(t, site, log)
	n.log = log
	return n
}

// startLogging is start with a log that the node does not keep.
func startLogging(t *testing.T, site http.Handler, out io.Writer) *node {
	t.Helper()
	n := &node{t: t, keys: map[[32]byte]account.Key{}}
	live, err := snapshot.NewLive(t.Context(), func(context.Context, *snapshot.Snapshot) (*snapshot.Snapshot, error) {
		c := &catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}}}
		c.Tools = []*catalog.Tool{{Slug: "a", Name: "A", Category: "code", Tier: 3, UpdatedAt: "2026-01-01"}}
		return snapshot.Build(c, 1, "2026-01-01"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	n.ring = keyring.New(keyringtest.Store{Find: func(_ context.Context, hash [32]byte) (account.Key, error) {
		k, ok := n.keys[hash]
		if !ok {
			return account.Key{}, account.ErrInvalidKey
		}
		return k, nil
	}}, time.Now)
	log := slog.New(slog.NewJSONHandler(out, nil))
	n.metrics = NewMetrics()
	n.metrics.Catalogue(live)
	n.handler = New(Config{Live: live, Keys: n.ring, Site: site, Log: log, Requests: out, Meter: newMeter(t), Metrics: n.metrics})
	srv := httptest.NewServer(n.handler)
	t.Cleanup(srv.Close)
	n.url = srv.URL
	return n
}

// issue creates a key; change, if not nil, sets its state.
func (n *node) issue(change func(*account.Key)) string {
	key := account.NewKey(rand.Reader)
	k := account.Key{ID: "key_x", Plan: account.Developer}
	if change != nil {
		change(&k)
	}
	n.keys[account.HashKey(key)] = k
	return key
}

func (n *node) get(path string, authorization ...string) (int, http.Header, string) {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), "GET", n.url+path, nil)
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header["Authorization"] = authorization
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

func (n *node) refuses(code string, authorization ...string) {
	n.t.Helper()
	for _, path := range []string{"/api/v1/tools", "/api/embeddings/a", "/api/rien"} {
		status, header, body := n.get(path, authorization...)
		var e struct{ Code string }
		if err := json.Unmarshal([]byte(body), &e); err != nil || status != 401 || e.Code != code {
			n.t.Errorf("%s with %.60q: %d %s; want 401 %s", path, authorization, status, body, code)
		}
		if header.Get("WWW-Authenticate") != "Bearer" || header.Get("Cache-Control") != "no-store" {
			n.t.Errorf("%s with %.60q: headers %v", path, authorization, header)
		}
	}
}

func TestEachBadKeyHasItsAnswer(t *testing.T) {
	n := start(t, http.NotFoundHandler())
	good := n.issue(nil)
	typo := good[:20] + "!" + good[21:]
	swapped := good[:40] + string(good[41]) + string(good[40])
	if swapped == good {
		swapped = good[:41] + "~"
	}
	for _, value := range []string{
		"", "Bearer", "Bearer ", "Basic " + good, good, "Bearer x", "Bearer " + typo, "Bearer " + swapped, "Bearer " + good + " ", "Bearer " + good + " x",
		"Bearer " + strings.Repeat("a", 8<<10), "Bearer\t" + good, "Bearer " + strings.ToUpper(good), "Digest realm=x",
	} {
		if value == "Bearer "+good+" " {
			continue // the client trims it, so it is the good key
		}
		n.refuses("invalid_api_key", value)
	}
	n.refuses("invalid_api_key", "Bearer "+account.NewKey(rand.Reader)) // unknown
	n.refuses("invalid_api_key", "Bearer "+good, "Bearer "+good)        // two headers
	n.refuses("revoked_api_key", "Bearer "+n.issue(func(k *account.Key) { k.RevokedAt = time.Unix(1, 0) }))
	n.refuses("expired_api_key", "Bearer "+n.issue(func(k *account.Key) { k.ExpiresAt = time.Unix(1, 0) }))
	for _, value := range []string{"Bearer " + good, "bearer " + good, "BEARER  " + good} {
		if status, header, body := n.get("/api/v1/tools", value); status != 200 || header.Get("Cdn-Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s", value, status, body)
		}
	}
}

func TestPathsOutsideTheAPIIgnoreAuthorization(t *testing.T) {
	n := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "la page") }))
	for _, path := range []string{"/", "/apix", "/healthz", "/readyz"} {
		if status, _, _ := n.get(path, "Bearer nonsense"); status != 200 {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestEachRequestIsLoggedOnceWithoutSecrets(t *testing.T) {
	n := start(t, http.NotFoundHandler())
	key := n.issue(nil)
	n.get("/api/v1/tools?page=1&secret=abc", "Bearer "+key)
	n.get("/api/v1/tools/"+key, "Bearer "+key)
	n.get("/api/v1/tools?k="+key, "Bearer x"+key)
	lines := strings.Split(strings.TrimSpace(n.log.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d records:\n%s", len(lines), n.log)
	}
	var first map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"msg": "request", "method": "GET", "path": "/api/v1/tools", "status": 200.0, "client": "127.0.0.0/24"} {
		if first[name] != want {
			t.Errorf("%s is %v in %s", name, first[name], lines[0])
		}
	}
	if at, err := time.Parse("2006-01-02T15:04:05.000000Z", fmt.Sprint(first["time"])); err != nil || time.Since(at) > time.Minute {
		t.Errorf("the time, in UTC with microseconds, is %v: %v", first["time"], err)
	}
	n.get("/%22%0a%5c%ff%C3%A9")
	var odd struct{ Path string }
	if err := json.Unmarshal([]byte(strings.Split(n.log.String(), "\n")[3]), &odd); err != nil || odd.Path != "/\"\n\\\ufffdé" {
		t.Errorf("the path is logged as %q, %v", odd.Path, err)
	}
	for _, secret := range []string{key[4:], "secret=", "127.0.0.1"} {
		if strings.Contains(n.log.String(), secret) {
			t.Errorf("the log has %q:\n%s", secret, n.log)
		}
	}
}

func TestAPanicIsAnswered500AndLogged(t *testing.T) {
	n := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			w.WriteHeader(200)
		}
		panic("internal secret")
	}))
	status, header, body := n.get("/")
	if status != 500 || strings.Contains(body, "secret") || header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s", status, body)
	}
	if log := n.log.String(); !strings.Contains(log, "internal secret") || !strings.Contains(log, "server_test.go") || !strings.Contains(log, `"status":500`) {
		t.Errorf("log %s", log)
	}
	if resp, err := http.Get(n.url + "/late"); err == nil {
		if _, err = io.ReadAll(resp.Body); err == nil {
			t.Error("an answer that was cut off looks complete")
		}
		resp.Body.Close()
	}
}

func TestAPanicUnderTheAPIIsJSON(t *testing.T) {
	calls := 0
	broken := newServer(silent(NewMetrics()), handlers{api: api.New(api.Config{
		Snapshot: func() *snapshot.Snapshot {
			if calls++; calls == 1 {
				panic("no catalogue")
			}
			return snapshot.Empty("Essai", "https://essai.example")
		},
	})})
	srv := httptest.NewServer(broken)
	defer srv.Close()
	resp, err := http.Get(srv.URL + "/api/v1/tools")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 500 || !strings.Contains(string(body), `"code":"internal"`) || resp.Header.Get("Access-Control-Allow-Origin") != "*" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", resp.StatusCode, resp.Header, body)
	}
}

// silent is what a server needs that logs nothing.
func silent(m *Metrics) Config {
	return Config{Log: slog.New(slog.DiscardHandler), Requests: io.Discard, Metrics: m}
}

// A failing is a handler that panics.
type failing struct{ startingAPI }

func (failing) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	r.Pattern = "/publish/v1/catalogue"
	panic("no folder")
}

func TestFoldersThatArePublishedHaveTheirOwnRoute(t *testing.T) {
	metrics := NewMetrics()
	s := newServer(silent(metrics), handlers{publish: failing{}, site: http.NotFoundHandler()})
	for path, want := range map[string]int{"/publish/v1/catalogue": 503, "/publish": 503, "/publisher": 404} { // 503 is the answer of failing to a panic
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	body := scrape(t, metrics)
	for _, want := range []string{`palmares_http_requests_total{route="/publish/v1/catalogue",status="503"} 2`, "palmares_http_request_duration_seconds_count 1"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

func TestMetricsCountRoutesNotPaths(t *testing.T) {
	n := start(t, http.NotFoundHandler())
	n.get("/api/v1/tools/a")
	n.get("/api/v1/tools/b")
	n.get("/api/v1/nonsense")
	n.metrics.Build("1.2.3")
	body := scrape(t, n.metrics)
	for _, want := range []string{
		`palmares_build_info{goversion="` + runtime.Version() + `",version="1.2.3"} 1`,
		`palmares_http_requests_total{route="/api/v1/tools/{slug}",status="200"} 1`, `palmares_http_requests_total{route="/api/v1/tools/{slug}",status="404"} 1`,
		`palmares_http_requests_total{route="other",status="404"} 1`, "palmares_catalogue_tools 1", "palmares_catalogue_version 1", "go_goroutines",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
	ops := Ops(n.metrics, func() bool { return true }, "example.com", "1.2.3 abc go1")
	for path, want := range map[string]string{"/": "palmares 1.2.3 abc go1\n", "/healthz": "", "/readyz": "", "/debug/pprof/": ""} {
		w := httptest.NewRecorder()
		ops.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestTheOperatorsPortHasNoNameThatOthersChoose(t *testing.T) {
	ops := Ops(NewMetrics(), func() bool { return true }, "ops.example", "")
	for host, want := range map[string]int{
		"localhost:9090": 200, "127.0.0.1:9090": 200, "[::1]:9090": 200, "10.1.2.3:9090": 200, "node1:9090": 200, "ops.example:9090": 200, "": 200,
		"OPS.example.": 200, "autre.example:9090": 421, "127.0.0.1.autre.example": 421, "localhost.autre.example:9090": 421,
	} {
		for _, path := range []string{"/metrics", "/readyz", "/debug/pprof/cmdline"} {
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
			r.Host = host
			if ops.ServeHTTP(w, r); w.Code != want {
				t.Errorf("%s of %q: %d", path, host, w.Code)
			}
		}
	}
}

// scrape returns the metrics as Prometheus reads them.
func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	Ops(m, func() bool { return true }, "example.com", "").ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return w.Body.String()
}

func TestNoAnswerOfTheAPIIsSniffed(t *testing.T) {
	n := start(t, http.NotFoundHandler())
	for _, path := range []string{"/api/v1/tools", "/api/v1/tools/a", "/api/v1/rien", "/api/embeddings/a", "/api/v1/openapi.json", "/api/v1/tools?page=x", "/healthz"} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST"} {
			w := httptest.NewRecorder()
			n.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
			if w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: %v", method, path, w.Header())
			}
		}
	}
}

func TestHealthProbesAreNotLogged(t *testing.T) {
	n := start(t, http.NotFoundHandler())
	for _, path := range []string{"/healthz", "/readyz", "/healthz?x"} {
		n.get(path)
	}
	n.get("/healthz/x")
	if n.log.Count(`"msg":"request"`) != 1 || !n.log.Contains("/healthz/x") {
		t.Errorf("logged:\n%s", n.log)
	}
}

func TestStoppingFinishesWhatIsInFlight(t *testing.T) { inBothLanes(t, testStopping) }

func testStopping(t *testing.T, front func(string) bool) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	arrived, finish := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-finish
		fmt.Fprint(w, "entier")
	})
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- Run(ctx, listener, handler, Options{Front: front}, slog.New(slog.DiscardHandler)) }()
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + listener.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()
	<-arrived
	stop()
	for { // until the listener is closed, new connections may still be accepted
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			break
		}
		conn.Close()
	}
	close(finish)
	if got := <-answer; got != "entier" {
		t.Errorf("the request in flight got %q", got)
	}
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

func TestARequestThatArrivesWhileStoppingIsAnswered(t *testing.T) { inBothLanes(t, testLateRequest) }

func testLateRequest(t *testing.T, front func(string) bool) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	wanted := front
	if front != nil { // as when a node drains
		wanted = func(string) bool { return ctx.Err() == nil }
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "entier") })
	ran := make(chan error, 1)
	go func() { ran <- Run(ctx, listener, handler, Options{Front: wanted}, slog.New(slog.DiscardHandler)) }()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	ask := func(conn net.Conn) string {
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	late := dial()
	if got := ask(dial()); got != "entier" { // then late is accepted, too
		t.Fatal(got)
	}
	stop()
	for { // until the listener is closed
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			break
		}
		conn.Close()
	}
	if got := ask(late); got != "entier" {
		t.Errorf("the late request got %q", got)
	}
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

func TestHeadersThatAreTooLargeAreRefused(t *testing.T) { inBothLanes(t, testLargeHeaders) }

func testLargeHeaders(t *testing.T, front func(string) bool) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() {
		ran <- Run(ctx, listener, http.NotFoundHandler(), Options{Front: front}, slog.New(slog.DiscardHandler))
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("a", 64<<10))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%d", resp.StatusCode)
	}
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}
