package accountdb

import (
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

func TestRotatingASuccessorAgainAndAgainGivesFewLiveKeys(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ada := create(t, s, "ada@example.org", account.Developer)
		_, k := createKey(t, s, ada.Email, "1")
		createKey(t, s, ada.Email, "2")
		id, rotated := k.ID, 0
		for range 50 {
			_, next, err := s.Keys.Rotate(t.Context(), ada.Owner(), id, monday)
			if err != nil {
				testkit.Fails(t, err, ErrKeyOverlaps)
				continue
			}
			id, rotated = next.ID, rotated+1
		}
		if live := count(t, s, `api_keys WHERE revoked_at = ''`); rotated != 3 || live != 5 {
			t.Errorf("%d rotations and %d live keys; want 3 and 5", rotated, live)
		}
		// Revoking a replaced key, or a day, makes room.
		if err := s.Keys.Revoke(t.Context(), ada.Owner(), k.ID, monday); err != nil {
			t.Fatal(err)
		}
		_, next, err := s.Keys.Rotate(t.Context(), ada.Owner(), id, monday)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Keys.Rotate(t.Context(), ada.Owner(), next.ID, monday.Add(account.Overlap)); err != nil {
			t.Error(err)
		}
	})
}

func TestResendsAreLimitedAndOnlyForPro(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a, _, sent := longLog(t, s, "ada@example.org")
		for i := range webhook.ResendsAMinute {
			if _, err := s.Deliveries.Resend(t.Context(), a.Owner(), sent.DeliveryID, monday.Add(time.Duration(i)*time.Millisecond)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.Deliveries.Resend(t.Context(), a.Owner(), sent.DeliveryID, monday.Add(30*time.Second))
		testkit.Fails(t, err, sqldb.ErrTooMany)
		if _, err := s.Deliveries.Resend(t.Context(), a.Owner(), sent.DeliveryID, monday.Add(2*time.Minute)); err != nil {
			t.Error(err)
		}
		if err := s.Accounts.SetPlan(t.Context(), a.Email, account.Developer, monday); err != nil {
			t.Fatal(err)
		}
		_, err = s.Deliveries.Resend(t.Context(), a.Owner(), sent.DeliveryID, monday.Add(time.Hour))
		testkit.Fails(t, err, ErrPlan)
		if _, err := s.Deliveries.Resend(t.Context(), account.AnyOwner(), sent.DeliveryID, monday.Add(time.Hour)); err != nil {
			t.Errorf("the operator: %v", err)
		}
	})
}
