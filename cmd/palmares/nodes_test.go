package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/store"
	"palmares/internal/testkit"
)

// threeNodes are three processes on one PostgreSQL.
func threeNodes(t *testing.T, database string, args ...string) []*served {
	t.Helper()
	nodes := make([]*served, 3)
	for i := range nodes { // all at once, as a cluster starts
		nodes[i] = startProcess(t, append([]string{"--database", database}, args...)...)
	}
	for _, n := range nodes {
		select {
		case n.url = <-n.found:
		case err := <-n.ended:
			n.ended <- err
			t.Fatalf("a node did not start: %v\n%s", err, n.log)
		}
	}
	return nodes
}

// customer makes an account with keys and gives the keys' headers.
func customer(t *testing.T, database, email, plan string, keys int) []string {
	t.Helper()
	must(t, "account", "create", email, "--plan", plan, "--database", database)
	headers := make([]string, keys)
	for i := range headers {
		headers[i] = "Authorization: Bearer " + strings.TrimSpace(must(t, "key", "create", email, "--name", fmt.Sprint(i), "--database", database))
	}
	return headers
}

// spread sends n requests to nodes in turn, many at once, and gives the answers.
func spread(t *testing.T, nodes []*served, n int, headers func(i int) []string) []*http.Response {
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

func TestThreeNodesGiveAThousandRequestsAndEachRemainingOnce(t *testing.T) {
	database := testkit.Postgres(t)
	keys := customer(t, database, "ada@example.org", "developer", 2)
	nodes := threeNodes(t, database)
	for _, n := range nodes { // the document is free: nobody has to be looked up below
		for _, key := range keys {
			n.until("/api/v1/openapi.json", func(r *http.Response, _ string) bool { return r.StatusCode == 200 }, key)
		}
	}
	var remaining []int
	for _, r := range spread(t, nodes, 1200, func(i int) []string { return keys[i/3%2 : i/3%2+1] }) {
		switch r.StatusCode {
		case 200:
			n, err := strconv.Atoi(r.Header.Get("X-RateLimit-Remaining"))
			if err != nil {
				t.Fatal(err)
			}
			remaining = append(remaining, n)
		case 429:
			if r.Header.Get("X-RateLimit-Remaining") != "0" || r.Header.Get("Retry-After") == "" {
				t.Errorf("a refusal with %v", r.Header)
			}
		default:
			t.Errorf("%s", r.Status)
		}
	}
	slices.Sort(remaining)
	if len(remaining) != 1000 {
		t.Errorf("%d of 1200 were answered; want 1000", len(remaining))
	}
	for i, n := range remaining {
		if i != n {
			t.Errorf("the values of Remaining are not 0 to 999, each once: %v…", remaining[:i+1])
			break
		}
	}
	for _, n := range nodes {
		if strings.Contains(n.log.String(), "counted on this node alone") {
			t.Error("a node counted alone: the database took more than a quarter of a second on this machine")
		}
	}
	st, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	a, err := st.Accounts.Find(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	if days, err := st.Usage.ForAccount(t.Context(), a.ID, "2000-01-01", "2100-01-01"); err != nil || len(days) != 1 || days[0].Requests != 1000 {
		t.Errorf("the owner's chart shows %v, %v; want 1000 requests", days, err)
	}
}

func TestThreeNodesGiveAStrangerAHundredRequests(t *testing.T) {
	nodes := threeNodes(t, testkit.Postgres(t))
	answers := spread(t, nodes, 110, func(int) []string { return nil })
	if got := count(answers, 200); got != 100 || count(answers, 429) != 10 {
		t.Errorf("%d of 110 were answered; want 100", got)
	}
}

func TestEveryNodeServesWhatIsPublishedWithTheSameBytes(t *testing.T) {
	database := testkit.Postgres(t)
	nodes := threeNodes(t, database, "--quota", "off")
	for _, mark := range []string{"A", "B"} {
		must(t, "publish", marked(t, mark, 250), "--database", database)
		for _, n := range nodes {
			n.until("/api/v1/tools?limit=1", func(_ *http.Response, body string) bool { return strings.Contains(body, `"tagline":"`+mark+`"`) })
		}
		for _, path := range []string{"/api/v1/tools?limit=200", "/api/v1/tools/t7", "/api/v1/categories", "/api/v1/stats", "/outils"} {
			first, body := nodes[0].get(path)
			if path == "/outils" {
				first.Header.Del("ETag") // a page has links to its own host
				body = ""
			}
			for _, n := range nodes[1:] {
				resp, other := n.get(path)
				if path == "/outils" {
					if resp.StatusCode != first.StatusCode {
						t.Errorf("%s: %s", path, resp.Status)
					}
					continue
				}
				if other != body || resp.Header.Get("ETag") != first.Header.Get("ETag") || first.Header.Get("ETag") == "" {
					t.Errorf("%s is not the same on every node: %s and %s", path, first.Header.Get("ETag"), resp.Header.Get("ETag"))
				}
			}
		}
	}
}

func TestARevocationHoldsOnEveryNode(t *testing.T) {
	database := testkit.Postgres(t)
	key := customer(t, database, "ada@example.org", "pro", 1)[0]
	nodes := threeNodes(t, database)
	for _, n := range nodes {
		if resp, _ := n.get("/api/v1/stats", key); resp.StatusCode != 200 {
			t.Fatal(resp.Status)
		}
	}
	id, _, _ := strings.Cut(must(t, "key", "list", "ada@example.org", "--database", database), " ")
	must(t, "key", "revoke", id, "--database", database)
	for _, n := range nodes {
		n.until("/api/v1/stats", func(r *http.Response, body string) bool {
			return r.StatusCode == 401 && strings.Contains(body, "revoked_api_key")
		}, key)
	}
}

// TestWhateverTheDatabaseDoesReadsGoOn breaks the way to the database in every way,
// again and again on one node: who is known is answered, who is not is told to come
// back, and when it is mended all is as before.
func TestWhateverTheDatabaseDoesReadsGoOn(t *testing.T) {
	l := newLine(t)
	keys := customer(t, l.direct, "ada@example.org", "developer", 1)
	keys = append(keys, customer(t, l.direct, "grace@example.org", "pro", 1)...)
	s := serveProcess(t, "--database", l.dsn, "--trusted-proxies", "127.0.0.0/8,::1")
	asked := 0
	everyone := func(during string) {
		t.Helper()
		for range 5 {
			asked++
			for _, key := range keys {
				if resp, body := s.get("/api/v1/stats", key); resp.StatusCode != 200 {
					t.Errorf("%s: a known key was answered %s %s", during, resp.Status, body)
				}
			}
			if resp, body := s.get("/api/v1/stats", "X-Forwarded-For: 203.0.113.9"); resp.StatusCode != 200 {
				t.Errorf("%s: a stranger was answered %s %s", during, resp.Status, body)
			}
			if resp, _ := s.get("/readyz"); resp.StatusCode != 200 {
				t.Errorf("%s: not ready", during)
			}
		}
	}
	unknown := func() string { return "Authorization: Bearer " + account.NewKey(random{}) }
	everyone("before")
	for _, fault := range []struct {
		name   string
		begins func()
		passes bool // by itself, at once
	}{
		{"refused", l.refuse, false},
		{"a black hole", l.swallow, false},
		{"slow", func() { l.slow(time.Second) }, false},
		{"reset", l.reset, true},
	} {
		fault.begins()
		everyone(fault.name)
		if !fault.passes {
			resp, body := s.get("/api/v1/stats", unknown())
			if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, `"code":"unavailable"`) || resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: an unknown key was answered %s %v %s", fault.name, resp.Status, resp.Header, body)
			}
		}
		l.mend()
		s.until("/api/v1/stats", func(r *http.Response, _ string) bool { return r.StatusCode == 401 }, unknown())
		everyone("after " + fault.name)
	}
	must(t, "publish", marked(t, "C", 3), "--database", l.direct)
	s.until("/api/v1/stats", func(_ *http.Response, body string) bool { return strings.Contains(body, `"tools_total":3,`) }, keys[1])
	s.stop()
	st, err := store.Open(t.Context(), l.direct)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	a, err := st.Accounts.Find(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	days, err := st.Usage.ForAccount(t.Context(), a.ID, "2000-01-01", "2100-01-01")
	sum := int64(0)
	for _, d := range days {
		sum += d.Requests
	}
	// Of a question whose answer was lost nobody knows whether it was counted: it is
	// counted again, so that none is forgotten.
	if err != nil || sum < int64(asked) || sum > int64(asked)+4 {
		t.Errorf("%d requests are stored, %v; want %d, or one more for each fault", sum, err, asked)
	}
}

// random is good enough for keys that nobody has.
type random struct{}

func (random) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(time.Now().UnixNano() >> (i % 5))
	}
	return len(b), nil
}

// freeAddress is an address on which nobody listens now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestANodeThatStartsWithoutItsDatabaseSaysSoAndServesWhenItComes(t *testing.T) {
	for _, fault := range []string{"refused", "a black hole"} {
		t.Run(fault, func(t *testing.T) {
			l := newLine(t)
			if fault == "refused" {
				l.refuse()
			} else {
				l.swallow()
			}
			address := freeAddress(t)
			s := startProcess(t, "--listen", address, "--database", l.dsn)
			s.url = "http://" + address
			for {
				if _, _, err := s.try("/healthz"); err == nil {
					break
				}
				select {
				case err := <-s.ended:
					s.ended <- err
					t.Fatalf("it did not wait: %v\n%s", err, s.log)
				default:
				}
			}
			if resp, _ := s.get("/healthz"); resp.StatusCode != 200 {
				t.Errorf("healthz: %s", resp.Status)
			}
			if resp, _ := s.get("/readyz"); resp.StatusCode != 503 {
				t.Errorf("readyz: %s", resp.Status)
			}
			for _, path := range []string{"/api/v1/tools", "/api/v1/openapi.json", "/api/rien", "/api/embeddings/x"} {
				resp, body := s.get(path)
				if resp.StatusCode != 503 || !strings.Contains(body, `"code":"unavailable"`) || resp.Header.Get("Retry-After") == "" ||
					resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Access-Control-Allow-Origin") != "*" ||
					resp.Header.Get("Vary") != "Authorization, Accept-Encoding" || resp.Header.Get("X-Service-Updated-At") == "" {
					t.Errorf("%s: %s %v %s", path, resp.Status, resp.Header, body)
				}
			}
			resp, body := s.get("/outils")
			if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, `<html lang="fr">`) {
				t.Errorf("a page: %s %v %s", resp.Status, resp.Header, body)
			}
			for !strings.Contains(s.log.String(), "waits for its database") {
				<-time.After(10 * time.Millisecond)
			}
			l.mend()
			s.until("/readyz", func(r *http.Response, _ string) bool { return r.StatusCode == 200 })
			if resp, _ := s.get("/api/v1/tools"); resp.StatusCode != 200 {
				t.Errorf("afterwards: %s", resp.Status)
			}
			if log := s.log.String(); strings.Count(log, "waits for its database") != 1 || !strings.Contains(log, "cannot be reached") {
				t.Errorf("the log does not say once what it waits for:\n%s", log)
			}
		})
	}
}

func TestANodeThatCannotEverStartDoesNotWait(t *testing.T) {
	good := testkit.Postgres(t)
	host := good[strings.Index(good, "?"):]
	for _, bad := range []struct{ database, says string }{
		{"postgres://nobody:hunter2@/postgres" + host, "refuses this user or password"},
		{"postgres://postgres@/nowhere" + host, "does not exist"},
		{"postgres://postgres:hunter2%zz@localhost/x", "cannot be read"},
	} {
		out, err := palmares(t.Context(), "serve", "--listen", "127.0.0.1:0", "--database", bad.database).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), bad.says) || strings.Contains(string(out), "hunter2") {
			t.Errorf("%v: %s; want exit 1 and %q", err, out, bad.says)
		}
	}
}

func TestANodeIsToldToStopWhileItWaitsForItsDatabase(t *testing.T) {
	l := newLine(t)
	l.refuse()
	s := startProcess(t, "--database", l.dsn)
	for !strings.Contains(s.log.String(), "waits for its database") {
		<-time.After(10 * time.Millisecond)
	}
	s.stop()
}

func TestANodeThatStartsInTheMiddleOfAFailOverWaitsForThePrimary(t *testing.T) {
	database := testkit.Postgres(t)
	must(t, "account", "list", "--database", database) // the tables are there
	db, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	set := func(change string) {
		t.Helper()
		if _, err := db.Exec(`DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' ` + change + `'; END $$`); err != nil {
			t.Fatal(err)
		}
	}
	set("SET default_transaction_read_only = on")
	s := startProcess(t, "--database", database)
	for !strings.Contains(s.log.String(), "waits for its database") {
		select {
		case err := <-s.ended:
			s.ended <- nil
			t.Fatalf("it did not wait: %v\n%s", err, s.log)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if !strings.Contains(s.log.String(), "connect to the primary") {
		t.Errorf("the log does not say what to do:\n%s", s.log)
	}
	// This session has read and written before, and goes on to.
	set("RESET default_transaction_read_only")
	if resp, _ := s.serves().get("/api/v1/stats"); resp.StatusCode != 200 {
		t.Errorf("afterwards: %s", resp.Status)
	}
}

// Whatever hangs on the pages and programs of customers, no request waits for it.
func TestPagesAndProgramsOfCustomersSayAtOnceThatTheDatabaseIsAway(t *testing.T) {
	l := newLine(t)
	key := customer(t, l.direct, "grace@example.org", "pro", 1)[0]
	s := serveProcess(t, "--database", l.dsn)
	if resp, _ := s.get("/webhooks/v1/endpoints", key); resp.StatusCode != 200 {
		t.Fatal(resp.Status)
	}
	l.swallow()
	for !strings.Contains(s.log.String(), "the database does not answer") {
		<-time.After(10 * time.Millisecond)
	}
	for range 20 { // more than there are connections, one after the other: each would hang for seconds
		if resp, body := s.get("/webhooks/v1/endpoints", key); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, "unavailable") {
			t.Fatalf("webhooks: %s %s", resp.Status, body)
		}
		if resp, body := s.get("/compte"); resp.StatusCode != 503 || !strings.Contains(body, "indisponible") {
			t.Fatalf("the account: %s %s", resp.Status, body)
		}
	}
	if log := s.log.String(); strings.Contains(log, "took too long") || strings.Contains(log, "an account page failed") {
		t.Errorf("somebody waited for it:\n%s", log)
	}
	l.mend()
	s.until("/webhooks/v1/endpoints", func(r *http.Response, _ string) bool { return r.StatusCode == 200 }, key)
}
