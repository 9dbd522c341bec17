package accountdb

import (
	"sync"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/mail"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

// failTimes makes n attempts to deliver to the only endpoint, all of which fail, and
// returns when the last one ended.
func failTimes(t *testing.T, s *kit, endpointID string, n int, at time.Time) time.Time {
	t.Helper()
	for range n {
		waiting(t, s, endpointID, at)
		at = at.Add(webhook.ProbeEvery + time.Second)
		claims := claim(t, s, at, 1)
		if len(claims) != 1 {
			t.Fatalf("%d are due", len(claims))
		}
		finish(t, s, claims[0], failure(at, 100*time.Hour))
	}
	return at
}

// mailsAbout sends the mails that are due, and returns how many of them said that an
// endpoint fails.
func mailsAbout(t *testing.T, s *kit, endpointID string, at time.Time) int {
	t.Helper()
	n := 0
	for _, c := range claimMails(t, s, at.Add(time.Second), 10) {
		if c.Kind != mail.EndpointFailing || c.About != endpointID || c.To != "ada@example.org" {
			t.Errorf("a mail: %+v", c)
		}
		finishMail(t, s, c, mail.Verdict{})
		n++
	}
	return n
}

func TestTheOwnerIsMailedOnceAfterTenFailuresInARow(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		at := failTimes(t, s, w.ID, webhook.BreakAfter-1, monday)
		if n := mailsAbout(t, s, w.ID, at); n != 0 {
			t.Errorf("%d mails after nine failures", n)
		}
		at = failTimes(t, s, w.ID, 1, at)
		if n := mailsAbout(t, s, w.ID, at); n != 1 {
			t.Errorf("%d mails after the tenth", n)
		}
		got := endpointNow(t, s, w.ID)
		if !got.Failing() || got.LastError() != "réponse 500" || !got.LastFailure.At.Equal(at.Add(30*time.Millisecond)) {
			t.Errorf("it is %+v", got)
		}
		at = failTimes(t, s, w.ID, 15, at)
		if n := mailsAbout(t, s, w.ID, at); n != 0 {
			t.Errorf("%d mails about failures that were told already", n)
		}
		// A success re-arms it, and so does its owner.
		finish(t, s, claim(t, s, at.Add(200*time.Hour), 1)[0], success(at))
		if got := endpointNow(t, s, w.ID); got.Failing() || got.LastError() != "" {
			t.Errorf("after a success it is %+v", got)
		}
		at = failTimes(t, s, w.ID, webhook.BreakAfter, at.Add(300*time.Hour))
		if n := mailsAbout(t, s, w.ID, at); n != 1 {
			t.Errorf("%d mails after ten more failures", n)
		}
		elsewhere := "https://other.example/in"
		if _, err := s.Endpoints.Change(t.Context(), a.Owner(), w.ID, webhook.Change{URL: &elsewhere}, at); err != nil {
			t.Fatal(err)
		}
		at = failTimes(t, s, w.ID, webhook.BreakAfter, at.Add(time.Second))
		if n := mailsAbout(t, s, w.ID, at); n != 1 {
			t.Errorf("%d mails after ten failures at another URL", n)
		}
	})
}

// The receiver is away for two seconds while eleven events are due, and then for an hour.
func TestEveryDeliveryHasItsFirstTwoAttemptsInTime(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		w := endpoint(t, s, create(t, s, "ada@example.org", account.Pro).ID)
		try := func(at time.Time, status int, outcome webhook.Outcome) (tried int) {
			t.Helper()
			for claims := claim(t, s, at, 20); len(claims) > 0; claims = claim(t, s, at, 20) {
				for _, c := range claims {
					tried++
					result := webhook.Result{At: at, Duration: 5 * time.Millisecond, Status: status, Outcome: outcome}
					finish(t, s, c, webhook.Judge(c.Attempt, result, webhook.DefaultSchedule(), 0))
				}
			}
			return tried
		}
		soon := 5*time.Second + 5*time.Millisecond
		tools(t, s, 10, "1 €/mois", monday)
		if n := try(monday, 0, webhook.Connect); n != 11 || endpointNow(t, s, w.ID).Broken() {
			t.Errorf("a burst of %d failures: %+v", n, endpointNow(t, s, w.ID))
		}
		if n := try(monday.Add(soon), 200, webhook.OK); n != 11 {
			t.Errorf("after 5 s %d are sent", n)
		}
		at := monday.Add(time.Hour)
		tools(t, s, 10, "2 €/mois", at)
		for _, after := range []time.Duration{0, soon, soon + 6*time.Minute} {
			try(at.Add(after), 503, webhook.HTTPStatus)
		}
		if !endpointNow(t, s, w.ID).Broken() {
			t.Fatal("after an outage of six minutes, the breaker is closed")
		}
		at = at.Add(soon + 7*time.Minute)
		tools(t, s, 10, "3 €/mois", at)
		if first, second := try(at, 503, webhook.HTTPStatus), try(at.Add(soon), 503, webhook.HTTPStatus); first == 0 || first != second {
			t.Errorf("while the breaker is open, %d new deliveries are tried at once, and %d after 5 s", first, second)
		}
	})
}

func TestNodesThatFailTogetherMailTheOwnerOnce(t *testing.T) {
	testkit.Each(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		a := create(t, nodes[0], "ada@example.org", account.Pro)
		w := endpoint(t, nodes[0], a.ID)
		at := failTimes(t, nodes[0], w.ID, webhook.BreakAfter-2, monday)
		for range webhook.MaxInFlight {
			waiting(t, nodes[0], w.ID, at)
		}
		claims := claim(t, nodes[0], at, webhook.MaxInFlight)
		if len(claims) != webhook.MaxInFlight {
			t.Fatalf("%d claimed", len(claims))
		}
		var together sync.WaitGroup
		mails := make(chan int, len(claims))
		for i, c := range claims {
			together.Go(func() {
				s := nodes[i%len(nodes)]
				if err := s.Deliveries.Finish(t.Context(), c, failure(at, time.Hour)); err != nil {
					t.Error(err)
				}
				mails <- mailsAbout(t, s, w.ID, at.Add(time.Minute)) // it is sent before the others fail, or after
			})
		}
		together.Wait()
		close(mails)
		sum := 0
		for n := range mails {
			sum += n
		}
		if got := endpointNow(t, nodes[1], w.ID); sum != 1 || got.Failures != webhook.BreakAfter+2 {
			t.Errorf("%d mails about %d failures", sum, got.Failures)
		}
	})
}
