package accountdb

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

func recoverSince(t testing.TB, s *kit, endpointID string, since, now time.Time) webhook.Recovery {
	t.Helper()
	r, err := s.Deliveries.Recover(t.Context(), account.AnyOwner(), endpointID, since, now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func runRecovery(t testing.TB, s *kit, now time.Time, limit int) bool {
	t.Helper()
	more, err := s.Deliveries.RunRecovery(t.Context(), now, limit)
	if err != nil {
		t.Fatal(err)
	}
	return more
}

// recovered returns the sequences of the deliveries that a recovery created at a time.
func recovered(t *testing.T, s *kit, endpointID string, at time.Time) []int64 {
	t.Helper()
	var got []int64
	for _, d := range deliveries(t, s, endpointID, DeliveryFilter{}) {
		if d.Origin == webhook.OfRecovery {
			if got = append(got, d.Sequence); d.State != webhook.Pending || !d.NextAt.Equal(at) || d.EventID != events(t, s)[d.Sequence-1].ID {
				t.Errorf("recovered: %+v", d)
			}
		}
	}
	slices.Sort(got)
	return got
}

func TestARecoverySendsWhatWasMissedAndNothingElse(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID, catalog.ToolUpdated, catalog.ToolCreated, catalog.CatalogUpdated)
		changeState(t, s, w.ID, webhook.Paused)
		tools(t, s, 3, "0 €/mois", day(-2)) // 1 to 4: before the recovery begins
		changeState(t, s, w.ID, webhook.Active)
		tools(t, s, 3, "1 €/mois", monday) // 5 to 11: three times tool and price, the catalogue
		claims := claim(t, s, monday, 9)   // 5: delivered; 7: failed; 9 and 11 pending
		finish(t, s, claims[0], success(monday))
		failed := failure(monday, 0)
		failed.State = webhook.Failed
		finish(t, s, claims[1], failed)
		changeState(t, s, w.ID, webhook.Paused)
		tools(t, s, 3, "2 €/mois", day(1)) // 12 to 18: missed
		changeState(t, s, w.ID, webhook.Active)

		r := recoverSince(t, s, w.ID, monday, day(2))
		changeState(t, s, w.ID, webhook.Paused)
		tools(t, s, 3, "3 €/mois", day(3)) // 19 to 25: after it was requested
		want := webhook.Recovery{ID: r.ID, EndpointID: w.ID, Since: monday, CreatedAt: day(2)}
		for step := 0; runRecovery(t, s, day(3), 4); step++ {
			if err := s.Close(); err != nil { // the next process continues
				t.Fatal(err)
			}
			s = open(t, dsn)
			list, err := s.Deliveries.Recoveries(t.Context(), a.Owner(), w.ID)
			if err != nil || len(list) != 1 {
				t.Fatalf("%+v, %v", list, err)
			}
			// In steps of four from 5: 7 of 5–8; 12 of 9–12; 14 and 16 of 13–16; 18 of 17, 18.
			want.Count = []int{1, 2, 4, 5}[step]
			if step == 3 {
				want.DoneAt = day(3)
			}
			if diff := cmp.Diff(want, list[0]); diff != "" {
				t.Errorf("after step %d (-want +got):\n%s", step, diff)
			}
		}
		got := recovered(t, s, w.ID, day(3))
		if want := []int64{7, 12, 14, 16, 18}; !slices.Equal(got, want) {
			t.Errorf("recovered %v; want %v", got, want)
		}
		// Requested again, the rest is sent; once more, and everything is pending.
		for i, want := range []int{4, 0} {
			recoverSince(t, s, w.ID, monday, day(4+i))
			for runRecovery(t, s, day(4+i), 100) {
			}
			if list, err := s.Deliveries.Recoveries(t.Context(), a.Owner(), w.ID); err != nil || list[0].Count != want || !list[0].DoneAt.Equal(day(4+i)) {
				t.Errorf("recovered again: %+v, %v; want %d", list, err, want)
			}
		}
	})
}

func TestRecoveriesOnManyNodesSendEachEventOnce(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn), open(t, dsn)}
		a := create(t, nodes[0], "ada@example.org", account.Pro)
		tools(t, nodes[0], 60, "1 €/mois", monday)
		var endpoints []string
		for range 2 {
			w := endpoint(t, nodes[0], a.ID)
			endpoints = append(endpoints, w.ID)
		}
		// Of concurrent requests one is accepted.
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				_, err := nodes[i%3].Deliveries.Recover(t.Context(), a.Owner(), endpoints[i%2], monday, day(1))
				if err != nil && !errors.Is(err, sqldb.ErrTooMany) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		_, err := nodes[0].Deliveries.Recover(t.Context(), a.Owner(), endpoints[0], monday, day(1))
		testkit.Fails(t, err, sqldb.ErrTooMany, endpoints[0], "wait until it is done")
		for i := range 9 {
			all.Go(func() {
				for range 100 {
					// A dispatcher tries again when the database is busy.
					if _, err := nodes[i%3].Deliveries.RunRecovery(t.Context(), day(1), 10); err != nil && !errors.Is(err, sqldb.ErrBusy) {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		for _, id := range endpoints {
			got := sequences(deliveries(t, nodes[0], id, DeliveryFilter{Limit: 1000}))
			slices.Sort(got)
			if len(got) != 61 || len(slices.Compact(got)) != 61 {
				t.Errorf("%d deliveries of 61 events", len(got))
			}
			list, err := nodes[0].Deliveries.Recoveries(t.Context(), a.Owner(), id)
			if err != nil || len(list) != 1 || list[0].Count != 61 {
				t.Errorf("%+v, %v", list, err)
			}
			for _, r := range list {
				if r.DoneAt.IsZero() {
					t.Errorf("not done: %+v", r)
				}
			}
		}
	})
}

func TestARecoveryReachesBackThirtyDays(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		for _, since := range []time.Time{day(-31).Add(-time.Millisecond), monday.Add(time.Millisecond)} {
			_, err := s.Deliveries.Recover(t.Context(), a.Owner(), w.ID, since, monday)
			testkit.Fails(t, err, sqldb.ErrInvalid, "30 days", sqldb.FormatTime(since))
		}
		recoverSince(t, s, w.ID, day(-30), monday) // nothing was ever published
		if !runRecovery(t, s, monday, 10) || runRecovery(t, s, monday, 10) {
			t.Error("an empty recovery takes one step")
		}
		// The first of the thirty days begins before the oldest event that is kept.
		midnight := day(-30).Truncate(24 * time.Hour)
		if r := recoverSince(t, s, w.ID, midnight, monday); !midnight.Before(day(-30)) || !r.Since.Equal(day(-30)) {
			t.Errorf("since %s became %s", midnight, r.Since)
		}
	})
}
