package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/testkit"
)

// threeNodes starts three processes on one PostgreSQL.
func threeNodes(t *testing.T, database string, args ...string) []*process {
	t.Helper()
	nodes := make([]*process, 3)
	for i := range nodes { // all at once, as a cluster starts
		nodes[i] = startProcess(t, "patient", append([]string{"--database", database}, args...)...)
	}
	for _, n := range nodes {
		n.serves()
	}
	return nodes
}

// customer creates an account with keys and returns the keys' headers.
func customer(t *testing.T, database, email, plan string, keys int) []string {
	t.Helper()
	must(t, "account", "create", email, "--plan", plan, "--database", database)
	headers := make([]string, keys)
	for i := range headers {
		headers[i] = "Authorization: Bearer " + strings.TrimSpace(must(t, "key", "create", email, "--name", fmt.Sprint(i), "--database", database))
	}
	return headers
}

// spread sends n requests to nodes in turn, many at once, and returns the answers.
func spread(t *testing.T, nodes []*process, n int, headers func(i int) []string) []*http.Response {
	t.Helper()
	answers := make([]*http.Response, n)
	atOnce := make(chan struct{}, 60)
	var all sync.WaitGroup
	for i := range n {
		atOnce <- struct{}{}
		all.Go(func() {
			defer func() { <-atOnce }()
			resp, _, err := nodes[i%len(nodes)].try("/api/v1/stats", headers(i)...)
			if err != nil {
				t.Error(err)
				return
			}
			answers[i] = resp
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return answers
}

// make chaos has many more requests.
var (
	midnightRequests = flag.Int("midnight-requests", 2400, "how many requests three nodes get around midnight")
	untilMidnight    = flag.Duration("until-midnight", 2*time.Second, "how long before midnight the first of them is sent; at midnight, half have been sent")
)

// The promise holds while the database answers. Nodes that wait a minute for it
// show that on a machine of any speed.
func TestThreeNodesGiveAThousandRequestsADayAndEachRemainingOnce(t *testing.T) {
	t.Parallel()
	clock := newDatabaseClock(t, databases.Postgres(t))
	keys := customer(t, clock.dsn, "ada@example.org", "developer", 2)
	nodes := threeNodes(t, clock.dsn)
	for _, n := range nodes {
		n.knows(keys...)
	}
	midnight := clock.setBeforeMidnight(*untilMidnight)
	f := &flood{t: t, nodes: nodes, keys: keys, last: midnight.AddDate(0, 0, 1), granted: map[time.Time][]int{}, refused: map[time.Time]int{}}
	f.run()
	for end, remaining := range f.granted {
		slices.Sort(remaining)
		day, refused := end.AddDate(0, 0, -1).Format(time.DateOnly), f.refused[end]
		t.Logf("%s: %d requests were answered and %d refused", day, len(remaining), refused)
		// Before midnight fewer are sent on a slow machine.
		if len(remaining) > 1000 || len(remaining) < 1000 && (refused > 0 || end.After(midnight)) || end.Before(midnight) {
			t.Errorf("%s: %d requests were answered and %d refused; want 1000 answered", day, len(remaining), refused)
		}
		for i, n := range remaining {
			if n != 1000-len(remaining)+i {
				t.Errorf("%s: the values of Remaining do not end with 999, each once: %v…", day, remaining[:i+1])
				break
			}
		}
		if n := used(t, clock.dsn, "ada@example.org", day); n != int64(len(remaining)) {
			t.Errorf("%s: the owner's chart shows %d requests; want %d", day, n, len(remaining))
		}
	}
	for _, n := range nodes {
		if n.log.Contains(countsAlone) {
			t.Errorf("a node counted alone:\n%s", n.log)
		}
	}
}

// A flood is requests to several nodes around midnight.
type flood struct {
	t     *testing.T
	nodes []*process
	keys  []string // of one account
	last  time.Time
	sent  atomic.Int64

	mu      sync.Mutex
	granted map[time.Time][]int // values of Remaining, by Reset
	refused map[time.Time]int   // by Reset
}

// run sends requests until all are sent and the day that ends last is used up.
func (f *flood) run() {
	f.t.Helper()
	ctx, stop := context.WithCancel(f.t.Context())
	defer stop()
	tick := time.NewTicker(*untilMidnight * 2 / time.Duration(*midnightRequests))
	defer tick.Stop()
	var callers sync.WaitGroup
	for range 60 {
		callers.Go(func() {
			for ctx.Err() == nil && !f.t.Failed() {
				<-tick.C
				if i := int(f.sent.Add(1)); f.request(f.nodes[i%3], f.keys[i/3%2]) && i >= *midnightRequests {
					stop()
				}
			}
		})
	}
	callers.Wait()
	if f.t.Failed() {
		f.t.FailNow()
	}
}

// request sends a request, and reports whether it was refused on the day that ends last.
func (f *flood) request(n *process, key string) bool {
	resp, _, err := n.try("/api/v1/stats", key)
	if err != nil {
		f.t.Error(err)
		return false
	}
	end, endErr := time.Parse(time.RFC3339, resp.Header.Get("X-RateLimit-Reset"))
	remaining, err := strconv.Atoi(resp.Header.Get("X-RateLimit-Remaining"))
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case endErr == nil && err == nil && resp.StatusCode == 200:
		f.granted[end] = append(f.granted[end], remaining)
	case endErr == nil && err == nil && resp.StatusCode == 429 && remaining == 0 && resp.Header.Get("Retry-After") != "":
		f.refused[end]++
		return end.Equal(f.last)
	default:
		f.t.Errorf("%s %v", resp.Status, resp.Header)
	}
	return false
}

// A databaseClock is the clock of a PostgreSQL database, which a test can set.
type databaseClock struct {
	t   *testing.T
	db  *sql.DB
	dsn string
}

// newDatabaseClock puts a function of its own before that of PostgreSQL.
func newDatabaseClock(t *testing.T, dsn string) *databaseClock {
	t.Helper()
	c := &databaseClock{t: t, dsn: dsn + "&search_path=public%2Cfaked%2Cpg_catalog"}
	var err error
	if c.db, err = sql.Open("pgx", dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.db.Close() })
	c.exec(`CREATE SCHEMA faked;
		CREATE TABLE faked.clock AS SELECT interval '0' AS ahead;
		CREATE FUNCTION faked.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT pg_catalog.clock_timestamp() + ahead FROM faked.clock'`)
	return c
}

func (c *databaseClock) exec(statement string) {
	c.t.Helper()
	if _, err := c.db.ExecContext(c.t.Context(), statement); err != nil {
		c.t.Fatal(err)
	}
}

// setBeforeMidnight sets the clock to a time before the next midnight, which it returns.
func (c *databaseClock) setBeforeMidnight(d time.Duration) (midnight time.Time) {
	c.t.Helper()
	midnight = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	c.exec(fmt.Sprintf(`UPDATE faked.clock SET ahead = timestamptz '%s' - interval '%d ms' - now()`, midnight.Format(time.RFC3339), d.Milliseconds()))
	return midnight
}

// used returns how many requests of an account on a day are stored, "" for any day.
func used(t *testing.T, database, email, day string) (sum int64) {
	t.Helper()
	st := databases.OpenDSN(t, database)
	a, err := st.Accounts.Find(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	days, err := st.Usage.ForAccount(t.Context(), a.ID, "2000-01-01", "2100-01-01")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range days {
		if day == "" || d.Day == day {
			sum += d.Requests
		}
	}
	return sum
}

// TestWhateverTheDatabaseDoesReadsGoOn breaks the connection to the database in every
// way, one after the other on one node: known callers are answered, unknown ones get
// 503, and once it is restored all is as before.
func TestWhateverTheDatabaseDoesReadsGoOn(t *testing.T) {
	proxy := testkit.NewProxy(t, databases.Postgres(t))
	keys := customer(t, proxy.Direct, "ada@example.org", "developer", 1)
	keys = append(keys, customer(t, proxy.Direct, "grace@example.org", "pro", 1)...)
	s := serveShipped(t, "--database", proxy.DSN, "--trusted-proxies", "127.0.0.0/8,::1")
	s.knows(keys...)
	asked := 0
	everyone := func(during string) {
		t.Helper()
		for range 5 {
			asked++
			s.readsGoOn(during, keys)
		}
	}
	everyone("before")
	for _, fault := range []struct {
		name  string
		begin func()
		brief bool // it is over at once
	}{
		{"refused", proxy.Refuse, false},
		{"a black hole", proxy.Drop, false},
		{"slow", func() { proxy.Delay(time.Second) }, false},
		{"reset", proxy.Reset, true},
	} {
		fault.begin()
		everyone(fault.name)
		if !fault.brief {
			resp, body := s.get("/api/v1/stats", unknownKey())
			if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, `"code":"unavailable"`) || resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: an unknown key was answered %s %v %s", fault.name, resp.Status, resp.Header, body)
			}
		}
		proxy.Restore()
		s.until("/api/v1/stats", func(r *http.Response, _ string) bool { return r.StatusCode == 401 }, unknownKey())
		everyone("after " + fault.name)
	}
	must(t, "publish", marked(t, "C", 3), "--database", proxy.Direct)
	s.until("/api/v1/stats", func(_ *http.Response, body string) bool { return strings.Contains(body, `"tools_total":3,`) }, keys[1])
	s.stop()
	// Counts whose answer was lost may have been stored; they are counted again, so that none is
	// forgotten. On a busy machine that happens without a fault too, to all that one query had.
	if s.log.Count(countsAlone) == 0 {
		t.Errorf("the log does not say that the node counted alone:\n%s", s.log)
	}
	if sum := used(t, proxy.Direct, "ada@example.org", ""); sum < int64(asked) || sum > int64(2*asked) {
		t.Errorf("%d requests are stored; want %d, or at most as many twice", sum, asked)
	}
}

// readsGoOn expects known keys and anonymous callers to be answered.
func (p *process) readsGoOn(during string, keys []string) {
	p.t.Helper()
	for _, key := range keys {
		if resp, body := p.get("/api/v1/stats", key); resp.StatusCode != 200 {
			p.t.Errorf("%s: a known key was answered %s %s", during, resp.Status, body)
		}
	}
	if resp, body := p.get("/api/v1/stats", "X-Forwarded-For: 203.0.113.9"); resp.StatusCode != 200 {
		p.t.Errorf("%s: an anonymous caller was answered %s %s", during, resp.Status, body)
	}
	if resp, _ := p.get("/readyz"); resp.StatusCode != 200 {
		p.t.Errorf("%s: not ready", during)
	}
}

// countsAlone is what a node logs that goes on without its database.
const countsAlone = "counts requests alone"

func unknownKey() string { return "Authorization: Bearer " + account.NewKey(rand.Reader) }

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := testkit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func TestANodeThatStartsWithoutItsDatabaseSaysSoAndServesWhenItComes(t *testing.T) {
	for name, fault := range map[string]func(*testkit.Proxy){"refused": (*testkit.Proxy).Refuse, "a black hole": (*testkit.Proxy).Drop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := testkit.NewProxy(t, databases.Postgres(t))
			fault(proxy)
			address := freeAddress(t)
			s := startProcess(t, "patient", "--listen", address, "--database", proxy.DSN)
			s.url = "http://" + address
			s.logs(waiting)
			s.answersUnavailable()
			proxy.Restore()
			s.until("/readyz", func(r *http.Response, _ string) bool { return r.StatusCode == 200 })
			if resp, _ := s.get("/api/v1/tools"); resp.StatusCode != 200 {
				t.Errorf("afterwards: %s", resp.Status)
			}
			// On a busy machine there may be more than one reason; TestANodeThatWaits… holds
			// that each is given once.
			if s.log.Count(waiting) != 1 || !s.log.Contains("cannot be reached") {
				t.Errorf("the log does not say once what it waits for:\n%s", s.log)
			}
		})
	}
}

// waiting is what a node logs that cannot reach its database.
const waiting = "waits for its database"

// answersUnavailable expects a node that has never reached its database.
func (p *process) answersUnavailable() {
	p.t.Helper()
	if resp, _ := p.get("/healthz"); resp.StatusCode != 200 {
		p.t.Errorf("healthz: %s", resp.Status)
	}
	if resp, _ := p.get("/readyz"); resp.StatusCode != 503 {
		p.t.Errorf("readyz: %s", resp.Status)
	}
	for _, path := range []string{"/api/v1/tools", "/api/v1/openapi.json", "/api/rien", "/api/embeddings/x"} {
		resp, body := p.get(path)
		if resp.StatusCode != 503 || !strings.Contains(body, `"code":"unavailable"`) || resp.Header.Get("Retry-After") == "" ||
			resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Access-Control-Allow-Origin") != "*" ||
			resp.Header.Get("Vary") != "Authorization, Accept-Encoding, Accept-Language" || resp.Header.Get("X-Service-Updated-At") == "" {
			p.t.Errorf("%s: %s %v %s", path, resp.Status, resp.Header, body)
		}
	}
	resp, body := p.get("/outils")
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, `<html lang="fr">`) {
		p.t.Errorf("a page: %s %v %s", resp.Status, resp.Header, body)
	}
}

// While the database hangs, no request of the account pages or the webhook API waits
// for it.
func TestPagesAndProgramsOfCustomersSayAtOnceThatTheDatabaseIsUnreachable(t *testing.T) {
	proxy := testkit.NewProxy(t, databases.Postgres(t))
	key := customer(t, proxy.Direct, "grace@example.org", "pro", 1)[0]
	s := serveShipped(t, "--database", proxy.DSN)
	s.until("/webhooks/v1/endpoints", func(r *http.Response, _ string) bool { return r.StatusCode == 200 }, key)
	proxy.Drop()
	s.logs("the database does not respond")
	for range 20 { // more than there are connections, one after the other: each would hang for seconds
		if resp, body := s.get("/webhooks/v1/endpoints", key); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, "unavailable") {
			t.Fatalf("webhooks: %s %s", resp.Status, body)
		}
		if resp, body := s.get("/compte"); resp.StatusCode != 503 || !strings.Contains(body, "indisponible") {
			t.Fatalf("the account: %s %s", resp.Status, body)
		}
	}
	if s.log.Contains("took too long") || s.log.Contains("an account page failed") {
		t.Errorf("a request waited for it:\n%s", s.log)
	}
	proxy.Restore()
	s.until("/webhooks/v1/endpoints", func(r *http.Response, _ string) bool { return r.StatusCode == 200 }, key)
}
