package accountdb

import (
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/webhook"
)

func TestTheTimeWithoutProDoesNotCountAsFailing(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		if _, err := s.Subscriptions.SetCustomer(ctx, a.ID, "", "cus_1"); err != nil {
			t.Fatal(err)
		}
		operator := func(plan account.Plan) func() {
			return func() {
				t.Helper()
				if err := s.Accounts.SetPlan(ctx, a.Email, plan, monday); err != nil {
					t.Fatal(err)
				}
			}
		}
		at := monday
		pay := func() {
			t.Helper()
			known, err := s.Subscriptions.Find(ctx, a.ID)
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := s.Subscriptions.Apply(ctx, billing.Finding{AccountID: a.ID, Version: known.Version, ObservedAt: at, Reading: billing.Reading{ID: "sub_1", Status: billing.Active}})
			if err != nil || !fresh {
				t.Fatalf("Subscriptions.Apply = %v, %v", fresh, err)
			}
		}
		for what, begin := range map[string]func(){"by the operator": operator(account.Pro), "by payment": pay} {
			waiting(t, s, w.ID, at)
			v := failure(at, 0)
			v.HoldUntil = at.AddDate(1, 0, 0)
			finish(t, s, claim(t, s, at, 1)[0], v)
			operator(account.Pro)() // no change
			if got := endpointNow(t, s, w.ID); got.Failures != 1 {
				t.Errorf("%s: %+v", what, got)
			}
			operator(account.Developer)()
			at = at.Add(webhook.DisableAfter + time.Hour)
			begin()
			if got := endpointNow(t, s, w.ID); got.State != webhook.Active || got.Failures != 0 || !got.FailingSince.IsZero() {
				t.Errorf("%s: Pro again, it is %+v", what, got)
			}
			c := claim(t, s, at, 1)
			if len(c) != 1 {
				t.Fatalf("%s: what waited is not tried", what)
			}
			finish(t, s, c[0], failure(at, time.Hour))
			if got := endpointNow(t, s, w.ID); got.State != webhook.Active {
				t.Errorf("%s: after one failure it is %s", what, got.State)
			}
			at = at.Add(time.Hour)
			finish(t, s, claim(t, s, at, 1)[0], success(at)) // start over
		}
	})
}
