package billing_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/store"
)

func TestTheLifeOfASubscription(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		page := h.checkout(ada)
		h.plan(ada, account.Developer) // an open page grants nothing
		h.fake.pay(h, page)
		h.send(200, h.fake.take(h)...)
		h.plan(ada, account.Pro)
		s := h.subscription(ada)
		if want := monday.Add(30 * days); s.Status != billing.Active || !s.PeriodEnd.Equal(want) || !s.CancelAt.IsZero() || !s.Granted {
			h.Errorf("after paying: %+v", s)
		}

		h.clock.Advance(30 * days)
		h.fake.change(h, s.CustomerID, "invoice.paid", nil)
		h.send(200, h.fake.take(h)...)
		h.plan(ada, account.Pro)
		if mails := h.mails(); mails != "" {
			h.Errorf("mails to somebody who pays: %s", mails)
		}

		// The card is refused, and again, and then not.
		h.clock.Advance(30 * days)
		failed := h.clock.Now()
		h.fake.change(h, s.CustomerID, "invoice.payment_failed", object{"status": "past_due"})
		h.send(200, h.fake.take(h)...)
		h.clock.Advance(5 * days)
		h.fake.change(h, s.CustomerID, "invoice.payment_failed", nil)
		h.send(200, h.fake.take(h)...)
		h.plan(ada, account.Pro)
		if s := h.subscription(ada); !s.GraceUntil.Equal(failed.Add(21 * days)) {
			h.Errorf("the grace ends %s; want 21 days after the first failure, %s", s.GraceUntil, failed)
		}
		if mails, want := h.mails(), "payment_failed "+failed.Add(21*days).Format(time.DateOnly)+" ada@example.org"; mails != want {
			h.Errorf("mails:\n%s\nwant\n%s", mails, want)
		}
		h.fake.change(h, s.CustomerID, "invoice.paid", object{"status": "active"})
		h.send(200, h.fake.take(h)...)
		h.plan(ada, account.Pro)
		if s := h.subscription(ada); !s.GraceUntil.IsZero() {
			h.Errorf("the grace of somebody who paid ends %s", s.GraceUntil)
		}

		// She cancels for the end of what she paid, and stays Pro until then.
		end := h.clock.Now().Add(25 * days)
		h.fake.change(h, s.CustomerID, "customer.subscription.updated", object{"cancel_at_period_end": true, "cancel_at": end.Unix()})
		h.send(200, h.fake.take(h)...)
		h.plan(ada, account.Pro)
		if s := h.subscription(ada); !s.CancelAt.Equal(end) {
			h.Errorf("it ends %s; want %s", s.CancelAt, end)
		}
		h.clock.Advance(25 * days)
		h.fake.change(h, s.CustomerID, "customer.subscription.deleted", object{"status": "canceled"})
		h.send(200, h.fake.take(h)...)
		h.plan(ada, account.Developer)
		if mails, want := h.mails(), "plan_ended "+end.Add(7*days).Format(time.DateOnly)+" ada@example.org"; mails != want {
			h.Errorf("mails:\n%s\nwant\n%s", mails, want)
		}

		// And she comes back, as the same customer.
		if again := h.customer(ada); again != s.CustomerID {
			h.Errorf("customer %s, then %s", s.CustomerID, again)
		}
		h.send(200, h.fake.take(h)...)
		h.plan(ada, account.Pro)
	})
}

func TestAGraceEndsWithoutAnyEvent(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		customer := h.customer(ada)
		h.reconcile()
		h.fake.change(h, customer, "invoice.payment_failed", object{"status": "past_due"})
		h.reconcile()
		h.clock.Advance(10 * days)
		h.fake.change(h, customer, "customer.subscription.updated", object{"status": "unpaid"})
		h.reconcile()
		h.clock.Advance(11*days - time.Second)
		h.reconcile()
		h.plan(ada, account.Pro)
		h.clock.Advance(time.Second)
		h.reconcile()
		h.plan(ada, account.Developer)
		h.clock.Advance(days)
		h.reconcile() // what stays unpaid wins no second grace
		h.plan(ada, account.Developer)
		if mails := h.mails(); strings.Count(mails, "payment_failed") != 1 || strings.Count(mails, "plan_ended") != 1 {
			h.Errorf("mails:\n%s\nwant one about the payment and one about the end", mails)
		}
		h.fake.change(h, customer, "invoice.paid", object{"status": "active"})
		h.reconcile()
		h.plan(ada, account.Pro)
	})
}

func TestAFirstPaymentThatFailsGrantsNothing(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		customer := h.customer(ada)
		for _, status := range []string{"incomplete", "incomplete_expired", "paused", "canceled"} {
			h.fake.change(h, customer, "customer.subscription.updated", object{"status": status})
			h.send(200, h.fake.take(h)...)
			h.reconcile()
			h.plan(ada, account.Developer)
		}
		if mails := h.mails(); mails != "" {
			h.Errorf("mails: %s", mails)
		}
	})
}

func TestAStatusThatNobodyKnowsChangesNothing(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		customer := h.customer(ada)
		h.send(200, h.fake.take(h)...)
		h.fake.change(h, customer, "customer.subscription.updated", object{"status": "hibernating"})
		h.send(500, h.fake.take(h)...)
		h.plan(ada, account.Pro)
		if !strings.Contains(h.log.String(), "hibernating") {
			h.Errorf("the operator is not told:\n%s", h.log)
		}
	})
}

func TestProByTheOperatorIsNotTakenAway(t *testing.T) {
	each(t, func(h *fixture) {
		pro := func(a account.Account) {
			h.Helper()
			if err := h.store.Accounts.SetPlan(h.Context(), a.Email, account.Pro, h.clock.Now()); err != nil {
				h.Fatal(err)
			}
			h.reconcile()
			h.plan(a, account.Pro)
		}
		never, opened, former, paying := h.account("never@example.org"), h.account("opened@example.org"), h.account("former@example.org"), h.account("paying@example.org")
		pro(never)
		h.checkout(opened)
		pro(opened)
		customer := h.customer(former)
		h.fake.change(h, customer, "customer.subscription.deleted", object{"status": "canceled"})
		h.reconcile()
		h.plan(former, account.Developer)
		pro(former)
		customer = h.customer(paying)
		h.reconcile()
		pro(paying)
		h.fake.change(h, customer, "customer.subscription.deleted", object{"status": "canceled"})
		pro(paying)
		if mails := h.mails(); mails != "" {
			h.Errorf("mails about a Pro that goes on: %s", mails)
		}
	})
}

func TestWhoPaysIsProAgainAfterAnOperatorsMistake(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		h.customer(ada)
		h.reconcile()
		if err := h.store.Accounts.SetPlan(h.Context(), ada.Email, account.Developer, h.clock.Now()); err != nil {
			h.Fatal(err)
		}
		h.reconcile()
		h.plan(ada, account.Pro)
	})
}

func TestWithAnotherStripeAccountNobodyLosesPro(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		h.customer(ada)
		h.reconcile()
		other := newFakeStripe(h, h.clock)
		h.cfg.API = other.URL
		h.Billing = h.build(h.cfg)
		if err := h.Reconcile(h.Context()); err == nil || !strings.Contains(err.Error(), "resource_missing") {
			h.Errorf("Reconcile = %v; want to be told that the customer is unknown", err)
		}
		h.plan(ada, account.Pro)
	})
}

func TestACancellationOutlivesTheAccountAndTheProcess(t *testing.T) {
	each(t, func(h *fixture) {
		ada, bob := h.account("ada@example.org"), h.account("bob@example.org")
		customer := h.customer(ada)
		h.checkout(bob)
		h.fake.with(func() { h.fake.failing = true })
		for _, a := range []account.Account{ada, bob} {
			if err := h.store.Accounts.Delete(h.Context(), a.Email); err != nil {
				h.Fatal(err)
			}
		}
		h.Cancel(h.Context(), customer) // Bob's was deleted by the operator
		h.start()
		if err := h.Reconcile(h.Context()); err == nil {
			h.Error("Reconcile says nothing of a Stripe that fails")
		}
		h.fake.with(func() { h.fake.failing = false })
		h.reconcile()
		h.fake.with(func() {
			if status := h.fake.subscriptions[0]["status"]; status != "canceled" {
				h.Errorf("a deleted account still pays: %v", status)
			}
			if status := h.fake.sessions[1]["status"]; status != "expired" {
				h.Errorf("a deleted account can still begin to pay: %v", status)
			}
		})
		if left, err := h.store.Subscriptions.Cancellations(h.Context()); err != nil || len(left) > 0 {
			h.Errorf("Cancellations = %v, %v", left, err)
		}
		h.send(200, h.fake.take(h)...) // about customers that nobody knows any more
	})
}

func TestAnAccountThatIsDeletedOnItsWayToPayTakesNobodyElseAlong(t *testing.T) {
	each(t, func(h *fixture) {
		ada, bob := h.account("ada@example.org"), h.account("bob@example.org")
		page := h.checkout(bob)
		h.fake.with(func() {
			h.fake.listed = func() {
				if err := h.store.Accounts.Delete(h.Context(), ada.Email); err != nil && !errors.Is(err, store.ErrNotFound) {
					h.Error(err)
				}
			}
		})
		if page, err := h.Checkout(h.Context(), ada); err == nil {
			h.Errorf("an account that is gone can pay on %s", page)
		}
		h.reconcile()
		h.fake.pay(h, page)
	})
}

func TestAnAccountThatNeverPaidIsDeletedWithoutAskingStripe(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		h.fake.with(func() { h.fake.failing = true })
		if err := h.store.Accounts.Delete(h.Context(), ada.Email); err != nil {
			h.Fatal(err)
		}
		h.Cancel(h.Context(), "")
		h.reconcile()
		h.fake.with(func() {
			if len(h.fake.calls) > 0 {
				h.Errorf("calls %v", h.fake.calls)
			}
		})
	})
}

func TestARefusedKeyIsToldAndNotRepeated(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		h.customer(ada)
		events := h.fake.take(h)
		h.fake.with(func() { h.fake.refused = true })
		h.send(500, events[0])
		_, err := h.Portal(h.Context(), ada)
		if err == nil || strings.Contains(err.Error(), stripeKey) || !strings.Contains(err.Error(), "401") {
			h.Errorf("Portal: %v; want the status, without the key", err)
		}
	})
}
