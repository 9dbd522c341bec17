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
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
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
	// Account serves /compte, /signaler and /suivre, Desk /redaction and /apercu, Webhooks /webhooks, Publish /publish and Stripe
	// /hooks/stripe. Where one is nil, Site takes its place.
	Account  http.Handler
	Desk     http.Handler
	Webhooks JSONHandler
	Publish  JSONHandler
	Stripe   http.Handler
	Log      *slog.Logger
	// Requests receives one line of JSON per request.
	Requests io.Writer
	// Meter counts requests; nil if there are no quotas.
	Meter *quota.Meter
	// Places are where the APIs work, beside the site; nil if nobody waits for others.
	Places *web.Places
	// Exports has the files that /data serves; nil if there are none.
	Exports *dataset.Exports
	// Trusted are the proxies whose X-Forwarded-For is believed; none by default.
	Trusted []netip.Prefix
	// Metrics counts requests; see NewMetrics.
	Metrics *Metrics
	// BaseURL is where callers find the server; "" for the URL of the catalogue.
	BaseURL string
	// MCPQuota is how many calls of tools a day a network without a key has at /mcp.
	MCPQuota int
	// Local says that the server is for this machine only; see assistant.Config.
	Local bool
	// Version is the version of the program.
	Version string
	// Ready reports whether load balancers should send requests here, for /readyz; nil for
	// always.
	Ready func() bool
}

// New returns the handler of the public listener.
func New(cfg Config) http.Handler {
	gate := &web.Gate{Keys: cfg.Keys, Trusted: cfg.Trusted, Log: cfg.Log}
	return newServer(cfg, handlers{
		api: api.New(api.Config{
			Snapshot: cfg.Live.Snapshot, Callers: gate.Authorize, Meter: cfg.Meter, Places: cfg.Places, BaseURL: cfg.BaseURL,
		}),
		data: dataapi.New(dataapi.Config{
			Live: cfg.Live, Callers: gate.Authorize, Meter: cfg.Meter, Places: cfg.Places, Exports: cfg.Exports,
			BaseURL: cfg.BaseURL,
		}),
		mcp: assistant.New(assistant.Config{
			Live: cfg.Live, Callers: gate.Authorize, Meter: cfg.Meter, Quota: cfg.MCPQuota, Places: cfg.Places, Local: cfg.Local,
			BaseURL: cfg.BaseURL, Version: cfg.Version, Calls: cfg.Metrics.calls, Log: cfg.Log,
		}),
		apiCatalog: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			snap := cfg.Live.Snapshot()
			serveAPICatalog(w, r, cmp.Or(cfg.BaseURL, snap.Catalog.URL), snap)
		}),
		account: cfg.Account, desk: cfg.Desk, webhooks: cfg.Webhooks, publish: cfg.Publish, stripe: cfg.Stripe, site: cfg.Site,
	})
}

type server struct {
	prefixes []prefix
	live     *snapshot.Live
	trusted  []netip.Prefix
	log      *slog.Logger
	requests io.Writer
	metrics  *Metrics
}

func newServer(cfg Config, h handlers) *server {
	return &server{
		prefixes: h.prefixes(cfg.Ready), live: cfg.Live, trusted: cfg.Trusted,
		log: cfg.Log, requests: cfg.Requests, metrics: cfg.Metrics,
	}
}

// serveHealth says that the process is alive.
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
	maxStreams   = 100 // requests at once of a connection of HTTP/2
)

// Options are those of a listener. The zero value is plain net/http.
type Options struct {
	Limit *Connections           // of open connections; nil for none
	Front func(path string) bool // which paths take the front lane; nil for none
	TLS   *tls.Config            // nil for plain HTTP
	Stop  time.Duration          // how long requests in flight may take after the end; 0 for 15 seconds
}

// Run serves handler on l until ctx ends. Then it stops accepting connections and waits for the
// requests in flight.
func Run(ctx context.Context, l net.Listener, handler http.Handler, o Options, log *slog.Logger) error {
	srv := &http.Server{
		Handler:        handler,
		ReadTimeout:    readTimeout,
		WriteTimeout:   writeTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader,
		TLSConfig:      o.TLS,
		HTTP2:          &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug), // broken connections are not our errors
	}
	if o.Limit != nil {
		track(srv)
	}
	closed := awaitClosed(srv)
	limited := newListener(l, srv, o.Limit, log)
	listener := net.Listener(limited)
	switch {
	case o.Front != nil:
		limited.lane = lane.New(limited, srv, o.Front)
		limited.lane.TLS = o.TLS
		listener = limited.lane
	case o.TLS != nil:
		listener = tls.NewListener(limited, o.TLS)
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	limit := cmp.Or(o.Stop, 15*time.Second)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	var err error
	if limited.lane != nil { // which may still have requests for srv
		err = errors.Join(limited.lane.Close(), limited.lane.Wait(stopping))
	} else {
		err = limited.Close()
	}
	<-failed // srv knows all of its connections
	srv.SetKeepAlivesEnabled(false)
	closed(stopping)
	err = errors.Join(err, srv.Shutdown(stopping))
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("some requests did not finish before shutdown and were aborted", "limit", limit.String())
		err = srv.Close()
	}
	return err
}

// silence is how long a connection may be open without a request before it is closed because the
// server stops, as net/http has it.
const silence = 5 * time.Second

// awaitClosed returns a function that waits until the connections of srv are closed, for as long as
// one of them may be about to send its first request: once it shuts down, srv would not answer it.
func awaitClosed(srv *http.Server) func(context.Context) {
	var open atomic.Int64
	also := srv.ConnState
	srv.ConnState = func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
		if also != nil {
			also(c, state)
		}
	}
	return func(ctx context.Context) {
		limited, cancel := context.WithTimeout(ctx, silence)
		defer cancel()
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for open.Load() > 0 && limited.Err() == nil {
			select {
			case <-look.C:
			case <-limited.Done():
			}
		}
	}
}
