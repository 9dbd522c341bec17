package billing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stripe/stripe-go/v86"
)

const (
	// every is how often everybody's subscription is read again: what a lost event
	// costs at most.
	every = time.Hour
	// firstWithin spreads the first look of nodes that start together.
	firstWithin = time.Minute
	// keepEvents is how long an event is remembered. Stripe repeats one for three days,
	// and people by hand for thirty.
	keepEvents = 30 * 24 * time.Hour
)

// Run looks at everybody soon after it starts and then every hour, until ctx ends. On
// several nodes each does so, and what one has done is nothing to do for the next.
func (b *Billing) Run(ctx context.Context) error {
	timer := time.NewTimer(rand.N(firstWithin))
	defer timer.Stop()
	checked := b.stripe == nil
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if !checked {
			checked = b.checkPrice(ctx)
		}
		if err := b.Reconcile(ctx); err != nil && ctx.Err() == nil {
			b.cfg.Log.Error("not every subscription and key could be looked at: it is tried again in an hour", "error", err)
		}
		timer.Reset(every)
	}
}

// Reconcile reads every subscription from Stripe and applies it, which also ends the
// graces that are over; cancels what must still be cancelled; suspends the keys that
// are due. A failure with one does not keep the others waiting.
func (b *Billing) Reconcile(ctx context.Context) error {
	var errs []error
	now := b.cfg.Now()
	if b.stripe != nil {
		errs = append(errs, b.cancelAll(ctx), b.refreshAll(ctx, now))
	} else {
		errs = append(errs, b.cfg.PruneCanceled(ctx, now))
	}
	errs = append(errs, b.cfg.SuspendKeys(ctx, now), b.cfg.PruneEvents(ctx, now.Add(-keepEvents)))
	return errors.Join(errs...)
}

// maxFailures is how many customers in a row fail with errAway before the rest is
// left for the next hour.
const maxFailures = 5

// refreshAll begins elsewhere every hour, so that a few of whom Stripe always fails to
// speak keep nobody waiting for ever.
func (b *Billing) refreshAll(ctx context.Context, now time.Time) error {
	all, err := b.cfg.Subscriptions(ctx)
	if err != nil {
		return err
	}
	var errs []error
	failures := 0
	hours := int(now.Unix() / int64(every/time.Second))
	for i := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s := all[(hours*maxFailures+i)%len(all)]
		_, err := b.Refresh(ctx, s.AccountID)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.AccountID, err))
		}
		if !errors.Is(err, errAway) {
			failures = 0
			continue
		}
		if failures++; failures == maxFailures {
			break
		}
	}
	return errors.Join(errs...)
}

func (b *Billing) cancelAll(ctx context.Context) error {
	customers, err := b.cfg.Cancellations(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range customers {
		if err := b.cancel(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// checkPrice tells the operator when the price is not the one that the website names,
// and gives whether Stripe could be asked.
func (b *Billing) checkPrice(ctx context.Context) bool {
	p, err := b.stripe.V1Prices.Retrieve(ctx, b.cfg.Price, nil)
	if err != nil {
		b.cfg.Log.Error("the price of Pro could not be read", "error", explain(err))
		return false
	}
	monthly := p.Recurring != nil && p.Recurring.Interval == stripe.PriceRecurringIntervalMonth && p.Recurring.IntervalCount == 1
	if !p.Active || p.UnitAmount != 9900 || p.Currency != stripe.CurrencyEUR || !monthly || p.TaxBehavior != stripe.PriceTaxBehaviorExclusive {
		b.cfg.Log.Error("--stripe-price is not what the website says, 99 EUR a month excluding tax: give the id of an active price with unit_amount 9900, currency eur, interval month and tax_behavior exclusive",
			"price", p.ID, "active", p.Active, "unit_amount", p.UnitAmount, "currency", p.Currency, "tax_behavior", p.TaxBehavior)
	}
	return true
}
