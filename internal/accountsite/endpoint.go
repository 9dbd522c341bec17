package accountsite

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

type endpointsPage struct {
	page
	Pro       bool
	Endpoints []webhook.Endpoint
	Max       int
	Form      *endpointForm // nil if there may be no more, or without Pro
}

func (p *endpoints) listEndpoints(r *request) (*response, error) { return p.list(r, nil, "") }

// endpoints shows the list, with a rejected form, or nil, and a notice why nothing was
// created, or "".
func (p *endpoints) list(r *request, rejected *endpointForm, notice string) (*response, error) {
	all, err := p.Store.Endpoints.List(r.Context(), r.owner.Account.Owner())
	if err != nil {
		return nil, err
	}
	data := endpointsPage{
		page: r.page("Webhooks"), Pro: r.owner.Account.Plan == account.Pro, Endpoints: all, Max: webhook.MaxEndpoints,
	}
	if !r.offer && len(all) == 0 {
		return nil, noPage()
	}
	if data.Pro && len(all) < data.Max {
		data.Form = rejected
		if rejected == nil {
			data.Form = newEndpointForm(endpointsPath, "", nil)
		}
		data.Form.New = true
		for _, e := range all {
			data.Form.Newest = max(data.Form.Newest, e.ID)
		}
	}
	if notice != "" {
		data.Notice = notices[notice]
	}
	a := render("endpoints", data)
	switch {
	case notice != "":
		a.Status = http.StatusConflict
	case rejected != nil:
		a.Status = http.StatusBadRequest
	}
	return a, nil
}

func (p *endpoints) createEndpoint(r *request) (*response, error) {
	if r.owner.Account.Plan != account.Pro {
		return nil, accountdb.ErrPlan
	}
	url, events, rejected := p.readEndpoint(r, endpointsPath)
	if rejected != nil {
		return p.list(r, rejected, "")
	}
	secret := webhook.NewSecret()
	seal := func(id string) string { return p.Sealer.Seal(id, secret) }
	e, err := p.Store.Endpoints.Create(r.Context(), r.owner.Account.ID, url, events, seal, new(r.PostForm.Get("dernier")),
		r.Now)

	switch {
	case errors.Is(err, sqldb.ErrChanged):
		all, err := p.Store.Endpoints.List(r.Context(), r.owner.Account.Owner())
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all,
			func(e webhook.Endpoint) bool { return e.ID > r.PostForm.Get("dernier") && e.URL == url }) {
			return seeOther(endpointsPath, "point-deja-cree"), nil
		}
		return p.list(r, newEndpointForm(endpointsPath, r.PostForm.Get("url"), events), "points-changes")
	case errors.Is(err, accountdb.ErrEndpointLimit):
		return conflict(p.list(r, nil, ""))
	case err != nil:
		return nil, err
	}
	return p.showNewSecret(r, "Votre point de réception", secret, e, time.Time{}), nil
}

type endpointPage struct {
	page
	Pro        bool
	Endpoint   webhook.Endpoint
	Now        time.Time
	Form       *endpointForm
	Editing    bool // Form was rejected
	Deliveries []deliveryRow
	Recoveries []webhook.Recovery
	Oldest     time.Time // since when events can be recovered
	BadDay     string    // the problem of the day to recover from
}

func (p *endpoints) showEndpoint(r *request) (*response, error) { return p.endpoint(r, nil, "") }

// endpoint shows an endpoint, with a rejected form, or nil, and what is wrong with the
// day to recover from, or "".
func (p *endpoints) endpoint(r *request, rejected *endpointForm, badDay string) (*response, error) {
	owner, id := r.owner.Account.Owner(), r.PathValue("id")
	e, err := p.Store.Endpoints.Find(r.Context(), owner, id)
	if err != nil {
		return nil, err
	}
	recent, err := p.Store.Deliveries.List(r.Context(), owner, id, accountdb.DeliveryFilter{Limit: 5})
	if err != nil {
		return nil, err
	}
	recoveries, err := p.Store.Deliveries.Recoveries(r.Context(), owner, id)
	if err != nil {
		return nil, err
	}
	data := endpointPage{
		page: r.page("Point de réception"), Pro: r.owner.Account.Plan == account.Pro, Endpoint: e, Now: r.Now,
		Form: rejected, Editing: rejected != nil, Deliveries: deliveryRows(recent, r.Now),
		Recoveries: recoveries[:min(len(recoveries), 10)],
		Oldest:     r.Now.Add(-webhook.Keep), BadDay: badDay,
	}
	if rejected == nil {
		data.Form = newEndpointForm(endpointsPath+"/"+id, e.URL, e.Events)
	}
	a := render("endpoint", data)
	if rejected != nil || badDay != "" {
		a.Status = http.StatusBadRequest
	}
	return a, nil
}

func (p *endpoints) changeEndpoint(r *request) (*response, error) {
	path := endpointsPath + "/" + r.PathValue("id")
	url, events, rejected := p.readEndpoint(r, path)
	if rejected != nil {
		return p.endpoint(r, rejected, "")
	}
	_, err := p.change(r, webhook.Change{URL: &url, Events: &events})
	return seeOther(path, "point-change"), err
}

// stateNotices are the notices after a change of state. Without Pro, an endpoint that
// should become active is suspended instead.
var stateNotices = map[webhook.State]string{
	webhook.Active:    "point-actif",
	webhook.Paused:    "point-en-pause",
	webhook.Suspended: "point-suspendu",
}

func (p *endpoints) changeState(r *request) (*response, error) {
	state := webhook.State(r.PostForm.Get("etat"))
	if state != webhook.Active && state != webhook.Paused {
		return nil, unreadableForm()
	}
	e, err := p.change(r, webhook.Change{State: &state})
	return seeOther(endpointsPath+"/"+e.ID, stateNotices[e.State]), err
}

func (p *endpoints) change(r *request, c webhook.Change) (webhook.Endpoint, error) {
	e, err := p.Store.Endpoints.Change(r.Context(), r.owner.Account.Owner(), r.PathValue("id"), c, r.Now)
	if err == nil {
		p.WakeWebhooks() // deliveries may be waiting for it
	}
	return e, err
}

func (p *endpoints) ping(r *request) (*response, error) {
	id := r.PathValue("id")
	d, err := p.Store.Deliveries.Ping(r.Context(), r.owner.Account.Owner(), id, r.Now)
	if done := r.pingNotice(err); done != "" {
		return seeOther(endpointsPath+"/"+id, done), nil
	}
	if err != nil {
		return nil, err
	}
	p.WakeWebhooks()
	return seeOther(deliveriesPath+"/"+d.ID, "essai"), nil
}

// pingNotice returns the notice for a ping or a resend that was not created, or "" for
// any other error.
func (r *request) pingNotice(err error) string {
	switch {
	case errors.Is(err, sqldb.ErrTooMany):
		return "trop-d-essais"
	case errors.Is(err, accountdb.ErrPlan):
		return "point-sans-pro"
	case errors.Is(err, accountdb.ErrInactive) && r.owner.Account.Plan != account.Pro:
		return "point-sans-pro"
	case errors.Is(err, accountdb.ErrInactive):
		return "point-inactif"
	}
	return ""
}

func (p *endpoints) confirmRemoval(r *request) (*response, error) {
	e, err := p.Store.Endpoints.Find(r.Context(), r.owner.Account.Owner(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return render("removal", endpointPage{page: r.page("Supprimer un point de réception"), Endpoint: e}), nil
}

func (p *endpoints) removeEndpoint(r *request) (*response, error) {
	err := p.Store.Endpoints.Delete(r.Context(), r.owner.Account.Owner(), r.PathValue("id"))
	return seeOther(endpointsPath, "point-supprime"), err
}
