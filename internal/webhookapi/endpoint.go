package webhookapi

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"palmares/internal/guard"
	"palmares/internal/problem"
	"palmares/internal/sqldb"
	"palmares/internal/web"
	"palmares/internal/webhook"
)

// endpointItem is an endpoint, with its secret when that was just created.
type endpointItem struct {
	webhook.Endpoint
	Secret string `json:"secret,omitzero"`
}

func newEndpointItem(e webhook.Endpoint, secret string, now time.Time) endpointItem {
	if !e.Overlaps(now) {
		e.OldSecretUntil = time.Time{}
	}
	return endpointItem{e, secret}
}

// list is the form of lists on the wire.
type list[T any] struct {
	Data []T `json:"data"`
}

func (h *Handler) listEndpoints(r *request) (web.Response, error) {
	endpoints, err := h.cfg.Store.Endpoints.List(r.Context(), r.owner)
	if err != nil {
		return web.Response{}, err
	}
	items := make([]endpointItem, len(endpoints))
	for i := range endpoints {
		items[i] = newEndpointItem(endpoints[i], "", h.cfg.Now())
	}
	return reply(list[endpointItem]{items}), nil
}

// maxKey is the length of the longest Idempotency-Key.
const maxKey = 255

// createEndpoint creates an endpoint, or sends again the response to the same request with the same key.
func (h *Handler) createEndpoint(r *request) (web.Response, error) {
	url, given, err := h.url(r.body)
	if err != nil {
		return web.Response{}, err
	}
	if !given {
		return web.Response{}, web.Invalid("url", problem.New("endpoint-url-missing"))
	}
	events, _, err := r.body.events()
	if err != nil {
		return web.Response{}, err
	}
	secret := webhook.NewSecret()
	seal := func(id string) string { return h.cfg.Sealer.Seal(id, secret) }
	key := r.Header.Get("Idempotency-Key")
	if len(key) > maxKey {
		return web.Response{}, web.Invalid("Idempotency-Key", problem.New("idempotency-key-long", maxKey))
	}
	e, sealed, err := h.cfg.Store.Endpoints.CreateOnce(r.Context(), r.account, key, url, events, seal, h.cfg.Now())
	if err == nil {
		secret, err = h.cfg.Sealer.Open(e.ID, sealed) // that of the first request with this key
	}
	if errors.Is(err, sqldb.ErrNotFound) { // the account was deleted while its key was still in memory
		err = web.ErrorOf(web.CodeInvalidKey)
	}
	if err != nil {
		return web.Response{}, err
	}
	a := reply(newEndpointItem(e, secret, h.cfg.Now()))
	a.Status, a.Location = http.StatusCreated, endpointsPath+"/"+e.ID
	return a, nil
}

func (h *Handler) getEndpoint(r *request) (web.Response, error) {
	return h.endpoint(r, "", func(id string) (webhook.Endpoint, error) {
		return h.cfg.Store.Endpoints.Find(r.Context(), r.owner, id)
	})
}

func (h *Handler) changeEndpoint(r *request) (web.Response, error) {
	if len(r.body) == 0 {
		return web.Response{}, web.Invalid("", problem.New("endpoint-unchanged"))
	}
	change, err := h.readChange(r.body)
	if err != nil {
		return web.Response{}, err
	}
	return h.endpoint(r, "", func(id string) (webhook.Endpoint, error) {
		return h.cfg.Store.Endpoints.Change(r.Context(), r.owner, id, change, h.cfg.Now())
	})
}

func (h *Handler) readChange(b body) (change webhook.Change, err error) {
	url, given, err := h.url(b)
	if err != nil {
		return change, err
	}
	if given {
		change.URL = &url
	}
	events, given, err := b.events()
	if err != nil {
		return change, err
	}
	if given {
		change.Events = &events
	}
	state, given, err := b.text("state")
	if err != nil {
		return change, err
	}
	if given {
		s := webhook.State(state)
		if s != webhook.Active && s != webhook.Paused {
			return change, web.Invalid("state", problem.New("field-value", "state", web.Shorten(state), "active, paused"))
		}
		change.State = &s
	}
	return change, nil
}

func (h *Handler) deleteEndpoint(r *request) (web.Response, error) {
	err := h.cfg.Store.Endpoints.Delete(r.Context(), r.owner, r.id)
	return web.Response{Status: http.StatusNoContent}, err
}

func (h *Handler) rotateSecret(r *request) (web.Response, error) {
	secret := webhook.NewSecret()
	return h.endpoint(r, secret, func(id string) (webhook.Endpoint, error) {
		return h.cfg.Store.Endpoints.RotateSecret(r.Context(), r.owner, id, h.cfg.Sealer.Seal(id, secret), nil, h.cfg.Now())
	})
}

// endpoint returns the endpoint of the path as do returns it, and with its secret if
// that was just created.
func (h *Handler) endpoint(
	r *request, secret string, do func(id string) (webhook.Endpoint, error),
) (web.Response, error) {
	e, err := do(r.id)
	return reply(newEndpointItem(e, secret, h.cfg.Now())), err
}

// url reads the URL of an endpoint in the form in which it is stored.
func (h *Handler) url(b body) (url string, given bool, err error) {
	raw, given, err := b.text("url")
	if err != nil || !given {
		return "", false, err
	}
	url, err = guard.CheckURL(raw, h.cfg.Allow)
	if refused, ok := errors.AsType[*guard.URLError](err); ok {
		return "", false, web.Invalid("url", problem.New(refused.Code))
	}
	return url, true, err
}

// events reads the event types of an endpoint; nil means all of them.
func (b body) events() (events []string, given bool, err error) {
	all := strings.Join(webhook.Types, ", ")
	events, given, err = b.texts("events", problem.New("allow-events", all))
	for _, e := range events {
		if !slices.Contains(webhook.Types, e) {
			return nil, false, web.Invalid("events", problem.New("endpoint-event", web.Shorten(e), all))
		}
	}
	return events, given, err
}
