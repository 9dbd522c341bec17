package main

import (
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"palmares/internal/account"
	"palmares/internal/node"
)

const (
	nodeRounds      = 3
	nodeSeconds     = 4
	nodeConnections = 64 // over all nodes
	proAccounts     = 20
)

// A cluster is some nodes on one database, and keys to send them.
type cluster struct {
	name     string
	database string
	nodes    []*process
	scripts  map[account.Plan]string // what wrk sends, with the keys of a plan
	answered int64                   // with Developer keys, warming up included
	figures  map[account.Plan]*nodeFigures
}

// nodeFigures are the figures of all rounds with one kind of key.
type nodeFigures struct {
	rate, half, most     []float64
	nodeCPU, databaseCPU []float64 // microseconds per request
	commits              []float64 // write transactions a second
}

var nodePlans = []account.Plan{account.Developer, account.Pro}

// nodes compares one node on SQLite with one to three on PostgreSQL: with Developer keys,
// whose every request is counted exactly across nodes, and with Pro keys, which have no
// quota. Clients, nodes and database share this machine, so two nodes cannot serve twice as
// much as one here: the figures to plan with are the processor times of a request.
func (b *bench) nodes(accounts int) (err error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it does not fail
	b.env = append(b.env, "PALMARES_SECRET_KEY="+base64.StdEncoding.EncodeToString(secret))
	pg, err := startPostgres()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.stop()) }()
	var all []*cluster
	for _, c := range []struct {
		name, database string
		nodes          int
	}{
		{"one node, SQLite", "sqlite:" + filepath.Join(b.dir, "nodes.db"), 1},
		{"one node, PostgreSQL", pg.URL("one"), 1},
		{"two nodes, PostgreSQL", pg.URL("two"), 2},
		{"three nodes, PostgreSQL", pg.URL("three"), 3},
	} {
		if err := pg.create(b.ctx, c.database); err != nil {
			return err
		}
		made, err := b.cluster(c.name, c.database, c.nodes, accounts)
		if err != nil {
			return err
		}
		all = append(all, made)
	}
	list, err := get(all[0].nodes[0].url + "/api/v1/tools?limit=1")
	if err != nil {
		return err
	}
	path := "/api/v1/tools/" + string(firstSlug.FindSubmatch(list.Body)[1])
	for round := range nodeRounds + 1 { // the first warms up: each node sees each key
		for _, c := range all {
			for _, plan := range nodePlans {
				if err := b.measureNodes(c, plan, path, pg, round > 0); err != nil {
					return fmt.Errorf("%s, %s keys: %w", c.name, plan, err)
				}
			}
		}
	}
	fmt.Printf("GET %s, %d connections in all, medians of %d rounds of %d s\n"+
		"(wrk, nodes and PostgreSQL with its own settings share %d cores; %d Developer accounts with a key each, %d Pro):\n",
		path, nodeConnections, nodeRounds, nodeSeconds, runtime.NumCPU(), accounts, proAccounts)
	printNodes(all)
	for _, c := range all {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

func printNodes(all []*cluster) {
	for _, plan := range nodePlans {
		fmt.Printf("  %s keys:\n", plan)
		for _, c := range all {
			f := c.figures[plan]
			fmt.Printf("    %-24s %7.0f/s   half within %5.1f ms, 99 %% within %5.1f ms   "+
				"CPU a request: nodes %4.0f µs, PostgreSQL %4.1f µs   write transactions %5.0f/s\n",
				c.name, median(f.rate), median(f.half), median(f.most),
				median(f.nodeCPU), median(f.databaseCPU), median(f.commits))
		}
	}
}

// cluster creates accounts in a database and starts nodes on it.
func (b *bench) cluster(name, database string, nodes, accounts int) (*cluster, error) {
	c := &cluster{
		name: name, database: database, scripts: map[account.Plan]string{}, figures: map[account.Plan]*nodeFigures{},
	}
	st, err := node.Open(b.ctx, database)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	for plan, count := range map[account.Plan]int{account.Developer: accounts, account.Pro: proAccounts} {
		var keys []string
		for i := range count {
			a, err := st.Accounts.Create(b.ctx, fmt.Sprintf("%s%d@example.org", plan, i), plan, time.Now())
			if err != nil {
				return nil, err
			}
			key, _, err := st.Keys.Create(b.ctx, a.Email, "bench", nil, time.Now())
			if err != nil {
				return nil, err
			}
			keys = append(keys, key)
		}
		c.scripts[plan] = keyScript(keys)
		c.figures[plan] = &nodeFigures{}
	}
	for range nodes {
		p, err := b.serve(b.binary, database)
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, p)
	}
	return c, nil
}

// keyScript makes wrk send one key after another, starting with a random one so that two
// of them do not go in step.
func keyScript(keys []string) string {
	return fmt.Sprintf(`
local keys = { "%s" }
local requests = {}
math.randomseed(os.time() + tonumber(tostring({}):sub(8)))
local i = math.random(#keys)
function init()
  for n, key in ipairs(keys) do
    requests[n] = wrk.format("GET", nil, { ["Authorization"] = "Bearer " .. key })
  end
end
function request()
  i = i %% #keys + 1
  return requests[i]
end
`, strings.Join(keys, `", "`))
}

// A usage is what nodes and database have used so far.
type usage struct {
	nodes, database time.Duration // processor time
	writes          int64         // transactions
	at              time.Time
}

func (b *bench) usage(c *cluster, pg *postgres) (u usage, err error) {
	for _, p := range c.nodes {
		own, _, err := cpuTime(p.cmd.Process.Pid)
		if err != nil {
			return u, err
		}
		u.nodes += own
	}
	u.database, err = pg.cpu()
	if err != nil {
		return u, err
	}
	u.writes, err = pg.writes(b.ctx)
	u.at = time.Now()
	return u, err
}

// measureNodes loads all nodes of a cluster at once for a round.
func (b *bench) measureNodes(c *cluster, plan account.Plan, path string, pg *postgres, counts bool) error {
	before, err := b.usage(c, pg)
	if err != nil {
		return err
	}
	figures := make([]figure, len(c.nodes))
	failures := make([]error, len(c.nodes))
	var running sync.WaitGroup
	for i, node := range c.nodes {
		running.Go(func() {
			figures[i], failures[i] = b.wrk(load{
				url: node.url + path, script: c.scripts[plan], connections: nodeConnections / len(c.nodes), seconds: nodeSeconds,
			})
		})
	}
	running.Wait()
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("%w; if the accounts have used up their thousand a day, give more -accounts", err)
	}
	after, err := b.usage(c, pg)
	if err != nil {
		return err
	}
	var sum figure
	for _, f := range figures {
		sum.requests += f.requests
		sum.rate += f.rate
		sum.half, sum.most = max(sum.half, f.half), max(sum.most, f.most)
	}
	if plan == account.Developer {
		c.answered += sum.requests
	}
	if counts {
		f, n := c.figures[plan], float64(sum.requests)
		f.rate, f.half, f.most = append(f.rate, sum.rate), append(f.half, sum.half), append(f.most, sum.most)
		f.nodeCPU = append(f.nodeCPU, (after.nodes-before.nodes).Seconds()*1e6/n)
		f.databaseCPU = append(f.databaseCPU, (after.database-before.database).Seconds()*1e6/n)
		f.commits = append(f.commits, float64(after.writes-before.writes)/after.at.Sub(before.at).Seconds())
	}
	return nil
}

// check stops the nodes and compares what the database has counted with what wrk has seen.
// Requests in flight when a round ends are counted and not seen. On a machine that is far too
// busy, requests whose count was stored but reported too late are counted once more by the
// node. The opposite must never happen.
func (c *cluster) check() error {
	for _, p := range c.nodes {
		if err := p.stop(); err != nil {
			return err
		}
	}
	driver, source := "pgx", c.database
	if file, ok := strings.CutPrefix(c.database, "sqlite:"); ok {
		driver, source = "sqlite", file
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer db.Close()
	var counted int64
	const query = `SELECT COALESCE(SUM(u.requests), 0) FROM usage u JOIN accounts a ON a.id = u.account_id
		WHERE a.plan = $1`
	if err := db.QueryRow(query, string(account.Developer)).Scan(&counted); err != nil {
		return err
	}
	fmt.Printf("  %-24s %d requests with Developer keys answered, %d counted (at most %d were in flight when rounds "+
		"ended)\n",
		c.name, c.answered, counted, (nodeRounds+1)*nodeConnections)
	if counted < c.answered {
		return fmt.Errorf("%s: %d requests were answered and not counted", c.name, c.answered-counted)
	}
	return nil
}
