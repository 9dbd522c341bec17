package main

import (
	"flag"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/store"
	"palmares/internal/webhook"
)

// make chaos raises them: many more kills, and a few with the time that the contract
// gives to receivers, after each of which there is half a minute to wait.
var (
	events  = flag.Int("events", 30, "how many events each of ten publications makes")
	kills   = flag.Int("kills", 4, "how often nodes are killed while webhooks are sent")
	answers = flag.Duration("webhook-timeout", 500*time.Millisecond, "how long receivers may take meanwhile")
)

// kill ends a server as a power cut would.
func (s *served) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	if err := <-s.ended; err == nil {
		s.t.Fatalf("it had ended by itself\n%s", s.log)
	}
	s.ended <- nil // there is nothing left to stop
}

// TestKilledProcessesLoseNoWebhook publishes events for five endpoints, of
// which one fails three times in ten and one hangs, and kills the processes that
// send and those that publish in the middle of it, again and again.
//
// A process that dies holds back what it was sending until its leases end, which
// is twice as long as a receiver may take to answer: that time is shortened, not
// the promise.
func TestKilledProcessesLoseNoWebhook(t *testing.T) {
	const publications = 10
	folders := make([]string, publications)
	for i := range folders { // of the events one is catalog.updated
		folders[i] = marked(t, "A", (*events-1)*(i+1))
	}
	schedule := "0s" + strings.Repeat(",100ms", 39) // so many that chance cannot exhaust them
	eachDatabase(t, func(t *testing.T, database string) {
		begin := time.Now()
		must(t, "account", "create", "ada@example.org", "--plan", "pro", "--database", database)
		receivers := []*receiver{
			newReceiver(t, accept), newReceiver(t, accept), newReceiver(t, accept), newReceiver(t, flaky), newReceiver(t, hanging),
		}
		for _, r := range receivers {
			r.add("ada@example.org", database)
		}
		options := []string{
			"--database", database, "--quota", "off", "--demo", "off",
			"--webhook-allow", "127.0.0.0/8", "--webhook-schedule", schedule, "--webhook-timeout", answers.String(),
		}
		nodes := []*served{serveProcess(t, options...)}
		if strings.HasPrefix(database, "postgres") {
			nodes = append(nodes, serveProcess(t, options...), serveProcess(t, options...))
		}

		var publishing sync.WaitGroup
		defer publishing.Wait() // when the test fails before that
		var killed atomic.Int64
		publishing.Go(func() {
			for i, folder := range folders {
				// From before it has read the folder to after it has committed.
				if publishKilled(t, folder, database, time.Duration(i+1)*8*time.Millisecond) {
					killed.Add(1)
				}
			}
		})
		answering := receivers[:4]
		for k := range *kills {
			// At another point of the way each time, always with requests in flight.
			target := (k + 1) * publications * *events * len(answering) / (*kills + 1)
			eventually(t, func() bool {
				n := 0
				for _, r := range answering {
					n += len(r.all())
				}
				return n >= target
			})
			victims := []int{k % len(nodes)}
			if len(nodes) > 1 && k%2 == 1 {
				victims = append(victims, (k+1)%len(nodes))
			}
			for _, v := range victims {
				nodes[v].kill()
			}
			for _, v := range victims {
				nodes[v] = serveProcess(t, options...)
			}
		}
		publishing.Wait()
		if t.Failed() {
			t.FailNow()
		}

		st, err := store.Open(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		journal := bodies(t, st)
		if len(journal) != publications**events {
			t.Fatalf("%d events", len(journal))
		}
		endpoints, err := st.Endpoints.List(t.Context(), account.AnyOwner())
		if err != nil || len(endpoints) != len(receivers) {
			t.Fatalf("%d endpoints, %v", len(endpoints), err)
		}
		for i := range answering {
			eventually(t, func() bool { return len(deliveries(t, st, endpoints[i].ID, webhook.Pending)) == 0 })
		}
		for _, n := range nodes {
			n.stop()
		}
		requests, outcomes, repeated := 0, 0, 0
		for i, r := range receivers {
			wanted := webhook.Delivered
			if i >= len(answering) {
				wanted = webhook.Pending
			}
			accepted := map[string]bool{}
			for _, q := range r.all() {
				if journal[q.id] != q.body {
					t.Fatalf("endpoint %d was sent %s as %s; the event is %s", i, q.id, q.body, journal[q.id])
				}
				if accepted[q.id] {
					repeated++
				}
				accepted[q.id] = accepted[q.id] || q.accepted
			}
			known := map[string]bool{}
			for _, d := range deliveries(t, st, endpoints[i].ID, "") {
				if d.State != wanted || known[d.EventID] || journal[d.EventID] == "" || accepted[d.EventID] != (wanted == webhook.Delivered) {
					t.Errorf("endpoint %d: %+v; accepted: %v", i, d, accepted[d.EventID])
				}
				known[d.EventID] = true
				outcomes += d.Count
			}
			if len(known) != len(journal) {
				t.Errorf("endpoint %d: %d deliveries of %d events", i, len(known), len(journal))
			}
			requests += len(r.all())
		}
		if outcomes >= requests {
			t.Error("no request was cut off by a kill: they are too fast for this test")
		}
		t.Logf("%d kills of nodes, %d of publications, in %s: %d requests, of which %d had no outcome and %d came after a good one",
			*kills, killed.Load(), time.Since(begin).Round(time.Second), requests, requests-outcomes, repeated)
	})
}

// bodies gives those of all events by their ids, and wants a sequence without gaps.
func bodies(t *testing.T, st *store.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for after := int64(0); ; {
		some, err := st.Events.List(t.Context(), after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(some) == 0 {
			return all
		}
		for _, e := range some {
			if after++; e.Sequence != after {
				t.Fatalf("event %d follows %d", e.Sequence, after-1)
			}
			all[e.ID] = string(e.Body)
		}
	}
}

// publishKilled publishes a folder and kills that after a while, and publishes it
// once more, in peace. It tells whether the first was still at it.
func publishKilled(t *testing.T, folder, database string, after time.Duration) bool {
	first := palmares(t.Context(), "publish", folder, "--database", database)
	if err := first.Start(); err != nil {
		t.Error(err)
		return false
	}
	kill := time.AfterFunc(after, func() { _ = first.Process.Kill() })
	died := first.Wait() != nil
	kill.Stop()
	if out, err := palmares(t.Context(), "publish", folder, "--database", database).CombinedOutput(); err != nil {
		t.Errorf("publish: %v\n%s", err, out)
	}
	return died
}

// deliveries are all of an endpoint in a state, "" for any.
func deliveries(t *testing.T, st *store.Store, endpointID string, state webhook.DeliveryState) []webhook.Delivery {
	t.Helper()
	list, err := st.Deliveries.List(t.Context(), account.AnyOwner(), endpointID, store.DeliveryFilter{State: state, Limit: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
