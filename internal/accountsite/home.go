package accountsite

import (
	"palmares/internal/account"
	"palmares/internal/webhook"
)

type homePage struct {
	page
	Account   account.Account
	Today     today
	Keys      int      // active; replaced ones do not count
	Suspended int      // keys
	MaxKeys   int      // limit of the plan
	First     *keyForm // nil if the account ever had a key
	Endpoints []webhook.Endpoint
	Stopped   int // of Endpoints, those not active
	Failing   int // of Endpoints
	Payment   payment
	Concerns  []concern
	AtDesk    bool // the owner writes at the desk
}

// home shows the account to its owner, and the sign-in form to anybody else.
func (p *pages) home(r *request) (*response, error) {
	if r.owner == nil {
		return p.welcome(r, "", ""), nil
	}
	if to := pathOf(r.destination()); to != "" {
		return seeOther(to, ""), nil
	}
	a := r.owner.Account
	data := homePage{page: r.page("Votre compte"), Account: a, MaxKeys: account.MaxKeys(a.Plan)}
	keys, err := p.Store.Keys.List(r.Context(), a.Email)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		switch k.State(r.Now) {
		case account.KeyActive:
			data.Keys++
		case account.KeySuspended:
			data.Suspended++
		}
	}
	if len(keys) == 0 {
		data.First = &keyForm{}
	}
	data.Today, err = p.today(r)
	if err != nil {
		return nil, err
	}
	data.Endpoints, err = p.Store.Endpoints.List(r.Context(), a.Owner())
	if err != nil {
		return nil, err
	}
	for _, e := range data.Endpoints {
		if e.State != webhook.Active {
			data.Stopped++
		} else if e.Failing() {
			data.Failing++
		}
	}
	subscription, err := p.Store.Subscriptions.Find(r.Context(), a.ID)
	if err != nil {
		return nil, err
	}
	data.Payment = payment{Subscription: subscription, Plan: a.Plan, Now: r.Now}
	data.Concerns, err = p.concerns(r, keys, data.Endpoints, subscription)
	if err != nil {
		return nil, err
	}
	who, err := editorOf(r.Context(), p.Desk, r.owner.Account)
	if err != nil {
		return nil, err
	}
	data.AtDesk = who != nil
	return render("home", data), nil
}
