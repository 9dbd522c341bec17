package accountdb

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

func claim(t testing.TB, s *kit, now time.Time, limit int) []webhook.Claim {
	t.Helper()
	claims, err := s.Deliveries.Claim(t.Context(), now, webhook.Lease, limit)
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

func finish(t testing.TB, s *kit, c webhook.Claim, v webhook.Verdict) {
	t.Helper()
	if err := s.Deliveries.Finish(t.Context(), c, v); err != nil {
		t.Fatal(err)
	}
}

func success(at time.Time) webhook.Verdict {
	return webhook.Verdict{State: webhook.Delivered, Attempt: webhook.Attempt{At: at, Duration: 20 * time.Millisecond, Status: 204, Outcome: webhook.OK}}
}

// failure returns a verdict after which the delivery is due again.
func failure(at time.Time, again time.Duration) webhook.Verdict {
	return webhook.Verdict{
		State: webhook.Pending, NextAt: at.Add(again), ProbeAt: at.Add(30*time.Millisecond + webhook.ProbeEvery),
		Attempt: webhook.Attempt{At: at, Duration: 30 * time.Millisecond, Status: 500, Outcome: webhook.HTTPStatus, Response: "non"},
	}
}

// tools publishes n tools, which are n+1 events.
func tools(t testing.TB, s *kit, n int, price string, at time.Time) {
	t.Helper()
	c := small()
	for i := range n {
		c.Tools = append(c.Tools, tool(fmt.Sprintf("t%05d", i), price))
	}
	publish(t, s, c, at)
}

func byEndpoint(claims []webhook.Claim) map[string]int {
	count := map[string]int{}
	for _, c := range claims {
		count[c.EndpointID]++
	}
	return count
}

func TestAClaimHoldsForItsLeaseAndAnAttemptWithoutAnOutcomeDoesNotCount(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		publish(t, s, small(tool("a", "1 €/mois")), monday)
		if early := claim(t, s, monday.Add(-time.Millisecond), 9); len(early) != 0 {
			t.Errorf("claimed before it was due: %+v", early)
		}
		first := claim(t, s, monday, 9)
		all := events(t, s)
		if len(first) != 2 || len(all) != 2 {
			t.Fatalf("claimed %d of %d", len(first), len(all))
		}
		for i, c := range first {
			want := webhook.Claim{
				DeliveryID: c.DeliveryID, EndpointID: w.ID, EventID: all[i].ID, Type: all[i].Type, Body: all[i].Body,
				URL: w.URL, Secret: "first for " + w.ID, Attempt: 1, LeaseEnd: monday.Add(30 * time.Second),
			}
			if diff := cmp.Diff(want, c); diff != "" {
				t.Errorf("claim %d (-want +got):\n%s", i, diff)
			}
		}
		if again := claim(t, s, monday.Add(30*time.Second-time.Millisecond), 9); len(again) != 0 {
			t.Errorf("claimed under another's lease: %+v", again)
		}
		second := claim(t, s, monday.Add(30*time.Second), 9)
		if len(second) != 2 || second[0].Attempt != 1 || second[1].Attempt != 1 {
			t.Errorf("after the lease: %+v", second)
		}
	})
}

func TestAnOutcomeIsWrittenToTheLogOnce(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		if _, err := s.Deliveries.Ping(ctx, a.Owner(), w.ID, monday); err != nil {
			t.Fatal(err)
		}
		c := claim(t, s, monday, 1)[0]
		v := failure(monday.Add(time.Second), 5*time.Second)
		v.Attempt.Response = "pas\x00 de \xff l’UTF-8"
		finish(t, s, c, v)
		finish(t, s, c, v) // the same outcome twice
		if early := claim(t, s, monday.Add(6*time.Second-time.Millisecond), 1); len(early) != 0 {
			t.Errorf("tried again before its time")
		}
		c = claim(t, s, monday.Add(6*time.Second), 1)[0]
		if c.Attempt != 2 {
			t.Errorf("the second attempt is number %d", c.Attempt)
		}
		finish(t, s, c, success(monday.Add(6*time.Second)))
		d, err := s.Deliveries.Find(ctx, a.Owner(), c.DeliveryID)
		if err != nil {
			t.Fatal(err)
		}
		want := webhook.Delivery{
			ID: c.DeliveryID, EndpointID: w.ID, EventID: c.EventID, Type: webhook.Ping, Origin: webhook.OfPing,
			State: webhook.Delivered, CreatedAt: monday, Count: 2,
			Attempts: []webhook.Attempt{
				{Number: 1, At: monday.Add(time.Second), Duration: 30 * time.Millisecond, Status: 500, Outcome: webhook.HTTPStatus, Response: "pas� de � l’UTF-8"},
				{Number: 2, At: monday.Add(6 * time.Second), Duration: 20 * time.Millisecond, Status: 204, Outcome: webhook.OK},
			},
		}
		want.Last, d.Body = &want.Attempts[1], ""
		if diff := cmp.Diff(want, d); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		w = endpointNow(t, s, w.ID)
		if w.Failures != 0 || !w.FailingSince.IsZero() || !w.LastSuccessAt.Equal(monday.Add(6*time.Second+20*time.Millisecond)) {
			t.Errorf("the endpoint after a success: %+v", w)
		}
	})
}

func TestEndpointsTakeTurnsAndNoneHasMoreThanFourInFlight(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)

		for range 5 {
			endpoint(t, s, a.ID, "catalog.updated")
		}
		big := endpoint(t, s, a.ID)
		tools(t, s, 300, "1 €/mois", monday)

		// One each before any has a second.
		if got := byEndpoint(claim(t, s, monday, 6)); len(got) != 6 {
			t.Errorf("of six claims %v", got)
		}
		if got := byEndpoint(claim(t, s, monday, 50)); len(got) != 1 || got[big.ID] != 3 {
			t.Errorf("then %v; want three more of the one that has any", got)
		}
		if more := claim(t, s, monday, 50); len(more) != 0 {
			t.Errorf("%d beyond four in flight", len(more))
		}

		// With one at a time those that were not served come first.
		later := monday.Add(time.Minute)
		tools(t, s, 300, "2 €/mois", later)
		seen := map[string]bool{}
		for range 6 {
			c := claim(t, s, later, 1)
			if len(c) != 1 || seen[c[0].EndpointID] {
				t.Fatalf("claimed %+v after %v", c, seen)
			}
			seen[c[0].EndpointID] = true
		}
	})
}

// disabledMails returns the endpoints of which mails say that they were disabled, and
// finishes those mails.
func disabledMails(t *testing.T, s *kit, a account.Account, at time.Time) (about []string) {
	t.Helper()
	claims, err := s.Mails.Claim(t.Context(), at, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range claims {
		if m.To != a.Email || m.Kind != mail.EndpointDisabled {
			t.Errorf("mail %+v", m)
		}
		about = append(about, m.About)
		if err := s.Mails.Finish(t.Context(), m, mail.Verdict{}); err != nil {
			t.Fatal(err)
		}
	}
	return about
}

// claimFor claims what is due and returns a delivery to one endpoint.
func claimFor(t *testing.T, s *kit, at time.Time, endpointID string) webhook.Claim {
	t.Helper()
	for _, c := range claim(t, s, at, 20) {
		if c.EndpointID == endpointID {
			return c
		}
	}
	t.Fatalf("nothing was due to %s", endpointID)
	panic("unreachable")
}

func TestAnEndpointThatIsGoneOrFailsForFiveDaysIsDisabledAndItsOwnerMailed(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		gone, failing := endpoint(t, s, a.ID), endpoint(t, s, a.ID)
		tools(t, s, 3, "1 €/mois", monday)
		c := claimFor(t, s, monday, gone.ID)
		v := failure(monday, time.Hour)
		v.Attempt.Status, v.Gone = 410, true
		finish(t, s, c, v)
		w := endpointNow(t, s, gone.ID)
		if w.State != webhook.Disabled || w.Reason != webhook.Gone || !w.DisabledAt.Equal(monday.Add(30*time.Millisecond)) {
			t.Errorf("after 410: %+v", w)
		}
		if got := disabledMails(t, s, a, day(1)); !slices.Equal(got, []string{gone.ID}) {
			t.Errorf("mails about %v", got)
		}

		// The first failure counts from its end.
		at := monday.Add(time.Minute)
		finish(t, s, claimFor(t, s, at, failing.ID), failure(at, 0))
		at = at.Add(webhook.DisableAfter - time.Millisecond)
		finish(t, s, claimFor(t, s, at, failing.ID), failure(at, 0))
		if w := endpointNow(t, s, failing.ID); w.State != webhook.Active {
			t.Errorf("just before five days: %+v", w)
		}
		at = at.Add(time.Minute)
		c = claimFor(t, s, at, failing.ID)
		finish(t, s, c, failure(at, 0))
		if w := endpointNow(t, s, failing.ID); w.State != webhook.Disabled || w.Reason != webhook.Failing || w.Failures != 3 {
			t.Errorf("after five days: %+v", w)
		}
		if got := disabledMails(t, s, a, day(10)); !slices.Equal(got, []string{failing.ID}) {
			t.Errorf("mails about %v", got)
		}
		if none := claim(t, s, day(10), 50); len(none) != 0 {
			t.Errorf("%d claimed of disabled endpoints", len(none))
		}
		// They get nothing new, and what they have waits for their owner.
		before := strings.Count(testkit.Dump(t, s.SQL.Reads(), "deliveries"), "\n")
		tools(t, s, 3, "2 €/mois", day(10))
		if after := strings.Count(testkit.Dump(t, s.SQL.Reads(), "deliveries"), "\n"); after != before {
			t.Errorf("%d deliveries, then %d", before, after)
		}
		active := webhook.Active
		w, err := s.Endpoints.Change(t.Context(), a.Owner(), failing.ID, webhook.Change{State: &active}, day(10))
		if err != nil {
			t.Fatal(err)
		}
		if w.State != webhook.Active || w.Reason != "" || w.Failures != 3 || !w.Failing() || !w.DisabledAt.IsZero() {
			t.Errorf("active again: %+v", w)
		}
		claims := claim(t, s, day(10), 50)
		if len(claims) != 4 {
			t.Errorf("%d claimed when it is active again", len(claims))
		}
		finish(t, s, claims[0], failure(day(10), 0))
		if w := endpointNow(t, s, failing.ID); w.State != webhook.Active || w.Failures != 4 {
			t.Errorf("one failure after that: %+v", w)
		}
	})
}

// Eight workers on each of three nodes deliver at once; three in ten attempts fail and one
// in ten workers dies with its claim. No delivery is claimed twice under a lease, no
// endpoint has more than four in flight, and everything is delivered in the end.
func TestManyNodesClaimNothingTwice(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		var nodes []*kit
		for range 3 {
			nodes = append(nodes, open(t, dsn))
		}
		a := create(t, nodes[0], "ada@example.org", account.Pro)
		for range 4 {
			endpoint(t, nodes[0], a.ID)
		}
		const perEndpoint = 15
		tools(t, nodes[0], perEndpoint-1, "1 €/mois", monday)
		w := &claimWorkers{t: t}
		for now := monday; w.delivered < 4*perEndpoint; now = now.Add(time.Minute) {
			w.held, w.flying = map[string]bool{}, map[string]int{} // every lease of the minute before is over
			var all sync.WaitGroup
			for worker := range 24 {
				all.Go(func() {
					w.work(nodes[worker%3], now, rand.New(rand.NewPCG(uint64(worker), uint64(now.Unix()))))
				})
			}
			all.Wait()
			if t.Failed() {
				return
			}
		}
		dump := testkit.Dump(t, nodes[0].SQL.Reads(), "deliveries")
		if got := strings.Count(dump, `"delivered"`); got != 4*perEndpoint || w.delivered != got {
			t.Errorf("%d deliveries are delivered and %d were; want %d", got, w.delivered, 4*perEndpoint)
		}
		if got := strings.Count(testkit.Dump(t, nodes[0].SQL.Reads(), "attempts"), "\n"); got != w.attempts {
			t.Errorf("%d attempts on record; there were %d", got, w.attempts)
		}
	})
}

// claimWorkers claim and finish deliveries, and record who has what.
type claimWorkers struct {
	t  *testing.T
	mu sync.Mutex

	held                map[string]bool // deliveries
	flying              map[string]int  // deliveries by endpoint
	delivered, attempts int
}

// work claims until three claims in a row were empty: what others give back later is
// claimed in the next minute.
func (w *claimWorkers) work(s *kit, now time.Time, r *rand.Rand) {
	for idle := 0; idle < 3; {
		var claims []webhook.Claim
		limit := 1 + r.IntN(6)
		if err := whileBusy(func() (err error) {
			claims, err = s.Deliveries.Claim(w.t.Context(), now, webhook.Lease, limit)
			return err
		}); err != nil {
			w.t.Error(err)
			return
		}
		if len(claims) == 0 {
			idle++
		}
		w.take(claims)
		for _, c := range claims {
			v := success(now)
			switch n := r.IntN(10); {
			case n == 0: // the process dies
				continue
			case n < 4:
				v = failure(now, 0)
			}
			w.giveBack(c, v)
			if err := whileBusy(func() error { return s.Deliveries.Finish(w.t.Context(), c, v) }); err != nil {
				w.t.Error(err)
				return
			}
		}
	}
}

func (w *claimWorkers) take(claims []webhook.Claim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range claims {
		if w.flying[c.EndpointID]++; w.flying[c.EndpointID] > webhook.MaxInFlight {
			w.t.Errorf("%d in flight to %s", w.flying[c.EndpointID], c.EndpointID)
		}
		if w.held[c.DeliveryID] {
			w.t.Errorf("%s was claimed twice", c.DeliveryID)
		}
		w.held[c.DeliveryID] = true
	}
}

func (w *claimWorkers) giveBack(c webhook.Claim, v webhook.Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flying[c.EndpointID]--
	w.held[c.DeliveryID] = false
	w.attempts++
	if v.State == webhook.Delivered {
		w.delivered++
	}
}

// whileBusy repeats what SQLite refuses because of so many writers, as callers do.
// On a slow machine 24 of them wait for longer than a write may.
func whileBusy(do func() error) error {
	for {
		if err := do(); !errors.Is(err, sqldb.ErrBusy) {
			return err
		}
	}
}
