package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"palmares/internal/account"
)

// A cluster is three nodes and those who read from them.
type cluster struct {
	nodes  []*node
	keys   []string // of customers whom every node has seen
	client *http.Client
}

type node struct {
	cmd      *exec.Cmd
	url, ops string
}

// customers have a thousand requests a day each: enough of them that none runs out.
const customers = 40

func startCluster(ctx context.Context, binary, direct, database string) (*cluster, error) {
	c := &cluster{client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	environment := append(os.Environ(), "PALMARES_SECRET_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	for i := range customers {
		email := fmt.Sprintf("%d@example.org", i)
		plan := []string{"developer", "pro"}[i%2]
		if out, err := exec.CommandContext(ctx, binary, "account", "create", email, "--plan", plan, "--database", direct).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("account create: %w: %s", err, out)
		}
		key, err := exec.CommandContext(ctx, binary, "key", "create", email, "--name", "chaos", "--database", direct).Output()
		if err != nil {
			return nil, fmt.Errorf("key create: %w", err)
		}
		c.keys = append(c.keys, strings.TrimSpace(string(key)))
	}
	for range 3 {
		address, ops, err := twoPorts()
		if err != nil {
			return nil, errors.Join(err, c.stop())
		}
		n := &node{url: "http://" + address, ops: "http://" + ops}
		n.cmd = exec.Command(binary, "serve", "--database", database, "--listen", address, "--ops-listen", ops,
			"--trusted-proxies", "127.0.0.0/8", "--drain", "0s")
		n.cmd.Env = environment
		if err := n.cmd.Start(); err != nil {
			return nil, errors.Join(err, c.stop())
		}
		c.nodes = append(c.nodes, n)
	}
	for _, n := range c.nodes {
		for !c.isWell(ctx, n) {
			if ctx.Err() != nil {
				return nil, errors.Join(ctx.Err(), c.stop())
			}
			<-time.After(50 * time.Millisecond)
		}
		for _, key := range c.keys { // now every node has seen it
			if _, status, err := c.ask(ctx, n, "/api/v1/openapi.json", key); err != nil || status != 200 {
				return nil, errors.Join(err, fmt.Errorf("a key was answered %d", status), c.stop())
			}
		}
	}
	return c, nil
}

func twoPorts() (string, string, error) {
	a, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer a.Close()
	b, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer b.Close()
	return a.Addr().String(), b.Addr().String(), nil
}

func (c *cluster) stop() error {
	var err error
	for _, n := range c.nodes {
		_ = n.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		err = errors.Join(err, n.cmd.Wait())
	}
	return err
}

// ask gives how long an answer took, and its status.
func (c *cluster) ask(ctx context.Context, n *node, path, key string) (time.Duration, int, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", n.url+path, nil)
	if err != nil {
		return 0, 0, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	} else { // another stranger each time
		req.Header.Set("X-Forwarded-For", fmt.Sprintf("198.%d.%d.%d", 18+mrand.IntN(2), mrand.IntN(256), mrand.IntN(256)))
	}
	begin := time.Now()
	resp, err := c.client.Do(req)
	if err != nil {
		return time.Since(begin), 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return time.Since(begin), resp.StatusCode, err
}

// isWell tells whether a node reaches the database, counts with the others and
// knows who is unknown.
func (c *cluster) isWell(ctx context.Context, n *node) bool {
	resp, err := c.client.Get(n.ops + "/metrics")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	figures, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(figures), "palmares_database_up 1") || !strings.Contains(string(figures), "palmares_quota_alone 0") {
		return false
	}
	_, status, err := c.ask(ctx, n, "/api/v1/stats", account.NewKey(rand.Reader))
	return err == nil && status == http.StatusUnauthorized
}

// waits are what one kind of callers met with.
type waits struct {
	mu              sync.Mutex
	asked, answered int
	statuses        map[int]int
	worst           time.Duration
}

func (w *waits) note(took time.Duration, status int, good bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	if good {
		w.answered++
	}
	if w.statuses == nil {
		w.statuses = map[int]int{}
	}
	w.statuses[status]++
	w.worst = max(w.worst, took)
}

// A result is what a fault did.
type result struct {
	reads, strangers waits
	unknown          string // how unknown keys were answered
	recovered        string
}

// suffer lets a fault happen while callers read, and waits for its end.
func (c *cluster) suffer(ctx context.Context, f fault) (*result, error) {
	r := &result{recovered: "never"}
	reading, stop := context.WithCancel(ctx)
	var readers sync.WaitGroup
	reader := func(of *waits, pause time.Duration, key func() string, good func(status int) bool) {
		readers.Go(func() {
			for reading.Err() == nil {
				took, status, err := c.ask(ctx, c.nodes[mrand.IntN(len(c.nodes))], "/api/v1/stats", key())
				of.note(took, status, err == nil && good(status))
				<-time.After(pause)
			}
		})
	}
	is200 := func(status int) bool { return status == http.StatusOK }
	for range 4 {
		reader(&r.reads, 10*time.Millisecond, func() string { return c.keys[mrand.IntN(len(c.keys))] }, is200)
		reader(&r.reads, 10*time.Millisecond, func() string { return "" }, is200)
	}
	reader(&r.strangers, 20*time.Millisecond, func() string { return account.NewKey(rand.Reader) },
		func(status int) bool { return status == http.StatusUnauthorized })

	err := f.begin(ctx)
	if !f.brief {
		select {
		case <-time.After(lasts):
		case <-ctx.Done():
		}
	}
	err = errors.Join(err, f.end(ctx))
	ended := time.Now()
	for time.Since(ended) < recoversIn && ctx.Err() == nil {
		well := 0
		for _, n := range c.nodes {
			if c.isWell(ctx, n) {
				well++
			}
		}
		if well == len(c.nodes) {
			r.recovered = fmt.Sprintf("%d ms", time.Since(ended).Milliseconds())
			break
		}
		<-time.After(20 * time.Millisecond)
	}
	stop()
	readers.Wait()
	r.unknown = fmt.Sprintf("%d × 401, %d × 503", r.strangers.statuses[401], r.strangers.statuses[503])
	return r, errors.Join(err, ctx.Err())
}
