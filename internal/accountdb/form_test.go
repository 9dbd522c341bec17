package accountdb

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

func TestAFormSubmittedManyTimesAtOnceTakesEffectOnce(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		a := create(t, nodes[0], "ada@example.org", account.Pro)
		w := endpoint(t, nodes[0], a.ID)
		for what, send := range map[string]func(*kit) error{
			"a key": func(s *kit) error {
				_, _, err := s.Keys.Create(t.Context(), a.Email, "a", new(""), day(1))
				return err
			},
			"an endpoint": func(s *kit) error {
				_, err := s.Endpoints.Create(t.Context(), a.ID, "https://hooks.example/", nil, sealedAs("x"), new(w.ID), day(1))
				return err
			},
			"a secret": func(s *kit) error {
				_, err := s.Endpoints.RotateSecret(t.Context(), a.Owner(), w.ID, "x", new(time.Time{}), day(1))
				return err
			},
		} {
			var made atomic.Int64
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					err := send(nodes[i%2])
					if err == nil {
						made.Add(1)
					} else if !errors.Is(err, sqldb.ErrChanged) {
						t.Errorf("%s: %v", what, err)
					}
				})
			}
			all.Wait()
			if made.Load() != 1 {
				t.Errorf("%s is made %d times", what, made.Load())
			}
		}
		keys, err := nodes[1].Keys.List(t.Context(), a.Email)
		if err != nil || len(keys) != 1 {
			t.Fatal(keys, err)
		}
		if _, _, err := nodes[1].Keys.Create(t.Context(), a.Email, "b", new(keys[0].ID), day(2)); err != nil {
			t.Errorf("whoever has seen the newest key: %v", err)
		}
	})
}

func TestDeliveriesAreExportedInPartsOldestFirst(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a, eve := create(t, s, "ada@example.org", account.Pro), create(t, s, "eve@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		tools(t, s, 2*exportStep, "1 €/mois", monday) // and one event about the whole
		for _, c := range claim(t, s, monday, 3) {
			finish(t, s, c, failure(monday, 0))
		}
		for _, c := range claim(t, s, day(1), 3) {
			finish(t, s, c, success(day(1)))
		}
		want := deliveries(t, s, w.ID, DeliveryFilter{Limit: 3 * exportStep})
		slices.Reverse(want)
		var got []webhook.Delivery
		add := func(d webhook.Delivery) error {
			got = append(got, d)
			return nil
		}
		if err := s.Deliveries.Each(t.Context(), a.Owner(), w.ID, add); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, func(a, b webhook.Delivery) bool {
			return a.ID == b.ID && a.State == b.State && len(a.Attempts) == a.Count
		}) || len(got) <= 2*exportStep {
			t.Errorf("%d deliveries, %+v instead of %+v", len(got), got, want)
		}
		testkit.Fails(t, s.Deliveries.Each(t.Context(), eve.Owner(), w.ID, add), sqldb.ErrNotFound, w.ID)
	})
}
