package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"palmares/internal/store"
	"palmares/internal/testkit"
)

// binary is palmares as it is shipped, which TestMain builds: without the race
// detector a process starts much faster, and these tests start many.
var binary string

func palmares(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	// Nodes that share a PostgreSQL share a key.
	cmd.Env = append(os.Environ(), "PALMARES_SECRET_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	return cmd
}

// must runs palmares to a good end and gives its output.
func must(t *testing.T, args ...string) string {
	t.Helper()
	var said strings.Builder
	cmd := palmares(t.Context(), args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("palmares %s: %v\n%s%s", strings.Join(args, " "), err, out, &said)
	}
	return string(out)
}

// caller keeps its connections, as callers of a busy service do.
var caller = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, IdleConnTimeout: 10 * time.Second}}

// A served is a server in a process of its own.
type served struct {
	t   *testing.T
	cmd *exec.Cmd
	url string
	log *lockedBuffer

	found chan string // receives where it serves, once it does
	ended chan error  // receives how it ended
	stop  func()      // waits until it has ended well; more than once is fine
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serveProcess starts a server and waits until it serves.
func serveProcess(t *testing.T, args ...string) *served {
	t.Helper()
	return startProcess(t, args...).serves()
}

// serves waits until it serves.
func (s *served) serves() *served {
	s.t.Helper()
	select {
	case s.url = <-s.found:
	case err := <-s.ended:
		s.ended <- err
		s.t.Fatalf("serve did not start: %v\n%s", err, s.log)
	}
	return s
}

// startProcess starts a server that need not serve yet.
func startProcess(t *testing.T, args ...string) *served {
	t.Helper()
	// The context of a test ends before its clean-up, which stops the server in peace.
	return startCommand(t, palmares(context.WithoutCancel(t.Context()), append([]string{"serve", "--listen", "localhost:0", "--drain", "0s"}, args...)...))
}

// startCommand starts a server by the command that is given.
func startCommand(t *testing.T, cmd *exec.Cmd) *served {
	t.Helper()
	s := &served{t: t, cmd: cmd, log: &lockedBuffer{}, found: make(chan string, 1), ended: make(chan error, 1)}
	reader, writer := io.Pipe()
	s.cmd.Stderr = io.MultiWriter(s.log, writer)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // reads on to the end, so that the log is never held up
		var said strings.Builder
		b := make([]byte, 4096)
		for {
			n, err := reader.Read(b)
			if err != nil {
				return
			}
			if _, rest, ok := strings.Cut(said.String(), "site      "); ok && strings.Contains(rest, "\n") {
				continue
			}
			said.Write(b[:n])
			if _, rest, ok := strings.Cut(said.String(), "site      "); ok {
				if url, _, ok := strings.Cut(rest, "/\n"); ok {
					s.found <- url
				}
			}
		}
	}()
	go func() { s.ended <- s.cmd.Wait(); writer.Close() }()
	s.stop = sync.OnceFunc(func() {
		// A server that stops waits 5 s for connections on which nothing was asked yet.
		caller.CloseIdleConnections()
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have been stopped by the test
		if err := <-s.ended; err != nil {
			t.Errorf("serve: %v\n%s", err, s.log)
		}
	})
	t.Cleanup(s.stop)
	return s
}

func (s *served) get(path string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	resp, body, err := s.try(path, headers...)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", path, err, s.log)
	}
	return resp, body
}

func (s *served) try(path string, headers ...string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		return nil, "", err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	resp, err := caller.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// until asks again and again until the answer is the wanted one. What it waits for
// takes a second at most on a machine that is free; a minute is never.
func (s *served) until(path string, wanted func(*http.Response, string) bool, headers ...string) {
	s.t.Helper()
	limit, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for limit.Err() == nil {
		resp, body, err := s.try(path, headers...)
		if err != nil {
			s.t.Fatalf("%s: %v\n%s", path, err, s.log)
		}
		if wanted(resp, body) {
			return
		}
	}
	s.t.Fatalf("%s never became what it should\n%s", path, s.log)
}

// eachDatabase runs a test on SQLite and on PostgreSQL.
func eachDatabase(t *testing.T, test func(t *testing.T, database string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, testkit.Postgres(t)) })
}

// marked makes a content folder of many tools whose taglines all carry a mark.
func marked(t *testing.T, mark string, tools int) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("catalogue.yaml", "name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n")
	var lines strings.Builder
	for i := range tools {
		fmt.Fprintf(&lines, `{"slug":"t%d","name":"T%d","domain":"t.example","category":"code","icp":"mixte","pricing":"payant","price":"1 €/mois","tagline":%q,"updated_at":"2026-01-01"}`+"\n", i, i, mark)
	}
	write("outils.jsonl", lines.String())
	return dir
}

func TestTheDemoIsServedUntilSomethingIsPublished(t *testing.T) {
	eachDatabase(t, func(t *testing.T, database string) {
		s := serveProcess(t, "--database", database, "--quota", "off")
		var stats struct {
			ToolsTotal int `json:"tools_total"`
		}
		resp, body := s.get("/api/v1/stats")
		if err := json.Unmarshal([]byte(body), &stats); err != nil || stats.ToolsTotal < 60 {
			t.Fatalf("%s %v", body, err)
		}
		if !strings.Contains(s.log.String(), "demo") || resp.Header.Get("X-Service-Updated-At") == "" {
			t.Errorf("greeting %s", s.log)
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

func TestWithoutTheDemoNothingIsServedUntilSomethingIsPublished(t *testing.T) {
	s := serveProcess(t, "--demo", "off", "--database", "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	resp, body := s.get("/api/v1/tools")
	if resp.StatusCode != 200 || body != `{"data":[],"meta":{"total":0,"page":1,"limit":50,"pages":0}}` || resp.Header.Get("X-Service-Updated-At") != "1970-01-01" {
		t.Errorf("%s %v %s", resp.Status, resp.Header, body)
	}
	if resp, _ := s.get("/readyz"); resp.StatusCode != 200 {
		t.Errorf("readyz: %s", resp.Status)
	}
}

// TestKilledPublicationsTearNothing publishes one of two catalogues again and
// again, kills the publishing process at another moment each time, and reads all
// the while: every answer is wholly of one of them.
func TestKilledPublicationsTearNothing(t *testing.T) {
	const tools, kills = 1500, 12
	a, b := marked(t, "A", tools), marked(t, "B", tools)
	eachDatabase(t, func(t *testing.T, database string) {
		must(t, "publish", a, "--database", database)
		s := serveProcess(t, "--database", database, "--quota", "off")
		ctx, stop := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for page := 1; ctx.Err() == nil; page = page%8 + 1 {
					_, body, err := s.try(fmt.Sprintf("/api/v1/tools?limit=200&page=%d", page))
					if err != nil {
						t.Errorf("a read failed: %v", err)
						return
					}
					ofA, ofB := strings.Count(body, `"tagline":"A"`), strings.Count(body, `"tagline":"B"`)
					if ofA != 0 && ofB != 0 || ofA+ofB != min(200, tools-200*(page-1)) {
						t.Errorf("page %d has %d tools of A and %d of B", page, ofA, ofB)
						return
					}
				}
			})
		}
		killed := 0
		for i := range kills {
			folder := []string{b, a}[i%2]
			cmd := palmares(ctx, "publish", folder, "--database", database)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// From before it has read the folder to after it has committed.
			kill := time.AfterFunc(time.Duration(i+1)*60*time.Millisecond, func() { _ = cmd.Process.Kill() })
			if cmd.Wait() != nil {
				killed++
			}
			kill.Stop()
		}
		stop()
		readers.Wait()
		if killed == 0 {
			t.Error("no publication was killed: they are too fast for this test")
		}
		checkEvents(t, database)
		must(t, "publish", b, "--database", database)
		must(t, "publish", a, "--database", database)
		checkEvents(t, database)
	})
}

// checkEvents wants one sequence without gaps, and the catalogue in the state of
// its last event.
func checkEvents(t *testing.T, database string) {
	t.Helper()
	st, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	next := int64(1)
	for {
		events, err := st.Events.List(t.Context(), next-1, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			if e.Sequence != next {
				t.Fatalf("event %d follows %d", e.Sequence, next-1)
			}
			next++
		}
	}
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

func TestStoppingIsCleanAndSaysNothingSecret(t *testing.T) {
	database := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	must(t, "account", "create", "ada@example.org", "--database", database)
	key := strings.TrimSpace(must(t, "key", "create", "ada@example.org", "--name", "x", "--database", database))
	s := serveProcess(t, "--database", database, "--ops-listen", "localhost:0")
	if resp, _ := s.get("/api/embeddings/varlope", "Authorization: Bearer "+key); resp.StatusCode != 200 {
		t.Errorf("embeddings with a key: %s", resp.Status)
	}
	if resp, _ := s.get("/api/embeddings/varlope"); resp.StatusCode != 401 {
		t.Errorf("embeddings without: %s", resp.Status)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for err := error(nil); err == nil; { // until it no longer listens
		_, _, err = s.try("/healthz")
	}
	if strings.Contains(s.log.String(), key[4:]) {
		t.Error("the log has the key")
	}
}
