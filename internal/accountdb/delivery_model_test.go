package accountdb

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"palmares/internal/account"
	"palmares/internal/webhook"
)

// modelDelivery is the expected state of a delivery.
type modelDelivery struct {
	endpoint  string
	created   time.Time
	next      time.Time
	lease     time.Time // zero: not claimed
	delivered bool
	attempts  int
}

// deliveryModel implements claiming and finishing without a database, for one caller at a
// time, so that it also knows when a claim must not be empty.
type deliveryModel struct {
	now        time.Time
	pro        bool
	down       bool // all receivers fail
	paused     map[string]bool
	resumed    map[string]time.Time
	failures   map[string]int
	since      map[string]time.Time // the first of them
	hold       map[string]time.Time
	probe      map[string]time.Time // of an open breaker
	deliveries map[string]*modelDelivery
	held       []webhook.Claim // also those whose lease has ended
}

// room returns how many more deliveries an endpoint may be sent now, and how many are due.
func (m *deliveryModel) room(endpoint string) (room, due int) {
	room = webhook.MaxInFlight
	if !m.probe[endpoint].IsZero() {
		room = 1
	}
	for _, d := range m.deliveries {
		if d.endpoint != endpoint {
			continue
		}
		if d.lease.After(m.now) {
			room--
		}
		if !d.delivered && !d.next.After(m.now) && !m.spared(d) {
			due++
		}
	}
	if m.paused[endpoint] || !m.pro || m.hold[endpoint].After(m.now) {
		room = 0
	}
	return max(room, 0), due
}

// spared reports whether a delivery waits because the breaker is open.
func (m *deliveryModel) spared(d *modelDelivery) bool {
	return d.attempts >= webhook.AlwaysTried && m.probe[d.endpoint].After(m.now)
}

// finish finishes a claim, which may have been finished before.
func (m *deliveryModel) finish(rt *rapid.T, s *kit) {
	c := rapid.SampledFrom(m.held[max(0, len(m.held)-9):]).Draw(rt, "claim")
	d := m.deliveries[c.DeliveryID]
	v := success(m.now)
	if m.down || rapid.IntRange(0, 3).Draw(rt, "fails") > 0 {
		v = failure(m.now, time.Duration(rapid.IntRange(0, 300).Draw(rt, "delay"))*time.Second)
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
	case d.delivered || !ours && v.State != webhook.Delivered: // it is dropped
	case v.State == webhook.Delivered:
		d.attempts++
		d.delivered = true
		m.succeed(d.endpoint, v.Attempt.At.Add(v.Attempt.Duration))
	case v.Untried:
		d.next = v.NextAt
	default:
		d.attempts++
		d.next = v.NextAt
		end := v.Attempt.At.Add(v.Attempt.Duration)
		if m.failures[d.endpoint] == 0 {
			m.since[d.endpoint] = end
		}
		m.failures[d.endpoint]++
		if m.failures[d.endpoint] >= webhook.BreakAfter && end.Sub(m.since[d.endpoint]) >= webhook.BreakSpread {
			m.probe[d.endpoint] = end.Add(webhook.ProbeEvery)
		}
		if m.hold[d.endpoint].Before(v.HoldUntil) {
			m.hold[d.endpoint] = v.HoldUntil
		}
	}
}

// succeed clears an endpoint's failures, and makes what waits due if that ends an outage.
func (m *deliveryModel) succeed(endpoint string, at time.Time) {
	if m.failures[endpoint] >= webhook.BreakAfter || m.failures[endpoint] > 0 && (m.hold[endpoint].After(at) || at.Sub(m.since[endpoint]) >= webhook.ProbeEvery) {
		m.makeDue(endpoint, at)
	}
	m.clearFailures(endpoint)
}

// makeDue makes the deliveries of an endpoint due that are not being sent.
func (m *deliveryModel) makeDue(endpoint string, at time.Time) {
	for _, d := range m.deliveries {
		if d.endpoint == endpoint && d.next.After(at) && !d.lease.After(at) {
			d.next = d.created
		}
	}
}

// clearFailures clears an endpoint's failures.
func (m *deliveryModel) clearFailures(endpoint string) {
	m.failures[endpoint], m.hold[endpoint], m.probe[endpoint] = 0, time.Time{}, time.Time{}
}

// waiting creates a delivery that is due at once.
func waiting(t testing.TB, s *kit, endpointID string, now time.Time) webhook.Delivery {
	t.Helper()
	d := newDelivery(endpointID, webhook.OfResend, now)
	d.EventID, d.Type = "evt_"+d.ID, webhook.Ping
	err := s.SQL.Write(t.Context(), func(tx *sql.Tx) error { return insertDelivery(t.Context(), tx, d, "{}") })
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A modelRun does the same to a store and to the model.
type modelRun struct {
	deliveryModel
	t         *testing.T
	s         *kit
	account   account.Account
	endpoints []string
	moves     int
}

func (m *modelRun) must(rt *rapid.T, err error) {
	if err != nil {
		rt.Fatal(err)
	}
}

// add creates deliveries to an endpoint.
func (m *modelRun) add(endpoint string, n int) {
	for range n {
		m.deliveries[waiting(m.t, m.s, endpoint, m.now).ID] = &modelDelivery{endpoint: endpoint, created: m.now, next: m.now}
	}
}

// pause pauses an endpoint, or makes it active again.
func (m *modelRun) pause(rt *rapid.T, endpoint string) {
	state := webhook.Paused
	if m.paused[endpoint] {
		state = webhook.Active
		m.hold[endpoint], m.resumed[endpoint] = time.Time{}, m.now
		if !m.probe[endpoint].IsZero() {
			m.probe[endpoint] = monday // it is open, and lets all through
		}
		m.makeDue(endpoint, m.now)
	}
	m.paused[endpoint] = !m.paused[endpoint]
	_, err := m.s.Endpoints.Change(m.t.Context(), m.account.Owner(), endpoint, webhook.Change{State: &state}, m.now)
	m.must(rt, err)
}

// move gives an endpoint another URL.
func (m *modelRun) move(rt *rapid.T, endpoint string) {
	m.moves++
	url := fmt.Sprintf("https://hooks.example/%d", m.moves)
	m.clearFailures(endpoint)
	m.makeDue(endpoint, m.now)
	_, err := m.s.Endpoints.Change(m.t.Context(), m.account.Owner(), endpoint, webhook.Change{URL: &url}, m.now)
	m.must(rt, err)
}

// changePlan moves the account to the other plan.
func (m *modelRun) changePlan(rt *rapid.T) {
	m.pro = !m.pro
	plan := account.Developer
	if m.pro {
		plan = account.Pro
		for _, w := range m.endpoints {
			m.clearFailures(w)
		}
	}
	m.must(rt, m.s.Accounts.SetPlan(m.t.Context(), m.account.Email, plan, monday))
}

// claim claims deliveries and checks that they are those that it must get.
func (m *modelRun) claim(rt *rapid.T) {
	limit := rapid.IntRange(1, 9).Draw(rt, "limit")
	claims, err := m.s.Deliveries.Claim(m.t.Context(), m.now, webhook.Lease, limit)
	m.must(rt, err)
	want := 0
	for _, w := range m.endpoints {
		room, due := m.room(w)
		want += min(room, due)
	}
	if len(claims) != min(want, limit) {
		rt.Fatalf("%d claimed; want %d", len(claims), min(want, limit))
	}
	for _, c := range claims {
		d := m.deliveries[c.DeliveryID]
		room, _ := m.room(c.EndpointID)
		if d.delivered || d.next.After(m.now) || d.lease.After(m.now) || m.spared(d) || room < 1 || c.Attempt != d.attempts+1 || c.EndpointID != d.endpoint {
			rt.Fatalf("claimed %+v, which is %+v in an endpoint with room for %d", c, d, room)
		}
		for _, other := range m.deliveries {
			if other.endpoint == d.endpoint && !other.delivered && other.next.Before(d.next) && !other.lease.After(m.now) && !m.spared(other) {
				rt.Fatalf("%+v was passed over for %+v", other, d)
			}
		}
		d.lease = m.now.Add(webhook.Lease)
		d.next = d.lease
	}
	m.held = append(m.held, claims...)
}

// check compares the store with the model.
func (m *modelRun) check(rt *rapid.T) {
	for _, w := range m.endpoints {
		got, err := m.s.Endpoints.Find(m.t.Context(), m.account.Owner(), w)
		m.must(rt, err)
		list, err := m.s.Deliveries.List(m.t.Context(), m.account.Owner(), w, DeliveryFilter{Limit: 1000})
		m.must(rt, err)
		if got.Failures != m.failures[w] || !got.ResumedAt.Equal(m.resumed[w]) {
			rt.Fatalf("%d failures, resumed at %s; want %d, %s", got.Failures, got.ResumedAt, m.failures[w], m.resumed[w])
		}
		for _, have := range list {
			d := m.deliveries[have.ID]
			next := d.next
			if next.Before(m.hold[w]) {
				next = m.hold[w]
			}
			if d.attempts >= webhook.AlwaysTried && next.Before(m.probe[w]) {
				next = m.probe[w]
			}
			if have.Count != d.attempts || (have.State == webhook.Delivered) != d.delivered || !d.delivered && !have.NextAt.Equal(next) {
				rt.Fatalf("%+v; want %+v", have, d)
			}
		}
	}
}

func TestClaimsAndOutcomesFollowTheModel(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		round := 0
		rapid.Check(t, func(rt *rapid.T) {
			round++
			a, err := s.Accounts.Create(t.Context(), "ada@example.org", account.Pro, monday)
			if err != nil {
				rt.Fatal(err)
			}
			m := modelRun{t: t, s: s, account: a, deliveryModel: deliveryModel{
				now: monday.Add(time.Duration(round) * time.Hour), pro: true,
				paused: map[string]bool{}, resumed: map[string]time.Time{}, failures: map[string]int{}, since: map[string]time.Time{}, hold: map[string]time.Time{}, probe: map[string]time.Time{}, deliveries: map[string]*modelDelivery{},
			}}
			defer func() { m.must(rt, s.Accounts.Delete(t.Context(), a.Email)) }()
			for range rapid.IntRange(1, 3).Draw(rt, "endpoints") {
				w, err := s.Endpoints.Create(t.Context(), a.ID, "https://hooks.example/", nil, sealedAs("x"), nil, m.now)
				m.must(rt, err)
				m.endpoints = append(m.endpoints, w.ID)
				m.add(w.ID, rapid.IntRange(1, 13).Draw(rt, "deliveries"))
			}
			any := rapid.SampledFrom(m.endpoints)
			actions := map[string]func(*rapid.T){
				"more":  func(rt *rapid.T) { m.add(any.Draw(rt, "endpoint"), rapid.IntRange(1, 8).Draw(rt, "times")) },
				"pause": func(rt *rapid.T) { m.pause(rt, any.Draw(rt, "endpoint")) },
				"move":  func(rt *rapid.T) { m.move(rt, any.Draw(rt, "endpoint")) },
				"plan":  m.changePlan,
				"outage": func(rt *rapid.T) {
					m.down = true
					for range webhook.BreakAfter {
						m.claim(rt)
						for range min(len(m.held), 6) {
							m.finish(rt, s)
						}
						m.now = m.now.Add(5 * time.Second)
					}
					m.down = false
				},
				"wait": func(rt *rapid.T) {
					m.now = m.now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 5, 20, 300}).Draw(rt, "seconds")) * time.Second)
				},
				"claim": m.claim,
				"finish": func(rt *rapid.T) {
					for range rapid.IntRange(0, min(len(m.held), 4)).Draw(rt, "claims") {
						m.finish(rt, s)
					}
				},
			}
			// Most actions are claims and their outcomes.
			names := []string{"claim", "claim", "claim", "finish", "finish", "finish", "more", "pause", "move", "plan", "outage", "wait"}
			for range rapid.IntRange(10, 40).Draw(rt, "steps") {
				actions[rapid.SampledFrom(names).Draw(rt, "action")](rt)
			}
			m.check(rt)
		})
	})
}
