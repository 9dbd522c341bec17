package accountsite

import (
	"palmares/internal/account"
	"palmares/internal/webhook"
)

type homePage struct {
	page
	Account   account.Account
	Since     string // a day
	Today     today
	Keys      int      // that are active; one in its overlap counts no more
	Suspended int      // keys
	MaxKeys   int      // of the plan
	First     *keyForm // to an account that never had a key
	Endpoints []webhook.Endpoint
	Stopped   int // of them, those that are not active
	Grace     graceNotice
}

// home is the form to a stranger, the account to its owner.
func (p *portal) home(r *request) (*answer, error) {
	if r.owner == nil {
		return p.welcome(r, "", ""), nil
	}
	a := r.owner.Account
	data := homePage{page: r.page("Votre compte"), Account: a, Since: day(a.CreatedAt), MaxKeys: account.MaxKeys(a.Plan)}
	keys, err := p.Store.Keys.List(r.Context(), a.Email)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		switch k.State(r.now) {
		case account.KeyActive:
			data.Keys++
		case account.KeySuspended:
			data.Suspended++
		}
	}
	if len(keys) == 0 {
		data.First = &keyForm{}
	}
	if data.Today, err = p.today(r); err != nil {
		return nil, err
	}
	if data.Endpoints, err = p.Store.Endpoints.List(r.Context(), a.Owner()); err != nil {
		return nil, err
	}
	for _, e := range data.Endpoints {
		if e.State != webhook.Active {
			data.Stopped++
		}
	}
	if data.Grace, err = p.grace(r); err != nil {
		return nil, err
	}
	return render("home", data.page, data), nil
}
