package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// copyProgram is the example of docs/data.md.
const copyProgram = "../../docs/examples/copy.py"

// A copier runs the example against a server and counts its requests.
type copier struct {
	t        *testing.T
	url      string
	env      []string
	file     string
	requests atomic.Int64
}

func newCopier(p *process, env ...string) *copier {
	p.t.Helper()
	target, err := url.Parse(p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	c := &copier{t: p.t, env: env, file: filepath.Join(p.t.TempDir(), "copy.db")}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ModifyResponse = func(r *http.Response) error {
		if r.StatusCode != http.StatusTemporaryRedirect { // which is free
			c.requests.Add(1)
		}
		return nil
	}
	proxy := httptest.NewServer(forward)
	p.t.Cleanup(proxy.Close)
	c.url = proxy.URL
	return c
}

// run runs the program and returns what it prints and how many requests it sends.
func (c *copier) run() (output string, requests int64) {
	c.t.Helper()
	before := c.requests.Load()
	cmd := exec.CommandContext(c.t.Context(), "python3", copyProgram, c.url, c.file)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stderr = c.t.Output()
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out)), c.requests.Load() - before
}

// replace replaces the first n matches of a pattern in the tools of a folder.
func replace(t *testing.T, dir, pattern, by string, n int) {
	t.Helper()
	file := filepath.Join(dir, "outils.jsonl")
	lines, err := os.ReadFile(file)
	if err == nil {
		matches := regexp.MustCompile(pattern).FindAllIndex(lines, n)
		for _, at := range slices.Backward(matches) {
			lines = slices.Replace(lines, at[0], at[1], []byte(by)...)
		}
		err = os.WriteFile(file, lines, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// writeProofs writes what was seen of the prices of a folder that have sources, as programs of others would.
func writeProofs(t *testing.T, dir string) {
	t.Helper()
	lines, err := os.ReadFile(filepath.Join(dir, "outils.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var proofs []string
	for _, m := range regexp.MustCompile(`(?m)^{"slug":"([^"]+)".*"price_source":"([^"]+)","price_quote":"([^"]+)"`).FindAllSubmatch(lines, -1) {
		proofs = append(proofs, fmt.Sprintf(`{"slug": %q, "url": %q, "final_url": %q, "checked_at": "2026-11-12T03:00:00Z", "status": 404, "result": "gone", "quote": %q, "found": "", "text_hash": "", "confirmed_at": null}`+"\n", m[1], m[2], m[2], m[3]))
	}
	slices.Sort(proofs)
	err = os.WriteFile(filepath.Join(dir, "preuves.jsonl"), []byte(strings.Join(proofs, "")), 0o600)
	if err != nil || len(proofs) < 50 {
		t.Fatalf("%d proofs, %v", len(proofs), err)
	}
}

func TestTheDocumentedProgramKeepsAnExactCopyWithFewRequests(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")
	dir := filepath.Join(t.TempDir(), "catalogue")
	must(t, "generate", dir, "--tools", "1500")
	replace(t, dir, `"obsolescence":[0-9.]+`, `"obsolescence":0.00002`, 1) // which Python would write in another way
	writeProofs(t, dir)
	must(t, "publish", dir, "--database", database)
	p := serveProcess(t, "--database", database)
	must(t, "account", "create", "ada@example.org", "--database", database)
	key := strings.TrimSpace(must(t, "key", "create", "ada@example.org", "--name", "copy", "--database", database))
	plain, keyed := newCopier(p), newCopier(p, "PALMARES_KEY="+key)
	served := func() string {
		_, body := p.get("/data/v1/changes?limit=1", "Authorization: Bearer "+key)
		_, state, _ := strings.Cut(body, `"state":"`)
		return strings.TrimSuffix(strings.TrimSpace(state), `"}}`)
	}
	expect := func(c *copier, changes int, requests int64) {
		t.Helper()
		out, n := c.run()
		if want := fmt.Sprintf("%d changes; state %s", changes, served()); out != want || n > requests {
			t.Errorf("%q with %d requests; want %q with at most %d", out, n, want, requests)
		}
	}
	all := 0
	if out, _ := plain.run(); !strings.HasSuffix(out, served()) {
		t.Errorf("the copy says %q, the server has the state %s", out, served())
	} else if _, err := fmt.Sscan(out, &all); err != nil || all < 1550 {
		t.Errorf("%d changes, %v", all, err)
	}
	expect(plain, 0, 1)
	expect(keyed, all, 8)
	expect(keyed, 0, 1)
	expect(keyed, 0, 1) // a 304

	replace(t, dir, `"tagline":"`, `"tagline":"Ici, `, 33)
	must(t, "publish", dir, "--database", database)
	p.until("/api/v1/stats", func(r *http.Response, _ string) bool { return r.Header.Get("X-Service-Version") == "2" })
	expect(plain, 33, 1)
	damage := exec.CommandContext(t.Context(), "python3", "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).execute(\"DELETE FROM records WHERE kind = 'page'\")", plain.file)
	if out, err := damage.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	expect(plain, all, 3) // from the beginning
	expect(keyed, 33, 2)
}
