package billing_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/sqldb"
)

func TestTheLifeOfASubscription(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		page := f.checkout(ada)
		f.plan(ada, account.Developer) // an open page grants nothing
		f.fake.pay(f, page)
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Pro)
		s := f.subscription(ada)
		if want := monday.Add(30 * days); s.Status != billing.Active || !s.PeriodEnd.Equal(want) || !s.CancelAt.IsZero() || !s.Granted {
			f.Errorf("after paying: %+v", s)
		}

		f.clock.Advance(30 * days)
		f.fake.change(f, s.CustomerID, "invoice.paid", nil)
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Pro)
		if mails := f.mails(); mails != "" {
			f.Errorf("mails to somebody who pays: %s", mails)
		}

		// The card is refused, and again, and then not.
		f.clock.Advance(30 * days)
		failed := f.clock.Now()
		f.fake.change(f, s.CustomerID, "invoice.payment_failed", object{"status": "past_due"})
		f.send(200, f.fake.take(f)...)
		f.clock.Advance(5 * days)
		f.fake.change(f, s.CustomerID, "invoice.payment_failed", nil)
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Pro)
		if s := f.subscription(ada); !s.GraceUntil.Equal(failed.Add(21 * days)) {
			f.Errorf("the grace ends %s; want 21 days after the first failure, %s", s.GraceUntil, failed)
		}
		if mails, want := f.mails(), "payment_failed "+failed.Add(21*days).Format(time.DateOnly)+" ada@example.org"; mails != want {
			f.Errorf("mails:\n%s\nwant\n%s", mails, want)
		}
		f.fake.change(f, s.CustomerID, "invoice.paid", object{"status": "active"})
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Pro)
		if s := f.subscription(ada); !s.GraceUntil.IsZero() {
			f.Errorf("the grace of somebody who paid ends %s", s.GraceUntil)
		}

		// She cancels for the end of what she paid, and stays Pro until then.
		end := f.clock.Now().Add(25 * days)
		f.fake.change(f, s.CustomerID, "customer.subscription.updated", object{"cancel_at_period_end": true, "cancel_at": end.Unix()})
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Pro)
		if s := f.subscription(ada); !s.CancelAt.Equal(end) {
			f.Errorf("it ends %s; want %s", s.CancelAt, end)
		}
		f.clock.Advance(25 * days)
		f.fake.change(f, s.CustomerID, "customer.subscription.deleted", object{"status": "canceled"})
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Developer)
		if mails, want := f.mails(), "plan_ended "+end.Add(7*days).Format(time.DateOnly)+" ada@example.org"; mails != want {
			f.Errorf("mails:\n%s\nwant\n%s", mails, want)
		}

		// And she comes back, as the same customer.
		if again := f.customer(ada); again != s.CustomerID {
			f.Errorf("customer %s, then %s", s.CustomerID, again)
		}
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Pro)
	})
}

func TestAGraceEndsWithoutAnyEvent(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		customer := f.customer(ada)
		f.reconcile()
		f.fake.change(f, customer, "invoice.payment_failed", object{"status": "past_due"})
		f.reconcile()
		f.clock.Advance(10 * days)
		f.fake.change(f, customer, "customer.subscription.updated", object{"status": "unpaid"})
		f.reconcile()
		f.clock.Advance(11*days - time.Second)
		f.reconcile()
		f.plan(ada, account.Pro)
		f.clock.Advance(time.Second)
		f.reconcile()
		f.plan(ada, account.Developer)
		f.clock.Advance(days)
		f.reconcile() // what stays unpaid wins no second grace
		f.plan(ada, account.Developer)
		if mails := f.mails(); strings.Count(mails, "payment_failed") != 1 || strings.Count(mails, "plan_ended") != 1 {
			f.Errorf("mails:\n%s\nwant one about the payment and one about the end", mails)
		}
		f.fake.change(f, customer, "invoice.paid", object{"status": "active"})
		f.reconcile()
		f.plan(ada, account.Pro)
	})
}

func TestAStatusThatNobodyKnowsChangesNothing(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		customer := f.customer(ada)
		f.send(200, f.fake.take(f)...)
		f.fake.change(f, customer, "customer.subscription.updated", object{"status": "hibernating"})
		f.send(500, f.fake.take(f)...)
		f.plan(ada, account.Pro)
		if !strings.Contains(f.log.String(), "hibernating") {
			f.Errorf("the operator is not informed:\n%s", f.log)
		}
	})
}

func TestCancelEndsAllThatAnAccountPaysOrCouldStartToPay(t *testing.T) {
	each(t, func(f *fixture) {
		ada, bob, eve := f.account("ada@example.org"), f.account("bob@example.org"), f.account("eve@example.org")
		f.customer(ada)
		f.checkout(bob)
		f.reconcile()
		off := f.cfg
		off.Key, off.WebhookSecret, off.Price = "", "", ""
		if err := f.build(off).Cancel(f.Context(), ada.ID); err == nil || !strings.Contains(err.Error(), "--cancelled") {
			f.Errorf("without a key: Cancel = %v; want an error that says what to do", err)
		}
		for _, failing := range []bool{true, false, false} {
			f.fake.with(func() { f.fake.failing = failing })
			for _, a := range []account.Account{ada, bob} {
				if err := f.Cancel(f.Context(), a.ID); (err != nil) != failing {
					f.Errorf("Stripe fails: %t; Cancel = %v", failing, err)
				}
			}
			if err := f.Cancel(f.Context(), eve.ID); err != nil {
				f.Errorf("Cancel for an account that never went to pay: %v", err)
			}
			f.plan(ada, account.Pro) // until Stripe says otherwise
		}
		f.fake.with(func() {
			if status := f.fake.subscriptions[0]["status"]; status != "canceled" {
				f.Errorf("the subscription is %v", status)
			}
			if status := f.fake.sessions[1]["status"]; status != "expired" {
				f.Errorf("the page is %v", status)
			}
		})
		// A process that ends here leaves an account that pays nothing.
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Developer)
	})
}

func TestAPagePaidWhileItsAccountIsDeletedIsCancelled(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		page := f.checkout(ada)
		if err := f.store.Accounts.Delete(f.Context(), ada.Email); err != nil {
			f.Fatal(err)
		}
		f.fake.pay(f, page)
		events := f.fake.take(f)
		paid := slices.IndexFunc(events, func(b []byte) bool { return strings.Contains(string(b), "checkout.session.completed") })
		status := func() (is any) {
			f.fake.with(func() { is = f.fake.subscriptions[0]["status"] })
			return is
		}
		// The page of another installation is none of ours.
		other := f.cfg
		other.BaseURL = "https://elsewhere.example"
		if got := f.post(f.build(other), events[paid], sign(events[paid], webhookSecret, time.Now())); got != 200 || status() != "active" {
			f.Errorf("elsewhere the event is answered %d, and the subscription is %v", got, status())
		}
		f.fake.with(func() { f.fake.failing = true })
		f.send(500, events[paid])
		f.fake.with(func() { f.fake.failing = false })
		f.send(200, events...)
		if status() != "canceled" {
			f.Errorf("a deleted account pays: %v", status())
		}
		f.send(200, f.fake.take(f)...) // about a customer that nobody knows any more
	})
}

func TestDeletingAnAccountDuringCheckoutAffectsNoOther(t *testing.T) {
	each(t, func(f *fixture) {
		ada, bob := f.account("ada@example.org"), f.account("bob@example.org")
		page := f.checkout(bob)
		f.fake.with(func() {
			f.fake.listed = func() {
				if err := f.store.Accounts.Delete(f.Context(), ada.Email); err != nil && !errors.Is(err, sqldb.ErrNotFound) {
					f.Error(err)
				}
			}
		})
		if page, err := f.Checkout(f.Context(), ada); err == nil {
			f.Errorf("an account that is gone can pay on %s", page)
		}
		f.reconcile()
		f.fake.pay(f, page)
	})
}

func TestARefusedKeyIsReportedButNotRepeated(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		f.customer(ada)
		events := f.fake.take(f)
		f.fake.with(func() { f.fake.refused = true })
		f.send(500, events[0])
		_, err := f.Portal(f.Context(), ada)
		if err == nil || strings.Contains(err.Error(), stripeKey) || !strings.Contains(err.Error(), "401") {
			f.Errorf("Portal: %v; want the status, without the key", err)
		}
	})
}
