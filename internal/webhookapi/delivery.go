package webhookapi

import (
	"errors"
	"net/http"
	"slices"

	"palmares/internal/account"
	"palmares/internal/store"
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

// deliveryDetail is a delivery with everything that is known of it.
type deliveryDetail struct {
	deliveryItem
	Attempts []attemptItem `json:"attempts"`
	// Body is a text, not an object: a receiver who looks for why a signature does not
	// fit needs the bytes that were signed.
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
		ID: d.ID, EndpointID: d.EndpointID, EventID: d.EventID, Type: d.Type, Sequence: d.Sequence, Origin: d.Origin, State: string(d.State),
		CreatedAt: stamp(d.CreatedAt), NextAt: stampOrNull(d.NextAt), AttemptCount: d.Count,
	}
	if n := len(d.Attempts); n > 0 {
		item.LastAttempt = new(newAttemptItem(&d.Attempts[n-1]))
	}
	return item
}

func newAttemptItem(a *webhook.Attempt) attemptItem {
	item := attemptItem{Number: a.Number, At: stamp(a.At), Duration: a.Duration.Milliseconds(), Outcome: string(a.Outcome), Response: a.Response}
	if a.Status != 0 {
		item.Status = &a.Status
	}
	return item
}

var (
	deliveryStates = []string{string(webhook.Pending), string(webhook.Delivered), string(webhook.Failed)}
	deliveryTypes  = append(slices.Clone(webhook.Types), webhook.Ping)
)

func (h *Handler) listDeliveries(r *request) (answer, error) {
	if !isID(account.EndpointID, r.id) {
		return answer{}, endpointNotFound(r.id)
	}
	var filter store.DeliveryFilter
	state, err := r.query.choice("state", deliveryStates)
	if err != nil {
		return answer{}, err
	}
	filter.State = webhook.DeliveryState(state)
	if filter.Type, err = r.query.choice("type", deliveryTypes); err != nil {
		return answer{}, err
	}
	if filter.Before, err = r.query.id("before", account.DeliveryID); err != nil {
		return answer{}, err
	}
	limit, err := r.query.limit()
	if err != nil {
		return answer{}, err
	}
	filter.Limit = limit + 1 // one more tells whether there is a next page
	deliveries, err := h.cfg.Store.Deliveries.List(r.Context(), account.OwnedBy(r.account), r.id, filter)
	if errors.Is(err, store.ErrInvalid) { // nothing else of the filter can be wrong by now
		return answer{}, r.query.refuse("before", filter.Before, "l’identifiant d’un envoi à ce point de réception")
	}
	if err != nil {
		return answer{}, found(err, endpointNotFound(r.id))
	}
	var next string
	if len(deliveries) > limit {
		deliveries = deliveries[:limit]
		next = endpointsPath + "/" + r.id + "/deliveries" + r.query.with("before", deliveries[limit-1].ID, "state", "type", "limit")
	}
	items := make([]deliveryItem, len(deliveries))
	for i := range deliveries {
		items[i] = newDeliveryItem(&deliveries[i])
	}
	return answer{value: list[deliveryItem]{items}, next: next}, nil
}

func (h *Handler) getDelivery(r *request) (answer, error) {
	if !isID(account.DeliveryID, r.id) {
		return answer{}, deliveryNotFound(r.id)
	}
	d, body, err := h.cfg.Store.Deliveries.Find(r.Context(), account.OwnedBy(r.account), r.id)
	if err != nil {
		return answer{}, found(err, deliveryNotFound(r.id))
	}
	detail := deliveryDetail{deliveryItem: newDeliveryItem(&d), Attempts: make([]attemptItem, len(d.Attempts)), Body: string(body)}
	for i := range d.Attempts {
		detail.Attempts[i] = newAttemptItem(&d.Attempts[i])
	}
	return answer{value: detail}, nil
}

func (h *Handler) resendDelivery(r *request) (answer, error) {
	if _, err := readBody(r.Request); err != nil {
		return answer{}, err
	}
	if !isID(account.DeliveryID, r.id) {
		return answer{}, deliveryNotFound(r.id)
	}
	d, err := h.cfg.Store.Deliveries.Resend(r.Context(), account.OwnedBy(r.account), r.id, h.cfg.Now())
	return h.queued(d, found(err, deliveryNotFound(r.id)))
}

func (h *Handler) pingEndpoint(r *request) (answer, error) {
	if _, err := readBody(r.Request); err != nil {
		return answer{}, err
	}
	if !isID(account.EndpointID, r.id) {
		return answer{}, endpointNotFound(r.id)
	}
	d, err := h.cfg.Store.Deliveries.Ping(r.Context(), account.OwnedBy(r.account), r.id, h.cfg.Now())
	return h.queued(d, found(err, endpointNotFound(r.id)))
}

// queued answers with a delivery that was made just now and is on its way.
func (h *Handler) queued(d webhook.Delivery, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	h.wake()
	return answer{status: http.StatusAccepted, value: newDeliveryItem(&d), location: deliveriesPath + "/" + d.ID}, nil
}
