// Package server joins the APIs and the site into one HTTP server. It does what
// concerns none of them: one log record per request, metrics, panics, limits, health,
// and a shutdown that finishes the requests in flight.
//
// Everything that can hold a connection or memory has a limit, so that nobody can
// exhaust the server by keeping sockets open.
package server

import (
	"cmp"
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
	"palmares/internal/assistant"
	"palmares/internal/dataapi"
	"palmares/internal/dataset"
	"palmares/internal/keyring"
	"palmares/internal/lane"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// Config is what a server needs. All fields are required unless they say otherwise.
type Config struct {
	Live *snapshot.Live
	Keys *keyring.Keyring
	Site http.Handler
	// Account answers /compte, Webhooks /webhooks, Publish /publish and Stripe
	// /hooks/stripe. Where one is nil, Site answers.
	Account  http.Handler
	Webhooks JSONHandler
	Publish  JSONHandler
	Stripe   http.Handler
	Log      *slog.Logger
	// Requests receives one line of JSON per request.
	Requests io.Writer
	// Meter counts requests; nil if there are no quotas.
	Meter *quota.Meter
	// Exports has the files that /data serves; nil if there are none.
	Exports *dataset.Exports
	// Trusted are the proxies whose X-Forwarded-For is believed; none by default.
	Trusted []netip.Prefix
	// Streams limits the requests under /data that are held open.
	Streams *dataapi.Streams
	// Metrics counts requests; see NewMetrics.
	Metrics *Metrics
	// BaseURL is where callers find the server; "" for the URL of the catalogue.
	BaseURL string
	// Origin is the URL of the server whose catalogue this one mirrors; "" for none. Answers
	// then name it as the canonical place.
	Origin string
	// MCPQuota is how many calls of tools a day a network without a key has at /mcp.
	MCPQuota int
	// Local says that the server is for this machine only; see assistant.Config.
	Local bool
	// Version is that of the program.
	Version string
	// Ready reports whether load balancers should send requests here, for /readyz; nil for
	// always.
	Ready func() bool
}

// A JSONHandler answers in JSON, also after a panic.
type JSONHandler interface {
	http.Handler
	// WriteInternalError answers 500 to a request whose handler panicked.
	WriteInternalError(http.ResponseWriter)
}

// New returns the handler of the public listener.
func New(cfg Config) http.Handler {
	gate := &web.Gate{Keys: cfg.Keys, Trusted: cfg.Trusted, Log: cfg.Log}
	s := &server{
		api:  api.New(api.Config{Snapshot: cfg.Live.Snapshot, Callers: gate, Meter: cfg.Meter, BaseURL: cfg.BaseURL}),
		data: dataapi.New(dataapi.Config{Live: cfg.Live, Callers: gate, Meter: cfg.Meter, Streams: cfg.Streams, Exports: cfg.Exports, BaseURL: cfg.BaseURL}),
		mcp: assistant.New(assistant.Config{
			Live: cfg.Live, Callers: gate, Meter: cfg.Meter, Quota: cfg.MCPQuota, Local: cfg.Local, Version: cfg.Version,
			Calls: cfg.Metrics.calls, Log: cfg.Log,
		}),
		live:     cfg.Live,
		base:     cfg.BaseURL,
		site:     cfg.Site,
		account:  cfg.Account,
		webhooks: cfg.Webhooks,
		publish:  cfg.Publish,
		stripe:   cfg.Stripe,
		trusted:  cfg.Trusted,
		log:      cfg.Log,
		requests: cfg.Requests,
		metrics:  cfg.Metrics,
		ready:    cfg.Ready,
		origin:   cfg.Origin,
	}
	return http.HandlerFunc(s.serve)
}

type server struct {
	api      JSONHandler
	data     JSONHandler
	mcp      JSONHandler
	live     *snapshot.Live
	base     string
	site     http.Handler
	account  http.Handler
	webhooks JSONHandler
	publish  JSONHandler
	stripe   http.Handler
	trusted  []netip.Prefix
	log      *slog.Logger
	requests io.Writer
	metrics  *Metrics
	ready    func() bool
	origin   string
}

// route passes a request to its handler. It does not use the standard mux, which would
// redirect unclean paths under /api and /data before these can refuse them.
func (s *server) route(w http.ResponseWriter, r *http.Request) {
	switch p := r.URL.Path; {
	case under("/api", p):
		s.api.ServeHTTP(w, r)
	case under("/data", p):
		s.data.ServeHTTP(w, r)
	case isMCP(p):
		s.mcp.ServeHTTP(w, r)
	case p == apiCatalogPath && s.live != nil: // nil while the catalogue is loading
		snap := s.live.Snapshot()
		serveAPICatalog(w, r, cmp.Or(s.base, snap.Catalog.URL), snap.HasDataset())
	case s.account != nil && under("/compte", p):
		s.account.ServeHTTP(w, r)
	case s.webhooks != nil && under("/webhooks", p):
		s.webhooks.ServeHTTP(w, r)
	case s.publish != nil && under("/publish", p):
		s.publish.ServeHTTP(w, r)
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

// isMCP reports whether path is that of the tools; people copy it with a final slash.
func isMCP(path string) bool { return strings.TrimSuffix(path, "/") == assistant.Path }

// under reports whether path is dir or inside it.
func under(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/')
}

// serveHealth says that the process is alive: it answers.
func serveHealth(w http.ResponseWriter, r *http.Request) { serveReady(w, r, true) }

// serveReady tells a load balancer whether to send requests here. An unreachable database
// is no reason not to: the catalogue is served from memory.
func serveReady(w http.ResponseWriter, r *http.Request, ready bool) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "Utilisez GET ou HEAD.", http.StatusMethodNotAllowed)
	case !ready:
		h.Set("Retry-After", web.RetrySoon)
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("not ready\n")) // fails only if the client has disconnected
	default:
		_, _ = w.Write([]byte("ok\n"))
	}
}

// The limits of a connection. A page of 200 tools is about 100 kB; the write timeout
// leaves a phone on a bad line time to receive it.
const (
	readTimeout  = 10 * time.Second // headers included
	writeTimeout = 60 * time.Second
	idleTimeout  = 2 * time.Minute
	maxHeader    = 32 << 10
	stopTimeout  = 15 * time.Second
)

// Run serves handler on l, with at most limit connections if it is not nil, until ctx
// ends. Plain requests for paths that front wants, if it is not nil, take the front lane.
// When ctx ends, Run stops accepting connections and waits for the requests in flight, for at
// most 15 seconds.
func Run(ctx context.Context, l net.Listener, handler http.Handler, limit *Connections, front func(path string) bool, log *slog.Logger) error {
	srv := &http.Server{
		Handler:        handler,
		ReadTimeout:    readTimeout,
		WriteTimeout:   writeTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug), // broken connections are not our errors
	}
	limited := newListener(l, srv, limit, log)
	listener := net.Listener(limited)
	if front != nil {
		limited.lane = lane.New(limited, srv, front)
		listener = limited.lane
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
	if limited.lane != nil {
		err = errors.Join(err, limited.lane.Wait(stopping))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("some requests did not finish before shutdown and were aborted", "limit", stopTimeout.String())
		err = srv.Close()
	}
	<-failed
	return err
}
