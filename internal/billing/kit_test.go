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
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
)

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

const (
	stripeKey     = "sk_test_OfNobodyAtAll"
	webhookSecret = "whsec_KnownToStripeAndUs"
)

// monday is when every test begins.
var monday = time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)

var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

const days = 24 * time.Hour

// A fixture is billing with a database and a Stripe of its own.
type fixture struct {
	*testing.T
	clock *testkit.Clock
	dsn   string
	store *testdb.DB
	fake  *fakeStripe
	cfg   billing.Config
	*billing.Billing
	log *testkit.Log
}

// each runs a test on both databases.
func each(t *testing.T, test func(f *fixture)) {
	t.Helper()
	databases.EachDSN(t, func(t *testing.T, dsn string) { test(newFixture(t, dsn)) })
}

func newFixture(t *testing.T, dsn string) *fixture {
	f := &fixture{T: t, clock: testkit.NewClock(monday), dsn: dsn, log: &testkit.Log{}}
	f.fake = newFakeStripe(t, f.clock)
	f.start()
	// No test may put a secret into the log, whatever goes wrong in it.
	t.Cleanup(func() {
		for _, secret := range []string{stripeKey, webhookSecret} {
			if f.log.Contains(secret) {
				t.Errorf("the log contains %s", secret)
			}
		}
	})
	return f
}

// start opens the store and wires billing to it, as a process does that starts.
func (f *fixture) start() {
	f.Helper()
	st := databases.OpenDSN(f, f.dsn)
	f.store = st
	f.cfg = billing.Config{
		Settings: billing.Settings{Key: stripeKey, WebhookSecret: webhookSecret, Price: "price_pro", API: f.fake.URL},
		Ledger:   st.Subscriptions, Keys: st.Keys,
		BaseURL: "https://palmares.example", Now: f.clock.Now, Log: slog.New(slog.NewTextHandler(f.log, nil)),
	}
	f.Billing = f.build(f.cfg)
}

func (f *fixture) build(cfg billing.Config) *billing.Billing {
	f.Helper()
	b, err := billing.New(cfg)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

func (f *fixture) account(email string) account.Account {
	f.Helper()
	a, err := f.store.Accounts.Create(f.Context(), email, account.Developer, f.clock.Now())
	if err != nil {
		f.Fatal(err)
	}
	return a
}

func (f *fixture) checkout(a account.Account) string {
	f.Helper()
	page, err := f.Checkout(f.Context(), a)
	if err != nil {
		f.Fatal(err)
	}
	return page
}

// customer has an account pay, and says nothing of it to billing yet.
func (f *fixture) customer(a account.Account) (customerID string) {
	f.Helper()
	f.fake.pay(f, f.checkout(a))
	return f.subscription(a).CustomerID
}

func (f *fixture) subscription(a account.Account) billing.Subscription {
	f.Helper()
	s, err := f.store.Subscriptions.Find(f.Context(), a.ID)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func (f *fixture) reconcile() {
	f.Helper()
	if err := f.Reconcile(f.Context()); err != nil {
		f.Fatal(err)
	}
}

// sign returns the header that Stripe would send with a body.
func sign(body []byte, secret string, at time.Time) string {
	return stripe.GenerateTestSignedPayload(&stripe.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at}).Header
}

// send posts bodies as Stripe would, and wants one status for all.
func (f *fixture) send(status int, bodies ...[]byte) {
	f.Helper()
	for _, body := range bodies {
		// The signature's age is measured by the machine's clock, which is not ours to move.
		if got := f.post(f.Billing, body, sign(body, webhookSecret, time.Now())); got != status {
			f.Fatalf("the event is answered %d; want %d\n%s\n%s", got, status, body, f.log)
		}
	}
}

func (f *fixture) post(b *billing.Billing, body []byte, signatures ...string) (status int) {
	r := httptest.NewRequestWithContext(f.Context(), http.MethodPost, "/hooks/stripe", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for _, s := range signatures {
		r.Header.Add("Stripe-Signature", s)
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w.Code
}

// plan wants an account to be on a plan.
func (f *fixture) plan(a account.Account, want account.Plan) {
	f.Helper()
	got, err := f.store.Accounts.Find(f.Context(), a.Email)
	if err != nil || got.Plan != want {
		f.Fatalf("%s on %s is on the plan %q, %v; want %q", a.Email, f.clock.Now(), got.Plan, err, want)
	}
}

// mails takes the mails that wait, as "kind about address".
func (f *fixture) mails() string {
	f.Helper()
	claims, err := f.store.Mails.Claim(f.Context(), f.clock.Now(), 100)
	if err != nil {
		f.Fatal(err)
	}
	var list []string
	for _, c := range claims {
		if err := f.store.Mails.Finish(f.Context(), c, mail.Verdict{}); err != nil {
			f.Fatal(err)
		}
		list = append(list, string(c.Kind)+" "+c.About+" "+c.To)
	}
	return strings.Join(list, "\n")
}
