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
	Pro        bool
	Enabled    bool // payments are enabled
	Live       bool // there is a subscription to manage
	ByOperator bool // Pro was granted by the operator
	Grace      graceNotice
	CancelAt   time.Time // zero if it renews
	PeriodEnd  time.Time
	Renews     bool // at PeriodEnd
	Incomplete bool // the first payment failed
	Unsure     bool // back from Stripe, which does not confirm a payment yet
	Silent     bool // back from Stripe, which is unreachable
	Paid       bool // back from Stripe, which confirms the payment
}

// A graceNotice says that a payment failed and until when the account stays Pro.
type graceNotice struct {
	Owed  bool
	Until time.Time
	Over  bool
	Here  bool // shown on the page where it can be paid
}

// newGraceNotice is empty for an account granted Pro by the operator, which a failed
// payment does not change.
func newGraceNotice(plan account.Plan, s billing.Subscription, now time.Time) graceNotice {
	if !s.Status.Failed() || plan == account.Pro && !s.Granted {
		return graceNotice{}
	}
	return graceNotice{Owed: true, Until: s.GraceUntil, Over: !now.Before(s.GraceUntil)}
}

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
	data.Pro, data.Live, data.Incomplete = a.Plan == account.Pro, s.Status.Live(), s.Status == billing.Incomplete
	data.Grace, data.CancelAt, data.PeriodEnd = newGraceNotice(a.Plan, s, r.Now), s.CancelAt, s.PeriodEnd
	// Who pays must be able to stop, even if the publisher hides Pro.
	if !r.offer && !data.Live && !data.Grace.Owed {
		return nil, noPage()
	}
	data.ByOperator = data.Pro && !s.Granted
	data.Grace.Here = true
	data.Renews = (s.Status == billing.Active || s.Status == billing.Trialing) && !s.PeriodEnd.IsZero()
	data.Paid = back && data.Pro && (s.Status == billing.Active || s.Status == billing.Trialing)
	data.Unsure = back && !data.Paid && !data.Silent && !data.Grace.Owed && !data.Incomplete
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
