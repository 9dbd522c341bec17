package billing_test

import (
	"testing"

	"palmares/internal/account"
)

func TestOnlyASubscriptionToProGivesPro(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		customer := f.customer(ada)
		// The operator sells something else to the same customer.
		f.fake.change(f, customer, "customer.subscription.updated", item(price("price_mug", "prod_mug")))
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Developer)
		if s := f.subscription(ada); s.ID != "" || s.Granted {
			f.Errorf("the subscription to something else counts: %+v", s)
		}
		f.reconcile()
		f.plan(ada, account.Developer)
		f.clock.Advance(2 * days) // Stripe repeats its answer to the same call for a day
		// It does not keep her from paying for Pro.
		f.fake.pay(f, f.checkout(ada))
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Pro)
		if f.log.Contains("more than one subscription") {
			f.Errorf("the other subscription is reported as a second one to Pro: %s", f.log)
		}
	})
}

func TestAnEarlierPriceOfProStillGivesPro(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		customer := f.customer(ada)
		f.fake.change(f, customer, "customer.subscription.updated", item(price("price_of_last_year", "prod_pro")))
		f.send(200, f.fake.take(f)...)
		f.plan(ada, account.Pro)
	})
}

func TestWhileTheProductCannotBeReadNothingChanges(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		customer := f.customer(ada)
		f.send(200, f.fake.take(f)...)
		f.fake.change(f, customer, "customer.subscription.updated", item(price("price_of_last_year", "prod_pro")))
		f.fake.with(func() { f.fake.failingPrices = true })
		f.send(500, f.fake.take(f)...)
		f.plan(ada, account.Pro)
	})
}
