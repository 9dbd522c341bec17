package accountdb

import (
	"fmt"
	"strings"
	"testing"

	"palmares/internal/account"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

// count returns the number of rows that a condition of a table selects.
func count(t *testing.T, s *kit, from string) int {
	t.Helper()
	var n int
	if err := s.SQL.Reads().QueryRowContext(t.Context(), `SELECT count(*) FROM `+from).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// sweep removes all that belonged to deleted endpoints.
func sweep(t *testing.T, s *kit) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.Deliveries.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// longLog gives an account two endpoints with deliveries, some of them sent.
func longLog(t *testing.T, s *kit, email string) (account.Account, []webhook.Endpoint, webhook.Claim) {
	t.Helper()
	a := create(t, s, email, account.Pro)
	endpoints := []webhook.Endpoint{endpoint(t, s, a.ID), endpoint(t, s, a.ID)}
	tools(t, s, 25, "1 €/mois", monday)
	claims := claim(t, s, monday, 4)
	finish(t, s, claims[0], success(monday))
	finish(t, s, claims[1], success(monday))
	recoverSince(t, s, endpoints[0].ID, monday, monday)
	return a, endpoints, claims[2]
}

// gone checks that nobody finds the endpoints of an account, or anything about them.
func gone(t *testing.T, s *kit, deliveryID string, endpoints ...webhook.Endpoint) {
	t.Helper()
	ctx := t.Context()
	if all, err := s.Endpoints.List(ctx, account.AnyOwner()); err != nil || len(all) != 0 {
		t.Errorf("the operator finds %v, %v", all, err)
	}
	for _, w := range endpoints {
		_, err := s.Endpoints.Find(ctx, account.AnyOwner(), w.ID)
		testkit.Fails(t, err, ErrNoEndpoint)
		_, err = s.Deliveries.List(ctx, account.AnyOwner(), w.ID, DeliveryFilter{Limit: 10})
		testkit.Fails(t, err, ErrNoEndpoint)
	}
	_, err := s.Deliveries.Resend(ctx, account.AnyOwner(), deliveryID, monday)
	testkit.Fails(t, err, ErrNoDelivery)
	if claims := claim(t, s, day(1), 10); len(claims) != 0 {
		t.Errorf("%d deliveries are sent", len(claims))
	}
	if more, err := s.Deliveries.RunRecovery(ctx, day(1), 10); more || err != nil {
		t.Errorf("a recovery goes on: %v, %v", more, err)
	}
	if f, err := s.Deliveries.Figures(ctx, day(1)); err != nil || len(f.Endpoints) != 0 || f.OldestDue != 0 {
		t.Errorf("the figures are %+v, %v", f, err)
	}
	if secrets, err := s.Endpoints.Secrets().Sealed(ctx); err != nil || len(secrets) != 0 {
		t.Errorf("%d secrets are left, %v", len(secrets), err)
	}
	if n := count(t, s, `endpoints WHERE url <> '' OR secret <> '' OR old_secret <> ''`); n != 0 {
		t.Errorf("%d endpoints still have a URL or a secret", n)
	}
}

func TestAnAccountWithALongLogIsGoneAtOnceAndItsLogInSteps(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		a, endpoints, sending := longLog(t, s, "ada@example.org")
		before := count(t, s, "deliveries")
		if err := s.Accounts.Delete(t.Context(), a.Email); err != nil {
			t.Fatal(err)
		}
		if n := count(t, s, "deliveries"); n != before || before < 50 {
			t.Errorf("the deletion itself removed %d of %d deliveries", before-n, before)
		}
		gone(t, s, sending.DeliveryID, endpoints...)
		if err := s.Deliveries.Finish(t.Context(), sending, success(monday)); err != nil {
			t.Errorf("the end of a request that was running: %v", err)
		}
		if all, err := s.Accounts.List(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("accounts %v, %v", all, err)
		}

		s.Deliveries.sweepStep = 10
		for range 2 {
			if more, err := s.Deliveries.Sweep(t.Context()); !more || err != nil {
				t.Fatal(more, err)
			}
		}
		if n := count(t, s, "deliveries"); n != before-20 {
			t.Errorf("two steps of ten removed %d deliveries", before-n)
		}
		// This process ends, and another continues.
		next := open(t, dsn)
		next.Deliveries.sweepStep = 10
		steps := 0
		for more := true; more; steps++ {
			left := count(t, next, "deliveries")
			var err error
			if more, err = next.Deliveries.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := left - count(t, next, "deliveries"); n > 10 {
				t.Errorf("a step removed %d deliveries", n)
			}
		}
		if left := dumpWebhooks(t, next); left != "" || steps < 5 {
			t.Errorf("after %d steps there is left:\n%s", steps, left)
		}
		// The address may sign up again.
		if b := create(t, next, a.Email, account.Developer); b.ID == a.ID {
			t.Error("the account is back")
		}
	})
}

func TestAnEndpointWithALongLogIsGoneAtOnceAndOthersStay(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a, endpoints, _ := longLog(t, s, "ada@example.org")
		kept := count(t, s, fmt.Sprintf("deliveries WHERE endpoint_id = '%s'", endpoints[1].ID))
		if err := s.Endpoints.Delete(t.Context(), a.Owner(), endpoints[0].ID); err != nil {
			t.Fatal(err)
		}
		testkit.Fails(t, s.Endpoints.Delete(t.Context(), a.Owner(), endpoints[0].ID), ErrNoEndpoint)
		sweep(t, s)
		if n := count(t, s, "deliveries"); n != kept || kept == 0 {
			t.Errorf("%d deliveries are left; want the %d of the other endpoint", n, kept)
		}
		if list, err := s.Endpoints.List(t.Context(), a.Owner()); err != nil || len(list) != 1 || list[0].ID != endpoints[1].ID || !strings.HasPrefix(list[0].URL, "https://") {
			t.Errorf("%+v, %v", list, err)
		}
	})
}
