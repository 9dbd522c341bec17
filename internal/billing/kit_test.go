package billing_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v86"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/mail"
	"palmares/internal/store"
	"palmares/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

const (
	stripeKey     = "sk_test_OfNobodyAtAll"
	webhookSecret = "whsec_KnownToStripeAndUs"
)

// monday is when every test begins.
var monday = time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)

var databases = testkit.Migrated[*store.Store]{Open: store.Open}

const days = 24 * time.Hour

// A fixture is billing with a database and a Stripe of its own.
type fixture struct {
	*testing.T
	clock *testkit.Clock
	dsn   string
	store *store.Store
	fake  *fakeStripe
	cfg   billing.Config
	*billing.Billing
	log *testkit.Log
}

// each runs a test on both databases.
func each(t *testing.T, test func(h *fixture)) {
	t.Helper()
	databases.EachDSN(t, func(t *testing.T, dsn string) { test(newFixture(t, dsn)) })
}

func newFixture(t *testing.T, dsn string) *fixture {
	h := &fixture{T: t, clock: testkit.NewClock(monday), dsn: dsn, log: &testkit.Log{}}
	h.fake = newFakeStripe(t, h.clock)
	h.start()
	// No test may put a secret into the log, whatever goes wrong in it.
	t.Cleanup(func() {
		for _, secret := range []string{stripeKey, webhookSecret} {
			if h.log.Contains(secret) {
				t.Errorf("the log contains %s", secret)
			}
		}
	})
	return h
}

// start opens the store and wires billing to it, as a process does that starts.
func (h *fixture) start() {
	h.Helper()
	st := databases.OpenDSN(h, h.dsn)
	h.store = st
	h.cfg = billing.Config{
		Settings: billing.Settings{Key: stripeKey, WebhookSecret: webhookSecret, Price: "price_pro", API: h.fake.URL},
		Ledger:   st.Subscriptions, Keys: st.Keys,
		BaseURL: "https://palmares.example", Now: h.clock.Now, Log: slog.New(slog.NewTextHandler(h.log, nil)),
	}
	h.Billing = h.build(h.cfg)
}

func (h *fixture) build(cfg billing.Config) *billing.Billing {
	h.Helper()
	b, err := billing.New(cfg)
	if err != nil {
		h.Fatal(err)
	}
	return b
}

func (h *fixture) account(email string) account.Account {
	h.Helper()
	a, err := h.store.Accounts.Create(h.Context(), email, account.Developer, h.clock.Now())
	if err != nil {
		h.Fatal(err)
	}
	return a
}

func (h *fixture) checkout(a account.Account) string {
	h.Helper()
	page, err := h.Checkout(h.Context(), a)
	if err != nil {
		h.Fatal(err)
	}
	return page
}

// customer has an account pay, and says nothing of it to billing yet.
func (h *fixture) customer(a account.Account) (customerID string) {
	h.Helper()
	h.fake.pay(h, h.checkout(a))
	return h.subscription(a).CustomerID
}

func (h *fixture) subscription(a account.Account) billing.Subscription {
	h.Helper()
	s, err := h.store.Subscriptions.Find(h.Context(), a.ID)
	if err != nil {
		h.Fatal(err)
	}
	return s
}

func (h *fixture) reconcile() {
	h.Helper()
	if err := h.Reconcile(h.Context()); err != nil {
		h.Fatal(err)
	}
}

// sign gives the header that Stripe would send with a body.
func sign(body []byte, secret string, at time.Time) string {
	return stripe.GenerateTestSignedPayload(&stripe.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at}).Header
}

// send posts bodies as Stripe would, and wants one status for all.
func (h *fixture) send(status int, bodies ...[]byte) {
	h.Helper()
	for _, body := range bodies {
		// The signature's age is measured by the machine's clock, which is not ours to move.
		if got := h.post(h.Billing, body, sign(body, webhookSecret, time.Now())); got != status {
			h.Fatalf("the event is answered %d; want %d\n%s\n%s", got, status, body, h.log)
		}
	}
}

func (h *fixture) post(b *billing.Billing, body []byte, signatures ...string) (status int) {
	r := httptest.NewRequestWithContext(h.Context(), http.MethodPost, "/hooks/stripe", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for _, s := range signatures {
		r.Header.Add("Stripe-Signature", s)
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w.Code
}

// plan wants an account to be on a plan.
func (h *fixture) plan(a account.Account, want account.Plan) {
	h.Helper()
	got, err := h.store.Accounts.Find(h.Context(), a.Email)
	if err != nil || got.Plan != want {
		h.Fatalf("%s on %s is on the plan %q, %v; want %q", a.Email, h.clock.Now(), got.Plan, err, want)
	}
}

// mails takes the mails that wait, as "kind about address".
func (h *fixture) mails() string {
	h.Helper()
	claims, err := h.store.Mails.Claim(h.Context(), h.clock.Now(), 100)
	if err != nil {
		h.Fatal(err)
	}
	var list []string
	for _, c := range claims {
		if err := h.store.Mails.Finish(h.Context(), c, mail.Verdict{}); err != nil {
			h.Fatal(err)
		}
		list = append(list, string(c.Kind)+" "+c.About+" "+c.To)
	}
	return strings.Join(list, "\n")
}
