package accountsite

import (
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/sqldb"
)

// stripePages are where the forms of the page redirect to.
var stripePages = []string{"https://checkout.stripe.com", "https://billing.stripe.com"}

type planPage struct {
	page
	payment
	Enabled bool // payments are enabled
	Unsure  bool // back from Stripe, which does not confirm a payment yet
	Silent  bool // back from Stripe, which is unreachable
	Paid    bool // back from Stripe, which confirms the payment
}

// A payment is what an account has and pays, now.
type payment struct {
	billing.Subscription
	Plan account.Plan
	Now  time.Time
	Here bool // it is shown on the page where it can be paid
}

// Pro reports whether the account is Pro.
func (p payment) Pro() bool { return p.Plan == account.Pro }

// ByOperator reports whether Pro was granted by the operator.
func (p payment) ByOperator() bool { return p.Pro() && !p.Granted }

// Owed reports whether a payment failed, which does not change Pro that was granted by the operator.
func (p payment) Owed() bool { return p.Status.Failed() && !p.ByOperator() }

// showPlan shows the plan and the subscription. An owner who returns from Stripe may
// arrive before the event that reports the payment, so the subscription is fetched,
// at most once a minute.
func (p *plans) showPlan(r *request) (*response, error) {
	data := planPage{page: r.page("Formule"), Enabled: p.Billing.Enabled()}
	back := data.Enabled && r.URL.Query().Get("session_id") != ""
	if back && p.stripeCalls.allow(r.owner.Account.ID, r.Now) {
		if _, err := p.Billing.Refresh(r.Context(), r.owner.Account.ID); err != nil {
			p.Log.Error("could not fetch a subscription from Stripe", "account", r.owner.Account.ID, "error", err)
			data.Silent = true
		}
	}
	a, err := p.Store.Accounts.Find(r.Context(), r.owner.Account.Email)
	if err != nil {
		return nil, err
	}
	s, err := p.Store.Subscriptions.Find(r.Context(), a.ID)
	if err != nil {
		return nil, err
	}
	data.payment = payment{Subscription: s, Plan: a.Plan, Now: r.Now, Here: true}
	// Who pays must be able to stop, even if the publisher hides Pro.
	if !r.offer && !s.Status.Live() && !data.Owed() {
		return nil, noPage()
	}
	data.Paid = back && data.Pro() && s.Status.Paid()
	data.Unsure = back && !data.Paid && !data.Silent && !data.Owed() && s.Status != billing.Incomplete
	page := render("plan", data)
	if data.Enabled {
		page.FormsTo = stripePages
	}
	return page, nil
}

// stripeInterval is how often one account may cause a call to Stripe.
const stripeInterval = time.Minute

// A limiter allows one call per account and stripeInterval. Each node has its own: it
// only saves calls, and there are few nodes.
type limiter struct {
	mu   sync.Mutex
	last map[string]time.Time // by account
}

// allow reports whether an account may call now, and counts the call.
func (l *limiter) allow(accountID string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.last, func(_ string, at time.Time) bool { return now.Sub(at) >= stripeInterval })
	if _, recent := l.last[accountID]; recent {
		return false
	}
	if l.last == nil {
		l.last = map[string]time.Time{}
	}
	l.last[accountID] = now
	return true
}

func (p *plans) subscribe(r *request) (*response, error) {
	if !r.offer {
		return nil, noPage()
	}
	return p.toStripe(p.Billing.Checkout(r.Context(), r.owner.Account))
}

func (p *plans) manage(r *request) (*response, error) {
	return p.toStripe(p.Billing.Portal(r.Context(), r.owner.Account))
}

// toStripe redirects to a page of Stripe, or explains why there is none.
func (p *plans) toStripe(url string, err error) (*response, error) {
	switch {
	case err == nil:
		return &response{Status: http.StatusSeeOther, Location: url}, nil
	case errors.Is(err, billing.ErrOff), errors.Is(err, billing.ErrNoCustomer):
		return seeOther(planPath, ""), nil // it says so
	case sqldb.IsOutage(err), errors.Is(err, sqldb.ErrNotFound):
		return nil, err
	}
	p.Log.Error("could not create a Stripe session", "error", err)
	return nil, &failure{
		Status: http.StatusBadGateway, Title: "Paiement indisponible",
		Text: "Stripe, qui encaisse pour nous, ne répond pas comme il devrait\u00a0: " +
			"rien n’a été débité ni changé. Réessayez dans quelques minutes.",
	}
}
