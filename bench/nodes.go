package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"palmares/internal/account"
	"palmares/internal/store"
)

const (
	nodeRounds      = 3
	nodeTime        = "4s"
	nodeConnections = 64 // over all nodes
	proAccounts     = 20
)

// A cluster is one or two nodes on one database, and keys to send them.
type cluster struct {
	name     string
	database string
	nodes    []*process
	scripts  map[account.Plan]string // what wrk sends, with the keys of a plan
	owners   []string                // the Developer accounts
	answered int64                   // with Developer keys, warming up included
	figures  map[account.Plan]*figures
}

// figures are those of all rounds with one kind of key.
type figures struct {
	rate, half, most     []float64 // requests a second; milliseconds at the median and the 99th percentile
	nodeCPU, databaseCPU []float64 // microseconds per request
	commits              []float64 // write transactions a second
}

// nodes compares one node on SQLite with one and two on PostgreSQL: with
// Developer keys, whose every request is counted exactly across nodes, and with Pro
// keys, which have no quota. Clients, nodes and database share this machine, so
// two nodes cannot serve twice as much as one here: the figures to plan with are the
// processor time that a request costs the node and the database.
func (b *bench) nodes(accounts int) (err error) {
	if _, err := exec.LookPath("wrk"); err != nil {
		return errors.New("wrk is missing: apt-get install wrk")
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it does not fail
	b.env = append(b.env, "PALMARES_SECRET_KEY="+base64.StdEncoding.EncodeToString(secret))
	pg, err := startPostgres()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.stop()) }()
	all, err := b.clusters(pg, accounts)
	defer func() {
		for _, c := range all {
			for _, p := range c.nodes {
				_ = p.cmd.Process.Kill() // they have ended, unless something failed
			}
		}
	}()
	if err != nil {
		return err
	}
	_, list, err := get(all[0].nodes[0].url + "/api/v1/tools?limit=1")
	if err != nil {
		return err
	}
	path := "/api/v1/tools/" + string(regexp.MustCompile(`"slug":"([^"]+)"`).FindSubmatch(list)[1])
	fmt.Printf("Requests per second, GET %s, %d connections in all, medians of %d rounds of %s\n", path, nodeConnections, nodeRounds, nodeTime)
	fmt.Printf("(wrk, nodes and PostgreSQL with its own settings share %d cores; %d Developer accounts with a key each, %d Pro):\n",
		runtime.NumCPU(), accounts, proAccounts)
	for round := range nodeRounds + 1 { // the first warms up: each node sees each key
		for _, c := range all {
			for _, plan := range nodePlans {
				if err := b.measureNodes(c, plan, path, pg, round > 0); err != nil {
					return err
				}
			}
		}
	}
	printFigures(all)
	for _, c := range all {
		if err := c.check(b.ctx); err != nil {
			return err
		}
	}
	return nil
}

var nodePlans = []account.Plan{account.Developer, account.Pro}

// clusters starts one cluster after the other. It returns those that were started,
// also when one fails.
func (b *bench) clusters(pg *postgres, accounts int) (all []*cluster, err error) {
	for _, c := range []struct {
		name, database string
		nodes          int
	}{
		{"one node, SQLite", "", 1},
		{"one node, PostgreSQL", "one", 1},
		{"two nodes, PostgreSQL", "two", 2},
	} {
		database := "sqlite:" + filepath.Join(b.dir, "nodes.db")
		if c.database != "" {
			if database, err = pg.create(b.ctx, c.database); err != nil {
				return all, err
			}
		}
		made := &cluster{name: c.name, database: database, scripts: map[account.Plan]string{}, figures: map[account.Plan]*figures{}}
		all = append(all, made)
		if err := b.begin(made, c.nodes, accounts); err != nil {
			return all, err
		}
	}
	return all, nil
}

func printFigures(all []*cluster) {
	for _, plan := range nodePlans {
		fmt.Printf("  %s keys:\n", plan)
		for _, c := range all {
			f := c.figures[plan]
			fmt.Printf("    %-22s %7.0f/s   half within %5.1f ms, 99 %% within %5.1f ms   CPU a request: nodes %4.0f µs, PostgreSQL %4.1f µs   write transactions %5.0f/s\n",
				c.name, median(f.rate), median(f.half), median(f.most), median(f.nodeCPU), median(f.databaseCPU), median(f.commits))
		}
	}
}

// begin creates the accounts in a cluster's database and starts its nodes.
func (b *bench) begin(c *cluster, nodes, accounts int) error {
	st, err := store.Open(b.ctx, c.database)
	if err != nil {
		return err
	}
	defer st.Close()
	for plan, count := range map[account.Plan]int{account.Developer: accounts, account.Pro: proAccounts} {
		var keys []string
		for i := range count {
			a, err := st.Accounts.Create(b.ctx, fmt.Sprintf("%s%d@example.org", plan, i), plan, time.Now())
			if err != nil {
				return err
			}
			key, _, err := st.Keys.Create(b.ctx, a.Email, "bench", time.Now())
			if err != nil {
				return err
			}
			keys = append(keys, key)
			if plan == account.Developer {
				c.owners = append(c.owners, a.ID)
			}
		}
		if c.scripts[plan], err = b.script(keys); err != nil {
			return err
		}
		c.figures[plan] = &figures{}
	}
	for range nodes {
		p, err := b.start(b.binary, "serve", "--listen", "localhost:0", "--database", c.database)
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, p)
	}
	return nil
}

// script makes wrk send one key after another, starting with a random one so that two
// of them do not go in step.
func (b *bench) script(keys []string) (string, error) {
	f, err := os.CreateTemp(b.dir, "keys-*.lua")
	if err != nil {
		return "", err
	}
	fmt.Fprintf(f, `
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
	return f.Name(), f.Close()
}

// A reading is what nodes and database have used so far.
type reading struct {
	nodes, database time.Duration // processor time
	writes          int64         // transactions
	at              time.Time
}

func (b *bench) read(c *cluster, pg *postgres) (r reading, err error) {
	if r.nodes, err = c.cpu(); err != nil {
		return r, err
	}
	if r.database, err = pg.cpu(); err != nil {
		return r, err
	}
	r.writes, err = pg.writes(b.ctx)
	r.at = time.Now()
	return r, err
}

// measureNodes loads all nodes of a cluster at once for a round.
func (b *bench) measureNodes(c *cluster, plan account.Plan, path string, pg *postgres, keep bool) error {
	before, err := b.read(c, pg)
	if err != nil {
		return err
	}
	loads := make([]load, len(c.nodes))
	failures := make([]error, len(c.nodes))
	var running sync.WaitGroup
	for i, node := range c.nodes {
		running.Go(func() {
			loads[i], failures[i] = b.load(node.url+path, c.scripts[plan], nodeConnections/len(c.nodes))
		})
	}
	running.Wait()
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("%s, %s keys: %w", c.name, plan, err)
	}
	after, err := b.read(c, pg)
	if err != nil {
		return err
	}
	var sum load
	for _, l := range loads {
		sum.requests += l.requests
		sum.rate += l.rate
		sum.half, sum.most = max(sum.half, l.half), max(sum.most, l.most)
	}
	if plan == account.Developer {
		c.answered += sum.requests
	}
	if keep {
		f, n := c.figures[plan], float64(sum.requests)
		f.rate, f.half, f.most = append(f.rate, sum.rate), append(f.half, sum.half), append(f.most, sum.most)
		f.nodeCPU = append(f.nodeCPU, (after.nodes-before.nodes).Seconds()*1e6/n)
		f.databaseCPU = append(f.databaseCPU, (after.database-before.database).Seconds()*1e6/n)
		f.commits = append(f.commits, float64(after.writes-before.writes)/after.at.Sub(before.at).Seconds())
	}
	return nil
}

func (c *cluster) cpu() (sum time.Duration, err error) {
	for _, p := range c.nodes {
		own, _, err := cpuTime(p.cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		sum += own
	}
	return sum, nil
}

// check stops the nodes and compares what the database has counted with what wrk
// has seen. Requests in flight when a round ends are counted and not seen. On a machine
// that is far too busy, requests whose count was stored but reported too late are
// counted once more by the node. The opposite must never happen.
func (c *cluster) check(ctx context.Context) error {
	for _, p := range c.nodes {
		if err := p.stop(); err != nil {
			return err
		}
	}
	st, err := store.Open(ctx, c.database)
	if err != nil {
		return err
	}
	defer st.Close()
	var counted int64
	today := time.Now().UTC()
	for _, id := range c.owners {
		days, err := st.Usage.ForAccount(ctx, id, today.AddDate(0, 0, -1).Format(time.DateOnly), today.Format(time.DateOnly))
		if err != nil {
			return err
		}
		for _, d := range days {
			counted += d.Requests
		}
	}
	fmt.Printf("  %-24s %d requests with Developer keys answered, %d counted (at most %d were in flight when rounds ended)\n",
		c.name, c.answered, counted, (nodeRounds+1)*nodeConnections)
	if counted < c.answered {
		return fmt.Errorf("%s: %d requests were answered and not counted", c.name, c.answered-counted)
	}
	return nil
}

// A load is what wrk measured.
type load struct {
	requests         int64
	rate, half, most float64
}

var (
	seen       = regexp.MustCompile(`(\d+) requests in`)
	percentile = regexp.MustCompile(`(?m)^\s+(50|99)%\s+([0-9.]+)(us|ms|s)`)
)

func (b *bench) load(url, script string, connections int) (load, error) {
	raw, err := exec.CommandContext(b.ctx, "wrk", "-t", "1", "-c", strconv.Itoa(connections), "-d", nodeTime,
		"--latency", "-s", script, url).CombinedOutput()
	if err != nil {
		return load{}, fmt.Errorf("wrk: %w: %s", err, raw)
	}
	out := string(raw)
	if strings.Contains(out, "Non-2xx") || strings.Contains(out, "Socket errors") {
		return load{}, fmt.Errorf("not every request was answered 200; if the accounts have used up their thousand a day, give more -accounts: %s", out)
	}
	l := load{half: math.NaN(), most: math.NaN()}
	found, perSecond := seen.FindStringSubmatch(out), rateLine.FindStringSubmatch(out)
	if found == nil || perSecond == nil {
		return load{}, fmt.Errorf("wrk said: %s", out)
	}
	l.requests, _ = strconv.ParseInt(found[1], 10, 64) // digits, as both patterns say
	l.rate, _ = strconv.ParseFloat(perSecond[1], 64)
	for _, p := range percentile.FindAllStringSubmatch(out, -1) {
		value, _ := strconv.ParseFloat(p[2], 64)
		value *= map[string]float64{"us": 1e-3, "ms": 1, "s": 1e3}[p[3]]
		if p[1] == "50" {
			l.half = value
		} else {
			l.most = value
		}
	}
	return l, nil
}
