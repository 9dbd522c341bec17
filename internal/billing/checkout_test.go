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
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		page := f.checkout(ada)
		if !strings.HasPrefix(page, f.fake.URL+"/pay/") {
			f.Errorf("page %q", page)
		}
		customers, sessions := f.fake.asked("POST /v1/customers"), f.fake.asked("POST /v1/checkout/sessions")
		if len(customers) != 1 || len(sessions) != 1 {
			f.Fatalf("%d customers and %d sessions were made; want one of each", len(customers), len(sessions))
		}
		want := url.Values{"email": {"ada@example.org"}, "preferred_locales[0]": {"fr"}, "metadata[account_id]": {ada.ID}}
		if diff := cmp.Diff(want, without(customers[0].Form, "path")); diff != "" {
			f.Error(diff)
		}
		want = url.Values{
			"mode": {"subscription"}, "line_items[0][price]": {"price_pro"}, "line_items[0][quantity]": {"1"},
			"automatic_tax[enabled]": {"true"}, "tax_id_collection[enabled]": {"true"}, "billing_address_collection": {"required"},
			"customer": {f.subscription(ada).CustomerID}, "customer_update[address]": {"auto"}, "customer_update[name]": {"auto"},
			"locale": {"fr"}, "client_reference_id": {ada.ID}, "subscription_data[metadata][account_id]": {ada.ID}, "metadata[account_id]": {ada.ID},
			"success_url": {"https://palmares.example/compte/pro?session_id={CHECKOUT_SESSION_ID}"}, "cancel_url": {"https://palmares.example/compte"},
		}
		if diff := cmp.Diff(want, without(sessions[0].Form, "path", "metadata[offer]")); diff != "" {
			f.Error(diff)
		}
		if customers[0].Key == "" || sessions[0].Key == "" || customers[0].Key == sessions[0].Key {
			f.Errorf("idempotency keys %q and %q", customers[0].Key, sessions[0].Key)
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
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		pages := make([]string, 8)
		var wait sync.WaitGroup
		for i := range pages {
			wait.Go(func() {
				page, err := f.Checkout(f.Context(), ada)
				if err != nil {
					f.Error(err)
				}
				pages[i] = page
			})
		}
		wait.Wait()
		again := f.checkout(ada)
		for _, page := range pages {
			if page != again {
				f.Errorf("pages %q and %q", page, again)
			}
		}
		f.fake.with(func() {
			if len(f.fake.customers) != 1 || len(f.fake.sessions) != 1 {
				f.Errorf("%d customers and %d sessions", len(f.fake.customers), len(f.fake.sessions))
			}
		})
		// Another price makes another page, and the one that names the old price ends.
		f.cfg.Price = "price_other"
		f.Billing = f.build(f.cfg)
		if other := f.checkout(ada); other == again {
			f.Error("the page with the old price was given out")
		}
		f.fake.with(func() {
			if f.fake.sessions[0]["status"] != "expired" || f.fake.sessions[1]["status"] != "open" {
				f.Errorf("sessions %v", f.fake.sessions)
			}
		})
	})
}

func TestASubscriberIsSentToThePortalAndCannotSubscribeTwice(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		if _, err := f.Portal(f.Context(), ada); !errors.Is(err, billing.ErrNoCustomer) {
			f.Errorf("Portal of an account that never went to pay: %v", err)
		}
		customer := f.customer(ada)
		// No event has come yet: it is Stripe that says so.
		if page := f.checkout(ada); page != f.fake.URL+"/portal/"+customer {
			f.Errorf("Checkout = %q; want the portal", page)
		}
		f.plan(ada, account.Pro)
		for _, status := range []string{"trialing", "past_due", "unpaid", "paused"} {
			f.fake.change(f, customer, "customer.subscription.updated", object{"status": status})
			if page := f.checkout(ada); page != f.fake.URL+"/portal/"+customer {
				f.Errorf("%s: Checkout = %q; want the portal", status, page)
			}
		}
		portals := f.fake.asked("POST /v1/billing_portal/sessions")
		want := url.Values{"customer": {customer}, "locale": {"fr"}, "return_url": {"https://palmares.example/compte"}}
		if diff := cmp.Diff(want, without(portals[0].Form, "path")); diff != "" {
			f.Error(diff)
		}
		f.fake.change(f, customer, "customer.subscription.deleted", object{"status": "canceled"})
		if page := f.checkout(ada); !strings.HasPrefix(page, f.fake.URL+"/pay/") {
			f.Errorf("after the end: Checkout = %q; want a page to pay on", page)
		}
	})
}

// stripe-mock knows every parameter that Stripe takes and refuses all others.
func TestStripeTakesTheParameters(t *testing.T) {
	f := newFixture(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"))
	f.cfg.API = stripeMock(t)
	f.Billing = f.build(f.cfg)
	ada := f.account("ada@example.org")
	if _, err := f.store.Subscriptions.SetCustomer(t.Context(), ada.ID, "", "cus_1"); err != nil {
		t.Fatal(err)
	}
	if page, err := f.Portal(t.Context(), ada); err != nil || page == "" {
		t.Errorf("Portal = %q, %v", page, err)
	}
	// Every list of stripe-mock holds one example: a subscription that is active.
	if _, err := f.Refresh(t.Context(), ada.ID); err != nil {
		t.Errorf("Refresh: %v", err)
	}
	f.plan(ada, account.Pro)
	if err := f.Cancel(t.Context(), ada.ID); err != nil {
		t.Errorf("Cancel: %v", err)
	}
	// A customer without a subscription, which stripe-mock never returns.
	behind, err := url.Parse(f.cfg.API)
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
	f.cfg.API = front.URL
	f.Billing = f.build(f.cfg)
	if page, err := f.Checkout(t.Context(), f.account("bob@example.org")); err != nil || page == "" {
		t.Errorf("Checkout = %q, %v", page, err)
	}
}

// stripeMock starts a stripe-mock on a free port of this machine.
func stripeMock(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "stripe-mock")
	build := exec.CommandContext(t.Context(), "go", "build", "-modfile=../../tools/stripe/go.mod", "-ldflags=-s -w", "-o", program, "github.com/stripe/stripe-mock")
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
