package accountdb

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/catalogdb"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/vault"
	"palmares/internal/webhook"
)

func pruneDeliveriesBefore(t *testing.T, s *kit, before time.Time) {
	t.Helper()
	if err := s.Deliveries.Prune(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if err := s.Events.Prune(t.Context(), before, SentAgain); err != nil {
		t.Fatal(err)
	}
}

// checkSequenceContinues prunes everything after two publications, publishes, and checks
// that the sequence continues after last.
func checkSequenceContinues(t *testing.T, s *kit, endpointID string, last int64) {
	t.Helper()
	entries := loaded(t, s).Entries
	pruneDeliveriesBefore(t, s, day(40))
	if got := testkit.Dump(t, s.SQL.Reads(), "deliveries") + testkit.Dump(t, s.SQL.Reads(), "events"); got != "" {
		t.Errorf("left:\n%s", got)
	}
	if len(entries) == 0 || !reflect.DeepEqual(entries, loaded(t, s).Entries) {
		t.Errorf("of the chronicle %d entries are left", len(entries))
	}
	if log, err := s.Events.List(t.Context(), 0, "", 1); err != nil || log.Oldest != 0 || len(log.Events) > 0 || log.More || log.UpTo != last {
		t.Errorf("the log is %+v, %v", log, err)
	}
	if got := strings.Count(testkit.Dump(t, s.SQL.Reads(), "publications"), "\n"); got != 2 {
		t.Errorf("%d publications on record", got)
	}
	p := publish(t, s, small(tool("z", "1 €/mois"), tool("t00000", "2 €/mois"), tool("t00001", "2 €/mois")), day(41))
	if p.Sequence != last+2 {
		t.Errorf("the sequence goes on with %d; want %d", p.Sequence, last+2)
	}
	if got := sequences(deliveries(t, s, endpointID, DeliveryFilter{})); !slices.Equal(got, []int64{last + 2, last + 1}) {
		t.Errorf("delivered %v", got)
	}
}

func TestWhatIsOlderThanAMonthIsPrunedAndTheSequenceContinues(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		tools(t, s, pruneDeliveries+10, "1 €/mois", monday) // more than one batch
		n := int64(pruneDeliveries + 11)
		old := claim(t, s, monday, 2)
		finish(t, s, old[0], success(monday))
		finish(t, s, old[1], success(monday))
		recoverSince(t, s, w.ID, monday, monday)
		for runRecovery(t, s, monday, 1000) {
		}
		resent, err := s.Deliveries.Resend(ctx, a.Owner(), old[0].DeliveryID, day(20))
		if err != nil {
			t.Fatal(err)
		}
		// All but two tools are removed.
		if _, err := s.Catalogue.Publish(ctx, small(tool("t00000", "2 €/mois"), tool("t00001", "2 €/mois")), catalogdb.PublishOptions{Now: at(day(10)), AllowRemovals: true}); err != nil {
			t.Fatal(err)
		}
		last := slices.Max(sequences(deliveries(t, s, w.ID, DeliveryFilter{Limit: 10_000})))

		before := dumpWebhooks(t, s) + dump(t, s)
		pruneDeliveriesBefore(t, s, monday)
		if dumpWebhooks(t, s)+dump(t, s) != before {
			t.Error("what is a month old to the millisecond was touched")
		}
		pruneDeliveriesBefore(t, s, monday.Add(2*time.Hour))
		got := sequences(deliveries(t, s, w.ID, DeliveryFilter{Limit: 10_000}))
		if len(got) != int(last-n)+1 || got[0] != resent.Sequence || slices.Min(got[1:]) != n+1 {
			t.Errorf("%d deliveries are left; want those of the second publication and the one that was resent", len(got))
		}
		if left := testkit.Dump(t, s.SQL.Reads(), "attempts", "recoveries"); left != "" {
			t.Errorf("left of the first publication:\n%s", left)
		}
		kept, err := s.Events.List(ctx, 0, "", 10_000)
		if err != nil || len(kept.Events) != int(last-n) || kept.Events[0].Sequence != n+1 || kept.Oldest != n+1 {
			t.Errorf("the log has %d events from %d, %v", len(kept.Events), kept.Oldest, err)
		}
		for _, c := range claim(t, s, day(20), 4) {
			if c.DeliveryID == resent.ID && !bytes.Equal(c.Body, old[0].Body) {
				t.Errorf("it was sent again as %s", c.Body)
			}
		}

		checkSequenceContinues(t, s, w.ID, last)
	})
}

func TestAnOldSecretIsDeletedWhenItNoLongerSigns(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		if _, err := s.Endpoints.RotateSecret(ctx, a.Owner(), w.ID, "second", nil, monday); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			at   time.Time
			want []vault.Sealed
		}{
			{day(1).Add(-time.Millisecond), []vault.Sealed{{Owner: w.ID, Text: "second"}, {Owner: w.ID, Text: "first for " + w.ID}}},
			{day(1), []vault.Sealed{{Owner: w.ID, Text: "second"}}},
		} {
			if err := s.Deliveries.Prune(ctx, step.at.Add(-webhook.Keep)); err != nil {
				t.Fatal(err)
			}
			kept, err := s.Endpoints.Secrets().Sealed(ctx)
			if diff := cmp.Diff(step.want, kept); err != nil || diff != "" {
				t.Errorf("at %s (-want +got):\n%s%v", step.at, diff, err)
			}
			if got := endpointNow(t, s, w.ID); got.OldSecretUntil.IsZero() != (len(step.want) == 1) {
				t.Errorf("at %s: %+v", step.at, got)
			}
		}
		// A form rendered before the old secret was deleted is not out of date.
		if _, err := s.Endpoints.RotateSecret(ctx, a.Owner(), w.ID, "third", new(day(1)), day(2)); err != nil {
			t.Error(err)
		}
		_, err := s.Endpoints.RotateSecret(ctx, a.Owner(), w.ID, "fourth", new(time.Time{}), day(2))
		testkit.Fails(t, err, sqldb.ErrChanged, w.ID)
	})
}

func TestDeliveriesToAFailingReceiverAreNotInTheFigures(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		endpoint(t, s, a.ID)
		tools(t, s, 20, "1 €/mois", monday)
		oldest := func(at time.Time, want time.Duration) {
			t.Helper()
			if got, err := s.Deliveries.Figures(t.Context(), at); err != nil || got.OldestDue != want {
				t.Errorf("at %s: %s, %v; want %s", at, got.OldestDue, err, want)
			}
		}
		c := claim(t, s, monday, 4)
		v := failure(monday, 5*time.Second)
		v.HoldUntil = monday.Add(time.Hour)
		finish(t, s, c[0], v)
		oldest(monday.Add(time.Hour-time.Millisecond), 0)
		oldest(monday.Add(time.Hour), time.Hour)
		finish(t, s, c[1], success(monday))
		oldest(monday.Add(time.Minute), time.Minute)
		for i := range webhook.BreakAfter {
			at := monday.Add(time.Duration(60+4*i) * time.Second)
			finish(t, s, claim(t, s, at, 1)[0], failure(at, time.Hour))
		}
		oldest(day(1), 0)
		if f, err := s.Deliveries.Figures(t.Context(), day(1)); err != nil || f.Endpoints[webhook.FailingNow] != 1 || f.Endpoints[webhook.Active] != 0 {
			t.Errorf("it is counted as %v, %v", f.Endpoints, err)
		}
		finish(t, s, claim(t, s, day(1), 1)[0], success(day(1)))
		oldest(day(1), 24*time.Hour)
	})
}

func TestTheFiguresHaveTheLongestDueDelivery(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a, b := create(t, s, "ada@example.org", account.Pro), create(t, s, "bob@example.org", account.Pro)
		figures := func(at time.Time, want webhook.Figures) {
			t.Helper()
			got, err := s.Deliveries.Figures(t.Context(), at)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("(-want +got):\n%s%v", diff, err)
			}
		}
		figures(monday, webhook.Figures{Endpoints: map[webhook.State]int{}})
		w := endpoint(t, s, a.ID)
		endpoint(t, s, a.ID)
		paused, suspended := endpoint(t, s, a.ID), endpoint(t, s, b.ID)
		for i, id := range []string{paused.ID, suspended.ID, w.ID} {
			if _, err := s.Deliveries.Ping(t.Context(), account.AnyOwner(), id, monday.Add(time.Duration(i)*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		changeState(t, s, paused.ID, webhook.Paused)
		if err := s.Accounts.SetPlan(t.Context(), b.Email, account.Developer, monday); err != nil {
			t.Fatal(err)
		}
		states := map[webhook.State]int{webhook.Active: 2, webhook.Paused: 1, webhook.Suspended: 1}
		figures(monday.Add(time.Minute), webhook.Figures{Endpoints: states})
		figures(monday.Add(10*time.Minute), webhook.Figures{OldestDue: 8 * time.Minute, Endpoints: states})
	})
}
