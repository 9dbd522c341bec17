package billing

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

func TestWhatEachStatusMeans(t *testing.T) {
	for status, want := range map[Status]struct{ pro, live, grace bool }{
		Active:            {true, true, false},
		Trialing:          {true, true, false},
		PastDue:           {true, true, true},
		Unpaid:            {true, true, true},
		Paused:            {false, true, false},
		Incomplete:        {false, false, false},
		IncompleteExpired: {false, false, false},
		Canceled:          {false, false, false},
		None:              {false, false, false},
	} {
		next, pro := Subscription{}.after(Reading{ID: "sub_1", Status: status}, noon)
		if pro != want.pro || status.Live() != want.live || next.GraceUntil.IsZero() == want.grace {
			t.Errorf("%q: pro %v, live %v, grace until %v", status, pro, status.Live(), next.GraceUntil)
		}
	}
}

func statuses(t *rapid.T) Status {
	return rapid.SampledFrom([]Status{Active, Trialing, PastDue, Unpaid, Paused, Incomplete, IncompleteExpired, Canceled}).Draw(t, "status")
}

// However one subscription's payments fail, 21 days after the first failure since the
// last payment nobody is Pro by it.
func TestAFailureGivesNoMoreThanOneGrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, s := noon, Subscription{}
		var failing time.Time
		for range rapid.IntRange(1, 40).Draw(t, "readings") {
			now = now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "hours")) * time.Hour)
			r := Reading{ID: "sub_1", Status: rapid.SampledFrom([]Status{Active, PastDue, Unpaid, Paused}).Draw(t, "status")}
			var pro bool
			s, pro = s.after(r, now)
			if r.Status == Active {
				failing = time.Time{}
			} else if failing.IsZero() && r.Status.Failed() {
				failing = now
			}
			if want := r.Status != Paused && (failing.IsZero() || now.Sub(failing) < Grace); pro != want {
				t.Fatalf("%s, failing since %s: pro %v", now, failing, pro)
			}
		}
	})
}

func TestTheSubscriptionThatCountsDoesNotDependOnTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Reading {
			return Reading{
				ID: rapid.StringMatching(`sub_[a-c]{3}`).Draw(t, "id"), Status: statuses(t),
				Created: noon.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "created")) * time.Hour),
			}
		}), 0, 6, func(r Reading) string { return r.ID }).Draw(t, "all")
		best, err := choose(all)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := choose(rapid.Permutation(all).Draw(t, "order")); err != nil || again != best {
			t.Fatalf("%+v, then %+v, %v", best, again, err)
		}
		for _, r := range all {
			if _, pro := (Subscription{}).after(r, noon); pro {
				if _, pro := (Subscription{}).after(best, noon); !pro {
					t.Fatalf("%+v is taken and %+v would be Pro", best, r)
				}
			}
		}
	})
}

// Nothing that Stripe's secret may sign makes the parser fail in any way but one.
func FuzzAnEventIsReadOrRefused(f *testing.F) {
	f.Add([]byte(`{"object":"event","id":"evt_1","type":"invoice.paid","data":{"object":{"object":"invoice","customer":"cus_1"}}}`))
	f.Add([]byte(`{"object":"event","id":"evt_1","type":"customer.created","data":{"object":{"object":"customer","id":"cus_1"}}}`))
	f.Add([]byte(`{"object":"event","id":"evt_1","type":"checkout.session.completed","data":{"object":{"customer":{"id":"cus_1"}}}}`))
	f.Add([]byte(`{"object":"event","id":"evt_1","type":"invoice.paid","data":{"object":{"customer":[7]}}}`))
	f.Add([]byte(`null`))
	f.Add([]byte(``))
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := parseEvent(body)
		if err != nil {
			if e.ID != "" || e.customer() != "" {
				t.Errorf("a refused event is about %+v", e)
			}
			return
		}
		if e.ID == "" || e.Type == "" || e.Object != "event" {
			t.Errorf("%q is taken for %+v", body, e)
		}
		e.customer()
	})
}
