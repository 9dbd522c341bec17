package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"palmares/demo"
	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/client"
	"palmares/internal/content"
	"palmares/internal/quota"
	"palmares/internal/server"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/store"
)

type serveCommand struct {
	Listen    string  `help:"Where to listen." default:"localhost:8080" env:"PALMARES_LISTEN"`
	BaseURL   baseURL `help:"Where callers find this server (default: derived from --listen)." env:"PALMARES_BASE_URL" placeholder:"URL"`
	OpsListen string  `help:"Where to serve metrics, profiles and health to the operator (default: nowhere)." env:"PALMARES_OPS_LISTEN" placeholder:"HOST:PORT"`
	Quota     onOff   `help:"Count requests and keep callers to their daily quota: on or off." default:"on" env:"PALMARES_QUOTA"`
	Trusted   proxies `name:"trusted-proxies" help:"Networks (CIDR, comma-separated) of proxies whose X-Forwarded-For is believed (default: none)." env:"PALMARES_TRUSTED_PROXIES" placeholder:"CIDRS"`
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

// proxies are the networks of trusted proxies.
type proxies []netip.Prefix

// UnmarshalText reads a list of networks.
func (p *proxies) UnmarshalText(b []byte) error {
	networks, err := client.ParseTrusted(string(b))
	if err != nil {
		return &refusedValue{err.Error()}
	}
	*p = networks
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
	st, err := s.open()
	if err != nil {
		return unlessStopped(s, err)
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	listener, err := listen(c.Listen, "--listen")
	if err != nil {
		return err
	}
	defer listener.Close() // the server closes it too; this is for failures before it runs
	if c.BaseURL == "" {
		c.BaseURL = deriveBaseURL(listener.Addr())
	}
	live, err := snapshot.NewLive(s.ctx, func(ctx context.Context) (*snapshot.Snapshot, error) { return c.load(ctx, st) })
	if err != nil {
		return unlessStopped(s, err)
	}
	// What runs beside the server outlives it, and ends before the database closes:
	// the last requests are still counted and logged.
	beside, stopBeside := context.WithCancel(context.WithoutCancel(s.ctx))
	var running sync.WaitGroup
	defer running.Wait()
	defer stopBeside()
	failures := make(chan error, 5) // one for each
	run := func(loop func(context.Context) error) {
		running.Go(func() { failures <- loop(beside) })
	}

	journal := server.NewJournal(s.stderr)
	run(journal.Run)
	log := slog.New(slog.NewJSONHandler(journal, nil))
	keys := account.NewKeyring(func(ctx context.Context, hash [32]byte) (account.Key, error) {
		k, err := st.KeyByHash(ctx, hash)
		if errors.Is(err, store.ErrNotFound) {
			err = account.ErrInvalidKey
		}
		return k, err
	}, s.now)
	watch := server.Watch{
		State: func(ctx context.Context) (int64, int64, error) {
			now, err := st.State(ctx)
			return now.Version, now.Keys, err
		},
		NoteUse: st.UseKeys, Interval: pollInterval, Live: live, Keys: keys, Log: log,
	}
	run(watch.Run)
	var meter *quota.Meter
	if c.Quota == "on" {
		meter, err = quota.New(s.ctx, quota.Config{
			Now: s.now, Log: log,
			DayKey: st.DayKey, Load: st.LoadUsage, Save: st.SaveUsage, Prune: st.PruneUsage,
		})
		if err != nil {
			return unlessStopped(s, err)
		}
		run(meter.Run)
	}
	pages := site.New(site.Config{Snapshot: live.Snapshot, Demo: c.isDemo, BaseURL: string(c.BaseURL), Document: api.Document()})
	run(pages.Run)
	metrics := server.NewMetrics(live)
	handler := server.New(server.Config{
		Live: live, Keys: keys, Meter: meter, Trusted: c.Trusted, Log: log, Requests: journal, Metrics: metrics, Site: pages,
	})
	if c.OpsListen != "" {
		ops, err := listen(c.OpsListen, "--ops-listen")
		if err != nil {
			return err
		}
		run(func(ctx context.Context) error { return server.Run(ctx, ops, server.Ops(metrics), log) })
	}
	c.greet(s, live.Snapshot())
	err = server.Run(s.ctx, listener, handler, log)
	stopBeside()
	running.Wait()
	close(failures)
	for failure := range failures {
		err = errors.Join(err, failure)
	}
	return err
}

// unlessStopped forgives what failed because the server was told to stop while it
// started.
func unlessStopped(s *session, err error) error {
	if s.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// listen opens an address that an option gave.
func listen(address, option string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with %s", address, err, option)
	}
	return l, nil
}

// load builds what is to be served: the published catalogue, or as long as there
// is none the demo, which is never stored.
func (c *serveCommand) load(ctx context.Context, st *store.Store) (*snapshot.Snapshot, error) {
	published, err := st.Load(ctx)
	if err != nil {
		return nil, err
	}
	defer tuneMemory()
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
