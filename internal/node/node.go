// Package node is the life of a server. It opens the database, loads the catalogue, wires
// everything that serves it together, and ends all of it in order.
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/acme/autocert"

	"palmares/internal/certificate"
	"palmares/internal/dataset"
	"palmares/internal/publication"
	"palmares/internal/server"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/sqldb"
)

const (
	// defaultDrain is how often load balancers commonly check health.
	defaultDrain = 2 * time.Second
	// lingerTimeout is how long a node that is alone leaves callers that keep their connections
	// time to send a request, whose answer tells them that the connection ends. If it closed
	// them at once, a request might be on its way.
	lingerTimeout = time.Second
	// settleTimeout is for what is under way in the background: longer than webhooks and mails
	// take to be sent or given back.
	settleTimeout = 10 * time.Second
	// aloneTimeout is how long requests in flight may take when a node that is alone no longer accepts
	// connections: everybody waits for that. Those that began before it was asked to stop had longer.
	aloneTimeout = 2 * time.Second
	// holdTimeout is how long callers wait for a node that starts, before they are told that it
	// is not ready.
	holdTimeout = 30 * time.Second
)

// A node owns everything that lives as long as the server. newNode creates it, serve runs it, and
// wire builds what it serves.
type node struct {
	cfg Config
	ctx context.Context // ends when the server is asked to stop

	public      *server.PhasedHandler
	connections *server.Connections
	metrics     *server.Metrics
	logs        *server.LogBuffer
	log         *slog.Logger
	wait        *waiter
	accepting   context.Context    // ends when connections are accepted
	accept      context.CancelFunc // of accepting

	store   *Database  // nil until it is open
	pages   *site.Site // nil until the store is open
	exports *dataset.Exports

	certificates *certificate.Manager // nil for plain HTTP

	limitGarbage sync.Once
	published    atomic.Int64 // the version that was loaded last, 0 for none
	demo         demoCatalogue
	calendar     *calendar

	// Background loops end after the server and before the database is closed: the last
	// requests are still counted and logged.
	background context.Context
	stop       context.CancelFunc // of background
	running    sync.WaitGroup
	settling   sync.WaitGroup // those of running that end when the server is asked to stop
	mu         sync.Mutex
	failed     error // of the background loops
}

// Run serves on the listeners of cfg until ctx ends, and then for as long as it takes to drain.
func Run(ctx context.Context, cfg Config) error {
	return newNode(ctx, cfg).serve()
}

func newNode(ctx context.Context, cfg Config) *node {
	n := &node{
		cfg: cfg, ctx: ctx, metrics: server.NewMetrics(), logs: server.NewLogBuffer(cfg.Out),
		connections: server.NewConnections(cfg.Connections),
	}
	n.background, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	n.log = slog.New(slog.NewJSONHandler(n.logs, nil))
	n.public = server.NewPhasedHandler(server.Config{
		Trusted: cfg.Trusted, Log: n.log, Requests: n.logs, Metrics: n.metrics,
	})
	n.accepting, n.accept = context.WithCancel(n.background)
	n.wait = &waiter{log: n.log, url: cfg.BaseURL, tell: func(status string) {
		n.accept() // it may take long: callers are told
		n.cfg.Manager.Notify("STATUS=" + status)
	}}
	n.metrics.Build(cfg.Version)
	n.metrics.Log(n.logs)
	n.metrics.Connections(n.connections)
	return n
}

// run runs a loop in the background until the server has stopped.
func (n *node) run(loop func(context.Context) error) {
	n.running.Go(func() {
		err := loop(n.background)
		_, explained := errors.AsType[*sqldb.Error](err)
		if explained || errors.Is(err, context.DeadlineExceeded) { // of the database, without which a node can be stopped
			n.log.Error("not everything was stored before the end", "error", err)
			return
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.failed = errors.Join(n.failed, err)
	})
}

// runUntilStop runs a loop in the background until the process is asked to stop: it
// finishes its work while the server still answers, and starts nothing new.
func (n *node) runUntilStop(loop func(context.Context) error) {
	n.settling.Add(1)
	n.run(func(background context.Context) error {
		defer n.settling.Done()
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		defer context.AfterFunc(n.ctx, cancel)()
		return loop(ctx)
	})
}

// serve listens at once, serves the catalogue when everything is built, and shuts down in order
// when the node's context ends. The log ends last.
func (n *node) serve() error {
	logging, stopLogging := context.WithCancel(context.WithoutCancel(n.ctx))
	logged := make(chan error, 1)
	go func() { logged <- n.logs.Run(logging) }()
	err := n.serveLogged()
	stopLogging()
	return errors.Join(err, <-logged)
}

func (n *node) serveLogged() error {
	if n.cfg.Ops != nil {
		n.run(func(ctx context.Context) error {
			ops := server.Ops(n.metrics, n.public.Ready, n.cfg.OpsName, n.cfg.Release)
			return server.Run(ctx, n.cfg.Ops, ops, server.Options{}, n.log)
		})
	}
	serving, stopServing := context.WithCancel(n.background)
	defer stopServing()
	served := make(chan error, 1)
	handler, options := n.listening()
	go func() {
		if n.cfg.Inherited { // connections that a predecessor has left wait until the node accepts them
			select {
			case <-n.accepting.Done():
			case <-serving.Done():
			case <-time.After(holdTimeout):
			}
		}
		if serving.Err() != nil {
			served <- nil // what waits is for the next process
			return
		}
		served <- server.Run(serving, n.cfg.Listener, handler, options, n.log)
	}()

	err := n.wire()
	if n.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // it was asked to stop while it started
	}
	if err == nil {
		if n.public.Ready() {
			n.accept()
			n.cfg.Manager.Notify("READY=1\nSTATUS=serves " + n.cfg.BaseURL + "/")
			n.run(n.watchdog)
		}
		select {
		case err = <-served:
			served <- nil
		case <-n.ctx.Done():
			n.cfg.Manager.Notify("STOPPING=1\nWATCHDOG=1") // from now on it has the time that a stop may take
			n.drain()
		}
	}
	stopServing()
	return errors.Join(err, <-served, n.end())
}

// listening returns how the public address is served, and serves the redirects to it, if it has
// certificates.
func (n *node) listening() (http.Handler, server.Options) {
	options := server.Options{Limit: n.connections}
	if strings.HasPrefix(n.cfg.Database, "sqlite:") {
		options.Stop = aloneTimeout
	}
	if n.cfg.FrontLane {
		options.Front = n.public.InFrontLane
	}
	if n.cfg.Certificates == nil {
		return n.public, options
	}
	cfg := *n.cfg.Certificates
	cfg.Base, cfg.Now, cfg.Log = n.cfg.BaseURL, n.cfg.Now, n.log
	cfg.Kept = keptCertificates{autocert.DirCache(filepath.Join(n.cfg.ExportDir, "certificates")), n.cfg.Webhooks.Keys}
	n.certificates = certificate.New(cfg)
	n.certificates.Recall(n.ctx)
	n.run(func(ctx context.Context) error {
		plain := server.Options{Limit: server.NewConnections(max(1, n.connections.Limit()/4))}
		return server.Run(ctx, n.cfg.Plain, n.certificates.Plain(), plain, n.log)
	})
	options.TLS = n.certificates.TLS()
	return n.certificates.Secure(n.public), options
}

// endTimeout is how long background loops may take to store what they have. A supervisor
// that is told to wait for the drain and 15 seconds does not kill the process before.
const endTimeout = 12 * time.Second

// end stops the background loops and closes the database.
func (n *node) end() error {
	n.stop()
	ended := make(chan error, 1)
	go func() {
		n.running.Wait()
		err := n.failed
		if n.store != nil {
			err = errors.Join(err, n.store.Close())
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(endTimeout):
		n.log.Error("the database hangs: not everything was stored before the end", "limit", endTimeout.String())
		return nil
	}
}

// drain keeps serving for a while, so that callers and load balancers notice, and until what was
// under way in the background has ended; on a node that is alone, slow requests, too. A second signal
// ends it.
func (n *node) drain() {
	if !n.public.Ready() {
		return // no load balancer sends requests here yet
	}
	var rest time.Duration
	isLeft := func() bool { return false }
	slow := func() bool { return !n.store.SQL.Shared() && n.public.Early() > 0 }
	switch {
	case n.cfg.Drain != nil:
		rest = *n.cfg.Drain
	case n.store.SQL.Shared():
		rest = defaultDrain
	default:
		rest, isLeft = lingerTimeout, func() bool { return n.connections.Open() == 0 }
	}
	n.public.Drain()
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	if rest > 0 {
		n.log.Info("asked to stop: no longer ready, still answering requests", "for", rest.String())
	}
	settled := make(chan struct{})
	go func() {
		n.settling.Wait()
		close(settled)
	}()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	last := time.After(rest + settleTimeout)
	for begin := time.Now(); settled != nil || slow() || time.Since(begin) < rest && !isLeft(); {
		select {
		case <-look.C:
		case <-settled:
			settled = nil
		case <-last:
			if settled != nil {
				n.log.Warn("what is under way in the background does not end: not waiting any longer")
			}
			return
		case <-again:
			n.log.Info("asked to stop again: not waiting any longer")
			return
		}
	}
}

// announce says where to find what is served.
func (n *node) announce(snap *snapshot.Snapshot) {
	base := n.cfg.BaseURL
	what := fmt.Sprintf("version %d of %s", snap.Version, snap.Catalog.Name)
	switch {
	case n.isDemo(snap):
		what = "the demo catalogue (invented; publish your own with `palmares publish DIR`)"
	case snap.Version == 0:
		what = "nothing yet (publish with `palmares publish DIR`)"
	}
	what = fmt.Sprintf("Palmarès serves %s: %s", what, publication.Counts(snap.Catalog))
	if !n.cfg.Terminal {
		n.log.Info(what, "site", base+"/")
		return
	}
	fmt.Fprintf(n.logs, "%s\n"+
		"  site      %s/\n"+
		"  API       %s/api/v1/tools\n"+
		"  document  %s/api/v1/openapi.json\n", what, base, base, base)
}
