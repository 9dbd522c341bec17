package webhook_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/catalogdb"
	"palmares/internal/synthetic"
	"palmares/internal/testkit/testdb"
	"palmares/internal/webhook"
)

// A fixture is a dispatcher on a real store with one endpoint, in a synctest bubble.
type fixture struct {
	*testdb.DB
	dispatcher *webhook.Dispatcher
	receiver   *receiver
	endpoint   webhook.Endpoint
}

// poll is how often a dispatcher that lives through days looks for what is due,
// since the store takes real time; waking it finds what is due at once.
const poll = 20 * time.Minute

// live runs test in a bubble, on an empty store.
func live(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s, err := testdb.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		owner, err := s.Accounts.Create(ctx, "owner@example.com", account.Pro, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		endpoint, err := s.Endpoints.Create(ctx, owner.ID, "http://127.0.0.1/in", nil, func(id string) string { return sealer.Seal(id, testSecret) },
			nil, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		d := dispatcher(t, webhook.Config{Queue: s.Deliveries, Allow: loopback})
		d.Poll(poll)
		r, hangUp := receive(t, d, answering(http.StatusNoContent))
		t.Cleanup(hangUp)
		t.Cleanup(run(t, d))
		test(t, &fixture{DB: s, dispatcher: d, receiver: r, endpoint: endpoint})
	})
}

// ping makes a delivery that is due at once.
func (f *fixture) ping(t *testing.T) string {
	t.Helper()
	d, err := f.Deliveries.Ping(t.Context(), account.AnyOwner(), f.endpoint.ID, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	f.dispatcher.Wake()
	return d.ID
}

// look returns the endpoint and one of its deliveries as they are now.
func (f *fixture) look(t *testing.T, id string) (webhook.Endpoint, webhook.Delivery) {
	t.Helper()
	w, err := f.Endpoints.Find(t.Context(), account.AnyOwner(), f.endpoint.ID)
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := f.Deliveries.Find(t.Context(), account.AnyOwner(), id)
	if err != nil {
		t.Fatal(err)
	}
	return w, d
}

func TestTheStoreKeepsToTheSchedule(t *testing.T) {
	live(t, func(t *testing.T, f *fixture) {
		f.receiver.now(answering(http.StatusBadGateway))
		id := f.ping(t)
		time.Sleep(4 * 24 * time.Hour)
		_, d := f.look(t, id)
		if d.State != webhook.Failed || len(d.Attempts) != 10 || len(f.receiver.seen()) != 10 {
			t.Fatalf("%s after %d attempts and %d requests", d.State, len(d.Attempts), len(f.receiver.seen()))
		}
		for i, delay := range webhook.DefaultSchedule()[1:] {
			before, after := f.receiver.seen()[i].at, f.receiver.seen()[i+1].at
			if got := after.Sub(before); got < delay || got > delay+delay/10+poll {
				t.Errorf("attempt %d came %s after the one before, not %s", i+2, got, delay)
			}
		}
	})
}

func TestAfterTenFailuresInARowOnlyTheOldestDueIsTriedUntilOneSucceeds(t *testing.T) {
	live(t, func(t *testing.T, f *fixture) {
		slow := func(status int) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(3 * time.Second)
				w.WriteHeader(status)
			}
		}
		f.receiver.now(slow(http.StatusInternalServerError))
		if _, err := f.Catalogue.Publish(t.Context(), synthetic.Catalog(20, 1), catalogdb.PublishOptions{Now: time.Now}); err != nil {
			t.Fatal(err)
		}
		f.dispatcher.Wake()
		time.Sleep(time.Minute)
		if most := f.receiver.atOnce("/in"); most != webhook.MaxInFlight {
			t.Errorf("before: %d requests at once", most)
		}
		w, err := f.Endpoints.Find(t.Context(), account.AnyOwner(), f.endpoint.ID)
		if err != nil || w.Failures < webhook.BreakAfter {
			t.Fatalf("only %d failures, %v", w.Failures, err)
		}
		f.receiver.now(slow(http.StatusInternalServerError))
		time.Sleep(time.Hour)
		if most := f.receiver.atOnce("/in"); most != 1 {
			t.Errorf("with the breaker open: %d requests at once", most)
		}
		f.receiver.now(slow(http.StatusOK))
		time.Sleep(poll + time.Minute) // what waits for its own next attempt, in hours, is sent too
		if most := f.receiver.atOnce("/in"); most == 1 {
			t.Error("after a success there is still one request at a time")
		}
		all, err := f.Deliveries.List(t.Context(), account.AnyOwner(), f.endpoint.ID, accountdb.DeliveryFilter{State: webhook.Pending, Limit: 100})
		if err != nil || len(all) != 0 {
			t.Errorf("%d deliveries are left, %v", len(all), err)
		}
	})
}

func TestAFailingReceiverIsLookedAtEveryFiveMinutesWithOneRequest(t *testing.T) {
	live(t, func(t *testing.T, f *fixture) {
		pass := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); {
				time.Sleep(30 * time.Second)
				f.dispatcher.Wake()
			}
		}
		f.receiver.now(answering(http.StatusInternalServerError))
		if _, err := f.Catalogue.Publish(t.Context(), synthetic.Catalog(20, 1), catalogdb.PublishOptions{Now: time.Now}); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute) // until the breaker is open, while nearly all of them wait for their first attempt
		before := len(f.receiver.seen())
		pass(time.Hour)
		requests := f.receiver.seen()[before:]
		if len(requests) < 10 || len(requests) > 12 {
			t.Errorf("%d requests in an hour", len(requests))
		}
		for i := 1; i < len(requests); i++ {
			if gap := requests[i].at.Sub(requests[i-1].at); gap < webhook.ProbeEvery {
				t.Errorf("request %d came %s after the one before", i+1, gap)
			}
		}
		f.receiver.now(answering(http.StatusNoContent))
		pass(webhook.ProbeEvery + time.Minute)
		w, err := f.Endpoints.Find(t.Context(), account.AnyOwner(), f.endpoint.ID)
		if err != nil || w.Failures != 0 || w.LastSuccessAt.IsZero() {
			t.Errorf("it was not noticed that the receiver is back: %+v, %v", w, err)
		}
		left, err := f.Deliveries.List(t.Context(), account.AnyOwner(), f.endpoint.ID, accountdb.DeliveryFilter{State: webhook.Pending, Limit: 1})
		if err != nil || len(left) > 0 {
			t.Errorf("a minute later this is left: %+v, %v", left, err)
		}
	})
}
