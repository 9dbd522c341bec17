package billing_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"palmares/internal/testkit"
)

// object is a resource of Stripe, as JSON.
type object = map[string]any

// fakeStripe is a Stripe that remembers: customers, checkout sessions, subscriptions
// and an event for each change of them. It knows the few calls that billing makes and
// refuses all others. Everything happens at once; time is what its clock says.
type fakeStripe struct {
	*httptest.Server
	clock *testkit.Clock

	mu            sync.Mutex
	failing       bool     // every call is answered 500
	failingPrices bool     // every call about prices is answered 500
	failingFor    []string // customers whose every call is
	refused       bool     // every call is answered 401, with the key in it
	customers     map[string]object
	sessions      []object
	subscriptions []object
	answered      map[string]object // by idempotency key
	events        []object
	calls         []call
	ids           int
	amount        int // of the price, in cents

	// listed, when set, is called with what a list of subscriptions is about to answer.
	listed func()
}

type call struct {
	Route string
	Form  url.Values
	Key   string // idempotency key
}

func newFakeStripe(t testing.TB, c *testkit.Clock) *fakeStripe {
	f := &fakeStripe{clock: c, amount: 9900, customers: map[string]object{}, answered: map[string]object{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/customers", f.creates(f.createCustomer))
	mux.HandleFunc("GET /v1/customers/{id}", f.creates(func(form url.Values) object { return f.customers[form.Get("path")] }))
	mux.HandleFunc("POST /v1/checkout/sessions", f.creates(f.createSession))
	mux.HandleFunc("POST /v1/billing_portal/sessions", f.creates(func(form url.Values) object {
		return object{"object": "billing_portal.session", "id": f.id("bps"), "url": f.URL + "/portal/" + form.Get("customer")}
	}))
	mux.HandleFunc("POST /v1/checkout/sessions/{id}/expire", f.creates(func(form url.Values) object {
		for _, s := range f.sessions {
			if s["id"] == form.Get("path") && s["status"] == "open" {
				s["status"] = "expired"
				return s
			}
		}
		return nil
	}))
	mux.HandleFunc("GET /v1/checkout/sessions", f.lists(func(q url.Values) (found []object) {
		for _, s := range f.sessions {
			if s["customer"] == q.Get("customer") && s["status"] == q.Get("status") {
				found = append(found, s)
			}
		}
		return found
	}))
	mux.HandleFunc("GET /v1/subscriptions", f.lists(func(q url.Values) (found []object) {
		for _, s := range f.subscriptions {
			if s["customer"] == q.Get("customer") && q.Get("status") == "all" {
				found = append(found, s)
			}
		}
		slices.Reverse(found) // newest first
		return found
	}))
	mux.HandleFunc("DELETE /v1/subscriptions/{id}", f.creates(func(form url.Values) object {
		for _, s := range f.subscriptions {
			if s["id"] == form.Get("path") && s["status"] != "canceled" {
				f.set(s, object{"status": "canceled"}, "customer.subscription.deleted")
				return s
			}
		}
		return nil
	}))
	mux.HandleFunc("GET /v1/prices/{id}", f.creates(func(form url.Values) object {
		return object{
			"object": "price", "id": form.Get("path"), "product": "prod_pro", "active": true, "unit_amount": f.amount, "currency": "eur", "tax_behavior": "exclusive",
			"recurring": object{"interval": "month", "interval_count": 1},
		}
	}))
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

// creates answers a call that creates one resource; nil is a 404. A call with an
// idempotency key that was answered before is answered the same.
func (f *fakeStripe) creates(create func(url.Values) object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		form, ok := f.note(w, r)
		if !ok {
			return
		}
		form.Set("path", r.PathValue("id"))
		key := r.Header.Get("Idempotency-Key")
		made := f.answered[key]
		if form.Has("customer") && !f.knows(form.Get("customer")) {
			missing(w, http.StatusBadRequest, "customer")
			return
		}
		if made == nil || key == "" {
			made = create(form)
		}
		if made == nil {
			missing(w, http.StatusNotFound, "id")
			return
		}
		if key != "" {
			f.answered[key] = made
		}
		_ = json.NewEncoder(w).Encode(made)
	}
}

func (f *fakeStripe) lists(list func(url.Values) []object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		q, ok := f.note(w, r)
		if !ok {
			f.mu.Unlock()
			return
		}
		if !f.knows(q.Get("customer")) {
			f.mu.Unlock()
			missing(w, http.StatusBadRequest, "customer")
			return
		}
		answer, _ := json.Marshal(object{"object": "list", "has_more": false, "data": append([]object{}, list(q)...)})
		listed := f.listed
		f.mu.Unlock()
		if listed != nil && strings.HasSuffix(r.URL.Path, "/subscriptions") {
			listed()
		}
		_, _ = w.Write(answer)
	}
}

func (f *fakeStripe) note(w http.ResponseWriter, r *http.Request) (url.Values, bool) {
	_ = r.ParseForm()
	f.calls = append(f.calls, call{r.Pattern, r.Form, r.Header.Get("Idempotency-Key")})
	w.Header().Set("Request-Id", "req_1")
	switch {
	case f.failing || f.failingPrices && strings.Contains(r.URL.Path, "/prices/") || slices.Contains(f.failingFor, r.Form.Get("customer")):
		w.Header().Set("Stripe-Should-Retry", "false")
		w.WriteHeader(http.StatusInternalServerError)
		_ = json.NewEncoder(w).Encode(object{"error": object{"type": "api_error"}})
		return nil, false
	case f.refused || r.Header.Get("Authorization") != "Bearer "+stripeKey:
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(object{"error": object{"type": "invalid_request_error", "message": "Invalid API Key provided: " + r.Header.Get("Authorization")}})
		return nil, false
	}
	return r.Form, true
}

// missing is how Stripe says that there is no such thing.
func missing(w http.ResponseWriter, status int, param string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{"error": object{"type": "invalid_request_error", "code": "resource_missing", "param": param}})
}

// knows reports whether a customer can be used in a call: a deleted one can only be
// read.
func (f *fakeStripe) knows(customerID string) bool {
	c := f.customers[customerID]
	return c != nil && c["deleted"] == nil
}

// delete deletes a customer, as is done in the dashboard; what it pays ends.
func (f *fakeStripe) delete(customerID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.subscriptions {
		if s["customer"] == customerID {
			f.set(s, object{"status": "canceled"}, "customer.subscription.deleted")
		}
	}
	f.happen("customer.deleted", f.customers[customerID])
	f.customers[customerID] = object{"object": "customer", "id": customerID, "deleted": true}
}

func (f *fakeStripe) id(prefix string) string {
	f.ids++
	return fmt.Sprintf("%s_%05d", prefix, f.ids)
}

func (f *fakeStripe) createCustomer(form url.Values) object {
	c := object{"object": "customer", "id": f.id("cus"), "email": form.Get("email")}
	f.customers[c["id"].(string)] = c
	return c
}

func (f *fakeStripe) createSession(form url.Values) object {
	id := f.id("cs")
	s := object{
		"object": "checkout.session", "id": id, "status": "open", "customer": form.Get("customer"), "url": f.URL + "/pay/" + id,
		"metadata": object{"offer": form.Get("metadata[offer]")},
	}
	f.sessions = append(f.sessions, s)
	return s
}

// set changes a subscription and makes the event that says so.
func (f *fakeStripe) set(s, to object, kind string) {
	for k, v := range to {
		s[k] = v
	}
	about := s
	if strings.HasPrefix(kind, "invoice.") {
		about = object{"object": "invoice", "id": f.id("in"), "customer": s["customer"]}
	}
	f.happen(kind, about)
}

// happen makes an event that shows an object as it is now.
func (f *fakeStripe) happen(kind string, about object) {
	shown := object{}
	for k, v := range about {
		shown[k] = v
	}
	f.events = append(f.events, object{
		"object": "event", "id": f.id("evt"), "type": kind, "created": f.clock.Now().Unix(), "api_version": "2026-08-26.dahlia",
		"data": object{"object": shown},
	})
}

// pay completes the checkout session of a page.
func (f *fakeStripe) pay(t testing.TB, page string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sessions {
		if s["url"] != page || s["status"] != "open" {
			continue
		}
		f.begin(s)
		return
	}
	t.Fatalf("there is no page %s to pay on", page)
}

// subscribe makes a customer who has paid, without asking billing.
func (f *fakeStripe) subscribe(t testing.TB, email string) (customerID string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.createCustomer(url.Values{"email": {email}})["id"].(string)
	f.begin(f.createSession(url.Values{"customer": {c}}))
	return c
}

// begin makes the subscription of a session that was paid.
func (f *fakeStripe) begin(s object) {
	s["status"] = "complete"
	sub := object{
		"object": "subscription", "id": f.id("sub"), "customer": s["customer"], "status": "active", "created": f.clock.Now().Unix(),
		"items": object{"object": "list", "data": []object{{"object": "subscription_item", "price": price("price_pro", "prod_pro"), "current_period_end": f.clock.Now().Add(30 * 24 * time.Hour).Unix()}}},
	}
	f.subscriptions = append(f.subscriptions, sub)
	f.happen("customer.subscription.created", sub)
	f.happen("checkout.session.completed", s)
	f.set(sub, nil, "invoice.paid")
}

func price(id, product string) object {
	return object{"object": "price", "id": id, "product": product}
}

// item is the only item of a subscription to a price.
func item(price object) object {
	return object{"items": object{"object": "list", "data": []object{{"object": "subscription_item", "price": price}}}}
}

// change changes the last subscription of a customer.
func (f *fakeStripe) change(t testing.TB, customerID, kind string, to object) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range slices.Backward(f.subscriptions) {
		if s["customer"] == customerID {
			f.set(s, to, kind)
			return
		}
	}
	t.Fatalf("the customer %s has no subscription", customerID)
}

// take returns the events since its last call, as they are sent.
func (f *fakeStripe) take(t testing.TB) [][]byte {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var bodies [][]byte
	for _, e := range f.events {
		body, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	f.events = nil
	return bodies
}

// asked lists the calls of a route.
func (f *fakeStripe) asked(route string) (calls []call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c.Route == route {
			calls = append(calls, c)
		}
	}
	return calls
}

func (f *fakeStripe) with(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn()
}

// endless is a server whose answers have no end.
func endless(t testing.TB) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"object":"list","data":["`))
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// elsewhere is a server that sends every caller to another, which no key may reach.
func elsewhere(t testing.TB) *httptest.Server {
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed, with the key %q", r.Header.Get("Authorization"))
	}))
	s := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	t.Cleanup(thief.Close)
	return s
}
