package store

import (
	"database/sql"
	"testing"
	"time"

	"pgregory.net/rapid"

	"palmares/internal/account"
	"palmares/internal/webhook"
)

// modelDelivery is what the store should know of a delivery.
type modelDelivery struct {
	endpoint  string
	next      time.Time
	lease     time.Time // zero: nobody is at it
	delivered bool
	attempts  int
}

// deliveryModel is the rules of claiming and settling without a database. One
// caller at a time uses it, so that it can also say when a claim must not be empty.
type deliveryModel struct {
	now        time.Time
	pro        bool
	paused     map[string]bool
	failures   map[string]int
	hold       map[string]time.Time
	deliveries map[string]*modelDelivery
	held       []webhook.Claim // also those whose lease has ended
}

// room is how many more an endpoint may be sent now, and due how many are waiting.
func (m *deliveryModel) room(endpoint string) (room, due int) {
	room = webhook.MaxInFlight
	if m.failures[endpoint] >= webhook.BreakAfter {
		room = 1
	}
	for _, d := range m.deliveries {
		if d.endpoint != endpoint {
			continue
		}
		if d.lease.After(m.now) {
			room--
		}
		if !d.delivered && !d.next.After(m.now) {
			due++
		}
	}
	if m.paused[endpoint] || !m.pro || m.hold[endpoint].After(m.now) {
		room = 0
	}
	return max(room, 0), due
}

// settle gives a claim, which may have been settled before, an outcome.
func (m *deliveryModel) settle(rt *rapid.T, s *Store) {
	c := rapid.SampledFrom(m.held).Draw(rt, "claim")
	d := m.deliveries[c.DeliveryID]
	v := success(m.now)
	if rapid.IntRange(0, 3).Draw(rt, "fails") > 0 {
		v = failure(m.now, time.Duration(rapid.IntRange(0, 600).Draw(rt, "delay"))*time.Second)
		switch rapid.IntRange(0, 9).Draw(rt, "kind") {
		case 0:
			v.Untried = true
		case 1:
			v.HoldUntil = m.now.Add(time.Duration(rapid.IntRange(1, 60).Draw(rt, "hold")) * time.Second)
		}
	}
	if err := s.Deliveries.Finish(rt.Context(), c, v); err != nil {
		rt.Fatal(err)
	}
	ours := d.lease.Equal(c.LeaseEnd)
	if ours {
		d.lease = time.Time{}
	}
	switch {
	case d.delivered || !ours && v.State != webhook.Delivered: // it is forgotten
	case v.State == webhook.Delivered:
		d.attempts++
		d.delivered = true
		m.mend(d.endpoint)
	case v.Untried:
		d.next = v.NextAt
	default:
		d.attempts++
		d.next = v.NextAt
		hold := v.HoldUntil
		if m.failures[d.endpoint]++; m.failures[d.endpoint] >= webhook.BreakAfter {
			probe := v.Attempt.At.Add(v.Attempt.Duration + webhook.ProbeEvery)
			if d.next.Before(probe) {
				probe = d.next
			}
			if hold.Before(probe) {
				hold = probe
			}
		}
		if m.hold[d.endpoint].Before(hold) {
			m.hold[d.endpoint] = hold
		}
	}
}

// mend forgets an endpoint's failures.
func (m *deliveryModel) mend(endpoint string) {
	m.failures[endpoint], m.hold[endpoint] = 0, time.Time{}
}

// waiting makes a delivery that is due at once.
func waiting(t testing.TB, s *Store, endpointID string, now time.Time) webhook.Delivery {
	t.Helper()
	d := newDelivery(endpointID, webhook.OfResend, now)
	d.EventID, d.Type = "evt_"+d.ID, webhook.Ping
	err := s.write(t.Context(), func(tx *sql.Tx) error { return insertDelivery(t.Context(), tx, d, "{}") })
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestClaimsAndOutcomesKeepToTheModel(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		if !s.Shared() { // thousands of commits, none of which is to survive a power cut
			if _, err := s.writes.Exec("PRAGMA synchronous = OFF"); err != nil {
				t.Fatal(err)
			}
		}
		round := 0
		rapid.Check(t, func(rt *rapid.T) {
			ctx := t.Context()
			must := func(err error) {
				if err != nil {
					rt.Fatal(err)
				}
			}
			round++
			a, err := s.Accounts.Create(ctx, "ada@example.org", account.Pro, monday)
			must(err)
			defer func() { must(s.Accounts.Delete(ctx, a.Email)) }()
			m := deliveryModel{
				now: monday.Add(time.Duration(round) * time.Hour), pro: true,
				paused: map[string]bool{}, failures: map[string]int{}, hold: map[string]time.Time{}, deliveries: map[string]*modelDelivery{},
			}
			var endpoints []string
			for range rapid.IntRange(1, 3).Draw(rt, "endpoints") {
				w, err := s.Endpoints.Create(ctx, a.ID, "https://hooks.example/", nil, sealedAs("x"), m.now)
				must(err)
				endpoints = append(endpoints, w.ID)
				for range rapid.IntRange(1, 13).Draw(rt, "deliveries") {
					m.deliveries[waiting(t, s, w.ID, m.now).ID] = &modelDelivery{endpoint: w.ID, next: m.now}
				}
			}
			any := rapid.SampledFrom(endpoints)
			actions := map[string]func(*rapid.T){
				"more": func(rt *rapid.T) {
					w := any.Draw(rt, "endpoint")
					for range rapid.IntRange(1, 8).Draw(rt, "times") {
						m.deliveries[waiting(t, s, w, m.now).ID] = &modelDelivery{endpoint: w, next: m.now}
					}
				},
				"pause": func(rt *rapid.T) {
					w := any.Draw(rt, "endpoint")
					state := webhook.Paused
					if m.paused[w] {
						state = webhook.Active
						m.mend(w)
						for _, d := range m.deliveries {
							if d.endpoint == w && d.next.After(m.now) && !d.lease.After(m.now) {
								d.next = m.now
							}
						}
					}
					m.paused[w] = !m.paused[w]
					_, err := s.Endpoints.Change(ctx, a.Owner(), w, webhook.Change{State: &state}, m.now)
					must(err)
				},
				"plan": func(*rapid.T) {
					m.pro = !m.pro
					plan := account.Developer
					if m.pro {
						plan = account.Pro
						for _, w := range endpoints {
							m.mend(w)
						}
					}
					must(s.Accounts.SetPlan(ctx, a.Email, plan, monday))
				},
				"wait": func(rt *rapid.T) {
					m.now = m.now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 5, 20, 300}).Draw(rt, "seconds")) * time.Second)
				},
				"claim": func(rt *rapid.T) {
					limit := rapid.IntRange(1, 9).Draw(rt, "limit")
					claims, err := s.Deliveries.Claim(ctx, m.now, webhook.Lease, limit)
					must(err)
					want := 0
					for _, w := range endpoints {
						room, due := m.room(w)
						want += min(room, due)
					}
					if len(claims) != min(want, limit) {
						rt.Fatalf("%d claimed; want %d", len(claims), min(want, limit))
					}
					for _, c := range claims {
						d := m.deliveries[c.DeliveryID]
						room, _ := m.room(c.EndpointID)
						if d.delivered || d.next.After(m.now) || d.lease.After(m.now) || room < 1 || c.Attempt != d.attempts+1 || c.EndpointID != d.endpoint {
							rt.Fatalf("claimed %+v, which is %+v in an endpoint with room for %d", c, d, room)
						}
						for _, other := range m.deliveries {
							if other.endpoint == d.endpoint && !other.delivered && other.next.Before(d.next) && !other.lease.After(m.now) {
								rt.Fatalf("%+v was passed over for %+v", other, d)
							}
						}
						d.lease = m.now.Add(webhook.Lease)
						d.next = d.lease
					}
					m.held = append(m.held, claims...)
				},
				"settle": func(rt *rapid.T) {
					for range rapid.IntRange(0, min(len(m.held), 4)).Draw(rt, "claims") {
						m.settle(rt, s)
					}
				},
			}
			// Most of what happens is claims and their outcomes.
			names := []string{"claim", "claim", "claim", "settle", "settle", "settle", "more", "pause", "plan", "wait"}
			for range rapid.IntRange(10, 40).Draw(rt, "steps") {
				actions[rapid.SampledFrom(names).Draw(rt, "action")](rt)
			}
			for _, w := range endpoints {
				got, err := s.Endpoints.Find(ctx, a.Owner(), w)
				must(err)
				list, err := s.Deliveries.List(ctx, a.Owner(), w, DeliveryFilter{Limit: 1000})
				must(err)
				if got.Failures != m.failures[w] {
					rt.Fatalf("%d failures; want %d", got.Failures, m.failures[w])
				}
				for _, have := range list {
					d := m.deliveries[have.ID]
					if have.Count != d.attempts || (have.State == webhook.Delivered) != d.delivered || !d.delivered && !have.NextAt.Equal(d.next) {
						rt.Fatalf("%+v; want %+v", have, d)
					}
				}
			}
		})
	})
}
