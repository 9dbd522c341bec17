// Package webhookapi is the JSON API with which programs of Pro customers manage their
// webhooks: endpoints, their secrets, and what was delivered. It is under /webhooks/v1,
// apart from /api, which is read-only.
//
// What all JSON APIs have in common is in package web. Answers here are for one caller:
// no cache keeps them, and pages of other origins cannot read them, the OpenAPI document
// apart. Package store decides
// what an account may change, in the transaction that changes it; this package reads
// requests strictly and turns refusals into sentences.
package webhookapi

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
	"palmares/internal/openapi"
	"palmares/internal/snapshot"
	"palmares/internal/store"
	"palmares/internal/web"
	"palmares/internal/webhook"
)

// Config is what the operations work on. All fields are required unless they say
// otherwise.
type Config struct {
	Store *store.Store
	Keys  *keyring.Keyring
	// Sealer encrypts secrets before they are stored.
	Sealer webhook.Sealer
	// Allow are private networks that endpoints may be in; none by default.
	Allow []netip.Prefix
	Now   func() time.Time
	Log   *slog.Logger
	// Trusted are the proxies whose X-Forwarded-For is believed; none by default.
	Trusted []netip.Prefix
	// Wake is called when a delivery is due, so that it is sent at once; nil if this
	// process sends none.
	Wake func()
	// Outage returns why the store is known not to answer, nil if it answers, so that
	// requests need not wait for it; nil for never.
	Outage func() error
	// Snapshot returns the catalogue that the OpenAPI document speaks of.
	Snapshot func() *snapshot.Snapshot
	// BaseURL is where callers find the API; "" for the URL of the catalogue.
	BaseURL string
}

// A Handler answers every path under /webhooks.
type Handler struct {
	cfg      Config
	service  web.Service
	mux      *http.ServeMux
	routes   []*route
	document *openapi.Document
}

// A route is a path and its operations.
type route struct {
	pattern string // also its label in the metrics
	methods map[string]operation
	open    bool // to callers without a key
}

// The paths that answers point to.
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
	h := &Handler{
		cfg:      cfg,
		service:  web.Service{Callers: &web.Gate{Keys: cfg.Keys, Trusted: cfg.Trusted, Log: cfg.Log}},
		mux:      http.NewServeMux(),
		document: openapi.New(Document(), cfg.BaseURL),
	}
	h.handle("GET", endpointsPath, h.listEndpoints)
	h.handle("POST", endpointsPath, h.createEndpoint)
	h.handle("GET", endpointsPath+"/{id}", h.getEndpoint)
	h.handle("PATCH", endpointsPath+"/{id}", h.changeEndpoint)
	h.handle("DELETE", endpointsPath+"/{id}", h.deleteEndpoint)
	h.handle("POST", endpointsPath+"/{id}/rotate", h.rotateSecret)
	h.handle("POST", endpointsPath+"/{id}/ping", h.pingEndpoint)
	h.handle("POST", endpointsPath+"/{id}/recover", h.recover)
	h.handle("GET", endpointsPath+"/{id}/recoveries", h.listRecoveries)
	h.handle("GET", endpointsPath+"/{id}/deliveries", h.listDeliveries)
	h.handle("GET", deliveriesPath+"/{id}", h.getDelivery)
	h.handle("POST", deliveriesPath+"/{id}/resend", h.resendDelivery)
	h.handle("GET", eventsPath, h.listEvents)
	h.handle("GET", documentPath, h.getDocument).open = true
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, nil) })
	return h
}

// handle registers an operation. Patterns have no method: the mux would answer 405 by
// itself, before keys are checked and not as JSON.
func (h *Handler) handle(method, pattern string, op operation) *route {
	for _, at := range h.routes {
		if at.pattern == pattern {
			at.methods[method] = op
			return at
		}
	}
	at := &route{pattern: pattern, methods: map[string]operation{method: op}}
	h.routes = append(h.routes, at)
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, at) })
	return at
}

// allowed returns the methods of a route in the form of the Allow header.
func (at *route) allowed() string {
	if at.open {
		return web.ReadMethods
	}
	var methods []string
	for m := range at.methods {
		methods = append(methods, m)
		if m == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// A request is what an operation sees: a caller on the Pro plan.
type request struct {
	web.Request
	account string
	owner   account.Owner
	id      string // of the path, if it has one
}

func (r *request) params() *web.Params { return web.ParseParams(r.URL.RawQuery, nil) }

// An operation returns an answer or an error; it writes nothing itself.
type operation func(*request) (web.Answer, error)

// timeout is how long an operation may take. A store that needs longer counts as
// unreachable, and waiting requests must not pile up.
const timeout = 5 * time.Second

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The mux would redirect a path that is not clean with a page of HTML, and decode %2F
	// in an id. Here such paths do not exist.
	p := r.URL.EscapedPath()
	if !strings.HasPrefix(p, "/") || path.Clean(p) != p || strings.Contains(strings.ToLower(p), "%2f") {
		h.serve(w, r, nil)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// serve answers a request for a route; nil for a path that does not exist.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, at *route) {
	if at != nil && at.open { // what everybody may read, pages of any origin may read, too
		web.AllowAnyOrigin(w.Header())
		if r.Method == http.MethodOptions {
			web.WritePreflight(w)
			return
		}
	}
	req := &request{id: r.PathValue("id")}
	req.Begin(r)
	defer req.End()
	a, err := h.run(req, at)
	if err != nil {
		err = h.asError(r.Context(), r.Pattern, err)
	}
	h.service.Reply(w, &req.Request, &a, err)
}

// run does the checks that apply to every path before the operation. A key that is sent
// must be valid, even where none is needed.
func (h *Handler) run(r *request, at *route) (web.Answer, error) {
	if err := h.service.Admit(&r.Request); err != nil {
		return web.Answer{}, err
	}
	if at == nil {
		return web.Answer{}, pathNotFound()
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op, key := at.methods[method], r.Caller.Key
	switch {
	case op == nil:
		return web.Answer{}, methodNotAllowed(r.Method, at.allowed())
	case at.open:
		return op(r)
	case key == nil:
		return web.Answer{}, missingKey()
	case key.Plan != account.Pro:
		return web.Answer{}, planRequired()
	}
	if h.cfg.Outage != nil {
		if err := h.cfg.Outage(); err != nil {
			return web.Answer{}, unavailable(err)
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
		return web.Answer{}, unavailable(err)
	}
	return a, err
}

// wake says that a delivery is due.
func (h *Handler) wake() {
	if h.cfg.Wake != nil {
		h.cfg.Wake()
	}
}

func (h *Handler) getDocument(*request) (web.Answer, error) {
	return web.Answer{Body: h.document.Body(h.cfg.Snapshot())}, nil
}

// WriteInternalError answers a request whose handler failed before it wrote anything.
func (h *Handler) WriteInternalError(w http.ResponseWriter) {
	clear(w.Header())
	h.service.WriteError(w, web.NewError(web.CodeInternal, ""))
}

// stamp formats a time as events do.
func stamp(t time.Time) string { return t.UTC().Format(webhook.TimeFormat) }

// stampOrNull is stamp for a time that may be zero.
func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(stamp(t))
}
