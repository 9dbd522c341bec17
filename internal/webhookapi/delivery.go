package webhookapi

import (
	"errors"
	"net/http"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/problem"
	"palmares/internal/sqldb"
	"palmares/internal/web"
	"palmares/internal/webhook"
)

func (h *Handler) listDeliveries(r *request) (web.Response, error) {
	p := r.params()
	var filter accountdb.DeliveryFilter
	filter.State = web.Choice(p, "state", webhook.DeliveryStates)
	filter.Type = web.Choice(p, "type", webhook.DeliveryTypes)
	filter.Before = p.Matching("before", problem.New("allow-id", account.DeliveryID+"…"),
		func(s string) bool { return account.IsID(account.DeliveryID, s) })
	limit := p.Limit()
	if err := p.Err(); err != nil {
		return web.Response{}, err
	}
	filter.Limit = limit + 1 // to know whether there is a next page
	deliveries, err := h.cfg.Store.Deliveries.List(r.Context(), r.owner, r.id, filter)
	if errors.Is(err, sqldb.ErrInvalid) { // the rest of the filter has been checked
		p.Refuse("before", filter.Before, problem.New("allow-delivery"))
		return web.Response{}, p.Err()
	}
	if err != nil {
		return web.Response{}, err
	}
	var link []string
	if len(deliveries) > limit {
		deliveries = deliveries[:limit]
		path, last := endpointsPath+"/"+r.id+"/deliveries", deliveries[limit-1].ID
		link = []string{p.NextLink(path, "before", last, "state", "type", "limit")}
	}
	a := reply(list[webhook.Delivery]{deliveries})
	a.Link = link
	return a, nil
}

func (h *Handler) getDelivery(r *request) (web.Response, error) {
	d, err := h.cfg.Store.Deliveries.Find(r.Context(), r.owner, r.id)
	return reply(d), err
}

func (h *Handler) resendDelivery(r *request) (web.Response, error) {
	d, err := h.cfg.Store.Deliveries.Resend(r.Context(), r.owner, r.id, h.cfg.Now())
	if errors.Is(err, sqldb.ErrTooMany) {
		return web.Response{}, tooMany(problem.New("endpoint-resends", webhook.ResendsAMinute, webhook.PingsAMinute))
	}
	return h.queued(d, err)
}

func (h *Handler) pingEndpoint(r *request) (web.Response, error) {
	d, err := h.cfg.Store.Deliveries.Ping(r.Context(), r.owner, r.id, h.cfg.Now())
	return h.queued(d, err)
}

// queued returns a delivery that was just created.
func (h *Handler) queued(d webhook.Delivery, err error) (web.Response, error) {
	if err != nil {
		return web.Response{}, err
	}
	h.wake()
	a := reply(d)
	a.Status, a.Location = http.StatusAccepted, deliveriesPath+"/"+d.ID
	return a, nil
}
