package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"palmares/internal/testkit"
)

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
		s.get("/api/v1/stats", "X-Forwarded-For: 203.0.113.9") // by default no proxy is trusted
		s.logs(`"client":"127.0.0.0/24","account":"` + id + `"}`)
		testkit.Until(t, "the counts", func() bool {
			top := must(t, "usage", "--top", "2", "--database", database)
			used, networks := regexp.MustCompile(`  (\d+)  +1000  +`+id+`  ada@example.org  developer  -`).FindStringSubmatch(top),
				regexp.MustCompile(`  1  +100  +-  +-  +-  +[0-9a-f]{32}`).FindString(top)
			return used != nil && networks != "" && strings.Contains(must(t, "account", "show", id, "--database", database), "  "+used[1]+"  ")
		})
		s.endDrain()
		if n := strings.Count(s.log.String(), `"account":"`+id); n < 3 || s.log.Contains("203.0.113") {
			t.Errorf("%d log records have the account:\n%s", n, s.log)
		}
	})
}

func TestAnAnonymousCallerHasAHundredRequestsADayBehindAProxyAndAcrossARestart(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		granted := func(s *process, address string, n int) int {
			forwarded := func(int) []string { return []string{"X-Forwarded-For: 192.0.2.1, " + address} }
			return count(spread(t, []*process{s}, n, forwarded), 200)
		}
		s := serveProcess(t, "--database", database, "--trusted-proxies", "127.0.0.0/8,::1")
		if got := granted(s, "203.0.113.7", 60); got != 60 {
			t.Errorf("%d of 60 requests were granted", got)
		}
		s.stop()
		s = serveProcess(t, "--database", database, "--trusted-proxies", "127.0.0.0/8,::1")
		if got := granted(s, "203.0.113.7", 60); got != 40 {
			t.Errorf("after a restart %d of 40 requests were left", got)
		}
		if got := granted(s, "203.0.113.8", 1); got != 1 {
			t.Error("one address used up the requests of another")
		}
	})
}
