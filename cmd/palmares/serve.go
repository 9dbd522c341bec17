package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"palmares/demo"
	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/server"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/store"
)

type serveCommand struct {
	Listen    string  `help:"Where to listen." default:"localhost:8080" env:"PALMARES_LISTEN"`
	BaseURL   baseURL `help:"Where callers find this server (default: derived from --listen)." env:"PALMARES_BASE_URL" placeholder:"URL"`
	OpsListen string  `help:"Where to serve metrics, profiles and health to the operator (default: nowhere)." env:"PALMARES_OPS_LISTEN" placeholder:"HOST:PORT"`
	Demo      onOff   `help:"Serve the demo catalogue as long as nothing has been published: on or off." default:"on" env:"PALMARES_DEMO"`
}

// onOff is a switch that is written out: "on" or "off".
type onOff string

// UnmarshalText reads on or off.
func (o *onOff) UnmarshalText(b []byte) error {
	if *o = onOff(b); *o != "on" && *o != "off" {
		return &refusedValue{fmt.Sprintf("%q is neither on nor off", b)}
	}
	return nil
}

// baseURL is an absolute http or https URL without a path's last slash.
type baseURL string

// UnmarshalText reads a base URL.
func (u *baseURL) UnmarshalText(b []byte) error {
	parsed, err := url.Parse(string(b))
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" ||
		parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return &refusedValue{fmt.Sprintf("%q is not a base URL: give one like https://catalogue.example, without user, query or fragment", b)}
	}
	*u = baseURL(strings.TrimSuffix(string(b), "/"))
	return nil
}

// pollInterval is how often the database is asked whether something changed. A
// publication must be served within a second; the question costs microseconds.
const pollInterval = 250 * time.Millisecond

// Run serves until it is told to stop.
func (c *serveCommand) Run(s *session) (err error) {
	log := slog.New(slog.NewJSONHandler(s.stderr, nil))
	st, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()

	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", c.Listen, err)
	}
	defer listener.Close() // the server closes it too; this is for failures before it runs
	if c.BaseURL == "" {
		c.BaseURL = deriveBaseURL(listener.Addr())
	}
	live, err := snapshot.NewLive(s.ctx, func(ctx context.Context) (*snapshot.Snapshot, error) { return c.load(ctx, st) })
	if err != nil {
		return err
	}
	keys := account.NewKeyring(func(ctx context.Context, hash [32]byte) (account.Key, error) {
		k, err := st.KeyByHash(ctx, hash)
		if errors.Is(err, store.ErrNotFound) {
			err = account.ErrInvalidKey
		}
		return k, err
	}, s.now)
	metrics := server.NewMetrics(live)
	handler := server.New(server.Config{
		Live: live, Keys: keys, Log: log, Metrics: metrics,
		Site: site.New(site.Config{Snapshot: live.Snapshot, Demo: c.isDemo}),
	})

	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() {
		watch := server.Watch{
			State: func(ctx context.Context) (int64, int64, error) {
				now, err := st.State(ctx)
				return now.Version, now.Keys, err
			},
			Interval: pollInterval, Live: live, Keys: keys, Log: log,
		}
		watch.Run(ctx)
	})
	ops := make(chan error, 1)
	if c.OpsListen != "" {
		l, err := net.Listen("tcp", c.OpsListen)
		if err != nil {
			return fmt.Errorf("cannot listen on %s: %w; choose another address with --ops-listen", c.OpsListen, err)
		}
		running.Go(func() {
			if err := server.Run(ctx, l, server.Ops(metrics), log); err != nil {
				ops <- err
				stop()
			}
		})
	}
	c.greet(s, live.Snapshot())
	err = server.Run(ctx, listener, handler, log)
	select {
	case opsErr := <-ops:
		err = errors.Join(err, opsErr)
	default:
	}
	return err
}

// load builds what is to be served: the published catalogue, or as long as there
// is none the demo, which is never stored.
func (c *serveCommand) load(ctx context.Context, st *store.Store) (*snapshot.Snapshot, error) {
	published, err := st.Load(ctx)
	if err != nil {
		return nil, err
	}
	if published.Version > 0 {
		return snapshot.Build(published.Catalog, published.Version, published.ChangedOn), nil
	}
	if c.Demo == "off" {
		return snapshot.Empty("Palmarès", string(c.BaseURL)), nil
	}
	shipped, problems, err := content.ReadFS(ctx, demo.Folder, nil)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("the demo catalogue in this binary is broken: %v", problems[0])
	}
	shipped.URL = string(c.BaseURL)
	catalog.Settle(&catalog.Catalog{}, shipped, snapshot.NewestUpdate(shipped))
	return snapshot.Build(shipped, 0, snapshot.NewestUpdate(shipped)), nil
}

// isDemo tells the demo from a published catalogue.
func (c *serveCommand) isDemo(s *snapshot.Snapshot) bool { return c.Demo == "on" && s.Version == 0 }

// greet says where to go.
func (c *serveCommand) greet(s *session, snap *snapshot.Snapshot) {
	base := string(c.BaseURL)
	what := fmt.Sprintf("version %d of %s", snap.Version, snap.Catalog.Name)
	switch {
	case c.isDemo(snap):
		what = "the demo catalogue (invented; publish your own with `palmares publish DIR`)"
	case snap.Version == 0:
		what = "nothing yet (publish with `palmares publish DIR`)"
	}
	fmt.Fprintf(s.stderr, "Palmarès serves %s: %s\n  site      %s/\n  API       %s/api/v1/tools\n  document  %s/api/v1/openapi.json\n",
		what, counts(snap.Catalog), base, base, base)
}

// deriveBaseURL is where people on this machine find a listener.
func deriveBaseURL(addr net.Addr) baseURL {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return baseURL("http://" + addr.String())
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() || ip.IsLoopback() {
		host = "localhost"
	}
	if port == "80" {
		return baseURL("http://" + host)
	}
	return baseURL("http://" + net.JoinHostPort(host, port))
}
