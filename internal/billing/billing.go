// Package billing has accounts pay for Pro, through Stripe.
//
// Stripe holds the truth: who subscribed, who paid, who cancelled. What is kept here
// is a copy, and there is one way to change it: read all subscriptions of a customer
// from Stripe, then write what was read unless something was written meanwhile, in
// which case it is read again. An event, a visitor who comes back from paying
// and the hourly look at everybody all do just that. Hence the order in which events
// come does not matter, nor whether one is lost, repeated or forged in all but its
// signature: what an event says is never believed, only that there is something to
// read.
//
// No lock is held while Stripe is asked: on SQLite it would be the lock of every
// writer.
//
// The rules are here; package store keeps the rows and imports this package for its
// words.
package billing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v86"
)

// Config is what billing needs. Every function is of the store; all are required.
type Config struct {
	// Key, WebhookSecret and Price come from the operator, all three or none. Without
	// them nobody can pay and Pro is the operator's to give; keys are still suspended.
	Key           string
	WebhookSecret string
	Price         string // 99 EUR a month, tax exclusive

	BaseURL string // of the website, without a slash at its end
	API     string // where Stripe is; "" for Stripe's own address
	Now     func() time.Time
	Log     *slog.Logger

	Subscription   func(ctx context.Context, accountID string) (Subscription, error)  // zero: it never went to pay
	SubscriptionOf func(ctx context.Context, customerID string) (Subscription, error) // zero: no account is this customer
	Subscriptions  func(ctx context.Context) ([]Subscription, error)
	SetCustomer    func(ctx context.Context, accountID, old, customerID string) (Subscription, error)
	EventSeen      func(ctx context.Context, id string) (bool, error)
	Apply          func(ctx context.Context, f Finding) (fresh bool, err error)
	PruneEvents    func(ctx context.Context, before time.Time) error
	Cancellations  func(ctx context.Context) (customers []string, err error)
	Canceled       func(ctx context.Context, customerID string) error
	PruneCanceled  func(ctx context.Context, now time.Time) error
	SuspendKeys    func(ctx context.Context, now time.Time) error
}

// Billing has accounts pay. Any number of goroutines use it.
type Billing struct {
	cfg    Config
	stripe *stripe.Client // nil: nobody can pay here
}

// ErrOff: no Stripe key was given, so that Pro is the operator's to give.
var ErrOff = errors.New("nobody can pay here: Pro is given with `palmares account plan EMAIL pro`")

// New checks the operator's settings. It asks Stripe nothing.
func New(cfg Config) (*Billing, error) {
	b := &Billing{cfg: cfg}
	given := 0
	for _, s := range []string{cfg.Key, cfg.WebhookSecret, cfg.Price} {
		if s != "" {
			given++
		}
	}
	// What was given is not repeated in any sentence: it may be a secret in the wrong place.
	switch {
	case given == 0:
		return b, nil
	case given < 3:
		return nil, errors.New("to take payments, --stripe-key, --stripe-webhook-secret and --stripe-price are all needed: give the three, or none and Pro is given with `palmares account plan`")
	case !strings.HasPrefix(cfg.Key, "sk_") && !strings.HasPrefix(cfg.Key, "rk_"):
		return nil, errors.New("--stripe-key is not a secret key of Stripe: give the one that begins with sk_ or rk_, from Developers > API keys")
	case !strings.HasPrefix(cfg.WebhookSecret, "whsec_"):
		return nil, errors.New("--stripe-webhook-secret is not the signing secret of a webhook: give the one that begins with whsec_, from Developers > Webhooks")
	case !strings.HasPrefix(cfg.Price, "price_"):
		return nil, errors.New("--stripe-price is not the id of a price: give the one that begins with price_, from the product's page")
	}
	if _, err := url.Parse(cfg.API); err != nil {
		return nil, fmt.Errorf("the address of Stripe cannot be read: %w", err)
	}
	b.stripe = newClient(cfg.Key, cfg.API)
	return b, nil
}

// Enabled tells whether accounts can pay here.
func (b *Billing) Enabled() bool { return b.stripe != nil }

// maxReads is how often a customer's subscriptions are read before it is given up
// because others keep writing. Each of them wrote something at least as new.
const maxReads = 8

// Refresh reads an account's subscription from Stripe and applies it, as for somebody
// who comes back from paying before the event does. An account that never went to pay
// has nothing to read.
func (b *Billing) Refresh(ctx context.Context, accountID string) (Subscription, error) {
	if b.stripe == nil {
		return Subscription{}, ErrOff
	}
	return b.refresh(ctx, func() (Subscription, error) { return b.cfg.Subscription(ctx, accountID) }, "")
}

// refresh reads and applies until what it read is what is written.
func (b *Billing) refresh(ctx context.Context, find func() (Subscription, error), eventID string) (Subscription, error) {
	for range maxReads {
		known, err := find() // before the reading: whatever is written during it is newer
		if err != nil || known.CustomerID == "" {
			return known, err
		}
		readings, err := b.read(ctx, known.CustomerID)
		if err != nil {
			return known, err
		}
		b.warnOfTwo(known.AccountID, readings)
		r, err := choose(readings)
		if err != nil {
			return known, err
		}
		fresh, err := b.cfg.Apply(ctx, Finding{Reading: r, AccountID: known.AccountID, Version: known.Version, EventID: eventID, ObservedAt: b.cfg.Now()})
		if err != nil {
			return known, err
		}
		if fresh {
			return find()
		}
	}
	return Subscription{}, errors.New("the subscription changes faster than it can be read: try again in a moment")
}

// warnOfTwo tells the operator of somebody who pays twice, which Checkout prevents
// and the Stripe dashboard does not. Which of the two to end, and what to pay back,
// is not ours to say.
func (b *Billing) warnOfTwo(accountID string, readings []Reading) {
	live := 0
	for _, r := range readings {
		if r.Status.Live() {
			live++
		}
	}
	if live > 1 {
		b.cfg.Log.Warn("an account pays more than one subscription: end all but one in the Stripe dashboard", "account", accountID, "subscriptions", live)
	}
}

// Cancel ends what is charged to a customer whose account was deleted, "" for none.
// The deletion noted that this is to be done: when Stripe is away, Run does it.
func (b *Billing) Cancel(ctx context.Context, customerID string) {
	if customerID == "" || b.stripe == nil {
		return
	}
	if err := b.cancel(ctx, customerID); err != nil {
		b.cfg.Log.Error("a subscription could not be cancelled: it is tried again within the hour", "customer", customerID, "error", err)
	}
}

// cancel ends all that a customer pays, or could begin to pay on a page still open,
// and forgets it. A customer of whom Stripe does not know pays nothing that could be
// ended from here.
func (b *Billing) cancel(ctx context.Context, customerID string) error {
	err := b.endAll(ctx, customerID)
	if errors.Is(err, errUnknownCustomer) {
		b.cfg.Log.Warn("nothing was cancelled for a customer that Stripe does not know", "customer", customerID, "error", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return b.cfg.Canceled(ctx, customerID)
}

func (b *Billing) endAll(ctx context.Context, customerID string) error {
	open, err := b.openSessions(ctx, customerID)
	if err != nil {
		return err
	}
	for _, s := range open {
		if err := b.expire(ctx, s); err != nil {
			return err
		}
	}
	readings, err := b.read(ctx, customerID)
	if err != nil {
		return err
	}
	for _, r := range readings {
		if !r.Status.Live() && r.Status != Incomplete {
			continue
		}
		if _, err := b.stripe.V1Subscriptions.Cancel(ctx, r.ID, &stripe.SubscriptionCancelParams{}); err != nil {
			return explain(err)
		}
	}
	return nil
}
