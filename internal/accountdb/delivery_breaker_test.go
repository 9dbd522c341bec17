package accountdb

import (
	"slices"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

func TestAReceiverIsSentNothingUntilItsRetryAfterElapses(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w, other := endpoint(t, s, a.ID), endpoint(t, s, a.ID)
		tools(t, s, 5, "1 €/mois", monday)
		claims := map[string][]webhook.Claim{}
		for _, c := range claim(t, s, monday, 8) {
			claims[c.EndpointID] = append(claims[c.EndpointID], c)
		}
		until := monday.Add(time.Hour)
		v := failure(monday, 5*time.Second)
		v.HoldUntil = until
		finish(t, s, claims[w.ID][0], v)
		v.HoldUntil = monday.Add(time.Minute) // of two requests the later counts
		finish(t, s, claims[w.ID][1], v)
		finish(t, s, claims[w.ID][2], failure(monday, 5*time.Second))
		got := byEndpoint(claim(t, s, until.Add(-time.Millisecond), 20))
		if got[w.ID] != 0 || got[other.ID] != webhook.MaxInFlight {
			t.Errorf("before the hour is over %v", got)
		}
		if got := byEndpoint(claim(t, s, until, 20)); got[w.ID] != webhook.MaxInFlight {
			t.Errorf("after it %v", got)
		}
		// A request sent before that succeeds shows that the receiver is back.
		finish(t, s, claims[w.ID][0], v)
		v.HoldUntil = day(1)
		next := claim(t, s, until.Add(time.Minute), 20)
		finish(t, s, next[slices.IndexFunc(next, func(c webhook.Claim) bool { return c.EndpointID == w.ID })], v)
		finish(t, s, claims[w.ID][3], success(until))
		if got := byEndpoint(claim(t, s, until.Add(2*time.Minute), 20)); got[w.ID] == 0 {
			t.Error("it is left alone although it answers")
		}
	})
}

func TestADeliveryThatCouldNotBeSignedIsNotAnAttempt(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID, "catalog.updated")
		tools(t, s, 1, "1 €/mois", monday)
		for i := range 20 { // more often than a delivery may be tried
			at := monday.Add(time.Duration(i) * time.Minute)
			c := claim(t, s, at, 9)
			if len(c) != 1 || c[0].Attempt != 1 {
				t.Fatalf("after %d times: %+v", i, c)
			}
			v := webhook.Judge(1, webhook.Result{At: at, Outcome: webhook.Secret}, webhook.DefaultSchedule(), 0)
			finish(t, s, c[0], v)
			if early := claim(t, s, at.Add(time.Minute-time.Millisecond), 9); len(early) != 0 {
				t.Fatal("claimed again before a minute was over")
			}
		}
		if got := endpointNow(t, s, w.ID); got.Failures != 0 || !got.FailingSince.IsZero() {
			t.Errorf("the receiver is blamed: %+v", got)
		}
		if left := testkit.Dump(t, s.SQL.Reads(), "attempts"); left != "" {
			t.Errorf("attempts on record:\n%s", left)
		}
	})
}

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

func TestAReactivatedEndpointIsSentPendingDeliveriesAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID, "catalog.updated", "tool.created")
		tools(t, s, 3, "1 €/mois", monday)
		elsewhere, active := "https://other.example/in", webhook.Active
		for what, change := range map[string]webhook.Change{"a new URL": {URL: &elsewhere}, "active again": {State: &active}} {
			at := monday
			claims := claim(t, s, at, 9)
			if len(claims) != 4 {
				t.Fatalf("%s: %d claimed", what, len(claims))
			}
			v := failure(at, 24*time.Hour)
			v.HoldUntil, v.Gone = at.Add(24*time.Hour), what == "active again"
			for _, c := range claims[1:] { // the oldest is being sent
				finish(t, s, c, v)
			}
			at = at.Add(time.Second)
			if _, err := s.Endpoints.Change(t.Context(), a.Owner(), w.ID, change, at); err != nil {
				t.Fatal(err)
			}
			if again := claim(t, s, at, 9); len(again) != 3 || again[0].Attempt != 2 {
				t.Errorf("%s: %+v are tried; want all but the one on its way", what, again)
			}
			// Start over for the next one.
			if err := s.Endpoints.Delete(t.Context(), a.Owner(), w.ID); err != nil {
				t.Fatal(err)
			}
			w = endpoint(t, s, a.ID)
			for range 4 {
				waiting(t, s, w.ID, monday)
			}
		}
	})
}
