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
	// reconcileInterval is how often every subscription is read again: the longest delay
	// that a lost event causes.
	reconcileInterval = time.Hour
	// maxFirstDelay spreads the first reconciliation of nodes that start together.
	maxFirstDelay = time.Minute
	// keepEvents is how long an event is remembered. Stripe resends one for three days,
	// and people by hand for thirty.
	keepEvents = 30 * 24 * time.Hour
)

// Run calls Reconcile soon after it starts and then every hour, until ctx ends. Every node
// does so; what one has done leaves nothing to do for the next.
func (b *Billing) Run(ctx context.Context) error {
	timer := time.NewTimer(rand.N(maxFirstDelay))
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
			b.cfg.Log.Error("could not reconcile all subscriptions and keys: retrying in an hour", "error", err)
		}
		timer.Reset(reconcileInterval)
	}
}

// Reconcile reads every subscription from Stripe and applies it, which also ends grace
// periods, and suspends keys that are due. A failure with one does not stop the others.
func (b *Billing) Reconcile(ctx context.Context) error {
	var errs []error
	now := b.cfg.Now()
	if b.stripe != nil {
		errs = append(errs, b.refreshAll(ctx, now))
	}
	errs = append(errs, b.cfg.Keys.SuspendExcess(ctx, now), b.cfg.Ledger.PruneEvents(ctx, now.Add(-keepEvents)))
	return errors.Join(errs...)
}

// maxFailures is how many customers in a row fail with errUnavailable before the rest are
// left for the next hour.
const maxFailures = 5

// refreshAll starts with another customer every hour, so that a few that always fail do
// not keep the others from being refreshed.
func (b *Billing) refreshAll(ctx context.Context, now time.Time) error {
	all, err := b.cfg.Ledger.List(ctx)
	if err != nil {
		return err
	}
	var errs []error
	failures := 0
	hours := int(now.Unix() / int64(reconcileInterval/time.Second))
	for i := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s := all[(hours*maxFailures+i)%len(all)]
		_, err := b.Refresh(ctx, s.AccountID)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.AccountID, err))
		}
		if !errors.Is(err, errUnavailable) {
			failures = 0
			continue
		}
		if failures++; failures == maxFailures {
			break
		}
	}
	return errors.Join(errs...)
}

// errWrongPrice: the price is not the one that the website shows.
var errWrongPrice = errors.New("--stripe-price is not what the website shows, 99 EUR a month excluding tax: " +
	"use the ID of an active price with unit_amount 9900, currency eur, interval month and tax_behavior exclusive")

// checkPrice logs if the price is not the one that the website shows. It reports whether
// Stripe answered.
func (b *Billing) checkPrice(ctx context.Context) bool {
	err := readPrice(ctx, b.stripe, b.cfg.Price)
	if err != nil {
		b.cfg.Log.Error("could not read the price of Pro from Stripe, or it is another one", "error", err)
	}
	return err == nil || errors.Is(err, errWrongPrice)
}

// Reach asks Stripe for the price of Pro, and returns why it cannot be paid. The settings must have
// passed Check.
func (s Settings) Reach(ctx context.Context) error {
	return readPrice(ctx, newClient(s.Key, s.API), s.Price)
}

func readPrice(ctx context.Context, client *stripe.Client, id string) error {
	p, err := client.V1Prices.Retrieve(ctx, id, nil)
	if err != nil {
		return explain(err)
	}
	monthly := p.Recurring != nil && p.Recurring.Interval == stripe.PriceRecurringIntervalMonth &&
		p.Recurring.IntervalCount == 1
	if !p.Active || p.UnitAmount != 9900 || p.Currency != stripe.CurrencyEUR || !monthly ||
		p.TaxBehavior != stripe.PriceTaxBehaviorExclusive {
		return fmt.Errorf("%w (%s: active %t, unit_amount %d, currency %s, tax_behavior %s)",
			errWrongPrice, p.ID, p.Active, p.UnitAmount, p.Currency, p.TaxBehavior)
	}
	return nil
}
