// Package server joins the API and the site into one HTTP server, and does what
// concerns neither: who is asking, one log record per request, figures for the
// operator, panics, limits, health, and a stop that finishes what it began.
//
// Everything that can keep a connection or a byte of memory waiting has a limit
// here, so that a stranger cannot hold the server by holding a socket.
package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"palmares/internal/api"
	"palmares/internal/keyring"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// Config is what a server is made of. All fields are required unless they say
// otherwise.
type Config struct {
	Live *snapshot.Live
	Keys *keyring.Keyring
	Site http.Handler
	// Account answers /compte, Webhooks /webhooks and Stripe /hooks/stripe; nil where
	// there is none, and Site answers.
	Account  http.Handler
	Webhooks ProgramHandler
	Stripe   http.Handler
	Log      *slog.Logger
	// Requests takes one line of JSON per request.
	Requests io.Writer
	// Meter counts requests; nil when there are no quotas.
	Meter *quota.Meter
	// Trusted are the proxies whose X-Forwarded-For is believed; none by default.
	Trusted []netip.Prefix
	// Metrics counts what happens; NewMetrics makes it.
	Metrics *Metrics
	// Ready tells whether to send requests here, for /readyz; nil for always.
	Ready func() bool
}

// A ProgramHandler answers programs in their own form, a failure of ours included.
type ProgramHandler interface {
	http.Handler
	// WriteInternalError answers 500 for a request whose handler panicked.
	WriteInternalError(http.ResponseWriter)
}

// New makes the handler of the public listener.
func New(cfg Config) http.Handler {
	gate := &web.Gate{Keys: cfg.Keys, Trusted: cfg.Trusted, Log: cfg.Log}
	s := &server{
		api:      api.New(api.Config{Snapshot: cfg.Live.Snapshot, Callers: gate, Meter: cfg.Meter}),
		site:     cfg.Site,
		account:  cfg.Account,
		webhooks: cfg.Webhooks,
		stripe:   cfg.Stripe,
		trusted:  cfg.Trusted,
		log:      cfg.Log,
		requests: cfg.Requests,
		metrics:  cfg.Metrics,
		ready:    cfg.Ready,
	}
	return http.HandlerFunc(s.serve)
}

type server struct {
	api      *api.Handler
	site     http.Handler
	account  http.Handler
	webhooks ProgramHandler
	stripe   http.Handler
	trusted  []netip.Prefix
	log      *slog.Logger
	requests io.Writer
	metrics  *Metrics
	ready    func() bool
}

// route sends a request where it belongs. The standard mux is not asked: it
// would redirect unclean paths under /api before the API can refuse them.
func (s *server) route(w http.ResponseWriter, r *http.Request) {
	switch p := r.URL.Path; {
	case under("/api", p):
		s.api.ServeHTTP(w, r)
	case s.account != nil && under("/compte", p):
		s.account.ServeHTTP(w, r)
	case s.webhooks != nil && under("/webhooks", p):
		s.webhooks.ServeHTTP(w, r)
	case s.stripe != nil && p == "/hooks/stripe":
		s.stripe.ServeHTTP(w, r)
	case p == "/healthz":
		serveHealth(w, r)
	case p == "/readyz":
		serveReady(w, r, s.ready == nil || s.ready())
	default:
		s.site.ServeHTTP(w, r)
	}
}

// under tells a folder, and what is in it, from other paths.
func under(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == '/')
}

// serveHealth answers whoever asks whether the process lives: it answers.
func serveHealth(w http.ResponseWriter, r *http.Request) { serveReady(w, r, true) }

// serveReady answers a load balancer that asks whether to send requests here. A
// database that is away is no reason not to: what is in memory is served.
func serveReady(w http.ResponseWriter, r *http.Request, ready bool) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "Utilisez GET ou HEAD.", http.StatusMethodNotAllowed)
	case !ready:
		h.Set("Retry-After", web.RetrySoon)
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("not ready\n")) // the prober is gone: nobody is left to tell
	default:
		_, _ = w.Write([]byte("ok\n"))
	}
}

// The limits of a connection. A page of 200 tools is about 100 kB: a phone on a
// bad line has the write timeout to take it.
const (
	readTimeout  = 10 * time.Second // headers included
	writeTimeout = 60 * time.Second
	idleTimeout  = 2 * time.Minute
	maxHeader    = 32 << 10
	stopTimeout  = 15 * time.Second
)

// Run serves handler on a listener until ctx ends, then stops accepting and
// waits for the requests in flight, for at most 15 seconds.
func Run(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	srv := &http.Server{
		Handler:        handler,
		ReadTimeout:    readTimeout,
		WriteTimeout:   writeTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug), // broken connections are their owners' affair
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := srv.Shutdown(stopping)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("some requests did not finish in time and were cut", "limit", stopTimeout.String())
		err = srv.Close()
	}
	<-failed
	return err
}
