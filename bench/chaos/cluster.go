package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // to count connections

	"palmares/internal/account"
)

// A cluster is three nodes and those who read from them.
type cluster struct {
	binary, dir string
	db          *database
	nodes       []*node
	keys        []string // of customers whom every node has seen
	spare       []spare  // to be revoked, one in each fault
	published   int      // tools in the catalogue, another number each time
	client      *http.Client
}

// A spare is a key that every node has seen.
type spare struct{ id, key string }

type node struct {
	cmd      *exec.Cmd
	url, ops string
}

// customers have a thousand requests a day each: enough of them that none runs out.
const customers = 40

// startsIn is for three nodes and the tables, on any machine.
const startsIn = time.Minute

// spares are keys of one Pro account each, one for each fault and some more.
const spares = 14

func startCluster(ctx context.Context, binary, dir string, db *database, database string) (*cluster, error) {
	direct := db.url(db.address())
	c := &cluster{binary: binary, dir: dir, db: db, client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
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
	for i := range spares {
		email := fmt.Sprintf("spare%d@example.org", i)
		if _, err := c.palmares(ctx, "account", "create", email, "--plan", "pro"); err != nil {
			return nil, err
		}
		key, err := c.palmares(ctx, "key", "create", email, "--name", "spare")
		if err != nil {
			return nil, err
		}
		list, err := c.palmares(ctx, "key", "list", email)
		if err != nil {
			return nil, err
		}
		id, _, _ := strings.Cut(list, " ")
		c.spare = append(c.spare, spare{id, key})
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
	started := time.Now()
	for _, n := range c.nodes {
		for !c.isWell(ctx, n) {
			if ctx.Err() != nil || time.Since(started) > startsIn {
				return nil, errors.Join(ctx.Err(), fmt.Errorf("a node does not serve after %s", startsIn), c.stop())
			}
			<-time.After(50 * time.Millisecond)
		}
		all := slices.Clone(c.keys)
		for _, s := range c.spare {
			all = append(all, s.key)
		}
		for _, key := range all { // now every node has seen it
			if _, status, err := c.ask(ctx, n, "/api/v1/openapi.json", key); err != nil || status != 200 {
				return nil, errors.Join(err, fmt.Errorf("a key was answered %d", status), c.stop())
			}
		}
	}
	return c, nil
}

// palmares runs a command beside the proxy.
func (c *cluster) palmares(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, c.binary, append(args, "--database", c.db.url(c.db.address()))...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("palmares %s: %w: %s", args[0], err, out)
	}
	return strings.TrimSpace(string(out)), nil
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

// figure reads a metric of a node; -1 for none.
func (c *cluster) figure(ctx context.Context, n *node, name string) float64 {
	req, err := http.NewRequestWithContext(ctx, "GET", n.ops+"/metrics", nil)
	if err != nil {
		return -1
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return -1
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			if value, err := strconv.ParseFloat(text, 64); err == nil {
				return value
			}
		}
	}
	return -1
}

// isWell tells whether a node reaches the database, counts with the others and
// knows who is unknown.
func (c *cluster) isWell(ctx context.Context, n *node) bool {
	if c.figure(ctx, n, "palmares_database_up") != 1 || c.figure(ctx, n, "palmares_quota_alone") != 0 {
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
	// How long it took until all nodes knew; never for more than recoversIn.
	recovered, revoked, published time.Duration
}

const never = time.Hour

// broken lists the promises that were not kept.
func (r *result) broken(f fault) (list []error) {
	is := func(broken bool, format string, args ...any) {
		if broken {
			list = append(list, fmt.Errorf(f.name+": "+format, args...))
		}
	}
	is(r.reads.answered < r.reads.asked, "%d reads were not answered: %v", r.reads.asked-r.reads.answered, r.reads.statuses)
	is(r.reads.worst > mayWait+allowance, "a read waited for %s", r.reads.worst)
	is(r.strangers.worst > mayWait+allowance, "an unknown key waited for %s", r.strangers.worst)
	is(r.recovered > mayRecover, "it took %s to recover", r.recovered)
	if f.near {
		is(r.revoked > mayRevoke, "a revocation took %s", r.revoked)
	} else {
		is(r.revoked == never, "a revocation never arrived")
	}
	is(r.published == never, "a publication never arrived")
	return list
}

// A weight is what nodes hold.
type weight struct{ goroutines, connections int }

func (w weight) String() string {
	return fmt.Sprintf("%d goroutines, %d connections", w.goroutines, w.connections)
}

// more tells what is left over: a few goroutines serve connections of callers.
func (w weight) more(before weight) error {
	if w.goroutines > before.goroutines+100 || w.connections > 3*perNode {
		return fmt.Errorf("something is left over: %s before, %s after; want %d connections at most", before, w, 3*perNode)
	}
	return nil
}

// perNode is how many connections a node may have.
const perNode = 13

// weigh sees what is left when callers are gone and what was given up has ended.
func (c *cluster) weigh(ctx context.Context) (w weight, err error) {
	c.client.CloseIdleConnections()
	<-time.After(16 * time.Second) // the driver takes up to 15 to end a connection that it gave up
	for _, n := range c.nodes {
		w.goroutines += int(c.figure(ctx, n, "go_goroutines"))
	}
	db, err := sql.Open("pgx", c.db.url(c.db.address()))
	if err != nil {
		return w, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'palmares'`).Scan(&w.connections)
	return w, err
}

// change revokes a key and publishes a catalogue, and gives how each is seen.
func (c *cluster) change(ctx context.Context) (isRevoked, isPublished func() bool, err error) {
	s := c.spare[0]
	c.spare = c.spare[1:]
	c.published++
	tools := 200 + c.published
	content := filepath.Join(c.dir, fmt.Sprint("content", tools))
	if out, err := exec.CommandContext(ctx, c.binary, "generate", content, "--tools", fmt.Sprint(tools)).CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("generate: %w: %s", err, out)
	}
	if _, err := c.palmares(ctx, "publish", content, "--allow-removals"); err != nil {
		return nil, nil, err
	}
	if _, err := c.palmares(ctx, "key", "revoke", s.id); err != nil {
		return nil, nil, err
	}
	everywhere := func(knows func(*node) bool) func() bool {
		return func() bool { return !slices.ContainsFunc(c.nodes, func(n *node) bool { return !knows(n) }) }
	}
	return everywhere(func(n *node) bool {
			_, status, err := c.ask(ctx, n, "/api/v1/stats", s.key)
			return err == nil && status == http.StatusUnauthorized
		}), everywhere(func(n *node) bool {
			return c.figure(ctx, n, "palmares_catalogue_tools") == float64(tools)
		}), nil
}

// until gives how long after begin something was so.
func until(ctx context.Context, begin time.Time, is func() bool) time.Duration {
	for ctx.Err() == nil && time.Since(begin) < recoversIn+lasts {
		if is() {
			return time.Since(begin)
		}
		<-time.After(20 * time.Millisecond)
	}
	return never
}

// suffer lets a fault happen while callers read, and waits for its end.
func (c *cluster) suffer(ctx context.Context, f fault) (*result, error) {
	r := &result{}
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
	begun := time.Now()
	isRevoked, isPublished, changeErr := c.change(ctx)
	err = errors.Join(err, changeErr)
	changed := time.Now()
	var seeing sync.WaitGroup
	if changeErr == nil {
		seeing.Go(func() { r.revoked = until(ctx, changed, isRevoked) })
		seeing.Go(func() { r.published = until(ctx, changed, isPublished) })
	}
	if !f.brief {
		select {
		case <-time.After(lasts - time.Since(begun)):
		case <-ctx.Done():
		}
	}
	err = errors.Join(err, f.end(ctx))
	r.recovered = until(ctx, time.Now(), func() bool {
		return !slices.ContainsFunc(c.nodes, func(n *node) bool { return !c.isWell(ctx, n) })
	})
	seeing.Wait()
	stop()
	readers.Wait()
	r.unknown = fmt.Sprintf("%d × 401, %d × 503", r.strangers.statuses[401], r.strangers.statuses[503])
	return r, errors.Join(err, ctx.Err())
}
