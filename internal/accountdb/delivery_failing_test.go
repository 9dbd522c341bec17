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
