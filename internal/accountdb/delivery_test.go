package accountdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

func deliveries(t testing.TB, s *kit, endpointID string, f DeliveryFilter) []webhook.Delivery {
	t.Helper()
	list, err := s.Deliveries.List(t.Context(), account.AnyOwner(), endpointID, f)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// sequences returns those of a list of deliveries.
func sequences(list []webhook.Delivery) (all []int64) {
	for _, d := range list {
		all = append(all, d.Sequence)
	}
	return all
}

func TestAPublicationDeliversEachEventToEveryEndpointThatTakesIt(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a, b, poor := create(t, s, "ada@example.org", account.Pro), create(t, s, "bob@example.org", account.Pro), create(t, s, "eve@example.org", account.Pro)
		all, some, paused, other, suspended := endpoint(t, s, a.ID), endpoint(t, s, a.ID, catalog.CatalogUpdated, catalog.PricingUpdated),
			endpoint(t, s, a.ID), endpoint(t, s, b.ID, catalog.ToolRemoved), endpoint(t, s, poor.ID)
		changeState(t, s, paused.ID, webhook.Paused)
		if err := s.Accounts.SetPlan(t.Context(), poor.Email, account.Developer, monday); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Catalogue.Publish(t.Context(), small(tool("a", "1 €/mois")), catalogdb.PublishOptions{Now: at(monday), DryRun: true}); err != nil {
			t.Fatal(err)
		}
		if got := testkit.Dump(t, s.SQL.Reads(), "deliveries"); got != "" {
			t.Errorf("a dry run made deliveries:\n%s", got)
		}
		publish(t, s, small(tool("a", "1 €/mois"), tool("b", "1 €/mois")), monday)
		publish(t, s, small(tool("a", "2 €/mois"), tool("b", "1 €/mois")), day(1))
		// created a, created b, catalog; updated a, pricing a, catalog
		for _, test := range []struct {
			w    webhook.Endpoint
			want []int64
		}{{all, []int64{6, 5, 4, 3, 2, 1}}, {some, []int64{6, 5, 3}}, {paused, nil}, {other, nil}, {suspended, nil}} {
			got := deliveries(t, s, test.w.ID, DeliveryFilter{})
			if !slices.Equal(sequences(got), test.want) {
				t.Errorf("an endpoint that takes %v was given %v; want %v", test.w.Events, sequences(got), test.want)
			}
			for _, d := range got {
				e := events(t, s)[d.Sequence-1]
				if d.EventID != e.ID || d.Type != e.Type || d.Origin != webhook.OfEvent || d.State != webhook.Pending ||
					!d.CreatedAt.Equal(e.CreatedAt) || !d.NextAt.Equal(e.CreatedAt) || d.Count != 0 || d.Last != nil ||
					len(d.ID) != 30 || !strings.HasPrefix(d.ID, account.DeliveryID) || d.ID[4:14] != e.ID[4:14] {
					t.Errorf("delivery %+v of event %+v", d, e)
				}
				if d, err := s.Deliveries.Find(t.Context(), account.AnyOwner(), d.ID); err != nil || d.Body != string(e.Body) {
					t.Errorf("its body is %s, %v; want %s", d.Body, err, e.Body)
				}
			}
		}
	})
}

// finishEight finishes eight deliveries, half of them as failed, and returns the states of
// those to an endpoint by sequence.
func finishEight(t *testing.T, s *kit, endpointID string) map[int64]webhook.DeliveryState {
	t.Helper()
	var claims []webhook.Claim
	for len(claims) < 8 {
		claims = append(claims, claim(t, s, day(1), 8)...)
	}
	failed := failure(day(1), 0)
	failed.State = webhook.Failed
	states := map[int64]webhook.DeliveryState{}
	for i, c := range claims {
		v := success(day(1))
		if i%2 > 0 {
			v = failed
		}
		finish(t, s, c, v)
		if c.EndpointID == endpointID {
			d, err := s.Deliveries.Find(t.Context(), account.AnyOwner(), c.DeliveryID)
			if err != nil {
				t.Fatal(err)
			}
			states[d.Sequence] = v.State
		}
	}
	return states
}

// checkListed checks what a list has of a delivery that finishEight left.
func checkListed(t *testing.T, d webhook.Delivery) {
	t.Helper()
	switch {
	case d.State == webhook.Pending && d.Last == nil && d.Count == 0:
	case d.State == webhook.Delivered && d.Last.Status == 204 && d.NextAt.IsZero():
	case d.State == webhook.Failed && d.Last.Response == "non" && d.NextAt.IsZero():
	default:
		t.Errorf("in the list: %+v", d)
	}
}

func TestDeliveriesArePagedNewestFirstAndFiltered(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w, other := endpoint(t, s, a.ID), endpoint(t, s, a.ID)
		tools(t, s, 6, "1 €/mois", monday)
		tools(t, s, 6, "2 €/mois", day(1)) // 7 events, then 13
		states := finishEight(t, s, w.ID)
		all := events(t, s)
		for _, f := range []DeliveryFilter{
			{},
			{State: webhook.Pending},
			{State: webhook.Delivered},
			{State: webhook.Failed},
			{Type: catalog.PricingUpdated},
			{Type: catalog.ToolCreated, State: webhook.Failed},
			{Type: catalog.ToolRemoved},
		} {
			var want []int64
			for _, e := range slices.Backward(all) {
				state := webhook.Pending
				if states[e.Sequence] != "" {
					state = states[e.Sequence]
				}
				if (f.State == "" || f.State == state) && (f.Type == "" || f.Type == e.Type) {
					want = append(want, e.Sequence)
				}
			}
			var got []webhook.Delivery
			for f.Limit = 3; ; f.Before = got[len(got)-1].ID {
				page := deliveries(t, s, w.ID, f)
				if got = append(got, page...); len(page) < 3 {
					break
				}
			}
			if !slices.Equal(sequences(got), want) {
				t.Errorf("%+v lists %v; want %v", f, sequences(got), want)
			}
			for _, d := range got {
				checkListed(t, d)
			}
		}
		foreign := deliveries(t, s, other.ID, DeliveryFilter{Limit: 1})[0].ID
		for _, before := range []string{foreign, "dlv_nothing"} {
			_, err := s.Deliveries.List(t.Context(), account.AnyOwner(), w.ID, DeliveryFilter{Before: before})
			testkit.Fails(t, err, sqldb.ErrInvalid, before, "newest")
		}
	})
}

func TestAResentDeliveryHasTheSameIDAndBytes(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID, catalog.CatalogUpdated)
		publish(t, s, small(tool("a", "1 €/mois")), monday)
		if _, err := s.Deliveries.Ping(ctx, a.Owner(), w.ID, monday); err != nil {
			t.Fatal(err)
		}
		claims := claim(t, s, monday, 2)
		for _, c := range claims {
			finish(t, s, c, success(monday))
		}
		for _, c := range claims {
			d, err := s.Deliveries.Resend(ctx, a.Owner(), c.DeliveryID, day(1))
			if err != nil {
				t.Fatal(err)
			}
			again := claim(t, s, day(1), 2)
			if len(again) != 1 || again[0].DeliveryID != d.ID || d.ID == c.DeliveryID || d.Origin != webhook.OfResend || again[0].Attempt != 1 ||
				again[0].EventID != c.EventID || again[0].Type != c.Type || !bytes.Equal(again[0].Body, c.Body) || len(c.Body) == 0 {
				t.Errorf("%+v was resent as %+v", c, again)
			}
			finish(t, s, again[0], success(day(1)))
		}
		_, err := s.Deliveries.Resend(ctx, a.Owner(), "dlv_nothing", monday)
		testkit.Fails(t, err, ErrNoDelivery, "dlv_nothing")
	})
}

func TestAPingThatIsResentIsAPingAndAnEndpointThatIsNotActiveGetsNone(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		publish(t, s, small(tool("a", "1 €/mois")), monday)
		event := deliveries(t, s, w.ID, DeliveryFilter{})[0]
		ping, err := s.Deliveries.Ping(ctx, a.Owner(), w.ID, monday)
		for range webhook.PingsAMinute - 1 {
			if err == nil {
				_, err = s.Deliveries.Resend(ctx, a.Owner(), ping.ID, monday)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Deliveries.Resend(ctx, a.Owner(), ping.ID, monday)
		testkit.Fails(t, err, sqldb.ErrTooMany, w.ID, "5 pings")
		_, err = s.Deliveries.Ping(ctx, a.Owner(), w.ID, monday)
		testkit.Fails(t, err, sqldb.ErrTooMany, w.ID, "5 pings")
		if _, err = s.Deliveries.Resend(ctx, a.Owner(), event.ID, monday); err != nil {
			t.Errorf("an event that is sent again is no ping: %v", err)
		}

		for state, stop := range map[string]func(){
			"paused": func() { changeState(t, s, w.ID, webhook.Paused) },
			"suspended": func() {
				changeState(t, s, w.ID, webhook.Active)
				err = s.Accounts.SetPlan(ctx, a.Email, account.Developer, monday)
			},
		} {
			stop()
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Deliveries.Ping(ctx, a.Owner(), w.ID, day(1))
			testkit.Fails(t, err, ErrInactive, w.ID, state, "make it active first")
			_, err = s.Deliveries.Resend(ctx, a.Owner(), ping.ID, day(1))
			testkit.Fails(t, err, ErrInactive, w.ID, state)
			if _, err = s.Deliveries.Resend(ctx, a.Owner(), event.ID, day(1)); state == "suspended" {
				testkit.Fails(t, err, ErrPlan, w.ID)
			} else if err != nil {
				t.Errorf("%s: %v", state, err)
			}
			if err = s.Accounts.SetPlan(ctx, a.Email, account.Pro, monday); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestFivePingsAMinuteUnderConcurrency(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		a := create(t, nodes[0], "ada@example.org", account.Pro)
		w := endpoint(t, nodes[0], a.ID, catalog.ToolRemoved)
		publish(t, nodes[0], small(tool("a", "1 €/mois")), monday)
		pings := func(at time.Time) int64 {
			var made atomic.Int64
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					_, err := nodes[i%2].Deliveries.Ping(t.Context(), a.Owner(), w.ID, at)
					if err == nil {
						made.Add(1)
					} else if !errors.Is(err, sqldb.ErrTooMany) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			return made.Load()
		}
		for _, step := range []struct {
			at   time.Duration
			want int64
		}{{0, 5}, {time.Minute - time.Millisecond, 0}, {time.Minute, 5}} {
			if got := pings(monday.Add(step.at)); got != step.want {
				t.Errorf("%d pings after %s; want %d", got, step.at, step.want)
			}
		}
		_, err := nodes[0].Deliveries.Ping(t.Context(), a.Owner(), w.ID, monday.Add(time.Minute))
		testkit.Fails(t, err, sqldb.ErrTooMany, w.ID, "5 pings", "wait a minute")

		c := claim(t, nodes[0], monday, 1)[0]
		var body struct {
			ID, Type, Timestamp string
			Sequence            int64
			Data                struct{ URL string }
		}
		if err := json.Unmarshal(c.Body, &body); err != nil || body.ID != c.EventID || body.Type != webhook.Ping || c.Type != webhook.Ping ||
			body.Timestamp != "2026-11-16T09:30:00.250Z" || body.Sequence != 0 || body.Data.URL != "https://palmares.example" {
			t.Errorf("a ping says %s, %v", c.Body, err)
		}
	})
}

func TestAnEndpointIsDeletedWhileACatalogueIsPublished(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		a := create(t, nodes[0], "ada@example.org", account.Pro)
		for range 8 {
			endpoint(t, nodes[0], a.ID)
		}
		b := create(t, nodes[0], "bob@example.org", account.Pro)
		for range 8 {
			endpoint(t, nodes[0], b.ID)
		}
		list, err := nodes[0].Endpoints.List(t.Context(), a.Owner())
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		all.Go(func() {
			for i := range 10 {
				price := strings.Repeat("1", i+1) + " €/mois"
				if _, err := nodes[0].Catalogue.Publish(t.Context(), small(tool("a", price)), catalogdb.PublishOptions{Now: at(monday)}); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for _, w := range list {
				if err := nodes[1].Endpoints.Delete(t.Context(), a.Owner(), w.ID); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			if err := nodes[1].Accounts.Delete(t.Context(), b.Email); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			for range 20 {
				claims, err := nodes[1].Deliveries.Claim(t.Context(), monday, webhook.Lease, 20)
				if err != nil {
					t.Error(err)
				}
				for _, c := range claims {
					if err := nodes[1].Deliveries.Finish(t.Context(), c, success(monday)); err != nil {
						t.Error(err)
					}
				}
			}
		})
		all.Wait()
		sweep(t, nodes[0])
		if left := dumpWebhooks(t, nodes[0]); left != "" {
			t.Errorf("left:\n%s", left)
		}
		if n := len(events(t, nodes[0])); n != 2+9*3 {
			t.Errorf("%d events", n)
		}
	})
}
