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
	each(t, func(f *fixture) {
		var want billing.Subscription
		n := 0
		for order := range orders(5) {
			n++
			a := f.account(fmt.Sprintf("a%d@example.org", n))
			customer := f.fake.subscribe(f, a.Email)
			known, err := f.store.Subscriptions.SetCustomer(f.Context(), a.ID, "", customer)
			if err != nil {
				f.Fatal(err)
			}
			f.fake.change(f, customer, "invoice.payment_failed", object{"status": "past_due"})
			f.fake.change(f, customer, "customer.subscription.deleted", object{"status": "canceled"})
			events := f.fake.take(f)
			if len(events) != 5 {
				f.Fatalf("%d events", len(events))
			}
			for _, i := range append(order, order...) {
				f.send(200, events[i])
			}
			f.plan(a, account.Developer)
			got := f.subscription(a)
			if got.Version != known.Version+5 {
				f.Fatalf("five events took effect %d times", got.Version-known.Version)
			}
			if n == 1 {
				want = got
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(billing.Subscription{}, "AccountID", "CustomerID", "ID")); diff != "" {
				f.Fatalf("the events in the order %v end in another state:\n%s", order, diff)
			}
		}
		if n != 120 || want.Status != billing.Canceled {
			f.Errorf("%d orders end in %+v", n, want)
		}
		if mails := f.mails(); mails != "" {
			f.Errorf("mails about what was over before it was known:\n%s", mails)
		}
	})
}

// orders returns every order of n things.
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
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		f.customer(ada)
		before, calls := f.subscription(ada), len(f.fake.calls)
		event := f.fake.take(f)[0]
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
			if got := f.post(f.Billing, c.body, c.signatures...); got != c.status {
				f.Errorf("%s is answered %d; want %d", name, got, c.status)
			}
		}
		if !f.log.Contains("an event was refused, as its signature") {
			f.Error("the log says nothing of a wrong signature")
		}
		for _, body := range []string{"", "null", "[]", "{}", `"evt_1"`, `{"object":"event"}`, `{"object":"event","id":"evt_1"}`, `{"object":"customer","id":"cus_1","type":"customer.created"}`, string(event) + "x", `{"object":"event","id":7,"type":"invoice.paid"}`} {
			if got := f.post(f.Billing, []byte(body), sign([]byte(body), webhookSecret, now)); got != 400 {
				f.Errorf("%s is answered %d; want 400", body, got)
			}
		}
		cut := httptest.NewRequestWithContext(f.Context(), http.MethodPost, "/hooks/stripe", iotest.ErrReader(fmt.Errorf("the line is cut")))
		cut.Header.Set("Stripe-Signature", good)
		w := httptest.NewRecorder()
		if f.ServeHTTP(w, cut); w.Code != 400 {
			f.Errorf("a body that is cut is answered %d", w.Code)
		}
		w = httptest.NewRecorder()
		if f.ServeHTTP(w, httptest.NewRequestWithContext(f.Context(), http.MethodGet, "/hooks/stripe", nil)); w.Code != 405 || w.Header().Get("Allow") != "POST" {
			f.Errorf("GET is answered %d", w.Code)
		}
		f.plan(ada, account.Developer)
		if diff := cmp.Diff(before, f.subscription(ada)); diff != "" {
			f.Error(diff)
		}
		if len(f.fake.calls) != calls {
			f.Error("Stripe was asked because of a forged event")
		}
		f.send(200, event) // and it was a good one
		f.plan(ada, account.Pro)
	})
}

func TestEventsThatAreNotUsedAreTakenWithoutAskingStripe(t *testing.T) {
	each(t, func(f *fixture) {
		for _, body := range []string{
			`{"object":"event","id":"evt_a","type":"charge.succeeded","data":{"object":{"object":"charge","id":"ch_1","customer":"cus_00001"}}}`,
			`{"object":"event","id":"evt_b","type":"customer.subscription.updated","data":{"object":{"object":"subscription","id":"sub_1","customer":"cus_of_another_product"}}}`,
			`{"object":"event","id":"evt_c","type":"invoice.paid","data":{"object":{"object":"invoice","id":"in_1","customer":null}}}`,
			`{"object":"event","id":"evt_d","type":"checkout.session.completed","data":{"object":{"object":"checkout.session","id":"cs_1"}}}`,
			`{"object":"event","id":"evt_e","type":"invoice.paid","data":{}}`,
		} {
			f.send(200, []byte(body))
		}
		if len(f.fake.calls) > 0 {
			f.Errorf("calls %v", f.fake.calls)
		}
	})
}

// The database fails in the middle of the transaction, after the event was noted.
func TestAnEventThatFailsHereTakesEffectWhenItIsSentAgain(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		f.customer(ada)
		event := f.fake.take(f)[0]
		before := f.subscription(ada)
		f.exec(`ALTER TABLE accounts RENAME COLUMN keys_due_at TO away`)
		f.send(500, event)
		f.exec(`ALTER TABLE accounts RENAME COLUMN away TO keys_due_at`)
		f.plan(ada, account.Developer)
		if diff := cmp.Diff(before, f.subscription(ada)); diff != "" {
			f.Errorf("half of an event was written:\n%s", diff)
		}
		if seen, err := f.store.Subscriptions.EventSeen(f.Context(), eventID(f, event)); err != nil || seen {
			f.Errorf("Subscriptions.EventSeen = %v, %v; want an event that comes again to be new", seen, err)
		}
		f.send(200, event)
		f.plan(ada, account.Pro)
		if seen, err := f.store.Subscriptions.EventSeen(f.Context(), eventID(f, event)); err != nil || !seen {
			f.Errorf("Subscriptions.EventSeen = %v, %v", seen, err)
		}
	})
}

// exec changes the database behind the store's back.
func (f *fixture) exec(statement string) {
	f.Helper()
	driver, source := "pgx", f.dsn
	if path, ok := strings.CutPrefix(f.dsn, "sqlite:"); ok {
		driver, source = "sqlite", path
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		f.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(f.Context(), statement); err != nil {
		f.Fatal(err)
	}
}

func eventID(f *fixture, body []byte) string {
	var e struct{ ID string }
	if err := json.Unmarshal(body, &e); err != nil || e.ID == "" {
		f.Fatalf("no id: %v", err)
	}
	return e.ID
}

// The first event's answer from Stripe is held back until the second, which came
// later and says the contrary, is written.
func TestAnAnswerThatComesLateDoesNotUndoANewerOne(t *testing.T) {
	each(t, func(f *fixture) {
		ada := f.account("ada@example.org")
		customer := f.customer(ada)
		first := f.fake.take(f)[0]
		asked, held := make(chan struct{}), make(chan struct{})
		var later atomic.Bool
		f.fake.with(func() {
			f.fake.listed = func() {
				if !later.Swap(true) {
					close(asked)
					<-held
				}
			}
		})
		var wait sync.WaitGroup
		wait.Go(func() {
			if status := f.post(f.Billing, first, sign(first, webhookSecret, time.Now())); status != 200 {
				f.Errorf("the first event is answered %d", status)
			}
		})
		<-asked
		f.fake.change(f, customer, "customer.subscription.deleted", object{"status": "canceled"})
		f.send(200, f.fake.take(f)...)
		close(held)
		wait.Wait()
		f.plan(ada, account.Developer)
		if s := f.subscription(ada); s.Status != billing.Canceled {
			f.Errorf("the older answer was written: %+v", s)
		}
	})
}
