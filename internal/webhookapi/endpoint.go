package webhookapi

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/webhook"
)

// endpointItem is an endpoint on the wire.
type endpointItem struct {
	ID             string   `json:"id"`
	URL            string   `json:"url"`
	Events         []string `json:"events"` // null: all
	State          string   `json:"state"`
	DisabledReason *string  `json:"disabled_reason"`
	DisabledAt     *string  `json:"disabled_at"`
	Failures       int      `json:"failures"`
	FailingSince   *string  `json:"failing_since"`
	LastSuccessAt  *string  `json:"last_success_at"`
	OldSecretUntil *string  `json:"old_secret_until"`
	CreatedAt      string   `json:"created_at"`
	Secret         string   `json:"secret,omitempty"` // only where it was made just now
}

func newEndpointItem(e *webhook.Endpoint, now time.Time) endpointItem {
	item := endpointItem{
		ID: e.ID, URL: e.URL, Events: e.Events, State: string(e.State), DisabledAt: stampOrNull(e.DisabledAt),
		Failures: e.Failures, FailingSince: stampOrNull(e.FailingSince), LastSuccessAt: stampOrNull(e.LastSuccessAt),
		CreatedAt: stamp(e.CreatedAt),
	}
	if e.Overlaps(now) {
		item.OldSecretUntil = stampOrNull(e.OldSecretUntil)
	}
	if e.Reason != "" {
		item.DisabledReason = &e.Reason
	}
	return item
}

// list is how every list goes out that has no pages.
type list[T any] struct {
	Data []T `json:"data"`
}

func (h *Handler) listEndpoints(r *request) (answer, error) {
	endpoints, err := h.cfg.Store.Endpoints.List(r.Context(), account.OwnedBy(r.account))
	if err != nil {
		return answer{}, err
	}
	items := make([]endpointItem, len(endpoints))
	for i := range endpoints {
		items[i] = newEndpointItem(&endpoints[i], h.cfg.Now())
	}
	return answer{value: list[endpointItem]{items}}, nil
}

func (h *Handler) createEndpoint(r *request) (answer, error) {
	body, err := readBody(r.Request, "url", "events")
	if err != nil {
		return answer{}, err
	}
	url, given, err := h.url(body)
	if err != nil {
		return answer{}, err
	}
	if !given {
		return answer{}, invalid("url", "Le champ « url » manque : donnez l’adresse https à laquelle envoyer les événements.")
	}
	events, _, err := body.events()
	if err != nil {
		return answer{}, err
	}
	secret := webhook.NewSecret()
	seal := func(id string) string { return h.cfg.Sealer.Seal(id, secret) }
	e, err := h.cfg.Store.Endpoints.Create(r.Context(), r.account, url, events, seal, h.cfg.Now())
	if err != nil {
		return answer{}, found(err, api.InvalidKey()) // the account went while its key was still known
	}
	item := newEndpointItem(&e, h.cfg.Now())
	item.Secret = secret
	return answer{status: http.StatusCreated, value: item, location: endpointsPath + "/" + e.ID}, nil
}

func (h *Handler) getEndpoint(r *request) (answer, error) {
	return h.endpoint(r, func(id string) (webhook.Endpoint, error) {
		return h.cfg.Store.Endpoints.Find(r.Context(), account.OwnedBy(r.account), id)
	})
}

func (h *Handler) changeEndpoint(r *request) (answer, error) {
	body, err := readBody(r.Request, "url", "events", "state")
	if err != nil {
		return answer{}, err
	}
	if len(body) == 0 {
		return answer{}, invalid("", "L’objet est vide : donnez ce qui doit changer, « url », « events » ou « state ».")
	}
	var change webhook.Change
	url, given, err := h.url(body)
	if err != nil {
		return answer{}, err
	}
	if given {
		change.URL = &url
	}
	events, given, err := body.events()
	if err != nil {
		return answer{}, err
	}
	if given {
		change.Events = &events
	}
	state, given, err := body.text("state")
	if err != nil {
		return answer{}, err
	}
	if given {
		s := webhook.State(state)
		if s != webhook.Active && s != webhook.Paused {
			return answer{}, invalid("state", "Le champ « state » vaut "+quote(state)+" ; valeurs admises : active, paused.")
		}
		change.State = &s
	}
	return h.endpoint(r, func(id string) (webhook.Endpoint, error) {
		return h.cfg.Store.Endpoints.Change(r.Context(), account.OwnedBy(r.account), id, change, h.cfg.Now())
	})
}

func (h *Handler) deleteEndpoint(r *request) (answer, error) {
	if !isID(account.EndpointID, r.id) {
		return answer{}, endpointNotFound(r.id)
	}
	return answer{}, found(h.cfg.Store.Endpoints.Delete(r.Context(), account.OwnedBy(r.account), r.id), endpointNotFound(r.id))
}

func (h *Handler) rotateSecret(r *request) (answer, error) {
	if _, err := readBody(r.Request); err != nil {
		return answer{}, err
	}
	secret := webhook.NewSecret()
	a, err := h.endpoint(r, func(id string) (webhook.Endpoint, error) {
		return h.cfg.Store.Endpoints.RotateSecret(r.Context(), account.OwnedBy(r.account), id, h.cfg.Sealer.Seal(id, secret), h.cfg.Now())
	})
	if err != nil {
		return answer{}, err
	}
	item := a.value.(endpointItem)
	item.Secret = secret
	return answer{value: item}, nil
}

// endpoint answers with the endpoint of the path, as do gives it.
func (h *Handler) endpoint(r *request, do func(id string) (webhook.Endpoint, error)) (answer, error) {
	if !isID(account.EndpointID, r.id) {
		return answer{}, endpointNotFound(r.id)
	}
	e, err := do(r.id)
	if err != nil {
		return answer{}, found(err, endpointNotFound(r.id))
	}
	return answer{value: newEndpointItem(&e, h.cfg.Now())}, nil
}

// url reads the address of an endpoint in the form in which it is kept.
func (h *Handler) url(b body) (url string, given bool, err error) {
	raw, given, err := b.text("url")
	if err != nil || !given {
		return "", false, err
	}
	url, err = webhook.CheckURL(raw, h.cfg.Allow)
	if refused, ok := errors.AsType[*webhook.URLError](err); ok {
		return "", false, invalid("url", refused.French)
	}
	return url, true, err
}

// events reads what an endpoint asks for: nil for everything.
func (b body) events() (events []string, given bool, err error) {
	all := strings.Join(webhook.Types, ", ")
	events, given, err = b.texts("events", "null, pour tout recevoir, ou une liste non vide de types parmi "+all)
	for _, e := range events {
		if !slices.Contains(webhook.Types, e) {
			return nil, false, invalid("events", "Le champ « events » contient "+quote(e)+" ; types admis : "+all+" (webhook.ping est toujours reçu).")
		}
	}
	return events, given, err
}
