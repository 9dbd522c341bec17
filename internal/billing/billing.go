// Package billing lets accounts pay for Pro through Stripe.
//
// Stripe is the source of truth: who subscribed, who paid, who cancelled. What is stored
// here is a copy, and there is one way to change it: read all subscriptions of a customer
// from Stripe, then store what was read, unless something was stored meanwhile, in which
// case read again. Events, visitors who return from paying and the hourly reconciliation
// all do exactly that. So it does not matter in which order events arrive or whether one
// is lost or repeated: an event is only a hint to read again.
//
// No lock is held during a call to Stripe: on SQLite it would block every writer.
//
// The rules are here; package accountdb keeps the rows and imports this package for its
// types.
package billing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stripe/stripe-go/v86"
)

// Settings are the operator's. Key, WebhookSecret and Price are all set or none. Without
// them nobody can pay, and only the operator grants Pro; keys in excess are still
// suspended.
type Settings struct {
	Key           string
	WebhookSecret string
	Price         string // 99 EUR a month, excluding tax
	API           string // base URL of Stripe; "" for Stripe's own
}

// Check refuses settings that cannot work. It does not call Stripe. No error repeats a
// setting: it may be a secret in the wrong place.
func (s Settings) Check() error {
	set := 0
	for _, v := range []string{s.Key, s.WebhookSecret, s.Price} {
		if v != "" {
			set++
		}
	}
	switch {
	case set == 0:
		return nil
	case set < 3:
		return errors.New("to accept payments, set --stripe-key, --stripe-webhook-secret and --stripe-price; " +
			"set none of them to grant Pro only with `palmares account plan`")
	case !strings.HasPrefix(s.Key, "sk_") && !strings.HasPrefix(s.Key, "rk_"):
		return errors.New("--stripe-key is not a Stripe secret key: expected one that begins with sk_ or rk_, " +
			"from Developers > API keys")
	case !strings.HasPrefix(s.WebhookSecret, "whsec_"):
		return errors.New("--stripe-webhook-secret is not the signing secret of a webhook: " +
			"expected one that begins with whsec_, from Developers > Webhooks")
	case !strings.HasPrefix(s.Price, "price_"):
		return errors.New("--stripe-price is not the ID of a price: expected one that begins with price_, " +
			"from the product's page")
	}
	if _, err := url.Parse(s.API); err != nil {
		return fmt.Errorf("the URL of Stripe cannot be parsed: %w", err)
	}
	return nil
}

// A Ledger stores subscriptions. The store's Subscriptions implements it.
type Ledger interface {
	// Find returns the subscription of an account, the zero value if it never started
	// to pay.
	Find(ctx context.Context, accountID string) (Subscription, error)
	// ByCustomer returns the subscription of a Stripe customer, the zero value if it is
	// no account's.
	ByCustomer(ctx context.Context, customerID string) (Subscription, error)
	// List returns the subscriptions of all accounts that ever started to pay.
	List(ctx context.Context) ([]Subscription, error)
	// SetCustomer stores the Stripe customer of an account in place of old, "" for none.
	// If the account has another customer by then, that one stays.
	SetCustomer(ctx context.Context, accountID, old, customerID string) (Subscription, error)
	// Apply stores a reading and its effects. It reports false, and stores nothing, if
	// the subscription has changed since the finding's version.
	Apply(ctx context.Context, f Finding) (fresh bool, err error)

	// EventSeen reports whether an event has been applied.
	EventSeen(ctx context.Context, id string) (bool, error)
	// PruneEvents removes the events from before a time.
	PruneEvents(ctx context.Context, before time.Time) error
}

// Keys suspends API keys. The store's Keys does.
type Keys interface {
	// SuspendExcess suspends the keys in excess of a plan whose grace period is over.
	SuspendExcess(ctx context.Context, now time.Time) error
}

// Config is what billing needs. All fields are required except Settings.
type Config struct {
	Settings
	Ledger  Ledger
	Keys    Keys
	BaseURL string // of the website, without a final slash
	Now     func() time.Time
	Log     *slog.Logger
}

// Billing lets accounts pay. It is safe for concurrent use.
type Billing struct {
	cfg    Config
	stripe *stripe.Client // nil if nobody can pay here

	events    *prometheus.CounterVec
	productID atomic.Pointer[string] // of Pro; nil until it was read
}

// ErrOff means that there is no Stripe key, so only the operator grants Pro.
var ErrOff = errors.New("payments are off: grant Pro with `palmares account plan EMAIL pro`")

// New returns the error of Settings.Check, if any. It does not call Stripe. It panics if
// a required field of cfg is not set.
func New(cfg Config) (*Billing, error) {
	if cfg.Ledger == nil || cfg.Keys == nil || cfg.BaseURL == "" || cfg.Now == nil || cfg.Log == nil {
		panic("billing: a required field of Config is not set")
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	b := &Billing{cfg: cfg, events: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "palmares_stripe_events_total",
		Help: "Events that this process received at /hooks/stripe, by outcome.",
	}, []string{"outcome"})}
	for _, outcome := range []string{"applied", "failed", "forged"} {
		b.events.WithLabelValues(outcome) // at 0 from the start, so that the first one is an increase
	}
	if cfg.Key != "" {
		b.stripe = newClient(cfg.Key, cfg.API)
	}
	return b, nil
}

// Metrics are those of the events.
func (b *Billing) Metrics() prometheus.Collector { return b.events }

// Enabled reports whether accounts can pay here.
func (b *Billing) Enabled() bool { return b.stripe != nil }

// maxReads is how often a customer's subscriptions are read while others keep storing
// newer readings, before giving up.
const maxReads = 8

// Refresh reads an account's subscription from Stripe and applies it, for example for a
// visitor who returns from paying before the event arrives. For an account that never
// started to pay there is nothing to read.
func (b *Billing) Refresh(ctx context.Context, accountID string) (Subscription, error) {
	if b.stripe == nil {
		return Subscription{}, ErrOff
	}
	return b.refresh(ctx, func() (Subscription, error) { return b.cfg.Ledger.Find(ctx, accountID) }, "")
}

// refresh reads and applies until the reading is not outdated.
func (b *Billing) refresh(
	ctx context.Context, find func() (Subscription, error), eventID string,
) (Subscription, error) {
	for range maxReads {
		known, err := find() // before the reading: what is stored during it is newer
		if err != nil || known.CustomerID == "" {
			return known, err
		}
		readings, err := b.read(ctx, known.CustomerID)
		if err != nil {
			return known, err
		}
		readings = slices.DeleteFunc(readings, func(r Reading) bool { return !r.Pro })
		b.warnOfDuplicates(known.AccountID, readings)
		r, err := choose(readings)
		if err != nil {
			return known, err
		}
		fresh, err := b.cfg.Ledger.Apply(ctx, Finding{
			Reading: r, AccountID: known.AccountID, Version: known.Version, EventID: eventID, ObservedAt: b.cfg.Now(),
		})
		if err != nil {
			return known, err
		}
		if fresh {
			return find()
		}
	}
	return Subscription{}, errors.New("the subscription changes faster than it can be read: try again in a moment")
}

// warnOfDuplicates logs that an account pays twice, which Checkout prevents and the
// Stripe dashboard does not. Which one to cancel, and what to refund, is for the operator
// to decide.
func (b *Billing) warnOfDuplicates(accountID string, readings []Reading) {
	live := 0
	for _, r := range readings {
		if r.Status.Live() {
			live++
		}
	}
	if live > 1 {
		b.cfg.Log.Warn("an account pays for more than one subscription: cancel all but one in the Stripe dashboard",
			"account", accountID, "subscriptions", live)
	}
}

// Cancel cancels all that an account pays, or could start to pay on an open Checkout page, so
// that the account can be deleted. After an error the account must stay: it may still be charged.
func (b *Billing) Cancel(ctx context.Context, accountID string) error {
	known, err := b.cfg.Ledger.Find(ctx, accountID)
	switch {
	case err != nil || known.CustomerID == "":
		return err
	case b.stripe != nil:
		return b.cancel(ctx, known.CustomerID)
	case known.Status.Charges():
		return fmt.Errorf("the subscription %s cannot be cancelled without --stripe-key: "+
			"cancel it in the Stripe dashboard, then use `palmares account delete --cancelled`", known.ID)
	}
	return nil
}

// cancel cancels all that a customer pays or could start to pay. A customer that Stripe does not
// know pays nothing.
func (b *Billing) cancel(ctx context.Context, customerID string) error {
	err := b.cancelSubscriptions(ctx, customerID)
	if errors.Is(err, errUnknownCustomer) {
		b.cfg.Log.Warn("nothing to cancel for a customer that Stripe does not know",
			"customer", customerID, "error", err)
		return nil
	}
	return err
}

func (b *Billing) cancelSubscriptions(ctx context.Context, customerID string) error {
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
		if !r.Status.Charges() {
			continue
		}
		_, err := b.stripe.V1Subscriptions.Cancel(ctx, r.ID, &stripe.SubscriptionCancelParams{})
		if refused, ok := errors.AsType[*stripe.Error](err); ok && refused.Code == stripe.ErrorCodeResourceMissing {
			continue // cancelled meanwhile
		}
		if err != nil {
			return explain(err)
		}
	}
	return nil
}
