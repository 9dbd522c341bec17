// Package webhookapi is the JSON API with which programs of Pro customers manage their
// webhooks: endpoints, their secrets, and what was delivered. It is under /webhooks/v1,
// apart from /api, which is read-only.
//
// What all JSON APIs have in common is in package web. Responses here are for one caller:
// no cache keeps them, and pages of other origins cannot read them, the OpenAPI document
// apart. Package store decides
// what an account may change, in the transaction that changes it; this package reads
// requests strictly and turns refusals into sentences.
package webhookapi

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/catalogdb"
	"palmares/internal/keyring"
	"palmares/internal/openapi"
	"palmares/internal/problem"
	"palmares/internal/snapshot"
	"palmares/internal/sqldb"
	"palmares/internal/vault"
	"palmares/internal/web"
	"palmares/internal/webhook"
)

// Config is what the operations work on. All fields are required unless they say
// otherwise.
type Config struct {
	Store  *accountdb.Store
	Events *catalogdb.Events
	Keys   *keyring.Keyring
	// Sealer encrypts secrets before they are stored.
	Sealer vault.Sealer
	// Allow are private networks that endpoints may be in; none by default.
	Allow []netip.Prefix
	Now   func() time.Time
	Log   *slog.Logger
	// Trusted are the proxies whose X-Forwarded-For is believed; none by default.
	Trusted []netip.Prefix
	// Wake is called when a delivery is due, so that it is sent at once; nil if this
	// process sends none.
	Wake func()
	// Outage returns why the store is known not to respond, nil if it does, so that
	// requests need not wait for it; nil for never.
	Outage func() error
	// Snapshot returns the catalogue that the OpenAPI document speaks of.
	Snapshot func() *snapshot.Snapshot
	// BaseURL is where callers find the API; "" for the URL of the catalogue.
	BaseURL string
}

// A Handler serves every path under /webhooks.
type Handler struct {
	*web.Handler[snapshot.Snapshot]
	cfg Config
}

// The paths that responses point to.
const (
	endpointsPath  = "/webhooks/v1/endpoints"
	deliveriesPath = "/webhooks/v1/deliveries"
	eventsPath     = "/webhooks/v1/events"
	documentPath   = "/webhooks/v1/openapi.json"
)

//go:embed openapi.json
var openAPI []byte

// Document returns the OpenAPI document that /webhooks/v1/openapi.json serves with the values of
// an installation.
func Document() []byte { return openapi.Complete(openAPI) }

// New returns the handler.
func New(cfg Config) *Handler {
	h := &Handler{cfg: cfg}
	gate := &web.Gate{Keys: cfg.Keys, Trusted: cfg.Trusted, Log: cfg.Log}
	h.Handler = web.NewHandler(web.Config[snapshot.Snapshot]{
		Snapshot: cfg.Snapshot,
		Callers:  gate.Authorize,
		IsPath: func(u *url.URL) bool {
			p := u.EscapedPath()
			return path.Clean(p) == p && !strings.Contains(strings.ToLower(p), "%2f")
		},
		Fallback: func(*web.Request[snapshot.Snapshot]) (web.Response, error) {
			return web.Response{}, web.NewError(web.CodeNotFound, problem.New("path-not-described", documentPath))
		},
	})
	h.handle("GET", endpointsPath, h.listEndpoints)
	h.handle("POST", endpointsPath, h.createEndpoint, "url", "events")
	h.handle("GET", endpointsPath+"/{id}", h.getEndpoint)
	h.handle("PATCH", endpointsPath+"/{id}", h.changeEndpoint, "url", "events", "state")
	h.handle("DELETE", endpointsPath+"/{id}", h.deleteEndpoint)
	h.handle("POST", endpointsPath+"/{id}/rotate", h.rotateSecret)
	h.handle("POST", endpointsPath+"/{id}/ping", h.pingEndpoint)
	h.handle("POST", endpointsPath+"/{id}/recover", h.recover, "since")
	h.handle("GET", endpointsPath+"/{id}/recoveries", h.listRecoveries)
	h.handle("GET", endpointsPath+"/{id}/deliveries", h.listDeliveries)
	h.handle("GET", deliveriesPath+"/{id}", h.getDelivery)
	h.handle("POST", deliveriesPath+"/{id}/resend", h.resendDelivery)
	h.handle("GET", eventsPath, h.listEvents)
	document := openapi.New(Document(), cfg.BaseURL)
	h.Handle("GET", documentPath, func(r *web.Request[snapshot.Snapshot]) (web.Response, error) {
		return web.Response{Body: document.Body(r.Snapshot)}, nil
	}).AnyOrigin = true // what everybody may read, pages of any origin may read, too
	return h
}

// handle adds an operation for callers on the Pro plan. What the path names must exist, and the body, if the method has
// one, may have the named fields.
func (h *Handler) handle(method, pattern string, op operation, fields ...string) {
	kind, notFound := account.EndpointID, endpointNotFound
	if strings.HasPrefix(pattern, deliveriesPath) {
		kind, notFound = account.DeliveryID, deliveryNotFound
	}
	h.Handle(method, pattern, func(r *web.Request[snapshot.Snapshot]) (web.Response, error) {
		caller := r.Context()
		a, err := h.run(&request{Request: r, id: r.Slug}, func(r *request) (web.Response, error) {
			if r.id != "" && !account.IsID(kind, r.id) {
				return web.Response{}, notFound(r.id)
			}
			if method == "POST" || method == "PATCH" {
				var err error
				r.body, err = r.readBody(fields...)
				if err != nil {
					return web.Response{}, err
				}
			}
			return op(r)
		})
		if errors.Is(err, sqldb.ErrNotFound) {
			err = notFound(r.Slug)
		}
		if err != nil {
			err = h.asError(caller, r.Pattern, err)
		}
		return a, err
	})
}

// A request is what an operation sees: a caller on the Pro plan.
type request struct {
	*web.Request[snapshot.Snapshot]
	account string
	owner   account.Owner
	id      string // of the path, if it has one
	body    body
}

func (r *request) params() *web.Params { return web.ParseParams(r.URL.RawQuery, nil) }

// An operation returns a response or an error; it writes nothing itself.
type operation func(*request) (web.Response, error)

// timeout is how long an operation may take. A store that needs longer counts as
// unreachable, and waiting requests must not pile up.
const timeout = 5 * time.Second

// run does the checks that apply to every operation, and then the operation.
func (h *Handler) run(r *request, op operation) (web.Response, error) {
	key := r.Caller.Key
	switch {
	case key == nil:
		return web.Response{}, web.NewError(web.CodeMissingKey, problem.New("webhooks-need-key"))
	case key.Plan != account.Pro:
		return web.Response{}, planRequired()
	}
	if h.cfg.Outage != nil {
		if err := h.cfg.Outage(); err != nil {
			return web.Response{}, unavailable(err)
		}
	}
	r.account, r.owner = key.AccountID, account.OwnedBy(key.AccountID)
	caller := r.Context()
	ctx, cancel := context.WithTimeout(caller, timeout)
	defer cancel()
	r.Request.Request = r.WithContext(ctx)
	a, err := op(r)
	if errors.Is(err, context.DeadlineExceeded) && caller.Err() == nil {
		h.cfg.Log.Error("a webhook API request took too long", "route", r.Pattern, "limit", timeout.String())
		return web.Response{}, unavailable(err)
	}
	return a, err
}

// wake says that a delivery is due.
func (h *Handler) wake() {
	if h.cfg.Wake != nil {
		h.cfg.Wake()
	}
}

// reply returns a response of values of package webhook.
func reply(v any) web.Response {
	text, err := webhook.JSON(v)
	if err != nil {
		panic(fmt.Sprintf("webhookapi: %T does not encode: %v", v, err))
	}
	return web.Response{Body: web.JSON(text)}
}
