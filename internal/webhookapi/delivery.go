package webhookapi

import (
	"errors"
	"net/http"
	"slices"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/sqldb"
	"palmares/internal/web"
	"palmares/internal/webhook"
)

// deliveryItem is a delivery on the wire, as lists show it.
type deliveryItem struct {
	ID           string       `json:"id"`
	EndpointID   string       `json:"endpoint_id"`
	EventID      string       `json:"event_id"`
	Type         string       `json:"type"`
	Sequence     int64        `json:"sequence"`
	Origin       string       `json:"origin"`
	State        string       `json:"state"`
	CreatedAt    string       `json:"created_at"`
	NextAt       *string      `json:"next_attempt_at"`
	AttemptCount int          `json:"attempt_count"`
	LastAttempt  *attemptItem `json:"last_attempt"`
}

type deliveryDetail struct {
	deliveryItem
	Attempts []attemptItem `json:"attempts"`
	// Body is a string, not an object: to find out why a signature does not match, a
	// receiver needs the exact bytes that were signed.
	Body string `json:"body"`
}

type attemptItem struct {
	Number   int    `json:"number"`
	At       string `json:"at"`
	Duration int64  `json:"duration_ms"`
	Status   *int   `json:"status"`
	Outcome  string `json:"outcome"`
	Response string `json:"response"`
}

func newDeliveryItem(d *webhook.Delivery) deliveryItem {
	item := deliveryItem{
		ID: d.ID, EndpointID: d.EndpointID, EventID: d.EventID, Type: d.Type, Sequence: d.Sequence,
		Origin: d.Origin, State: string(d.State), CreatedAt: stamp(d.CreatedAt), NextAt: stampOrNull(d.NextAt),
		AttemptCount: d.Count,
	}
	if n := len(d.Attempts); n > 0 {
		item.LastAttempt = new(newAttemptItem(&d.Attempts[n-1]))
	}
	return item
}

func newAttemptItem(a *webhook.Attempt) attemptItem {
	item := attemptItem{
		Number: a.Number, At: stamp(a.At), Duration: a.Duration.Milliseconds(),
		Outcome: string(a.Outcome), Response: a.Response,
	}
	if a.Status != 0 {
		item.Status = &a.Status
	}
	return item
}

var (
	deliveryStates = []webhook.DeliveryState{webhook.Pending, webhook.Delivered, webhook.Failed}
	deliveryTypes  = append(slices.Clone(webhook.Types), webhook.Ping)
)

func (h *Handler) listDeliveries(r *request) (web.Response, error) {
	p := r.params()
	var filter accountdb.DeliveryFilter
	filter.State = web.Choice(p, "state", deliveryStates)
	filter.Type = web.Choice(p, "type", deliveryTypes)
	filter.Before = p.Matching("before", "un identifiant comme « "+account.DeliveryID+"… »",
		func(s string) bool { return account.IsID(account.DeliveryID, s) })
	limit := p.Limit()
	if err := p.Err(); err != nil {
		return web.Response{}, err
	}
	filter.Limit = limit + 1 // to know whether there is a next page
	deliveries, err := h.cfg.Store.Deliveries.List(r.Context(), r.owner, r.id, filter)
	if errors.Is(err, sqldb.ErrInvalid) { // the rest of the filter has been checked
		p.Refuse("before", filter.Before, "l’identifiant d’un envoi à ce point de réception")
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
	items := make([]deliveryItem, len(deliveries))
	for i := range deliveries {
		items[i] = newDeliveryItem(&deliveries[i])
	}
	return web.Response{Body: web.JSON(list[deliveryItem]{items}), Link: link}, nil
}

func (h *Handler) getDelivery(r *request) (web.Response, error) {
	d, body, err := h.cfg.Store.Deliveries.Find(r.Context(), r.owner, r.id)
	if err != nil {
		return web.Response{}, err
	}
	detail := deliveryDetail{
		deliveryItem: newDeliveryItem(&d), Attempts: make([]attemptItem, len(d.Attempts)), Body: string(body),
	}
	for i := range d.Attempts {
		detail.Attempts[i] = newAttemptItem(&d.Attempts[i])
	}
	return web.Response{Body: web.JSON(detail)}, nil
}

func (h *Handler) resendDelivery(r *request) (web.Response, error) {
	d, err := h.cfg.Store.Deliveries.Resend(r.Context(), r.owner, r.id, h.cfg.Now())
	if errors.Is(err, accountdb.ErrTooMany) {
		return web.Response{}, tooManyResends()
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
	return web.Response{
		Status: http.StatusAccepted, Body: web.JSON(newDeliveryItem(&d)), Location: deliveriesPath + "/" + d.ID,
	}, nil
}
