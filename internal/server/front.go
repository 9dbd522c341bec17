package server

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"

	"palmares/internal/api"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// A Front is what a public listener serves from its first moment to its last. Before
// there is a catalogue it says so, to people, programs and load balancers; before the
// end it has load balancers and connections go elsewhere, while it still answers all
// that comes.
//
// NewFront makes it, Open is called once, when everything is there, and Drain once,
// when the process is told to stop.
type Front struct {
	starting http.Handler
	handler  atomic.Pointer[http.Handler]
	draining atomic.Bool
}

// NewFront makes a front that is not open yet. It uses no more of cfg than Log,
// Requests, Metrics and Trusted.
func NewFront(cfg Config) *Front {
	f := &Front{}
	nothing := snapshot.Empty("Palmarès", "") // nobody sees more of it than its date
	page := http.HandlerFunc(serveNotYet)
	f.starting = http.HandlerFunc((&server{
		api: api.New(api.Config{
			Snapshot: func() *snapshot.Snapshot { return nothing },
			Callers:  web.AuthorizerFunc(func(context.Context, *http.Request) (web.Caller, error) { return web.Caller{}, notYet() }),
		}),
		site:     page,
		account:  page,
		webhooks: notYetProgram{},
		stripe:   notYetProgram{},
		trusted:  cfg.Trusted,
		log:      cfg.Log,
		requests: cfg.Requests,
		metrics:  cfg.Metrics,
		ready:    f.Ready,
	}).serve)
	return f
}

// Ready tells whether requests are to be sent here, for Config.
func (f *Front) Ready() bool { return f.handler.Load() != nil && !f.draining.Load() }

// Open has everything answered by h from now on.
func (f *Front) Open(h http.Handler) { f.handler.Store(&h) }

// Drain is the beginning of the end: the front is no longer ready, and whoever is
// answered is told to come back by another connection, which a load balancer that
// has noticed makes to another node.
func (f *Front) Drain() { f.draining.Store(true) }

func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	if h := f.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	f.starting.ServeHTTP(w, r)
}

func notYet() *web.Error {
	return web.NewError(web.CodeUnavailable, "Le service démarre et n’a pas encore de catalogue : réessayez dans quelques secondes.")
}

const notYetPage = `<!doctype html>
<html lang="fr">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Un instant – Palmarès</title></head>
<body><main><h1>Un instant</h1><p>Le site démarre et n’a pas encore de catalogue : réessayez dans quelques secondes.</p></main></body>
</html>
`

func serveNotYet(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	writeNotYet(w, "text/html; charset=utf-8", notYetPage)
}

// notYetProgram is what programs outside the API are told before there is a catalogue.
type notYetProgram struct{}

func (p notYetProgram) ServeHTTP(w http.ResponseWriter, _ *http.Request) { p.WriteInternalError(w) }

func (notYetProgram) WriteInternalError(w http.ResponseWriter) {
	writeNotYet(w, "application/json", string(notYet().JSON()))
}

func writeNotYet(w http.ResponseWriter, contentType, body string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Retry-After", web.RetrySoon)
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, body) // the reader is gone: nobody is left to tell
}
