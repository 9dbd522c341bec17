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

func TestEverybodyIsLookedAtSoonAfterTheStartAndThenEveryHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var looks []time.Duration
		var pruned time.Time
		b, err := billing.New(billing.Config{
			Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			SuspendKeys: func(_ context.Context, now time.Time) error {
				looks = append(looks, now.Sub(start))
				return errors.New("the database is away") // which is no reason to stop
			},
			PruneCanceled: func(context.Context, time.Time) error { return nil },
			PruneEvents: func(_ context.Context, before time.Time) error {
				pruned = before
				return nil
			},
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
		if len(looks) != 4 || looks[0] >= time.Minute {
			t.Fatalf("looks at %v; want one in the first minute and three more", looks)
		}
		for i := range looks[1:] {
			if looks[i+1]-looks[i] != time.Hour {
				t.Errorf("looks at %v; want one an hour", looks)
			}
		}
		if kept := start.Add(looks[3]).Sub(pruned); kept != 30*days {
			t.Errorf("events are kept for %s; want 30 days", kept)
		}
	})
}

func TestWithoutAKeyNobodyPaysAndKeysAreStillSuspended(t *testing.T) {
	each(t, func(h *house) {
		h.cfg.Key, h.cfg.WebhookSecret, h.cfg.Price = "", "", ""
		h.Billing = h.build(h.cfg)
		ada := h.account("ada@example.org")
		if h.Enabled() {
			h.Error("Enabled")
		}
		_, checkout := h.Checkout(h.Context(), ada)
		_, portal := h.Portal(h.Context(), ada)
		_, refresh := h.Refresh(h.Context(), ada.ID)
		for _, err := range []error{checkout, portal, refresh} {
			if !errors.Is(err, billing.ErrOff) {
				h.Errorf("error %v; want ErrOff", err)
			}
		}
		h.Cancel(h.Context(), "cus_1")
		if len(h.fake.calls) > 0 {
			h.Errorf("Stripe is asked without a key: %v", h.fake.calls)
		}
		body := []byte(`{"object":"event","id":"evt_1","type":"invoice.paid"}`)
		if status := h.post(h.Billing, body, sign(body, "", time.Now())); status != 404 {
			h.Errorf("an event is answered %d; want 404", status)
		}

		if err := h.store.Accounts.SetPlan(h.Context(), ada.Email, account.Pro, h.clock.Now()); err != nil {
			h.Fatal(err)
		}
		for range 4 {
			if _, _, err := h.store.Keys.Create(h.Context(), ada.Email, "k", h.clock.Now()); err != nil {
				h.Fatal(err)
			}
		}
		if err := h.store.Accounts.SetPlan(h.Context(), ada.Email, account.Developer, h.clock.Now()); err != nil {
			h.Fatal(err)
		}
		h.reconcile()
		h.clock.add(7 * days)
		h.reconcile()
		keys, err := h.store.Keys.List(h.Context(), ada.Email)
		if err != nil {
			h.Fatal(err)
		}
		if working := slices.IndexFunc(keys, func(k account.Key) bool { return k.SuspendedAt.IsZero() }); len(keys) != 4 || keys[0].SuspendedAt.IsZero() || working != 1 {
			h.Errorf("keys %+v; want the first suspended, as none was ever used", keys)
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
		_, err := billing.New(billing.Config{Key: c.key, WebhookSecret: c.secret, Price: c.price})
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
		if b, err := billing.New(billing.Config{Key: key, WebhookSecret: "whsec_a", Price: "price_a"}); err != nil || !b.Enabled() {
			t.Errorf("New = %v", err)
		}
	}
}

func TestTheOperatorIsToldOfAPriceThatTheWebsiteDoesNotName(t *testing.T) {
	h := newHouse(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"))
	if !billing.CheckPrice(h.Billing, t.Context()) || h.log.String() != "" {
		t.Errorf("the log about a good price:\n%s", h.log)
	}
	h.fake.with(func() { h.fake.amount = 4900 })
	if !billing.CheckPrice(h.Billing, t.Context()) || !strings.Contains(h.log.String(), "99 EUR a month") {
		t.Errorf("the log about another price:\n%s", h.log)
	}
	h.fake.with(func() { h.fake.away = true })
	if billing.CheckPrice(h.Billing, t.Context()) {
		t.Error("a Stripe that is away is not asked again")
	}
}

// A server that answers without end, or sends the key elsewhere, is not Stripe.
func TestAnAnswerThatCannotBeStripesIsGivenUp(t *testing.T) {
	h := newHouse(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"))
	ada := h.account("ada@example.org")
	h.customer(ada)
	h.reconcile()
	for name, server := range map[string]*httptest.Server{"endless": endless(t), "elsewhere": elsewhere(t)} {
		h.cfg.API = server.URL
		h.Billing = h.build(h.cfg)
		if _, err := h.Refresh(t.Context(), ada.ID); err == nil || strings.Contains(err.Error(), stripeKey) {
			t.Errorf("%s: %v", name, err)
		}
		h.plan(ada, account.Pro)
	}
}
