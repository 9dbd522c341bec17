package accountsite

import (
	"errors"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// recoverEvents sends again what an endpoint missed since a day.
func (p *endpoints) recoverEvents(r *request) (*response, error) {
	id := r.PathValue("id")
	if r.owner.Account.Plan != account.Pro {
		return nil, accountdb.ErrPlan
	}
	since, err := time.Parse(time.DateOnly, r.PostForm.Get("depuis"))
	if err == nil {
		_, err = p.Store.Deliveries.Recover(r.Context(), r.owner.Account.Owner(), id, since, r.Now)
	} else {
		err = sqldb.ErrInvalid
	}
	switch {
	case errors.Is(err, sqldb.ErrInvalid):
		return p.endpoint(r, nil, "Choisissez un jour des 30 derniers, aujourd’hui compris.")
	case errors.Is(err, sqldb.ErrTooMany):
		return seeOther(endpointsPath+"/"+id, "reprise-en-cours"), nil
	case err != nil:
		return nil, err
	}
	p.WakeWebhooks()
	e, err := p.Store.Endpoints.Find(r.Context(), r.owner.Account.Owner(), id)
	if err != nil {
		return nil, err
	}
	if e.State != webhook.Active {
		return seeOther(endpointsPath+"/"+id, "reprise-plus-tard"), nil
	}
	return seeOther(endpointsPath+"/"+id, "reprise"), nil
}
