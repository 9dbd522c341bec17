package server

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"

	"palmares/internal/api"
	"palmares/internal/dataapi"
	"palmares/internal/problem"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// A PhasedHandler serves the public listener from the start of the process to its end.
// While the catalogue is loading it responds with 503 to everything. Once Open was called it
// serves. After Drain it still serves, but tells load balancers and clients to go
// elsewhere.
//
// Open is called once, when everything is ready, and Drain once, when the process is
// asked to stop.
type PhasedHandler struct {
	starting *server
	handler  atomic.Pointer[http.Handler]
	draining atomic.Bool
	early    atomic.Int64 // requests under way that began before Drain
}

// NewPhasedHandler returns a handler that is not open yet. Of cfg it uses only Log,
// Requests, Metrics and Trusted.
func NewPhasedHandler(cfg Config) *PhasedHandler {
	p := &PhasedHandler{}
	live := snapshot.Fixed(snapshot.Empty("Palmarès", "")) // only its date is ever sent
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		writeStarting(w, "text/html; charset=utf-8", startingPage)
	})
	refuse := func(context.Context, *http.Request) (web.Caller, error) { return web.Caller{}, starting() }
	cfg.Ready = p.Ready
	p.starting = newServer(cfg, handlers{
		api:  api.New(api.Config{Snapshot: live.Snapshot, Callers: refuse}),
		data: dataapi.New(dataapi.Config{Live: live, Callers: refuse}),
		mcp:  startingAPI{}, webhooks: startingAPI{}, publish: startingAPI{}, stripe: startingAPI{},
		account: page, site: page,
	})
	return p
}

// Ready reports whether load balancers should send requests here; see Config.
func (p *PhasedHandler) Ready() bool { return p.handler.Load() != nil && !p.draining.Load() }

// Open makes h serve everything from now on.
func (p *PhasedHandler) Open(h http.Handler) { p.handler.Store(&h) }

// Drain makes the handler not ready, and closes each connection after its next response:
// the client's next one goes to another node once the load balancer has noticed.
func (p *PhasedHandler) Drain() { p.draining.Store(true) }

// Early returns how many requests are under way that began before Drain.
func (p *PhasedHandler) Early() int64 { return p.early.Load() }

// InFrontLane reports whether plain requests for a path may be served without net/http,
// which knows best how to end connections.
func (p *PhasedHandler) InFrontLane(path string) bool { return p.Ready() && p.starting.at(path).inLane }

func (p *PhasedHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.draining.Load() {
		w.Header().Set("Connection", "close")
	} else {
		p.early.Add(1)
		defer p.early.Add(-1)
	}
	if h := p.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	p.starting.ServeHTTP(w, r)
}

func starting() *web.Error {
	return web.NewError(web.CodeUnavailable, problem.New("service-starting"))
}

const startingPage = `<!doctype html>
<html lang="fr">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Un instant – Palmarès</title></head>
<body><main><h1>Un instant</h1><p>Le site démarre et n’a pas encore de catalogue : réessayez dans quelques secondes.</p></main></body>
</html>
`

// startingAPI stands in for the JSON handlers other than /api.
type startingAPI struct{}

func (s startingAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.WriteInternalError(w, r) }

func (startingAPI) WriteInternalError(w http.ResponseWriter, r *http.Request) {
	writeStarting(w, "application/json", string(starting().JSON(r)))
}

func writeStarting(w http.ResponseWriter, contentType, body string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Retry-After", web.RetrySoon)
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, body) // fails only if the client has disconnected
}
