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
	each(t, func(f *fixture) {
		ada, bob := f.account("ada@example.org"), f.account("bob@example.org")
		first := f.customer(ada)
		former := f.customer(bob)
		f.reconcile()
		f.fake.take(f)
		f.fake.delete(first)
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Developer)
		f.plan(bob, account.Pro)
		if s := f.subscription(ada); s.Status != billing.None {
			f.Errorf("the subscription of a deleted customer is %+v", s)
		}
		f.reconcile()

		second := f.customer(ada)
		if second == first {
			f.Fatal("the deleted customer is still hers")
		}
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Pro)

		// Stripe sent no event for this one: opening the portal reveals that it is over.
		f.fake.delete(former)
		if _, err := f.Portal(f.Context(), bob); err != billing.ErrNoCustomer {
			f.Errorf("Portal of a deleted customer: %v", err)
		}
		f.plan(bob, account.Developer)
	})
}

func TestACustomerThatStripeDoesNotKnowKeepsPro(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		f.customer(ada)
		f.reconcile()
		events := f.fake.take(f)
		f.cfg.API = newFakeStripe(f, f.clock).URL
		f.Billing = f.build(f.cfg)
		f.fake.happen("customer.subscription.updated", object{"object": "subscription", "customer": f.subscription(ada).CustomerID})
		f.send(200, append(events, f.fake.take(f)...)...)
		if err := f.Reconcile(f.Context()); err == nil || !strings.Contains(err.Error(), "resource_missing") {
			f.Errorf("Reconcile = %v; want an error that says that the customer is unknown", err)
		}
		if !strings.Contains(f.log.String(), "does not know") {
			f.Errorf("the operator is not informed:\n%s", f.log)
		}
		_, checkout := f.Checkout(f.Context(), ada)
		_, portal := f.Portal(f.Context(), ada)
		for _, err := range []error{checkout, portal} {
			if err == nil || !strings.Contains(err.Error(), "resource_missing") {
				f.Errorf("error %v; want an error that says that the customer is unknown", err)
			}
		}
		f.plan(ada, account.Pro)
	})
}

func TestCustomersThatCannotBeReadDoNotDelayOthers(t *testing.T) {
	each(t, func(f *fixture) {
		// Wherever it begins, six that cannot be read come before one of the others.
		var bad, good []account.Account
		for i := range 14 {
			f.clock.Advance(time.Millisecond) // ids sort by time
			a := f.account(fmt.Sprintf("a%d@example.org", i))
			id := f.customer(a)
			if _, err := f.Refresh(f.Context(), a.ID); err != nil {
				f.Fatal(err)
			}
			if i%7 == 6 {
				f.fake.change(f, id, "customer.subscription.deleted", object{"status": "canceled"})
				good = append(good, a)
				continue
			}
			if bad = append(bad, a); i == 0 {
				f.fake.change(f, id, "customer.subscription.updated", object{"status": "hibernating"})
			} else {
				f.fake.with(func() { delete(f.fake.customers, id) })
			}
		}
		if err := f.Reconcile(f.Context()); err == nil || !strings.Contains(err.Error(), "hibernating") || !strings.Contains(err.Error(), "resource_missing") {
			f.Errorf("Reconcile = %v; want an error that names both", err)
		}
		for _, a := range good {
			f.plan(a, account.Developer)
		}
		for _, a := range bad {
			f.plan(a, account.Pro)
		}
	})
}

func TestCustomersForWhichStripeFailsAreNotAlwaysFirst(t *testing.T) {
	each(t, func(f *fixture) {
		var all []account.Account
		for i := range 12 {
			f.clock.Advance(time.Millisecond) // ids sort by time
			all = append(all, f.account(fmt.Sprintf("a%d@example.org", i)))
			id := f.customer(all[i])
			if i < 5 {
				f.fake.with(func() { f.fake.failingFor = append(f.fake.failingFor, id) })
			}
		}
		for range 24 {
			if err := f.Reconcile(f.Context()); err == nil {
				f.Error("Reconcile says nothing of a Stripe that fails")
			}
			f.clock.Advance(time.Hour)
		}
		for _, a := range all[5:] {
			f.plan(a, account.Pro)
		}
		// All of Stripe fails: it is not asked about everybody.
		f.fake.with(func() { f.fake.failing = true })
		f.fake.with(func() { f.fake.calls = nil })
		if err := f.Reconcile(f.Context()); err == nil {
			f.Error("Reconcile says nothing of a Stripe that fails")
		}
		asked := map[string]bool{}
		for _, c := range f.fake.asked("GET /v1/subscriptions") {
			asked[c.Form.Get("customer")] = true
		}
		if len(asked) != 5 {
			f.Errorf("a Stripe that fails is asked about %d customers; want it to be left alone after five", len(asked))
		}
	})
}

func TestASubscriptionThatIsGoneNeedsNoCancelling(t *testing.T) {
	each(t, func(f *fixture) {
		ada, bob, eve := f.account("ada@example.org"), f.account("bob@example.org"), f.account("eve@example.org")
		deleted, unknown, ended := f.customer(ada), f.customer(bob), f.customer(eve)
		f.fake.delete(deleted)
		f.fake.with(func() {
			delete(f.fake.customers, unknown)
			f.fake.listed = func() { f.fake.change(f, ended, "customer.subscription.deleted", object{"status": "canceled"}) }
		})
		for _, a := range []account.Account{ada, bob, eve} {
			if err := f.Cancel(f.Context(), a.ID); err != nil {
				f.Errorf("%s: %v", a.Email, err)
			}
		}
	})
}
