package billing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
)

func TestADeletedCustomerHasNoSubscriptionAndCanSubscribeAgain(t *testing.T) {
	each(t, func(h *fixture) {
		ada, bob := h.account("ada@example.org"), h.account("bob@example.org")
		first := h.customer(ada)
		former := h.customer(bob)
		h.reconcile()
		h.fake.take(h)
		h.fake.delete(first)
		h.send(200, h.fake.take(h)...)
		h.plan(ada, account.Developer)
		h.plan(bob, account.Pro)
		if s := h.subscription(ada); s.Status != billing.None {
			h.Errorf("the subscription of a deleted customer is %+v", s)
		}
		h.reconcile()

		second := h.customer(ada)
		if second == first {
			h.Fatal("the deleted customer is still hers")
		}
		h.send(200, h.fake.take(h)...)
		h.plan(ada, account.Pro)

		// Nobody told of this one: who wants to change her subscription finds that it is over.
		h.fake.delete(former)
		if _, err := h.Portal(h.Context(), bob); err != billing.ErrNoCustomer {
			h.Errorf("Portal of a deleted customer: %v", err)
		}
		h.plan(bob, account.Developer)
	})
}

func TestACustomerThatStripeDoesNotKnowKeepsPro(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		h.customer(ada)
		h.reconcile()
		events := h.fake.take(h)
		h.cfg.API = newFakeStripe(h, h.clock).URL
		h.Billing = h.build(h.cfg)
		h.fake.happen("customer.subscription.updated", object{"object": "subscription", "customer": h.subscription(ada).CustomerID})
		h.send(200, append(events, h.fake.take(h)...)...)
		if !strings.Contains(h.log.String(), "does not know") {
			h.Errorf("the operator is not told:\n%s", h.log)
		}
		_, checkout := h.Checkout(h.Context(), ada)
		_, portal := h.Portal(h.Context(), ada)
		for _, err := range []error{checkout, portal} {
			if err == nil || !strings.Contains(err.Error(), "resource_missing") {
				h.Errorf("error %v; want to be told that the customer is unknown", err)
			}
		}
		h.plan(ada, account.Pro)
	})
}

func TestWhoCannotBeReadKeepsNobodyElseWaiting(t *testing.T) {
	each(t, func(h *fixture) {
		// Wherever it begins, six of whom nothing can be read come before one of the others.
		var bad, good []account.Account
		for i := range 14 {
			h.clock.Advance(time.Millisecond) // ids sort by time
			a := h.account(fmt.Sprintf("a%d@example.org", i))
			id := h.customer(a)
			if _, err := h.Refresh(h.Context(), a.ID); err != nil {
				h.Fatal(err)
			}
			if i%7 == 6 {
				h.fake.change(h, id, "customer.subscription.deleted", object{"status": "canceled"})
				good = append(good, a)
				continue
			}
			if bad = append(bad, a); i == 0 {
				h.fake.change(h, id, "customer.subscription.updated", object{"status": "hibernating"})
			} else {
				h.fake.with(func() { delete(h.fake.customers, id) })
			}
		}
		if err := h.Reconcile(h.Context()); err == nil || !strings.Contains(err.Error(), "hibernating") || !strings.Contains(err.Error(), "resource_missing") {
			h.Errorf("Reconcile = %v; want to be told of both", err)
		}
		for _, a := range good {
			h.plan(a, account.Developer)
		}
		for _, a := range bad {
			h.plan(a, account.Pro)
		}
	})
}

func TestCustomersOfWhomStripeFailsToSpeakAreNotAlwaysTheFirst(t *testing.T) {
	each(t, func(h *fixture) {
		var all []account.Account
		for i := range 12 {
			h.clock.Advance(time.Millisecond) // ids sort by time
			all = append(all, h.account(fmt.Sprintf("a%d@example.org", i)))
			id := h.customer(all[i])
			if i < 5 {
				h.fake.with(func() { h.fake.failingFor = append(h.fake.failingFor, id) })
			}
		}
		for range 24 {
			if err := h.Reconcile(h.Context()); err == nil {
				h.Error("Reconcile says nothing of a Stripe that fails")
			}
			h.clock.Advance(time.Hour)
		}
		for _, a := range all[5:] {
			h.plan(a, account.Pro)
		}
		// All of Stripe fails: it is not asked about everybody.
		h.fake.with(func() { h.fake.failing = true })
		h.fake.with(func() { h.fake.calls = nil })
		if err := h.Reconcile(h.Context()); err == nil {
			h.Error("Reconcile says nothing of a Stripe that fails")
		}
		asked := map[string]bool{}
		for _, c := range h.fake.asked("GET /v1/subscriptions") {
			asked[c.Form.Get("customer")] = true
		}
		if len(asked) != 5 {
			h.Errorf("a Stripe that fails is asked about %d customers; want it to be left alone after five", len(asked))
		}
	})
}

func TestNothingWaitsToBeCancelledForACustomerThatIsGone(t *testing.T) {
	each(t, func(h *fixture) {
		ada, bob := h.account("ada@example.org"), h.account("bob@example.org")
		deleted, unknown := h.customer(ada), h.customer(bob)
		h.fake.delete(deleted)
		h.fake.with(func() { delete(h.fake.customers, unknown) })
		for _, a := range []account.Account{ada, bob} {
			if err := h.store.Accounts.Delete(h.Context(), a.Email); err != nil {
				h.Fatal(err)
			}
		}
		h.Cancel(h.Context(), deleted)
		h.reconcile()
		if left, err := h.store.Subscriptions.Cancellations(h.Context()); err != nil || len(left) > 0 {
			h.Errorf("Cancellations = %v, %v", left, err)
		}
	})
}
