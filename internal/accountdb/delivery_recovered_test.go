package accountdb

import (
	"slices"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/webhook"
)

func TestDeliveriesThatWaitForTheirNextAttemptFollowARecoveryInOrder(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		tools(t, s, 5, "1 €/mois", monday)
		for _, c := range claim(t, s, monday, 4) {
			finish(t, s, c, failure(monday, 24*time.Hour))
		}
		// The two that had not been tried are being sent, one of which succeeds.
		at := monday.Add(time.Hour)
		left := claim(t, s, at, 9)
		if len(left) != 2 {
			t.Fatalf("%d claimed", len(left))
		}
		tools(t, s, 6, "1 €/mois", at) // two newer events
		finish(t, s, left[0], success(at))
		again := claim(t, s, at.Add(time.Second), 9)
		var got, want []string
		for _, c := range again {
			got = append(got, c.EventID)
		}
		for _, e := range events(t, s)[:3] {
			want = append(want, e.ID)
		}
		if !slices.Equal(got, want) || again[0].Attempt != 2 {
			t.Errorf("sent after the recovery: %v; want the oldest, as many as there is room for: %v", got, want)
		}
		if got := endpointNow(t, s, w.ID); got.Failing() {
			t.Errorf("it is %+v", got)
		}
	})
}

func TestASingleFailureKeepsItsNextAttempt(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		endpoint(t, s, a.ID)
		tools(t, s, 1, "1 €/mois", monday)
		two := claim(t, s, monday, 2)
		finish(t, s, two[0], failure(monday, 5*time.Second))
		finish(t, s, two[1], success(monday.Add(time.Second)))
		if early := claim(t, s, monday.Add(5*time.Second-time.Millisecond), 9); len(early) > 0 {
			t.Errorf("tried again before its time: %+v", early)
		}
	})
}

func TestAPauseDoesNotForgetFailures(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		at := failTimes(t, s, w.ID, webhook.BreakAfter, monday)
		if n := mailsAbout(t, s, w.ID, at); n != 1 {
			t.Fatalf("%d mails", n)
		}
		before := endpointNow(t, s, w.ID)
		for range 2 {
			waiting(t, s, w.ID, at)
			changeState(t, s, w.ID, webhook.Paused)
			after := changeState(t, s, w.ID, webhook.Active)
			if !after.Failing() || after.Failures != before.Failures || !after.FailingSince.Equal(before.FailingSince) || after.LastError() != before.LastError() {
				t.Errorf("it was %+v and is %+v", before, after)
			}
		}
		// One is tried at once, and its failure is no news.
		one := claim(t, s, at, 9)
		if len(one) != 1 {
			t.Fatalf("%d are tried at once", len(one))
		}
		finish(t, s, one[0], failure(at, time.Hour))
		if n := mailsAbout(t, s, w.ID, at); n != 0 {
			t.Errorf("%d more mails", n)
		}
		if early := claim(t, s, at.Add(webhook.ProbeEvery), 9); len(early) > 0 {
			t.Errorf("%d are tried less than five minutes later", len(early))
		}
		// A pause is not time without a success.
		long := at.Add(2 * webhook.DisableAfter)
		changeState(t, s, w.ID, webhook.Paused)
		active := webhook.Active
		if _, err := s.Endpoints.Change(t.Context(), a.Owner(), w.ID, webhook.Change{State: &active}, long); err != nil {
			t.Fatal(err)
		}
		finish(t, s, claim(t, s, long, 9)[0], failure(long, time.Hour))
		if got := endpointNow(t, s, w.ID); !got.Failing() {
			t.Errorf("after a long pause and one failure it is %s", got.State)
		}
		end := long.Add(webhook.DisableAfter)
		finish(t, s, claim(t, s, end, 9)[0], failure(end, time.Hour))
		if got := endpointNow(t, s, w.ID); got.State != webhook.Disabled {
			t.Errorf("five days after the pause it is %s", got.State)
		}
	})
}
