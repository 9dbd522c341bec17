package billing_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
)

func TestEverythingIsReconciledSoonAfterTheStartAndThenEveryHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		keys, ledger := &failingKeys{}, &pruningLedger{}
		b, err := billing.New(billing.Config{
			Ledger: ledger, Keys: keys, BaseURL: "https://palmares.example", Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- b.Run(ctx) }()
		time.Sleep(3*time.Hour + time.Minute) // of the bubble's clock
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
		if len(keys.calls) != 4 || keys.calls[0].Sub(start) >= time.Minute {
			t.Fatalf("reconciled at %v; want once in the first minute and three times more", keys.calls)
		}
		for i := range keys.calls[1:] {
			if keys.calls[i+1].Sub(keys.calls[i]) != time.Hour {
				t.Errorf("reconciled at %v; want once an hour", keys.calls)
			}
		}
		if kept := keys.calls[3].Sub(ledger.pruned); kept != 30*days {
			t.Errorf("events are kept for %s; want 30 days", kept)
		}
	})
}

// failingKeys records when keys were to be suspended, and fails, which is no reason to
// stop.
type failingKeys struct{ calls []time.Time }

func (k *failingKeys) SuspendExcess(_ context.Context, now time.Time) error {
	k.calls = append(k.calls, now)
	return errors.New("the database is unreachable")
}

// pruningLedger has what Reconcile calls without a Stripe key.
type pruningLedger struct {
	billing.Ledger
	pruned time.Time
}

func (l *pruningLedger) PruneEvents(_ context.Context, before time.Time) error {
	l.pruned = before
	return nil
}

func TestWithoutAKeyNobodyPaysAndKeysAreStillSuspended(t *testing.T) {
	each(t, func(f *fixture) {
		f.cfg.Key, f.cfg.WebhookSecret, f.cfg.Price = "", "", ""
		f.Billing = f.build(f.cfg)
		ada := f.account("ada@example.org")
		if f.Enabled() {
			f.Error("Enabled")
		}
		_, checkout := f.Checkout(f.Context(), ada)
		_, portal := f.Portal(f.Context(), ada)
		_, refresh := f.Refresh(f.Context(), ada.ID)
		for _, err := range []error{checkout, portal, refresh} {
			if !errors.Is(err, billing.ErrOff) {
				f.Errorf("error %v; want ErrOff", err)
			}
		}
		if err := f.Cancel(f.Context(), ada.ID); err != nil {
			f.Error(err)
		}
		if len(f.fake.calls) > 0 {
			f.Errorf("Stripe is asked without a key: %v", f.fake.calls)
		}
		body := []byte(`{"object":"event","id":"evt_1","type":"invoice.paid"}`)
		if status := f.post(f.Billing, body, sign(body, "", time.Now())); status != 404 {
			f.Errorf("an event is answered %d; want 404", status)
		}

		if err := f.store.Accounts.SetPlan(f.Context(), ada.Email, account.Pro, f.clock.Now()); err != nil {
			f.Fatal(err)
		}
		for range 4 {
			if _, _, err := f.store.Keys.Create(f.Context(), ada.Email, "k", nil, f.clock.Now()); err != nil {
				f.Fatal(err)
			}
		}
		if err := f.store.Accounts.SetPlan(f.Context(), ada.Email, account.Developer, f.clock.Now()); err != nil {
			f.Fatal(err)
		}
		f.reconcile()
		f.clock.Advance(7 * days)
		f.reconcile()
		keys, err := f.store.Keys.List(f.Context(), ada.Email)
		if err != nil {
			f.Fatal(err)
		}
		if working := slices.IndexFunc(keys, func(k account.Key) bool { return k.SuspendedAt.IsZero() }); len(keys) != 4 || keys[0].SuspendedAt.IsZero() || working != 1 {
			f.Errorf("keys %+v; want the first suspended, as none was ever used", keys)
		}
	})
}

func TestSettingsThatCannotWorkAreRefusedWithoutRepeatingThem(t *testing.T) {
	for _, c := range []struct{ key, secret, price, says string }{
		{"sk_live_a", "", "", "--stripe-webhook-secret"},
		{"", "whsec_a", "price_a", "--stripe-key"},
		{"pk_live_a", "whsec_a", "price_a", "sk_"},
		{"sk_live_a", "sk_live_b", "price_a", "whsec_"},
		{"sk_live_a", "whsec_a", "prod_a", "price_"},
	} {
		err := billing.Settings{Key: c.key, WebhookSecret: c.secret, Price: c.price}.Check()
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v; want a sentence with %s", c, err, c.says)
			continue
		}
		for _, given := range []string{c.key, c.secret, c.price} {
			if given != "" && strings.Contains(err.Error(), given) {
				t.Errorf("%v repeats what was given", err)
			}
		}
	}
	for _, key := range []string{"sk_live_a", "rk_live_a"} {
		if err := (billing.Settings{Key: key, WebhookSecret: "whsec_a", Price: "price_a"}).Check(); err != nil {
			t.Errorf("Check = %v", err)
		}
	}
}

func TestAPriceThatTheWebsiteDoesNotShowIsLogged(t *testing.T) {
	f := newFixture(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"))
	if !billing.CheckPrice(f.Billing, t.Context()) || f.log.String() != "" {
		t.Errorf("the log about a good price:\n%s", f.log)
	}
	if err := f.cfg.Reach(t.Context()); err != nil {
		t.Error(err)
	}
	f.fake.with(func() { f.fake.amount = 4900 })
	if err := f.cfg.Reach(t.Context()); err == nil || !strings.Contains(err.Error(), "unit_amount 4900") {
		t.Errorf("another price: %v", err)
	}
	if !billing.CheckPrice(f.Billing, t.Context()) || !strings.Contains(f.log.String(), "99 EUR a month") {
		t.Errorf("the log about another price:\n%s", f.log)
	}
	f.fake.with(func() { f.fake.failing = true })
	if billing.CheckPrice(f.Billing, t.Context()) {
		t.Error("an unreachable Stripe is not asked again")
	}
	if err := f.cfg.Reach(t.Context()); err == nil || strings.Contains(err.Error(), stripeKey) {
		t.Errorf("an unreachable Stripe: %v", err)
	}
}

// A server that responds without end, or redirects the key elsewhere, is not Stripe.
func TestAResponseThatCannotBeStripesIsRefused(t *testing.T) {
	f := newFixture(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"))
	ada := f.account("ada@example.org")
	f.customer(ada)
	f.reconcile()
	for name, server := range map[string]*httptest.Server{"endless": endless(t), "elsewhere": elsewhere(t)} {
		f.cfg.API = server.URL
		f.Billing = f.build(f.cfg)
		if _, err := f.Refresh(t.Context(), ada.ID); err == nil || strings.Contains(err.Error(), stripeKey) {
			t.Errorf("%s: %v", name, err)
		}
		f.plan(ada, account.Pro)
	}
}
