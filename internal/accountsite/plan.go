package accountsite

import (
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/store"
)

// stripePages are where a form of the plan's page leads in the end.
var stripePages = []string{"https://checkout.stripe.com", "https://billing.stripe.com"}

type planPage struct {
	page
	Pro        bool
	Enabled    bool // accounts can pay here
	Live       bool // there is a subscription to manage
	ByOperator bool // Pro was given, not bought
	Grace      graceNotice
	CancelAt   time.Time // zero while it renews
	PeriodEnd  time.Time
	Renews     bool // at PeriodEnd
	Incomplete bool // the first payment is not made
	Unsure     bool // Stripe led here, and does not say yet that it is paid
	Silent     bool // Stripe led here, and does not answer
	Paid       bool // Stripe led here, and it is paid
}

// A graceNotice tells that a payment failed and until when nothing comes of it.
type graceNotice struct {
	Owed  bool
	Until time.Time
	Over  bool
	Here  bool // on the page that it leads to
}

func (p *portal) grace(r *request) (graceNotice, error) {
	s, err := p.Store.Subscriptions.Find(r.Context(), r.owner.Account.ID)
	return noticeOf(r.owner.Account.Plan, s, r.now), err
}

// noticeOf says nothing to whom the operator gave Pro: what she owes takes nothing
// from her.
func noticeOf(plan account.Plan, s billing.Subscription, now time.Time) graceNotice {
	if !s.Status.Failed() || plan == account.Pro && !s.Granted {
		return graceNotice{}
	}
	return graceNotice{Owed: true, Until: s.GraceUntil, Over: !now.Before(s.GraceUntil)}
}

// showPlan tells what is so. Whoever comes back from Stripe may be here before the
// event that says so: then Stripe is asked, once a minute however often the page is
// loaded.
func (p *portal) showPlan(r *request) (*answer, error) {
	data := planPage{page: r.page("Formule"), Enabled: p.Billing.Enabled()}
	back := data.Enabled && r.URL.Query().Get("session_id") != ""
	if back && p.asked.allow(r.owner.Account.ID, r.now) {
		if _, err := p.Billing.Refresh(r.Context(), r.owner.Account.ID); err != nil {
			p.Log.Error("a subscription could not be read from Stripe", "account", r.owner.Account.ID, "error", err)
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
	data.Grace, data.CancelAt, data.PeriodEnd = noticeOf(a.Plan, s, r.now), s.CancelAt, s.PeriodEnd
	data.ByOperator = data.Pro && !s.Granted
	data.Grace.Here = true
	data.Renews = (s.Status == billing.Active || s.Status == billing.Trialing) && !s.PeriodEnd.IsZero()
	data.Paid = back && data.Pro && (s.Status == billing.Active || s.Status == billing.Trialing)
	data.Unsure = back && !data.Paid && !data.Silent && !data.Grace.Owed && !data.Incomplete
	page := render("plan", data.page, data)
	if data.Enabled {
		page.formsTo = stripePages
	}
	return page, nil
}

// askEvery is how often one account has Stripe asked by loading a page.
const askEvery = time.Minute

// A limiter knows whose turn was less than askEvery ago. Each node has its own: what
// it spares is calls, and the number of nodes is small.
type limiter struct {
	mu   sync.Mutex
	last map[string]time.Time // by account
}

// allow takes an account's turn, if it has one.
func (l *limiter) allow(accountID string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.last, func(_ string, at time.Time) bool { return now.Sub(at) >= askEvery })
	if _, recent := l.last[accountID]; recent {
		return false
	}
	if l.last == nil {
		l.last = map[string]time.Time{}
	}
	l.last[accountID] = now
	return true
}

func (p *portal) subscribe(r *request) (*answer, error) {
	return p.toStripe(p.Billing.Checkout(r.Context(), r.owner.Account))
}

func (p *portal) manage(r *request) (*answer, error) {
	return p.toStripe(p.Billing.Portal(r.Context(), r.owner.Account))
}

// toStripe leads to a page of Stripe, or says why there is none.
func (p *portal) toStripe(url string, err error) (*answer, error) {
	switch {
	case err == nil:
		return &answer{status: http.StatusSeeOther, location: url}, nil
	case errors.Is(err, billing.ErrOff), errors.Is(err, billing.ErrNoCustomer):
		return seeOther(planPath, ""), nil // which says so
	case errors.Is(err, store.ErrAway), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrBusy):
		return nil, err
	}
	p.Log.Error("a page of Stripe could not be had", "error", err)
	return nil, &failure{
		status: http.StatusBadGateway, title: "Paiement indisponible",
		text: "Stripe, qui encaisse pour nous, ne répond pas comme il devrait\u00a0: rien n’a été débité ni changé. Réessayez dans quelques minutes.",
	}
}
