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
	"palmares/internal/node"
	"palmares/internal/testkit"
)

// A cluster is some nodes and the keys of their callers.
type cluster struct {
	binary, dir string
	database    string        // the URL that commands use
	locate      func() string // what that URL is after a fault; nil if it stays
	size        int           // how many nodes
	customers   int           // how many accounts with a key; half of them have a thousand requests a day
	spares      int           // how many keys that can be revoked
	nodes       []*member
	keys        []string // of customers; every node has seen them
	spare       []spare  // to be revoked, one during each fault
	published   int      // tools in the catalogue, another number each time
	client      *http.Client
}

// A spare is a key that every node has seen.
type spare struct{ id, key string }

type member struct {
	cmd      *exec.Cmd
	log      *testkit.Log
	url, ops string
}

const (
	databaseName = "postgres"
	// startsIn is enough for three nodes and the migrations, on any machine.
	startsIn = time.Minute
	// secretKey is that of all nodes and commands.
	secretKey = "PALMARES_SECRET_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
)

func newCluster(binary, dir, database string) *cluster {
	return &cluster{
		binary: binary, dir: dir, database: database, size: 3, customers: 40,
		client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}},
	}
}

// start creates the accounts, and starts nodes on a database until each has seen every key.
func (c *cluster) start(ctx context.Context, database string) error {
	if err := c.createKeys(ctx); err != nil {
		return err
	}
	return c.serve(ctx, database)
}

// serve starts nodes on a database until each has seen every key.
func (c *cluster) serve(ctx context.Context, database string) error {
	for range c.size {
		address, err := testkit.FreeAddress()
		if err != nil {
			return err
		}
		ops, err := testkit.FreeAddress()
		if err != nil {
			return err
		}
		n := &member{url: "http://" + address, ops: "http://" + ops, log: &testkit.Log{}}
		n.cmd = exec.Command(c.binary, "serve", "--database", database, "--listen", address, "--ops-listen", ops,
			"--trusted-proxies", "127.0.0.0/8", "--webhook-allow", "127.0.0.0/8", "--drain", "0s")
		n.cmd.Env, n.cmd.Stderr = append(os.Environ(), secretKey), n.log
		if err := n.cmd.Start(); err != nil {
			return err
		}
		c.nodes = append(c.nodes, n)
	}
	all := slices.Clone(c.keys)
	for _, s := range c.spare {
		all = append(all, s.key)
	}
	started := time.Now()
	for _, n := range c.nodes {
		for !c.isWell(ctx, n) {
			if ctx.Err() != nil || time.Since(started) > startsIn {
				return errors.Join(ctx.Err(), fmt.Errorf("a node does not serve after %s", startsIn))
			}
			<-time.After(50 * time.Millisecond)
		}
		for _, key := range all {
			if _, status, err := c.ask(ctx, n, "/api/v1/openapi.json", key); err != nil || status != 200 {
				return errors.Join(err, fmt.Errorf("a key was answered %d", status))
			}
		}
	}
	return nil
}

func (c *cluster) createKeys(ctx context.Context) error {
	st, err := node.Open(ctx, c.database)
	if err != nil {
		return err
	}
	defer st.Close()
	for i := range c.customers + c.spares {
		plan := account.Pro
		if i < c.customers && i%2 == 0 {
			plan = account.Developer
		}
		a, err := st.Accounts.Create(ctx, fmt.Sprintf("%d@example.org", i), plan, time.Now())
		if err != nil {
			return err
		}
		key, stored, err := st.Keys.Create(ctx, a.Email, "chaos", nil, time.Now())
		if err != nil {
			return err
		}
		if i < c.customers {
			c.keys = append(c.keys, key)
		} else {
			c.spare = append(c.spare, spare{stored.ID, key})
		}
	}
	return nil
}

// palmares runs a command on the database.
func (c *cluster) palmares(ctx context.Context, args ...string) (string, error) {
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, c.binary, append(args, "--database", c.database)...)
	cmd.Env = append(os.Environ(), secretKey)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("palmares %s: %w: %s", args[0], err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

func (c *cluster) stop() error {
	var err error
	for _, n := range c.nodes {
		_ = n.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if failed := n.cmd.Wait(); failed != nil {
			err = errors.Join(err, fmt.Errorf("a node: %w: %s", failed, lastLines(n.log.String())))
		}
	}
	return err
}

// lastLines returns what a node said last.
func lastLines(log string) string {
	lines := slices.DeleteFunc(strings.Split(log, "\n"),
		func(line string) bool { return strings.Contains(line, `"msg":"request"`) })
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// ask returns how long an answer took, and its status.
func (c *cluster) ask(ctx context.Context, n *member, path, key string) (time.Duration, int, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", n.url+path, nil)
	if err != nil {
		return 0, 0, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	} else { // another anonymous caller each time
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

// figure returns a metric of a node, -1 if it has none.
func (c *cluster) figure(ctx context.Context, n *member, name string) float64 {
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

// isWell reports whether a node reaches the database, counts with the others and
// refuses unknown keys.
func (c *cluster) isWell(ctx context.Context, n *member) bool {
	if c.figure(ctx, n, "palmares_database_up") != 1 || c.figure(ctx, n, "palmares_quota_alone") != 0 {
		return false
	}
	_, status, err := c.ask(ctx, n, "/api/v1/stats", account.NewKey(rand.Reader))
	return err == nil && status == http.StatusUnauthorized
}

// waits are what one kind of callers experienced.
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

// plus returns what two kinds of callers experienced together.
func (w *waits) plus(other *waits) *waits {
	return &waits{asked: w.asked + other.asked, answered: w.answered + other.answered, worst: max(w.worst, other.worst)}
}

// A result is the effect of a fault.
type result struct {
	keyed, anonymous, pages, strangers waits
	unknown                            string // how unknown keys were answered
	// How long it took until all nodes knew; never after recoversIn.
	recovered, revoked, published time.Duration
}

const never = time.Hour

// broken lists the promises that were broken.
func (r *result) broken(f fault) (list []error) {
	is := func(broken bool, format string, args ...any) {
		if broken {
			list = append(list, fmt.Errorf(f.name+": "+format, args...))
		}
	}
	for kind, w := range map[string]*waits{
		"reads with a key": &r.keyed, "reads without a key": &r.anonymous, "pages": &r.pages,
	} {
		is(w.answered < w.asked, "%d of %d %s were not answered: %v", w.asked-w.answered, w.asked, kind, w.statuses)
		is(w.worst > mayWait+allowance, "one of the %s waited for %s", kind, w.worst)
	}
	is(r.strangers.worst > mayWait+allowance, "an unknown key waited for %s", r.strangers.worst)
	is(r.recovered > mayRecover, "it took %s to recover", r.recovered)
	if f.near || f.down {
		is(r.revoked > mayRevoke, "a revocation took %s", r.revoked)
	} else {
		is(r.revoked == never, "a revocation never arrived")
	}
	is(r.published == never, "a publication never arrived")
	return list
}

// A weight is what all nodes together hold.
type weight struct{ goroutines, connections int }

func (w weight) String() string {
	return fmt.Sprintf("%d goroutines, %d connections", w.goroutines, w.connections)
}

// more returns an error if something is left over. A few goroutines serve callers'
// connections.
func (w weight) more(before weight) error {
	if w.goroutines > before.goroutines+100 || w.connections > 3*perNode {
		return fmt.Errorf("something is left over: %s before, %s after; want %d connections at most", before, w, 3*perNode)
	}
	return nil
}

// perNode is how many connections to the database a node may have.
const perNode = 15

// weigh measures what is left when callers are gone and what was abandoned has ended.
func (c *cluster) weigh(ctx context.Context) (w weight, err error) {
	c.client.CloseIdleConnections()
	<-time.After(16 * time.Second) // the driver takes up to 15 to end a connection that it abandoned
	for _, n := range c.nodes {
		w.goroutines += int(c.figure(ctx, n, "go_goroutines"))
	}
	db, err := sql.Open("pgx", c.database)
	if err != nil {
		return w, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx,
		`SELECT count(*) FROM pg_stat_activity WHERE application_name = 'palmares'`).Scan(&w.connections)
	return w, err
}

// change revokes a key and publishes a catalogue. The functions it returns report
// whether every node knows.
func (c *cluster) change(ctx context.Context) (isRevoked, isPublished func() bool, err error) {
	s := c.spare[0]
	c.spare = c.spare[1:]
	c.published++
	tools := 200 + c.published
	content, err := c.generate(ctx, tools)
	if err != nil {
		return nil, nil, err
	}
	if _, err := c.palmares(ctx, "publish", content, "--allow-removals"); err != nil {
		return nil, nil, err
	}
	if _, err := c.palmares(ctx, "key", "revoke", s.id); err != nil {
		return nil, nil, err
	}
	everywhere := func(knows func(*member) bool) func() bool {
		return func() bool { return !slices.ContainsFunc(c.nodes, func(n *member) bool { return !knows(n) }) }
	}
	return everywhere(func(n *member) bool {
			_, status, err := c.ask(ctx, n, "/api/v1/stats", s.key)
			return err == nil && status == http.StatusUnauthorized
		}), everywhere(func(n *member) bool {
			return c.figure(ctx, n, "palmares_catalogue_tools") == float64(tools)
		}), nil
}

// generate writes a content folder.
func (c *cluster) generate(ctx context.Context, tools int) (string, error) {
	content := filepath.Join(c.dir, fmt.Sprint("content", tools))
	out, err := exec.CommandContext(ctx, c.binary, "generate", content, "--tools", fmt.Sprint(tools)).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("generate: %w: %s", err, out)
	}
	return content, nil
}

// until returns how long after begin a condition became true.
func until(ctx context.Context, begin time.Time, is func() bool) time.Duration {
	for ctx.Err() == nil && time.Since(begin) < recoversIn+lasts {
		if is() {
			return time.Since(begin)
		}
		<-time.After(20 * time.Millisecond)
	}
	return never
}

// suffer lets a fault happen while callers read, and waits until all is well again.
func (c *cluster) suffer(ctx context.Context, f fault) (*result, error) {
	r := &result{}
	stopReading := c.read(ctx, r)
	var seeing sync.WaitGroup
	change := func() error {
		isRevoked, isPublished, err := c.change(ctx)
		changed := time.Now()
		if err == nil {
			seeing.Go(func() { r.revoked = until(ctx, changed, isRevoked) })
			seeing.Go(func() { r.published = until(ctx, changed, isPublished) })
		}
		return err
	}
	err := f.begin(ctx)
	begun := time.Now()
	if c.locate != nil {
		c.database = c.locate() // a server that fails over has another address
	}
	if !f.down {
		err = errors.Join(err, change())
	}
	if !f.brief {
		select {
		case <-time.After(lasts - time.Since(begun)):
		case <-ctx.Done():
		}
	}
	err = errors.Join(err, f.end(ctx))
	r.recovered = until(ctx, time.Now(), func() bool {
		return !slices.ContainsFunc(c.nodes, func(n *member) bool { return !c.isWell(ctx, n) })
	})
	if f.down {
		err = errors.Join(err, change())
	}
	seeing.Wait()
	stopReading()
	r.unknown = fmt.Sprintf("%d × 401, %d × 503", r.strangers.statuses[401], r.strangers.statuses[503])
	return r, errors.Join(err, ctx.Err())
}

// readPause is the pause of a reader between two requests.
const readPause = 10 * time.Millisecond

// keyedReaders is how many readers use the keys of customers.
const keyedReaders = 4

// customersFor returns how many customers have enough requests for so long.
func customersFor(d time.Duration) int { return keyedReaders * int(d/readPause) / 1000 }

// read lets known and unknown callers read from random nodes until stop is called,
// which waits for the last answer.
func (c *cluster) read(ctx context.Context, r *result) (stop func()) {
	reading, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	reader := func(of *waits, path string, pause time.Duration, key func() string, good int) {
		readers.Go(func() {
			for reading.Err() == nil {
				took, status, err := c.ask(ctx, c.nodes[mrand.IntN(len(c.nodes))], path, key())
				of.note(took, status, err == nil && status == good)
				<-time.After(pause)
			}
		})
	}
	const stats = "/api/v1/stats"
	for range keyedReaders {
		reader(&r.keyed, stats, readPause, func() string { return c.keys[mrand.IntN(len(c.keys))] }, http.StatusOK)
		reader(&r.anonymous, stats, readPause, func() string { return "" }, http.StatusOK)
	}
	reader(&r.pages, "/outils", readPause, func() string { return "" }, http.StatusOK)
	reader(&r.strangers, stats, 20*time.Millisecond, func() string { return account.NewKey(rand.Reader) },
		http.StatusUnauthorized)
	return func() { // it may be called again
		cancel()
		readers.Wait()
	}
}
