package main

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/node"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

// make chaos has many more kills, with receivers that must answer fast, and a few with
// the time that the contract gives to receivers, each of which costs half a minute.
var (
	publications    = flag.Int("killed-publications", 3, "how many publications cause webhooks, each of them killed once")
	events          = flag.Int("events", 10, "how many events each publication causes")
	endpoints       = flag.Int("endpoints", 2, "how many endpoints answer webhooks while nodes are killed")
	kills           = flag.Int("kills", 1, "how often nodes are killed while webhooks are sent")
	receiverTimeout = flag.Duration("webhook-timeout", 2*time.Second, "how long receivers may take to answer")
)

// TestKilledProcessesLoseNoWebhook publishes events for a number of endpoints, of which one
// fails three times in ten, and for one that hangs, and kills the processes that send and
// those that publish, again and again.
//
// A process that dies holds back what it was sending until its leases end, which
// is twice as long as a receiver may take to answer: that time is shortened, not
// the promise.
func TestKilledProcessesLoseNoWebhook(t *testing.T) {
	t.Parallel() // it mostly waits
	folders := make([]string, *publications)
	for i := range folders { // one of the events is catalog.updated
		folders[i] = marked(t, "A", (*events-1)*(i+1))
	}
	databases.EachDSN(t, func(t *testing.T, database string) {
		begin := time.Now()
		k := newKillTest(t, database)
		var publishing sync.WaitGroup
		defer publishing.Wait() // when the test fails before that
		var killed atomic.Int64
		publishing.Go(func() {
			took := time.Duration(0) // of the publication before
			for i, folder := range folders {
				// From before it has read the folder to after it has committed.
				if _, wasKilled := publishKilled(t, folder, database, took*time.Duration(i)/time.Duration(*publications-1)); wasKilled {
					killed.Add(1)
				}
				begin := time.Now()
				if out, err := palmares(t.Context(), "publish", folder, "--database", database).CombinedOutput(); err != nil {
					t.Errorf("publish: %v\n%s", err, out)
				}
				took = time.Since(begin)
			}
		})
		k.killNodes()
		publishing.Wait()
		if t.Failed() {
			t.FailNow()
		}
		requests, outcomes, repeated := k.check()
		t.Logf("%d kills of nodes, %d of publications, in %s: %d events, none lost by any of %d endpoints; %d requests, of which %d had no outcome and %d came after an accepted one",
			*kills, killed.Load(), time.Since(begin).Round(time.Second), *publications**events, *endpoints, requests, requests-outcomes, repeated)
	})
}

// A killTest is the nodes and receivers of TestKilledProcessesLoseNoWebhook.
type killTest struct {
	t         *testing.T
	database  string
	options   []string // of nodes
	nodes     []*process
	receivers []*receiver // the last one hangs
}

func newKillTest(t *testing.T, database string) *killTest {
	t.Helper()
	k := &killTest{t: t, database: database}
	for range *endpoints - 1 {
		k.receivers = append(k.receivers, newReceiver(t, accept))
	}
	k.receivers = append(k.receivers, newReceiver(t, flaky), newReceiver(t, hanging))
	for i, r := range k.receivers {
		owner := fmt.Sprintf("%d@example.org", i/webhook.MaxEndpoints)
		if i%webhook.MaxEndpoints == 0 {
			must(t, "account", "create", owner, "--plan", "pro", "--database", database)
		}
		r.add(owner, database)
	}
	schedule := "0s" + strings.Repeat(",100ms", 39) // so many that chance cannot exhaust them
	k.options = []string{
		"--database", database, "--quota", "off", "--demo", "off",
		"--webhook-allow", "127.0.0.0/8", "--webhook-schedule", schedule, "--webhook-timeout", receiverTimeout.String(),
	}
	k.nodes = []*process{serveProcess(t, k.options...)}
	if strings.HasPrefix(database, "postgres") {
		k.nodes = append(k.nodes, serveProcess(t, k.options...), serveProcess(t, k.options...))
	}
	return k
}

// answering are the receivers that answer.
func (k *killTest) answering() []*receiver { return k.receivers[:len(k.receivers)-1] }

// killNodes kills one or two nodes at a time, each time after another share of the
// requests.
func (k *killTest) killNodes() {
	k.t.Helper()
	for round := range *kills {
		target := (round + 1) * *publications * *events * len(k.answering()) / (*kills + 1)
		testkit.Until(k.t, "the next share of requests", func() bool {
			n := 0
			for _, r := range k.answering() {
				n += len(r.all())
			}
			return n >= target
		})
		victims := []int{round % len(k.nodes)}
		if len(k.nodes) > 1 && round%2 == 1 {
			victims = append(victims, (round+1)%len(k.nodes))
		}
		for _, v := range victims {
			k.nodes[v].kill()
		}
		for _, v := range victims {
			k.nodes[v] = serveProcess(k.t, k.options...)
		}
	}
}

// check waits for the last delivery, and expects every endpoint to have received
// every event, with the same bytes each time. It returns how many requests the
// receivers saw, how many of them have an outcome in the log, and how many came after
// an accepted one.
func (k *killTest) check() (requests, outcomes, repeated int) {
	k.t.Helper()
	st := databases.OpenDSN(k.t, k.database)
	published := bodies(k.t, st)
	if len(published) != *publications**events {
		k.t.Fatalf("%d events", len(published))
	}
	endpoints, err := st.Endpoints.List(k.t.Context(), account.AnyOwner())
	if err != nil || len(endpoints) != len(k.receivers) {
		k.t.Fatalf("%d endpoints, %v", len(endpoints), err)
	}
	for i := range k.answering() {
		pending := func() int { return len(deliveries(k.t, st, endpoints[i].ID, webhook.Pending)) }
		for left := pending(); left > 0; left = pending() { // however many there are
			testkit.Until(k.t, "another delivery", func() bool { return pending() < left })
		}
	}
	for _, n := range k.nodes {
		n.stop()
	}
	for i, r := range k.receivers {
		wanted := webhook.Delivered
		if i >= len(k.answering()) {
			wanted = webhook.Pending
		}
		accepted, again := k.accepted(i, published)
		repeated += again
		known := map[string]bool{}
		for _, d := range deliveries(k.t, st, endpoints[i].ID, "") {
			if d.State != wanted || known[d.EventID] || published[d.EventID] == "" || accepted[d.EventID] != (wanted == webhook.Delivered) {
				k.t.Errorf("endpoint %d: %+v; accepted: %v", i, d, accepted[d.EventID])
			}
			known[d.EventID] = true
			outcomes += d.Count
		}
		if len(known) != len(published) {
			k.t.Errorf("endpoint %d: %d deliveries of %d events", i, len(known), len(published))
		}
		requests += len(r.all())
	}
	return requests, outcomes, repeated
}

// accepted returns the ids that a receiver accepted, and how many requests came
// after that.
func (k *killTest) accepted(receiver int, published map[string]string) (ids map[string]bool, repeated int) {
	k.t.Helper()
	ids = map[string]bool{}
	for _, q := range k.receivers[receiver].all() {
		if published[q.id] != q.body {
			k.t.Fatalf("endpoint %d was sent %s as %s; the event is %s", receiver, q.id, q.body, published[q.id])
		}
		if ids[q.id] {
			repeated++
		}
		ids[q.id] = ids[q.id] || q.accepted
	}
	return ids, repeated
}

// bodies returns those of all events by id, and expects a sequence without gaps.
func bodies(t *testing.T, st *node.Database) map[string]string {
	t.Helper()
	all := map[string]string{}
	for after := int64(0); ; {
		page, err := st.Events.List(t.Context(), after, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Events) == 0 {
			return all
		}
		for _, e := range page.Events {
			if after++; e.Sequence != after {
				t.Fatalf("event %d follows %d", e.Sequence, after-1)
			}
			all[e.ID] = string(e.Body)
		}
	}
}

// deliveries returns all of an endpoint in a state, "" for any.
func deliveries(t *testing.T, st *node.Database, endpointID string, state webhook.DeliveryState) []webhook.Delivery {
	t.Helper()
	list, err := st.Deliveries.List(t.Context(), account.AnyOwner(), endpointID, accountdb.DeliveryFilter{State: state, Limit: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
