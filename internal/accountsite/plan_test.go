package accountsite_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/billing"
	"palmares/internal/catalog"
	"palmares/internal/testkit"
)

// A fakeStripe has one customer, with at most one subscription.
type fakeStripe struct {
	*httptest.Server
	mu           sync.Mutex
	unreachable  bool
	subscription map[string]any // nil for none
	canceled     bool
	reads        int // of subscriptions
}

// withStripe makes the pages take payments through a fake Stripe.
func (p *server) withStripe() *fakeStripe {
	p.t.Helper()
	c := &fakeStripe{}
	page := func(object string, data ...any) map[string]any {
		if data == nil {
			data = []any{}
		}
		return map[string]any{"object": object, "data": data, "has_more": false}
	}
	answers := map[string]func() any{
		"POST /v1/customers":               func() any { return map[string]any{"object": "customer", "id": "cus_1"} },
		"GET /v1/checkout/sessions":        func() any { return page("list") },
		"POST /v1/checkout/sessions":       func() any { return map[string]any{"id": "cs_1", "url": "https://checkout.stripe.com/c/pay/cs_1"} },
		"POST /v1/billing_portal/sessions": func() any { return map[string]any{"id": "bps_1", "url": "https://billing.stripe.com/p/1"} },
		"GET /v1/subscriptions": func() any {
			c.reads++
			if c.subscription == nil {
				return page("list")
			}
			return page("list", c.subscription)
		},
		"DELETE /v1/subscriptions/sub_1": func() any {
			c.canceled, c.subscription["status"] = true, "canceled"
			return c.subscription
		},
	}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		answer := answers[r.Method+" "+r.URL.Path]
		if answer == nil || c.unreachable {
			w.WriteHeader(http.StatusBadRequest) // which is not retried
			return
		}
		if err := json.NewEncoder(w).Encode(answer()); err != nil {
			p.t.Error(err)
		}
	}))
	p.t.Cleanup(c.Close)
	p.cfg.Billing = p.billing(billing.Config{Settings: billing.Settings{Key: "sk_test_x", WebhookSecret: "whsec_x", Price: "price_x", API: c.URL}})
	p.handler = accountsite.New(p.cfg)
	return c
}

// subscribe gives the customer a subscription.
func (c *fakeStripe) subscribe(status string, end time.Time, canceled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subscription = map[string]any{
		"object": "subscription", "id": "sub_1", "customer": "cus_1", "status": status, "created": monday.Unix(), "cancel_at_period_end": canceled,
		"items": map[string]any{"object": "list", "data": []any{map[string]any{"current_period_end": end.Unix(), "price": map[string]any{"object": "price", "id": "price_x"}}}},
	}
}

func (c *fakeStripe) setUnreachable(unreachable bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unreachable = unreachable
}

func TestWithoutStripeTheOperatorGrantsPro(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		r := b.get("/compte/pro").Is(200).Contains("Vous êtes Developer", "accordé par son opérateur").Lacks("<button type=\"submit\">S’abonner")
		if policy := r.Header.Get("Content-Security-Policy"); strings.Contains(policy, "stripe") {
			t.Errorf("forms may redirect to other sites: %s", policy)
		}
		b.post("/compte/pro/abonnement").RedirectsTo(303, "/compte/pro")
		b.post("/compte/pro/gestion").RedirectsTo(303, "/compte/pro")
		p.pro("ada@example.org")
		b.get("/compte/pro?session_id=cs_1").Is(200).Contains("Vous êtes Pro", "accordé par l’opérateur").Lacks("Merci")
	})
}

func TestProIsHiddenFromAccountsWithoutItIfThePublisherHidesIt(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		c := p.withStripe()
		p.snap.Catalog.Settings.Pro = catalog.ProHide
		b := p.signedIn("ada@example.org")
		silent := func(r *testkit.Reply) *testkit.Reply {
			t.Helper()
			if said := aboutPro.FindString(r.Body); said != "" {
				t.Errorf("a page mentions %q:\n%s", said, r.Body)
			}
			return r
		}
		p.used("2026-11-16", 1000)
		for _, name := range []string{"a", "b", "c"} {
			b.createKey(name)
			p.tick()
		}
		for _, path := range []string{"/compte", "/compte/cles", "/compte/usage", "/compte/sessions", "/compte/donnees"} {
			silent(b.get(path).Is(200))
		}
		silent(b.get("/compte/pro").Is(404))
		silent(b.post("/compte/pro/abonnement").Is(404))
		silent(b.get("/compte/webhooks").Is(404))
		silent(b.post("/compte/webhooks", "url", "https://hooks.example/in", "portee", "tous").Is(403))

		// Those who had Pro keep their endpoints.
		p.pro("ada@example.org")
		b.get("/compte").Is(200).Contains("Pro, ", `href="/compte/webhooks"`)
		b.get("/compte/pro").Is(200).Contains("Vous êtes Pro").Lacks("99\u00a0€")
		id, _ := b.createEndpoint("https://hooks.example/in")
		if err := p.store.Accounts.SetPlan(t.Context(), "ada@example.org", account.Developer, p.now); err != nil {
			t.Fatal(err)
		}
		silent(b.get("/compte").Is(200).Contains("1\u00a0point de réception"))
		silent(b.get("/compte/webhooks").Is(200).Contains("hooks.example"))
		path := "/compte/webhooks/" + id
		silent(b.get(path).Is(200).Contains("Suspendu"))
		silent(b.get(path + "?fait=point-suspendu").Is(200).Contains("mais suspendu"))
		silent(b.get(path + "?fait=point-sans-pro").Is(200).Contains("rien n’a été envoyé"))

		// Who pays must be able to stop.
		p.snap.Catalog.Settings.Pro = ""
		b.post("/compte/pro/abonnement").RedirectsTo(303, "https://checkout.stripe.com/c/pay/cs_1")
		c.subscribe("past_due", monday.AddDate(0, 1, 0), false)
		p.now = p.now.Add(time.Hour)
		b.get("/compte/pro?session_id=cs_1").Is(200)
		p.snap.Catalog.Settings.Pro = catalog.ProHide
		b.get("/compte/pro").Is(200).Contains("Gérer l’abonnement").Lacks("99\u00a0€")
	})
}

// aboutPro finds what must not be said where Pro is hidden.
var aboutPro = regexp.MustCompile(`\bPro\b|/compte/pro|99[ \x{a0}]€`)

func TestSubscribingRedirectsToStripeAndBack(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		c := p.withStripe()
		b := p.signedIn("ada@example.org")
		r := b.get("/compte/pro").Is(200).Contains("S’abonner à Pro", "99&nbsp;€")
		if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self' https://checkout.stripe.com https://billing.stripe.com;") {
			t.Errorf("browsers would block the redirect to Stripe: %s", policy)
		}
		if policy := b.get("/compte").Header.Get("Content-Security-Policy"); strings.Contains(policy, "stripe") {
			t.Errorf("forms of other pages may redirect to other sites: %s", policy)
		}
		b.post("/compte/pro/gestion").RedirectsTo(303, "/compte/pro") // there is nothing to manage
		c.setUnreachable(true)
		b.post("/compte/pro/abonnement").Is(502).Contains("Paiement indisponible", "rien n’a été débité")
		c.setUnreachable(false)
		b.post("/compte/pro/abonnement").RedirectsTo(303, "https://checkout.stripe.com/c/pay/cs_1")

		// Back before the payment, while Stripe is unreachable, and after the payment but before any event.
		back := func() *testkit.Reply {
			p.now = p.now.Add(time.Minute) // Stripe is called once a minute
			return b.get("/compte/pro?session_id=cs_1").Is(200)
		}
		back().Contains("ne confirme pas de paiement", "Vous êtes Developer")
		c.subscribe("active", monday.AddDate(0, 1, 0), false)
		c.setUnreachable(true)
		back().Contains("Stripe ne répond pas", "Vous êtes Developer")
		c.setUnreachable(false)
		b.get("/compte/pro").Is(200).Contains("Vous êtes Developer")
		back().Contains("Merci", "Vous êtes Pro", "se renouvelle le", "16\u00a0décembre 2026", "Gérer l’abonnement").Lacks("accordé par")
		if a := p.account("ada@example.org"); a.Plan != account.Pro {
			t.Errorf("the account is %+v", a)
		}
		b.post("/compte/pro/gestion").RedirectsTo(303, "https://billing.stripe.com/p/1")
		b.post("/compte/pro/abonnement").RedirectsTo(303, "https://billing.stripe.com/p/1") // no second subscription

		c.subscribe("active", monday.AddDate(0, 1, 0), true)
		back().Contains("L’abonnement s’arrête le", "16\u00a0décembre 2026", "rien n’est supprimé")
		c.subscribe("past_due", monday.AddDate(0, 1, 0), false)
		back().Contains("Un paiement a échoué", "7\u00a0décembre 2026", "Vous êtes Pro", "à jour ci-dessous").Lacks("Merci", "se renouvelle", "ne confirme pas")
		b.get("/compte").Is(200).Contains("Un paiement a échoué", "7\u00a0décembre 2026", `à jour depuis <a href="/compte/pro">`)
		p.now = p.now.Add(billing.Grace)
		back().Contains("Un paiement manque toujours", "Vous êtes Developer", "Gérer l’abonnement", "Réglez-le ci-dessous").Lacks("Merci", "se renouvelle", "ne confirme pas")
		c.subscribe("canceled", monday, false)
		back().Contains("Vous êtes Developer", "S’abonner à Pro").Lacks("paiement manque")
	})
}

func TestAnIncompleteFirstPaymentDoesNotGrantPro(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		c := p.withStripe()
		b := p.signedIn("ada@example.org")
		b.post("/compte/pro/abonnement").Is(303)
		c.subscribe("incomplete", monday.AddDate(0, 1, 0), false)
		b.get("/compte/pro?session_id=cs_1").Is(200).Contains("premier paiement n’a pas abouti", "Vous êtes Developer", "S’abonner à Pro").
			Lacks("Merci", "se renouvelle", "ne confirme pas", "Gérer l’abonnement")
	})
}

func TestAFailedPaymentDoesNotAffectProGrantedByTheOperator(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		c := p.withStripe()
		b := p.signedIn("ada@example.org")
		b.post("/compte/pro/abonnement").Is(303)
		c.subscribe("past_due", monday.AddDate(0, 1, 0), false)
		b.get("/compte/pro?session_id=cs_1").Is(200).Contains("Un paiement a échoué")
		p.pro("ada@example.org")
		for _, days := range []int{1, 22} { // during the grace period, and after it
			p.now = monday.AddDate(0, 0, days)
			b.get("/compte/pro?session_id=cs_1").Is(200).Contains("Vous êtes Pro", "Gérer l’abonnement").
				Lacks("Un paiement", "Developer", "se renouvelle", "Merci")
			b.get("/compte").Is(200).Lacks("Un paiement")
		}
		c.subscribe("active", monday.AddDate(0, 1, 0), true)
		p.now = p.now.Add(time.Minute)
		b.get("/compte/pro?session_id=cs_1").Is(200).Contains("L’abonnement s’arrête le", "Pro vous reste").Lacks("redevient Developer")
	})
}

func TestLoadingThePlanPageCallsStripeOnceAMinute(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		c := p.withStripe()
		ada, eve := p.signedIn("ada@example.org"), p.signedIn("eve@example.org")
		ada.post("/compte/pro/abonnement").Is(303)
		before := c.reads
		for range 5 {
			ada.get("/compte/pro?session_id=cs_1").Is(200)
			eve.get("/compte/pro?session_id=cs_1").Is(200) // a limit of her own
		}
		if n := c.reads - before; n != 1 {
			t.Errorf("Stripe was called %d times", n)
		}
		p.now = p.now.Add(time.Minute)
		ada.get("/compte/pro?session_id=cs_1").Is(200)
		if n := c.reads - before; n != 2 {
			t.Errorf("a minute later Stripe was called %d times", n)
		}
	})
}
