package billing_test

import (
	"bufio"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/billing"
)

func TestCheckoutAsksForTheSubscriptionThatTheWebsiteNames(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		page := h.checkout(ada)
		if !strings.HasPrefix(page, h.fake.URL+"/pay/") {
			h.Errorf("page %q", page)
		}
		customers, sessions := h.fake.asked("POST /v1/customers"), h.fake.asked("POST /v1/checkout/sessions")
		if len(customers) != 1 || len(sessions) != 1 {
			h.Fatalf("%d customers and %d sessions were made; want one of each", len(customers), len(sessions))
		}
		want := url.Values{"email": {"ada@example.org"}, "preferred_locales[0]": {"fr"}, "metadata[account_id]": {ada.ID}}
		if diff := cmp.Diff(want, without(customers[0].Form, "path")); diff != "" {
			h.Error(diff)
		}
		want = url.Values{
			"mode": {"subscription"}, "line_items[0][price]": {"price_pro"}, "line_items[0][quantity]": {"1"},
			"automatic_tax[enabled]": {"true"}, "tax_id_collection[enabled]": {"true"}, "billing_address_collection": {"required"},
			"customer": {h.subscription(ada).CustomerID}, "customer_update[address]": {"auto"}, "customer_update[name]": {"auto"},
			"locale": {"fr"}, "client_reference_id": {ada.ID}, "subscription_data[metadata][account_id]": {ada.ID}, "metadata[account_id]": {ada.ID},
			"success_url": {"https://palmares.example/compte/pro?session_id={CHECKOUT_SESSION_ID}"}, "cancel_url": {"https://palmares.example/compte"},
		}
		if diff := cmp.Diff(want, without(sessions[0].Form, "path", "metadata[offer]")); diff != "" {
			h.Error(diff)
		}
		if customers[0].Key == "" || sessions[0].Key == "" || customers[0].Key == sessions[0].Key {
			h.Errorf("idempotency keys %q and %q", customers[0].Key, sessions[0].Key)
		}
	})
}

func without(form url.Values, names ...string) url.Values {
	for _, name := range names {
		form.Del(name)
	}
	return form
}

func TestAnAccountHasOneCustomerAndOnePageToPayOn(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		pages := make([]string, 8)
		var wait sync.WaitGroup
		for i := range pages {
			wait.Go(func() {
				page, err := h.Checkout(h.Context(), ada)
				if err != nil {
					h.Error(err)
				}
				pages[i] = page
			})
		}
		wait.Wait()
		again := h.checkout(ada)
		for _, page := range pages {
			if page != again {
				h.Errorf("pages %q and %q", page, again)
			}
		}
		h.fake.with(func() {
			if len(h.fake.customers) != 1 || len(h.fake.sessions) != 1 {
				h.Errorf("%d customers and %d sessions", len(h.fake.customers), len(h.fake.sessions))
			}
		})
		// Another price makes another page, and the one that names the old price ends.
		h.cfg.Price = "price_other"
		h.Billing = h.build(h.cfg)
		if other := h.checkout(ada); other == again {
			h.Error("the page with the old price was given out")
		}
		h.fake.with(func() {
			if h.fake.sessions[0]["status"] != "expired" || h.fake.sessions[1]["status"] != "open" {
				h.Errorf("sessions %v", h.fake.sessions)
			}
		})
	})
}

func TestWhoHasASubscriptionIsSentToChangeItAndCannotMakeASecond(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		if _, err := h.Portal(h.Context(), ada); !errors.Is(err, billing.ErrNoCustomer) {
			h.Errorf("Portal of an account that never went to pay: %v", err)
		}
		customer := h.customer(ada)
		// No event has come yet: it is Stripe that says so.
		if page := h.checkout(ada); page != h.fake.URL+"/portal/"+customer {
			h.Errorf("Checkout = %q; want the portal", page)
		}
		h.plan(ada, account.Pro)
		for _, status := range []string{"trialing", "past_due", "unpaid", "paused"} {
			h.fake.change(h, customer, "customer.subscription.updated", object{"status": status})
			if page := h.checkout(ada); page != h.fake.URL+"/portal/"+customer {
				h.Errorf("%s: Checkout = %q; want the portal", status, page)
			}
		}
		portals := h.fake.asked("POST /v1/billing_portal/sessions")
		want := url.Values{"customer": {customer}, "locale": {"fr"}, "return_url": {"https://palmares.example/compte"}}
		if diff := cmp.Diff(want, without(portals[0].Form, "path")); diff != "" {
			h.Error(diff)
		}
		h.fake.change(h, customer, "customer.subscription.deleted", object{"status": "canceled"})
		if page := h.checkout(ada); !strings.HasPrefix(page, h.fake.URL+"/pay/") {
			h.Errorf("after the end: Checkout = %q; want a page to pay on", page)
		}
	})
}

// stripe-mock knows every parameter that Stripe takes and refuses all others.
func TestStripeTakesTheParameters(t *testing.T) {
	h := newFixture(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"))
	h.cfg.API = stripeMock(t)
	h.Billing = h.build(h.cfg)
	ada := h.account("ada@example.org")
	if _, err := h.store.Subscriptions.SetCustomer(t.Context(), ada.ID, "", "cus_1"); err != nil {
		t.Fatal(err)
	}
	if page, err := h.Portal(t.Context(), ada); err != nil || page == "" {
		t.Errorf("Portal = %q, %v", page, err)
	}
	// Every list of stripe-mock holds one example: a subscription that is active.
	if _, err := h.Refresh(t.Context(), ada.ID); err != nil {
		t.Errorf("Refresh: %v", err)
	}
	h.plan(ada, account.Pro)
	if err := h.store.Accounts.Delete(t.Context(), ada.Email); err != nil {
		t.Fatal(err)
	}
	h.Cancel(t.Context(), "cus_1")
	if left, err := h.store.Subscriptions.Cancellations(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("Cancellations = %v, %v\n%s", left, err, h.log)
	}
	// For whom nothing is subscribed yet, which stripe-mock never says.
	behind, err := url.Parse(h.cfg.API)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", httputil.NewSingleHostReverseProxy(behind))
	mux.HandleFunc("GET /v1/subscriptions", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"object":"list","has_more":false,"data":[]}`))
	})
	front := httptest.NewServer(mux)
	defer front.Close()
	h.cfg.API = front.URL
	h.Billing = h.build(h.cfg)
	if page, err := h.Checkout(t.Context(), h.account("bob@example.org")); err != nil || page == "" {
		t.Errorf("Checkout = %q, %v", page, err)
	}
}

// stripeMock starts a stripe-mock on a free port of this machine.
func stripeMock(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "stripe-mock")
	build := exec.CommandContext(t.Context(), "go", "build", "-modfile=../../tools/stripe/go.mod", "-o", program, "github.com/stripe/stripe-mock")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("stripe-mock cannot be built: %v\n%s", err, said)
	}
	mock := exec.CommandContext(t.Context(), program, "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	mock.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := mock.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := mock.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = mock.Process.Kill()
		_ = mock.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "Listening for HTTP at address: "); ok {
			return "http://" + address
		}
	}
	t.Fatalf("stripe-mock ends without listening: %v", lines.Err())
	return ""
}
