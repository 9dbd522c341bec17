package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"palmares/internal/testkit"
)

// together sends n requests at once, each as request(i) says, and returns the answers.
func (p *process) together(n int, request func(i int) (path string, headers []string)) []*http.Response {
	p.t.Helper()
	answers := make([]*http.Response, n)
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-begin
			path, headers := request(i)
			resp, _, err := p.try(path, headers...)
			if err != nil {
				p.t.Errorf("%s: %v", path, err)
				return
			}
			answers[i] = resp
		})
	}
	close(begin)
	all.Wait()
	if p.t.Failed() {
		p.t.FailNow()
	}
	return answers
}

func count(answers []*http.Response, status int) int {
	n := 0
	for _, r := range answers {
		if r.StatusCode == status {
			n++
		}
	}
	return n
}

func TestTheOperatorSeesWhoSendsHowMuch(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		s := serveProcess(t, "--database", database)
		id := strings.Fields(must(t, "account", "create", "ada@example.org", "--database", database))[0]
		key := strings.TrimSpace(must(t, "key", "create", "ada@example.org", "--name", "x", "--database", database))
		s.knows(key)
		for range 3 { // the second is cached
			s.get("/api/v1/stats", "Authorization: Bearer "+key)
		}
		s.get("/api/v1/stats")
		s.logs(`"client":"127.0.0.0/24","account":"` + id + `"}`)
		testkit.Until(t, "the counts", func() bool {
			top := must(t, "usage", "--top", "2", "--database", database)
			used, networks := regexp.MustCompile(`  (\d+)  +1000  +`+id+`  ada@example.org  developer  -`).FindStringSubmatch(top),
				regexp.MustCompile(`  1  +100  +-  +-  +-  +[0-9a-f]{32}`).FindString(top)
			return used != nil && networks != "" && strings.Contains(must(t, "account", "show", id, "--database", database), "  "+used[1]+"  ")
		})
		s.endDrain()
		if n := strings.Count(s.log.String(), `"account":"`+id); n < 3 {
			t.Errorf("%d log records have the account", n)
		}
	})
}

func TestAnAnonymousCallerHasAHundredRequests(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		s := serveProcess(t, "--database", database)
		answers := s.together(140, func(i int) (string, []string) {
			return []string{"/api/v1/tools", "/api/v1/stats", "/api/v1/tools/rien", "/api/v1/tools?page=0"}[i%4], nil
		})
		if refused := count(answers, 429); refused != 40 {
			t.Errorf("%d of 140 were refused", refused)
		}
		for _, r := range answers {
			if r.StatusCode == 200 && r.Header.Get("X-RateLimit-Remaining") != "" {
				t.Fatalf("an anonymous 200 carries quota headers: %v", r.Header)
			}
		}
		resp, body := s.get("/api/v1/tools")
		if resp.StatusCode != 429 || !strings.Contains(body, `"code":"quota_exceeded","tier":"anonymous","limit":100,"remaining":0,"reset_at":"`) {
			t.Errorf("%s %s", resp.Status, body)
		}
		for name, want := range map[string]string{
			"X-RateLimit-Tier": "anonymous", "X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "0",
			"RateLimit-Policy": `"daily";q=100;w=86400`, "Cache-Control": "no-store", "Access-Control-Allow-Origin": "*", "Vary": "Authorization, Accept-Encoding",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %q, not %q", name, got, want)
			}
		}
		wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if err != nil || wait < 1 || wait > 86400 || resp.Header.Get("RateLimit") != fmt.Sprintf(`"daily";r=0;t=%d`, wait) {
			t.Errorf("Retry-After %q, RateLimit %q", resp.Header.Get("Retry-After"), resp.Header.Get("RateLimit"))
		}
		// What is free stays free.
		for _, path := range []string{"/", "/licence", "/healthz", "/api/v1/openapi.json"} {
			if resp, _ := s.get(path); resp.StatusCode != 200 {
				t.Errorf("%s: %s", path, resp.Status)
			}
		}
		if resp, _ := s.get("/api/embeddings/varlope"); resp.StatusCode != 401 {
			t.Errorf("embeddings: %s", resp.Status)
		}
		if resp, _ := s.get("/api/v1/tools", "Authorization: Bearer nonsense"); resp.StatusCode != 401 {
			t.Errorf("a bad key: %s", resp.Status)
		}
		// An address that an untrusted client claims is ignored.
		if resp, _ := s.get("/api/v1/tools", "X-Forwarded-For: 203.0.113.9"); resp.StatusCode != 429 {
			t.Errorf("a forged address: %s", resp.Status)
		}
	})
}

func TestAnAccountHasAThousandRequestsWhateverItsKeys(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		keys := customer(t, database, "ada@example.org", "developer", 2)
		s := serveProcess(t, "--database", database)
		var remaining []int
		granted, refused := 0, 0
		for range 6 { // two hundred connections at once are enough to be at once
			for _, r := range s.together(200, func(i int) (string, []string) { return "/api/v1/stats", keys[i%2 : i%2+1] }) {
				if r.Header.Get("X-RateLimit-Tier") != "free" || r.Header.Get("X-RateLimit-Limit") != "1000" {
					t.Fatalf("headers %v", r.Header)
				}
				if r.StatusCode == 429 {
					refused++
					continue
				}
				granted++
				n, err := strconv.Atoi(r.Header.Get("X-RateLimit-Remaining"))
				if err != nil {
					t.Fatal(err)
				}
				remaining = append(remaining, n)
			}
		}
		if granted != 1000 || refused != 200 {
			t.Errorf("%d granted, %d refused", granted, refused)
		}
		slices.Sort(remaining)
		for i, n := range remaining {
			if i != n {
				t.Fatalf("the values of Remaining are not 0 to 999, each once: %v…", remaining[:i+1])
			}
		}
		// The document is free, and says what is left.
		resp, _ := s.get("/api/v1/openapi.json", keys[0])
		if resp.StatusCode != 200 || resp.Header.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("the document: %s %v", resp.Status, resp.Header)
		}
		if resp, _ := s.get("/api/v1/tools"); resp.StatusCode != 200 {
			t.Errorf("an anonymous caller: %s", resp.Status)
		}
	})
}

func TestRevalidationIsFreeWithAKeyAndCountedWithout(t *testing.T) {
	t.Parallel()
	database := databases.SQLite(t)
	key := customer(t, database, "ada@example.org", "developer", 1)[0]
	s := serveProcess(t, "--database", database)
	first, _ := s.get("/api/v1/stats", key, "Accept-Encoding: identity")
	match := "If-None-Match: " + first.Header.Get("ETag")
	for range 5 {
		resp, _ := s.get("/api/v1/stats", key, match, "Accept-Encoding: identity")
		if resp.StatusCode != 304 || resp.Header.Get("X-RateLimit-Remaining") != "999" {
			t.Fatalf("%s %v", resp.Status, resp.Header)
		}
	}
	for i := range 101 {
		resp, _ := s.get("/api/v1/stats", match, "Accept-Encoding: identity")
		if want := map[bool]int{true: 304, false: 429}[i < 100]; resp.StatusCode != want {
			t.Fatalf("anonymous revalidation %d: %s", i, resp.Status)
		}
	}
}

func TestARestartKeepsTheCounts(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		s := serveProcess(t, "--database", database)
		for range 60 {
			s.get("/api/v1/stats")
		}
		s.stop()
		s = serveProcess(t, "--database", database)
		if got := count(s.together(60, func(int) (string, []string) { return "/api/v1/stats", nil }), 200); got != 40 {
			t.Errorf("after a restart %d of 40 requests were left", got)
		}
	})
}

func TestARevokedKeyIsRefusedByEveryRunningServer(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		keys := customer(t, database, "ada@example.org", "pro", 2)
		nodes := []*process{serveProcess(t, "--database", database)}
		if strings.HasPrefix(database, "postgres") {
			nodes = append(nodes, serveProcess(t, "--database", database))
		}
		for _, n := range nodes {
			n.knows(keys...)
		}
		id := firstID(t, "key", "list", "ada@example.org", "--database", database)
		must(t, "key", "revoke", id, "--database", database)
		for _, n := range nodes {
			n.until("/api/v1/stats", func(r *http.Response, body string) bool {
				return r.StatusCode == 401 && strings.Contains(body, "revoked_api_key")
			}, keys[0])
			if resp, _ := n.get("/api/v1/stats", keys[1]); resp.StatusCode != 200 {
				t.Errorf("another key: %s", resp.Status)
			}
		}
		must(t, "account", "delete", "ada@example.org", "--database", database) // and with it its keys
		for _, n := range nodes {
			n.until("/api/v1/stats", func(r *http.Response, _ string) bool { return r.StatusCode == 401 }, keys[1])
		}
	})
}

func TestBehindATrustedProxyTheClientIsTheForwardedOne(t *testing.T) {
	t.Parallel()
	s := serveProcess(t, "--trusted-proxies", "127.0.0.0/8,::1", "--database", databases.SQLite(t))
	from := func(address string, n int) []*http.Response {
		return s.together(n, func(int) (string, []string) {
			return "/api/v1/stats", []string{"X-Forwarded-For: 192.0.2.1, " + address}
		})
	}
	if got := count(from("203.0.113.7", 110), 200); got != 100 {
		t.Errorf("one address had %d requests", got)
	}
	if got := count(from("203.0.113.8", 10), 200); got != 10 {
		t.Errorf("another address had %d of 10", got)
	}
	// The addresses of one /64 are one caller.
	if got := count(from("2001:db8::1", 60), 200) + count(from("2001:db8::ffff", 60), 200); got != 100 {
		t.Errorf("one /64 had %d requests", got)
	}
}
