package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	callsPerSecond = 1000
	callers        = 64 // connections
)

// A callLoad is calls of tools at a fixed rate.
type callLoad struct {
	url    string
	ops    string
	client *http.Client
	bodies [][]byte

	took   []time.Duration // from when a call was due
	failed atomic.Int64
	first  atomic.Pointer[string] // of those that failed
}

// calls measures the tools of /mcp for so long: how they keep up with a rate of calls, what
// is left of them, and whether the quota counts each once.
func (b *bench) calls(duration time.Duration) error {
	folder, database := filepath.Join(b.dir, "mcp"), "sqlite:"+filepath.Join(b.dir, "mcp.db")
	if _, _, err := b.run("generate", folder, "--tools", "1500", "--seed", "1"); err != nil {
		return err
	}
	if _, _, err := b.run("publish", folder, "--database", database); err != nil {
		return err
	}
	ops, err := freeAddress()
	if err != nil {
		return err
	}
	count := int(duration.Seconds() * callsPerSecond)
	p, err := b.start(b.binary, "serve", "--listen", "127.0.0.1:0", "--ops-listen", ops, "--mcp-quota", strconv.Itoa(count), "--database", database)
	if err != nil {
		return err
	}
	l := &callLoad{
		url: p.url + "/mcp", ops: "http://" + ops, took: make([]time.Duration, count),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers, MaxConnsPerHost: callers}},
	}
	if err := l.prepare(p.url); err != nil {
		return err
	}
	if err := l.measure(p); err != nil {
		return err
	}
	return p.stop()
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// prepare writes one call of every kind for each of a hundred tools.
func (l *callLoad) prepare(url string) error {
	_, list, err := get(url + "/api/v1/tools?limit=100")
	if err != nil {
		return err
	}
	var page struct {
		Data []struct{ Slug, Tagline string }
	}
	if err := json.Unmarshal(list, &page); err != nil || len(page.Data) < 2 {
		return fmt.Errorf("the list of tools has %d: %w", len(page.Data), err)
	}
	for i, t := range page.Data {
		other := page.Data[(i+1)%len(page.Data)].Slug
		for _, call := range []struct {
			name      string
			arguments any
		}{
			{"search", map[string]any{"query": t.Tagline, "limit": 5}},
			{"fetch", map[string]any{"id": t.Slug}},
			{"compare", map[string]any{"tools": []string{t.Slug, other}}},
			{"prices", map[string]any{"tools": []string{t.Slug, other}}},
			{"changes", map[string]any{"after": i}},
		} {
			body, err := json.Marshal(map[string]any{
				"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": call.name, "arguments": call.arguments},
			})
			if err != nil {
				return err
			}
			l.bodies = append(l.bodies, body)
		}
	}
	return nil
}

// measure makes the calls and prints what they took and left.
func (l *callLoad) measure(p *process) error {
	before, err := l.state(p)
	if err != nil {
		return err
	}
	start := time.Now()
	half := make(chan callState, 1)
	go func() {
		time.Sleep(time.Duration(len(l.took)) * time.Second / callsPerSecond / 2)
		s, _ := l.state(p)
		half <- s
	}()
	l.run(start)
	took := time.Since(start)
	l.client.CloseIdleConnections()
	after, err := l.state(p)
	for end := time.Now().Add(10 * time.Second); err == nil && after.goroutines > before.goroutines && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
		after, err = l.state(p)
	}
	if err != nil {
		return err
	}
	middle := <-half
	slices.Sort(l.took)
	n := len(l.took)
	fmt.Printf("Calls of tools, %d a second for %.0f s over %d connections:\n", callsPerSecond, float64(n)/callsPerSecond, callers)
	fmt.Printf("  %.0f calls/s, ratio %.2f (at least 0.99); 50 %% within %.1f ms of when they were due, 99 %% within %.1f ms; %d failed\n",
		float64(n)/took.Seconds(), float64(n)/took.Seconds()/callsPerSecond, milliseconds(l.took[n/2]), milliseconds(l.took[n*99/100]), l.failed.Load())
	fmt.Printf("  resident %d MiB, was %d before and %d halfway, ratio %.2f to halfway (at most 1.10); %d goroutines, were %d before\n",
		after.resident>>20, before.resident>>20, middle.resident>>20, float64(after.resident)/float64(max(middle.resident, 1)), after.goroutines, before.goroutines)
	if text := l.first.Load(); text != nil {
		fmt.Println("  the first that failed:", *text)
	}
	return l.quota(after.answered)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// run makes all calls, each when it is due or as soon as a caller is free.
func (l *callLoad) run(start time.Time) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(l.took) {
					return
				}
				due := start.Add(time.Duration(i) * time.Second / callsPerSecond)
				time.Sleep(time.Until(due))
				if err := l.call(l.bodies[i%len(l.bodies)]); err != nil {
					text := err.Error()
					l.failed.Add(1)
					l.first.CompareAndSwap(nil, &text)
				}
				l.took[i] = time.Since(due)
			}
		})
	}
	all.Wait()
}

// call makes one call, which must be answered.
func (l *callLoad) call(body []byte) error {
	text, err := l.post(body)
	if err == nil && (!bytes.Contains(text, []byte(`"structuredContent"`)) || bytes.Contains(text, []byte(`"isError":true`))) {
		err = errors.New(string(text))
	}
	return err
}

func (l *callLoad) post(body []byte) ([]byte, error) {
	r, err := http.NewRequest(http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := l.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	return text, err
}

// quota prints whether the calls used the quota up, and no more.
func (l *callLoad) quota(answered int) error {
	refused, err := l.post(l.bodies[1])
	if err != nil {
		return err
	}
	readable := bytes.Contains(refused, []byte(`"isError":true`)) && bytes.Contains(refused, []byte(`reset_at`))
	fmt.Printf("  quota of %d: %d were answered and counted; the next one is refused in words: %t\n", len(l.took), answered, readable)
	return nil
}

// A callState is what a server holds.
type callState struct {
	resident   int64
	goroutines int
	answered   int
}

var (
	goroutines = regexp.MustCompile(`(?m)^go_goroutines (\d+)`)
	answered   = regexp.MustCompile(`(?m)^palmares_mcp_calls_total\{outcome="answered",tool="[a-z]+"\} (\S+)`)
)

func (l *callLoad) state(p *process) (s callState, err error) {
	if s.resident, err = p.resident(); err != nil {
		return s, err
	}
	_, body, err := get(l.ops + "/metrics")
	if err != nil {
		return s, err
	}
	text := string(body)
	if found := goroutines.FindStringSubmatch(text); found != nil {
		s.goroutines, err = strconv.Atoi(found[1])
	}
	for _, found := range answered.FindAllStringSubmatch(text, -1) {
		n, parseErr := strconv.ParseFloat(strings.TrimSpace(found[1]), 64)
		s.answered += int(n)
		err = errors.Join(err, parseErr)
	}
	return s, err
}
