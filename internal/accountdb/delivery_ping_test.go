package accountdb

import (
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/webhook"
)

// pinged sends a ping and returns the delivery.
func pinged(t *testing.T, s *kit, endpointID string, at time.Time) webhook.Delivery {
	t.Helper()
	d, err := s.Deliveries.Ping(t.Context(), account.AnyOwner(), endpointID, at)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAPingIsSentAtOnceWhateverTheEndpointWaitsFor(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		tools(t, s, 30, "1 €/mois", monday)
		only := func(what string, at time.Time, want webhook.Delivery) webhook.Claim {
			t.Helper()
			got := claim(t, s, at, 20)
			if len(got) != 1 || got[0].DeliveryID != want.ID {
				t.Fatalf("%s: %+v; want the ping alone", what, got)
			}
			return got[0]
		}
		// While as many requests as allowed are in flight, even if they all hang.
		inFlight := claim(t, s, monday, 20)
		if len(inFlight) != webhook.MaxInFlight {
			t.Fatalf("%d in flight", len(inFlight))
		}
		ping := only("in flight", monday, pinged(t, s, w.ID, monday))
		finish(t, s, inFlight[0], failure(monday, time.Hour))
		if more := claim(t, s, monday, 20); len(more) > 0 {
			t.Fatalf("%d more than allowed, with the ping", len(more))
		}
		finish(t, s, ping, failure(monday, 5*time.Second))

		// While the receiver wants to be left alone.
		v := failure(monday, time.Hour)
		v.HoldUntil = monday.Add(2 * time.Hour)
		for _, c := range inFlight[1:] {
			finish(t, s, c, v)
		}
		at := monday.Add(2 * time.Minute)
		if early := claim(t, s, at, 20); len(early) > 0 {
			t.Fatalf("claimed during Retry-After, the failed ping too: %+v", early)
		}
		only("Retry-After", at, pinged(t, s, w.ID, at)) // and its lease ends without an outcome

		// While the breaker is open.
		at = v.HoldUntil
		for claims := claim(t, s, at, 20); len(claims) > 0; claims = claim(t, s, at, 20) {
			for _, c := range claims {
				finish(t, s, c, failure(at, 0))
			}
		}
		at = at.Add(time.Second)
		if early := claim(t, s, at, 20); len(early) > 0 {
			t.Fatalf("claimed while the breaker is open: %+v", early)
		}
		last := pinged(t, s, w.ID, at)
		finish(t, s, only("an open breaker", at, last), failure(at, 5*time.Second))
		at = at.Add(5 * time.Second)
		finish(t, s, only("its second attempt", at, last), failure(at, 0))
		// Five minutes from then on, nothing is tried again, not even that ping.
		if early := claim(t, s, at.Add(webhook.ProbeEvery), 20); len(early) > 0 {
			t.Errorf("claimed less than five minutes after a failure: %+v", early)
		}
		// One that succeeds ends the wait.
		at = at.Add(time.Second)
		finish(t, s, only("the second", at, pinged(t, s, w.ID, at)), success(at))
		if got := claim(t, s, at.Add(time.Second), 20); len(got) != webhook.MaxInFlight {
			t.Errorf("the receiver is back, and %d are sent", len(got))
		}
	})
}

func TestPingsAreClaimedFirstWhenThereAreFewSlots(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		for range 3 {
			endpoint(t, s, a.ID)
		}
		last := endpoint(t, s, a.ID) // its turn is after the others
		tools(t, s, 30, "1 €/mois", monday)
		ping := pinged(t, s, last.ID, monday)
		if got := claim(t, s, monday, 1); len(got) != 1 || got[0].DeliveryID != ping.ID {
			t.Errorf("%+v; want the ping", got)
		}
	})
}

func TestAPingIsSentBeforeWhatIsDueLonger(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		tools(t, s, 30, "1 €/mois", monday)
		at := monday.Add(time.Minute)
		ping := pinged(t, s, w.ID, at)
		got := claim(t, s, at, 3)
		if len(got) != 3 || got[0].DeliveryID != ping.ID {
			t.Errorf("%+v; want the ping first", got)
		}
		// An old ping is like any other delivery.
		if err := s.Deliveries.Finish(t.Context(), got[0], failure(at, 0)); err != nil {
			t.Fatal(err)
		}
		late := pinged(t, s, w.ID, at)
		at = at.Add(urgentFor)
		if got := claim(t, s, at, 1); len(got) != 1 || got[0].DeliveryID == late.ID {
			t.Errorf("%+v; want what is due longest", got)
		}
	})
}
