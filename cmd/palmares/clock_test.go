package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestANodeWhoseClockIsWrongSendsNoWebhooksUntilItIsRight(t *testing.T) {
	t.Parallel() // it mostly waits for the next comparison
	clock := newDatabaseClock(t, databases.Postgres(t))
	clock.exec(`UPDATE faked.clock SET ahead = interval '1 hour'`)
	must(t, "account", "create", "ada@example.org", "--plan", "pro", "--database", clock.dsn)
	r := newReceiver(t, accept)
	r.add("ada@example.org", clock.dsn)
	must(t, "publish", marked(t, "A", 3), "--database", clock.dsn)
	ops := freeAddress(t)
	s := serveProcess(t, "--database", clock.dsn, "--quota", "off", "--webhook-allow", "127.0.0.0/8", "--ops-listen", ops)
	s.logs("the clock of this machine is behind the database's")
	metrics := &process{t: t, url: "http://" + ops, log: s.log}
	metrics.until("/metrics", func(_ *http.Response, body string) bool {
		return strings.Contains(body, "\npalmares_clock_offset_seconds -3")
	})
	if sent := r.all(); len(sent) > 0 {
		t.Errorf("%d webhooks were signed with a wrong clock", len(sent))
	}
	clock.exec(`UPDATE faked.clock SET ahead = interval '1 second'`)
	s.logs("agree again")
	r.until(4)
}
