package main

import (
	"context"
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

	"palmares/internal/testkit"
)

// palmares is a command as a process.
func palmares(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "patient", args...)
	cmd.Env = os.Environ()
	return cmd
}

// must runs a command in this process that has to succeed, and returns its output.
func must(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("palmares %s: exit %d\n%s%s", strings.Join(args, " "), code, &stdout, &stderr)
	}
	return stdout.String()
}

// refuses runs a command in this process that has to fail with a sentence.
func refuses(t *testing.T, sentence string, args ...string) {
	t.Helper()
	var out strings.Builder
	if code := run(t.Context(), args, &out, &out); code == 0 || !strings.Contains(out.String(), sentence) {
		t.Errorf("palmares %s: exit %d, %s", strings.Join(args, " "), code, &out)
	}
}

// firstID returns the id of the first record of a list.
func firstID(t *testing.T, list ...string) string {
	t.Helper()
	_, records, _ := strings.Cut(must(t, list...), "\n")
	id, _, _ := strings.Cut(records, " ")
	return id
}

// client keeps its connections, as callers of a busy service do.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, IdleConnTimeout: 10 * time.Second}}

// A process is a running `palmares serve`.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	url string
	log *testkit.Log

	found  chan string   // receives its URL when it serves
	ended  chan struct{} // closed when it has ended
	err    error         // how it ended
	killed bool          // by the test
	stop   func()        // stops it and expects a clean end; calling it again does nothing
}

// serveProcess starts a patient server and waits until it serves.
func serveProcess(t *testing.T, args ...string) *process {
	t.Helper()
	return startProcess(t, "patient", args...).serves()
}

// serveShipped starts a server with the timeouts of users and waits until it serves.
func serveShipped(t *testing.T, args ...string) *process {
	t.Helper()
	return startProcess(t, "palmares", args...).serves()
}

// serves waits until the process serves.
func (p *process) serves() *process {
	p.t.Helper()
	select {
	case p.url = <-p.found:
	case <-p.ended:
		p.t.Fatalf("serve did not start: %v\n%s", p.err, p.log)
	}
	return p
}

// startProcess starts a server, which ends with the test.
func startProcess(t *testing.T, binary string, args ...string) *process {
	t.Helper()
	args = append([]string{"serve", "--listen", "localhost:0", "--drain", "0s"}, args...)
	// The test's context ends before its clean-up, which stops the server properly.
	return launch(t, exec.CommandContext(context.WithoutCancel(t.Context()), binary, args...))
}

// launch starts a server, which ends with the test.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, log: &testkit.Log{}, found: make(chan string, 1), ended: make(chan struct{})}
	p.cmd.Stderr = &urlFinder{log: p.log, found: p.found}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	p.stop = sync.OnceFunc(func() {
		// A server that stops waits 5 s for connections without a request.
		client.CloseIdleConnections()
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // the test may have stopped it
		if <-p.ended; p.err != nil && !p.killed {
			t.Errorf("serve: %v\n%s", p.err, p.log)
		}
	})
	t.Cleanup(p.stop)
	return p
}

// A urlFinder passes on what a server writes and looks for its URL.
type urlFinder struct {
	log   *testkit.Log
	found chan string // nil once it was found
}

func (f *urlFinder) Write(b []byte) (int, error) {
	n, err := f.log.Write(b)
	if f.found != nil {
		if _, rest, ok := strings.Cut(f.log.String(), `"site":"`); ok {
			if url, _, ok := strings.Cut(rest, `/"`); ok {
				f.found <- url
				f.found = nil
			}
		}
	}
	return n, err
}

// signal asks the server to stop, or to stop now if it was asked before.
func (p *process) signal() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Error(err)
	}
}

// endDrain ends a server that drains. The first signal may arrive before it
// listens for a second one.
func (p *process) endDrain() {
	p.t.Helper()
	testkit.Until(p.t, "the end of the drain", func() bool {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-p.ended:
			return true
		case <-time.After(100 * time.Millisecond):
			return false
		}
	})
	p.stop()
}

// kill ends the server as a power cut would.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	p.killed = true
	if <-p.ended; p.err == nil {
		p.t.Fatalf("it had ended before\n%s", p.log)
	}
}

// logs waits until the server has logged text.
func (p *process) logs(text string) {
	p.t.Helper()
	testkit.Until(p.t, fmt.Sprintf("%q in the log", text), func() bool {
		select {
		case <-p.ended:
			if !p.log.Contains(text) {
				p.t.Fatalf("it ended without logging %q: %v\n%s", text, p.err, p.log)
			}
		default:
		}
		return p.log.Contains(text)
	})
}

func (p *process) get(path string, headers ...string) (*http.Response, string) {
	p.t.Helper()
	resp, body, err := p.try(path, headers...)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", path, err, p.log)
	}
	return resp, body
}

func (p *process) try(path string, headers ...string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		return nil, "", err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// until sends a request again and again until the answer is the wanted one.
func (p *process) until(path string, wanted func(*http.Response, string) bool, headers ...string) {
	p.t.Helper()
	testkit.Until(p.t, "the expected answer of "+path, func() bool {
		resp, body, err := p.try(path, headers...)
		if err != nil {
			p.t.Fatalf("%s: %v\n%s", path, err, p.log)
		}
		return wanted(resp, body)
	})
}

// knows waits until the server has looked up keys. It uses nothing of their quota.
func (p *process) knows(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.until("/api/v1/openapi.json", func(r *http.Response, _ string) bool { return r.StatusCode == 200 }, key)
	}
}

// marked writes a content folder of many tools whose taglines all carry a mark.
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

// publishKilled publishes a folder and kills the command after a while. It returns what the
// command printed, and whether it was still running.
func publishKilled(t *testing.T, folder, database string, after time.Duration) (said string, killed bool) {
	t.Helper()
	var out strings.Builder
	cmd := palmares(context.WithoutCancel(t.Context()), "publish", folder, "--database", database)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return "", false
	}
	kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	err := cmd.Wait()
	if err != nil && cmd.ProcessState.Exited() {
		t.Errorf("publish: %v\n%s", err, &out)
	}
	return out.String(), err != nil
}
