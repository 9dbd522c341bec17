package billing_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"palmares/internal/account"
	"palmares/internal/billing"
)

// Five events of one customer are sent in each of their 120 orders, and each twice.
// Most of them say that she pays; what counts is that she does no longer.
func TestFiveEventsInAnyOrderAndEachTwiceEndInOneState(t *testing.T) {
	each(t, func(h *fixture) {
		var want billing.Subscription
		n := 0
		for order := range orders(5) {
			n++
			a := h.account(fmt.Sprintf("a%d@example.org", n))
			customer := h.fake.subscribe(h, a.Email)
			known, err := h.store.Subscriptions.SetCustomer(h.Context(), a.ID, "", customer)
			if err != nil {
				h.Fatal(err)
			}
			h.fake.change(h, customer, "invoice.payment_failed", object{"status": "past_due"})
			h.fake.change(h, customer, "customer.subscription.deleted", object{"status": "canceled"})
			events := h.fake.take(h)
			if len(events) != 5 {
				h.Fatalf("%d events", len(events))
			}
			for _, i := range append(order, order...) {
				h.send(200, events[i])
			}
			h.plan(a, account.Developer)
			got := h.subscription(a)
			if got.Version != known.Version+5 {
				h.Fatalf("five events took effect %d times", got.Version-known.Version)
			}
			if n == 1 {
				want = got
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(billing.Subscription{}, "AccountID", "CustomerID", "ID")); diff != "" {
				h.Fatalf("the events in the order %v end in another state:\n%s", order, diff)
			}
		}
		if n != 120 || want.Status != billing.Canceled {
			h.Errorf("%d orders end in %+v", n, want)
		}
		if mails := h.mails(); mails != "" {
			h.Errorf("mails about what was over before it was known:\n%s", mails)
		}
	})
}

// orders gives every order of n things.
func orders(n int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		var place func(head, rest []int) bool
		place = func(head, rest []int) bool {
			if len(rest) == 0 {
				return yield(head)
			}
			for i := range rest {
				others := append(append([]int{}, rest[:i]...), rest[i+1:]...)
				if !place(append(append([]int{}, head...), rest[i]), others) {
					return false
				}
			}
			return true
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		place(nil, all)
	}
}

func TestWhatIsNotFromStripeGrantsNothing(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		h.customer(ada)
		before, calls := h.subscription(ada), len(h.fake.calls)
		event := h.fake.take(h)[0]
		now := time.Now()
		good := sign(event, webhookSecret, now)
		tampered := bytes.Replace(event, []byte(`"evt_`), []byte(`"evt_x`), 1)
		long := append(bytes.TrimSuffix(event, []byte("}")), []byte(`,"x":"`+strings.Repeat("x", 64<<10)+`"}`)...)
		for name, c := range map[string]struct {
			body       []byte
			signatures []string
			status     int
		}{
			"no signature":                    {event, nil, 400},
			"an empty signature":              {event, []string{""}, 400},
			"nonsense":                        {event, []string{"t=now,v1=yes"}, 400},
			"a signature by somebody else":    {event, []string{sign(event, "whsec_guess", now)}, 400},
			"a signature by nobody":           {event, []string{sign(event, "", now)}, 400},
			"an old signature":                {event, []string{sign(event, webhookSecret, now.Add(-5*time.Minute-2*time.Second))}, 400},
			"a signature without its version": {event, []string{strings.Replace(good, "v1=", "v0=", 1)}, 400},
			"a changed body":                  {tampered, []string{good}, 400},
			"a truncated body":                {event[:len(event)/2], []string{good}, 400},
			"an empty body":                   {nil, []string{good}, 400},
			"two signatures":                  {event, []string{sign(event, "whsec_guess", now), good}, 400},
			"a long body":                     {long, []string{sign(long, webhookSecret, now)}, 413},
		} {
			if got := h.post(h.Billing, c.body, c.signatures...); got != c.status {
				h.Errorf("%s is answered %d; want %d", name, got, c.status)
			}
		}
		for _, body := range []string{"", "null", "[]", "{}", `"evt_1"`, `{"object":"event"}`, `{"object":"event","id":"evt_1"}`, `{"object":"customer","id":"cus_1","type":"customer.created"}`, string(event) + "x", `{"object":"event","id":7,"type":"invoice.paid"}`} {
			if got := h.post(h.Billing, []byte(body), sign([]byte(body), webhookSecret, now)); got != 400 {
				h.Errorf("%s is answered %d; want 400", body, got)
			}
		}
		cut := httptest.NewRequestWithContext(h.Context(), http.MethodPost, "/hooks/stripe", iotest.ErrReader(fmt.Errorf("the line is cut")))
		cut.Header.Set("Stripe-Signature", good)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, cut); w.Code != 400 {
			h.Errorf("a body that is cut is answered %d", w.Code)
		}
		w = httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequestWithContext(h.Context(), http.MethodGet, "/hooks/stripe", nil)); w.Code != 405 || w.Header().Get("Allow") != "POST" {
			h.Errorf("GET is answered %d", w.Code)
		}
		h.plan(ada, account.Developer)
		if diff := cmp.Diff(before, h.subscription(ada)); diff != "" {
			h.Error(diff)
		}
		if len(h.fake.calls) != calls {
			h.Error("Stripe was asked because of a forged event")
		}
		h.send(200, event) // and it was a good one
		h.plan(ada, account.Pro)
	})
}

func TestEventsThatAreNotUsedAreTakenWithoutAskingStripe(t *testing.T) {
	each(t, func(h *fixture) {
		for _, body := range []string{
			`{"object":"event","id":"evt_a","type":"charge.succeeded","data":{"object":{"object":"charge","id":"ch_1","customer":"cus_00001"}}}`,
			`{"object":"event","id":"evt_b","type":"customer.subscription.updated","data":{"object":{"object":"subscription","id":"sub_1","customer":"cus_of_another_product"}}}`,
			`{"object":"event","id":"evt_c","type":"invoice.paid","data":{"object":{"object":"invoice","id":"in_1","customer":null}}}`,
			`{"object":"event","id":"evt_d","type":"checkout.session.completed","data":{"object":{"object":"checkout.session","id":"cs_1"}}}`,
			`{"object":"event","id":"evt_e","type":"invoice.paid","data":{}}`,
		} {
			h.send(200, []byte(body))
		}
		if len(h.fake.calls) > 0 {
			h.Errorf("calls %v", h.fake.calls)
		}
	})
}

// The database fails in the middle of the transaction, after the event was noted.
func TestAnEventThatFailsHereTakesEffectWhenItIsSentAgain(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		h.customer(ada)
		event := h.fake.take(h)[0]
		before := h.subscription(ada)
		h.exec(`ALTER TABLE accounts RENAME COLUMN keys_due_at TO away`)
		h.send(500, event)
		h.exec(`ALTER TABLE accounts RENAME COLUMN away TO keys_due_at`)
		h.plan(ada, account.Developer)
		if diff := cmp.Diff(before, h.subscription(ada)); diff != "" {
			h.Errorf("half of an event was written:\n%s", diff)
		}
		if seen, err := h.store.Subscriptions.EventSeen(h.Context(), eventID(h, event)); err != nil || seen {
			h.Errorf("Subscriptions.EventSeen = %v, %v; want an event that comes again to be new", seen, err)
		}
		h.send(200, event)
		h.plan(ada, account.Pro)
		if seen, err := h.store.Subscriptions.EventSeen(h.Context(), eventID(h, event)); err != nil || !seen {
			h.Errorf("Subscriptions.EventSeen = %v, %v", seen, err)
		}
	})
}

func TestAnEventThatComesWhileStripeIsAwayTakesEffectWhenItIsSentAgain(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		h.customer(ada)
		event := h.fake.take(h)[0]
		h.fake.with(func() { h.fake.failing = true })
		h.send(500, event)
		h.plan(ada, account.Developer)
		h.fake.with(func() { h.fake.failing = false })
		h.send(200, event)
		h.plan(ada, account.Pro)
	})
}

// exec changes the database behind the store's back.
func (h *fixture) exec(statement string) {
	h.Helper()
	driver, source := "pgx", h.dsn
	if path, ok := strings.CutPrefix(h.dsn, "sqlite:"); ok {
		driver, source = "sqlite", path
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		h.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(h.Context(), statement); err != nil {
		h.Fatal(err)
	}
}

func eventID(h *fixture, body []byte) string {
	var e struct{ ID string }
	if err := json.Unmarshal(body, &e); err != nil || e.ID == "" {
		h.Fatalf("no id: %v", err)
	}
	return e.ID
}

// The first event's answer from Stripe is held back until the second, which came
// later and says the contrary, is written.
func TestAnAnswerThatComesLateDoesNotUndoANewerOne(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		customer := h.customer(ada)
		first := h.fake.take(h)[0]
		asked, held := make(chan struct{}), make(chan struct{})
		var later atomic.Bool
		h.fake.with(func() {
			h.fake.listed = func() {
				if !later.Swap(true) {
					close(asked)
					<-held
				}
			}
		})
		var wait sync.WaitGroup
		wait.Go(func() {
			if status := h.post(h.Billing, first, sign(first, webhookSecret, time.Now())); status != 200 {
				h.Errorf("the first event is answered %d", status)
			}
		})
		<-asked
		h.fake.change(h, customer, "customer.subscription.deleted", object{"status": "canceled"})
		h.send(200, h.fake.take(h)...)
		close(held)
		wait.Wait()
		h.plan(ada, account.Developer)
		if s := h.subscription(ada); s.Status != billing.Canceled {
			h.Errorf("the older answer was written: %+v", s)
		}
	})
}

func TestManyEventsAtOnceEndInWhatStripeSays(t *testing.T) {
	each(t, func(h *fixture) {
		ada := h.account("ada@example.org")
		customer := h.customer(ada)
		events := h.fake.take(h)
		for i, status := range []string{"past_due", "active", "past_due", "unpaid", "active", "canceled"} {
			h.fake.change(h, customer, "customer.subscription.updated", object{"status": status, "i": i})
			events = append(events, h.fake.take(h)...)
			var wait sync.WaitGroup
			for _, event := range events {
				wait.Go(func() {
					// One that is overtaken too often is answered 500, and Stripe sends it again.
					for range len(events) {
						if h.post(h.Billing, event, sign(event, webhookSecret, time.Now())) == 200 {
							return
						}
					}
					h.Errorf("an event is never taken:\n%s", h.log)
				})
			}
			wait.Wait()
			if s := h.subscription(ada); string(s.Status) != status {
				h.Errorf("status %q; want %q", s.Status, status)
			}
		}
		h.plan(ada, account.Developer)
	})
}
