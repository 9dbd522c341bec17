// Package webhookapi is the JSON interface by which a Pro customer's programs
// manage their webhooks: endpoints, their secrets, what was sent and what came of
// it. It stands under /webhooks/v1, apart from /api, where nothing can be changed.
//
// An operation is a function from a request to an answer or an error; one adapter
// does for all of them what must be the same everywhere: keys, plan, methods,
// headers and the one form of errors, which is that of package api. Nothing is
// written before it is known whole, and nothing here is ever kept by a cache or
// shown to a page of another origin.
//
// What a webhook is and does is in package webhook, and what an account may change
// is decided by package store, in the transaction that changes it; this package
// reads strictly and answers in sentences.
package webhookapi

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/keyring"
	"palmares/internal/store"
	"palmares/internal/webhook"
)

// Config is what the operations work on. All fields are required unless they say
// otherwise.
type Config struct {
	Store *store.Store
	Keys  *keyring.Keyring
	// Sealer seals secrets before the store sees them.
	Sealer webhook.Sealer
	// Allow are the networks that --webhook-allow opened; none by default.
	Allow []netip.Prefix
	Now   func() time.Time
	Log   *slog.Logger
	// Wake is called when something became due, so that it is not sent only when this
	// node next looks; nil where nothing sends.
	Wake func()
	// Away tells that the store does not answer: nobody then waits for it; nil for never.
	Away func() bool
}

// A Handler answers every path under /webhooks.
type Handler struct {
	cfg    Config
	routes []*route
}

// A route is a path and what can be done there.
type route struct {
	pattern  string // also its name in the figures of the operator
	segments []string
	methods  map[string]operation
	open     bool // to callers without a key
}

// The path of everything that is not below an id; answers point to them.
const (
	endpointsPath  = "/webhooks/v1/endpoints"
	deliveriesPath = "/webhooks/v1/deliveries"
	eventsPath     = "/webhooks/v1/events"
	documentPath   = "/webhooks/v1/openapi.json"
)

//go:embed openapi.json
var openAPI []byte

// New makes the handler.
func New(cfg Config) *Handler {
	h := &Handler{cfg: cfg}
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
	return h
}

func (h *Handler) handle(method, pattern string, op operation) *route {
	for _, r := range h.routes {
		if r.pattern == pattern {
			r.methods[method] = op
			return r
		}
	}
	r := &route{pattern: pattern, segments: strings.Split(pattern, "/"), methods: map[string]operation{method: op}}
	h.routes = append(h.routes, r)
	return r
}

// find chooses the route of a path, and the id in it. As in package api the standard
// mux is not asked: it would answer unclean paths with a redirect and a page of
// HTML. A slash that is written %2F is none.
func (h *Handler) find(u *url.URL) (found *route, id string) {
	if strings.Contains(strings.ToLower(u.RawPath), "%2f") {
		return nil, ""
	}
	given := strings.Split(u.Path, "/")
	for _, r := range h.routes {
		if len(r.segments) != len(given) {
			continue
		}
		id, same := "", true
		for i, s := range r.segments {
			if s == "{id}" {
				id = given[i]
				same = same && id != ""
			} else if s != given[i] {
				same = false
			}
		}
		if same {
			return r, id
		}
	}
	return nil, ""
}

// allowed are the methods of a route, as the header Allow lists them.
func (r *route) allowed() string {
	var methods []string
	for m := range r.methods {
		methods = append(methods, m)
		if m == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// A request is what an operation sees: one caller, on the plan Pro.
type request struct {
	*http.Request
	account string
	id      string // of the path, if it has one
	query   query
}

// An answer is what an operation found.
type answer struct {
	status   int    // 200 unless set
	value    any    // becomes the body
	body     []byte // or is it already; without both there is none
	location string
	next     string // the page that follows, for a Link
}

// patience is how long an operation may take: a store that does not answer for that
// long is away, and must not be held by those who wait for it.
const patience = 5 * time.Second

// An operation answers or fails; it writes nothing itself.
type operation func(*request) (answer, error)

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at, id := h.find(r.URL)
	if at != nil {
		r.Pattern = at.pattern
	}
	a, err := h.run(r, at, id)
	if err != nil {
		h.writeError(w, r, at, err)
		return
	}
	body := a.body
	if a.value != nil {
		body = catalog.AppendJSON(nil, a.value)
	}
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	if a.location != "" {
		header.Set("Location", a.location)
	}
	if a.next != "" {
		header.Set("Link", "<"+a.next+`>; rel="next"`)
	}
	if body == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(max(a.status, http.StatusOK))
	_, _ = w.Write(body) // the caller is gone: nobody is left to tell
}

// run puts the checks that hold for every path before the operation. A key that is
// sent must be a good one wherever it is sent; that it is missing, or of a smaller
// plan, matters only where one is needed.
func (h *Handler) run(r *http.Request, at *route, id string) (answer, error) {
	query := parseQuery(r.URL.RawQuery)
	if err := query.refuseKey(); err != nil {
		return answer{}, err
	}
	key, err := h.authorize(r)
	if err != nil {
		return answer{}, err
	}
	if at == nil {
		return answer{}, pathNotFound()
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op := at.methods[method]
	req := &request{Request: r, id: id, query: query}
	switch {
	case op == nil:
		return answer{}, methodNotAllowed(r.Method, at.allowed())
	case at.open:
		return op(req)
	case key == nil:
		return answer{}, missingKey()
	case key.Plan != account.Pro:
		return answer{}, planRequired()
	case h.cfg.Away != nil && h.cfg.Away():
		return answer{}, unavailable()
	}
	req.account = key.AccountID
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	req.Request = r.WithContext(ctx)
	a, err := op(req)
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil {
		h.cfg.Log.Error("a request about webhooks took too long", "route", r.Pattern, "limit", patience.String())
		return answer{}, unavailable()
	}
	return a, err
}

// wake tells whoever sends that something is due.
func (h *Handler) wake() {
	if h.cfg.Wake != nil {
		h.cfg.Wake()
	}
}

func (h *Handler) getDocument(*request) (answer, error) { return answer{body: openAPI}, nil }

// Document is the OpenAPI document that /webhooks/v1/openapi.json serves, for
// whoever shows it to people. The bytes are the caller's own.
func Document() []byte { return slices.Clone(openAPI) }

// stamp writes a moment as events do.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// stampOrNull is stamp for what may not have happened.
func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(stamp(t))
}
