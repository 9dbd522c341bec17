package accountdb

import (
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/catalog"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func customer(t *testing.T, s *kit, email, id string) billing.Subscription {
	t.Helper()
	got, err := s.Subscriptions.SetCustomer(t.Context(), create(t, s, email, account.Developer).ID, "", id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTheFirstCustomerOfAnAccountStays(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		first := customer(t, s, "ada@example.org", "cus_1")
		again, err := s.Subscriptions.SetCustomer(t.Context(), first.AccountID, "", "cus_2")
		if err != nil || again != first || first.CustomerID != "cus_1" {
			t.Errorf("%+v, then %+v, %v", first, again, err)
		}
		other, err := s.Subscriptions.SetCustomer(t.Context(), first.AccountID, "cus_1", "cus_2") // cus_1 was deleted
		if err != nil || other.CustomerID != "cus_2" || other.Version != first.Version+1 {
			t.Errorf("in place of a deleted customer: %+v, %v", other, err)
		}
		if late, err := s.Subscriptions.SetCustomer(t.Context(), first.AccountID, "cus_1", "cus_3"); err != nil || late != other {
			t.Errorf("%+v, then %+v, %v", other, late, err)
		}
		for _, id := range []string{"acc_none", ""} {
			none, err := s.Subscriptions.Find(t.Context(), id)
			if err != nil || none != (billing.Subscription{}) {
				t.Errorf("Subscription(%q) = %+v, %v", id, none, err)
			}
		}
		_, err = s.Subscriptions.SetCustomer(t.Context(), "acc_none", "", "cus_3")
		testkit.Fails(t, err, sqldb.ErrNotFound, "acc_none")
	})
}

func TestAStaleReadingIsNotWritten(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		was := customer(t, s, "ada@example.org", "cus_1")
		older := billing.Finding{AccountID: was.AccountID, Version: was.Version, EventID: "evt_1", ObservedAt: monday, Reading: billing.Reading{ID: "sub_1", Status: billing.Active}}
		newer := older
		newer.EventID, newer.Reading.Status = "evt_2", billing.Canceled
		if fresh, err := s.Subscriptions.Apply(t.Context(), newer); err != nil || !fresh {
			t.Fatalf("Subscriptions.Apply = %v, %v", fresh, err)
		}
		if raised(t, s, func() {
			if fresh, err := s.Subscriptions.Apply(t.Context(), older); err != nil || fresh {
				t.Errorf("Subscriptions.Apply = %v, %v; want a stale reading", fresh, err)
			}
		}) {
			t.Error("every key is looked up again because of nothing")
		}
		if seen, err := s.Subscriptions.EventSeen(t.Context(), "evt_1"); err != nil || seen {
			t.Errorf("Subscriptions.EventSeen = %v, %v; want it to be new when it is read again", seen, err)
		}
		if a, err := s.Accounts.Find(t.Context(), "ada@example.org"); err != nil || a.Plan != account.Developer {
			t.Errorf("Account = %+v, %v", a, err)
		}
		// A plan set by the operator is a write too.
		older.Version++
		setPlan(t, s, account.Developer)
		if fresh, err := s.Subscriptions.Apply(t.Context(), older); err != nil || fresh {
			t.Errorf("Subscriptions.Apply = %v, %v; want a stale reading", fresh, err)
		}
	})
}

func TestOnlyAChangeOfPlanRaisesTheRevision(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		was := customer(t, s, "ada@example.org", "cus_1")
		apply := func(status billing.Status) {
			t.Helper()
			known, err := s.Subscriptions.ByCustomer(t.Context(), "cus_1")
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := s.Subscriptions.Apply(t.Context(), billing.Finding{AccountID: was.AccountID, Version: known.Version, ObservedAt: monday, Reading: billing.Reading{ID: "sub_1", Status: status}})
			if err != nil || !fresh {
				t.Fatalf("Subscriptions.Apply = %v, %v", fresh, err)
			}
		}
		for _, c := range []struct {
			status billing.Status
			raises bool
		}{{billing.Active, true}, {billing.Active, false}, {billing.PastDue, false}, {billing.Canceled, true}, {billing.Canceled, false}} {
			if raised(t, s, func() { apply(c.status) }) != c.raises {
				t.Errorf("%s: raised %v; want %v", c.status, !c.raises, c.raises)
			}
		}
		if due, err := s.Keys.SuspensionDue(t.Context(), was.AccountID); err != nil || !due.Equal(day(7)) {
			t.Errorf("keys are due %s, %v; want a week after the end", due, err)
		}
	})
}

func TestAReadingOfADeletedAccountChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		was := customer(t, s, "ada@example.org", "cus_1")
		customer(t, s, "bob@example.org", "cus_2")
		if err := s.Accounts.Delete(t.Context(), "ada@example.org"); err != nil {
			t.Fatal(err)
		}
		fresh, err := s.Subscriptions.Apply(t.Context(), billing.Finding{AccountID: was.AccountID, Version: was.Version, EventID: "evt_1", ObservedAt: monday, Reading: billing.Reading{ID: "sub_1", Status: billing.Active}})
		if err != nil || !fresh {
			t.Errorf("Subscriptions.Apply = %v, %v; want nothing to be read again", fresh, err)
		}
		all, err := s.Subscriptions.List(t.Context())
		if err != nil || len(all) != 1 || all[0].CustomerID != "cus_2" {
			t.Errorf("Subscriptions = %+v, %v", all, err)
		}
	})
}

func TestOldStripeEventsArePruned(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		was := customer(t, s, "ada@example.org", "cus_1")
		for i, id := range []string{"evt_old", "evt_new"} {
			fresh, err := s.Subscriptions.Apply(t.Context(), billing.Finding{AccountID: was.AccountID, Version: was.Version + int64(i), EventID: id, ObservedAt: day(i)})
			if err != nil || !fresh {
				t.Fatalf("Subscriptions.Apply = %v, %v", fresh, err)
			}
		}
		if err := s.Subscriptions.PruneEvents(t.Context(), day(0).Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]bool{"evt_old": false, "evt_new": true} {
			if seen, err := s.Subscriptions.EventSeen(t.Context(), id); err != nil || seen != want {
				t.Errorf("Subscriptions.EventSeen(%s) = %v, %v", id, seen, err)
			}
		}
	})
}

func TestAMailAboutPaymentsIsCheckedBeforeItIsSent(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		was := customer(t, s, "ada@example.org", "cus_1")
		failed := mail.Request{To: "ada@example.org", Kind: mail.PaymentFailed, About: catalog.Day(monday.Add(billing.Grace))}
		ended := mail.Request{To: "ada@example.org", Kind: mail.PlanEnded, About: catalog.Day(day(7))}
		applied := func(status billing.Status, at time.Time) {
			t.Helper()
			known, err := s.Subscriptions.Find(t.Context(), was.AccountID)
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := s.Subscriptions.Apply(t.Context(), billing.Finding{AccountID: was.AccountID, Version: known.Version, ObservedAt: at, Reading: billing.Reading{ID: "sub_1", Status: status}})
			if err != nil || !fresh {
				t.Fatalf("Subscriptions.Apply = %v, %v", fresh, err)
			}
		}
		says := func(what string, aboutPayment, aboutEnd error) {
			t.Helper()
			if a, b := s.Mails.Check(t.Context(), failed), s.Mails.Check(t.Context(), ended); a != aboutPayment || b != aboutEnd {
				t.Errorf("%s: Mails.Check = %v about the payment, %v about the end; want %v and %v", what, a, b, aboutPayment, aboutEnd)
			}
		}
		applied(billing.PastDue, monday)
		says("a payment failed", nil, mail.ErrObsolete)
		applied(billing.Active, day(1))
		says("it was paid", mail.ErrObsolete, mail.ErrObsolete)
		applied(billing.PastDue, day(2))
		says("another one failed", mail.ErrObsolete, mail.ErrObsolete) // of which there is another mail
		applied(billing.PastDue, day(30))
		says("nobody paid", mail.ErrObsolete, nil)
		applied(billing.Active, day(31))
		says("she came back", mail.ErrObsolete, mail.ErrObsolete)
		if err := s.Accounts.Delete(t.Context(), "ada@example.org"); err != nil {
			t.Fatal(err)
		}
		says("she left", mail.ErrObsolete, mail.ErrObsolete)
	})
}
