package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"palmares/demo"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/keyring"
	"palmares/internal/quota"
	"palmares/internal/server"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/store"
)

const (
	// pollInterval is how often the database is asked whether something changed. A
	// publication must be served within a second; the question costs microseconds.
	pollInterval = 250 * time.Millisecond
	// listenInterval is the same where the database tells by itself: it covers the time
	// in which that connection is cut.
	listenInterval = 500 * time.Millisecond
	// retryInterval is how often a database that is away is tried again at the start.
	retryInterval = 500 * time.Millisecond
	// startTimeout is for an attempt to start from a database that hangs in the middle.
	startTimeout = 2 * time.Minute
	// defaultDrain is as long as load balancers commonly take to ask for health again.
	defaultDrain = 2 * time.Second
)

// A node is one running serve: everything that lives as long as it does. newNode
// makes it, serve is its life.
type node struct {
	*serveCommand
	session *session

	front   *server.Front
	metrics *server.Metrics
	journal *server.Journal
	log     *slog.Logger

	store *store.Store // nil until it was opened

	// What runs beside the server outlives it, and ends before the database closes:
	// the last requests are still counted and logged.
	beside  context.Context
	stop    context.CancelFunc // of beside
	running sync.WaitGroup
	mu      sync.Mutex
	failed  error // of what ran beside
}

func newNode(c *serveCommand, s *session) *node {
	n := &node{serveCommand: c, session: s, metrics: server.NewMetrics(), journal: server.NewJournal(s.stderr)}
	n.beside, n.stop = context.WithCancel(context.WithoutCancel(s.ctx))
	n.log = slog.New(slog.NewJSONHandler(n.journal, nil))
	n.front = server.NewFront(server.Config{Trusted: c.Trusted, Log: n.log, Requests: n.journal, Metrics: n.metrics})
	return n
}

// run has a loop run beside the server until that has stopped.
func (n *node) run(loop func(context.Context) error) {
	n.running.Go(func() {
		err := loop(n.beside)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.failed = errors.Join(n.failed, err)
	})
}

// work has a loop run until the process is told to stop: what it has begun by then is
// finished while the server does the same, and nothing new is begun.
func (n *node) work(loop func(context.Context) error) {
	n.run(func(beside context.Context) error {
		ctx, cancel := context.WithCancel(beside)
		defer cancel()
		defer context.AfterFunc(n.session.ctx, cancel)()
		return loop(ctx)
	})
}

// serve answers on listener from the first moment on, opens when everything is
// there, and stops in order when the session ends. ops is nil for no such listener.
func (n *node) serve(listener, ops net.Listener) error {
	n.run(n.journal.Run)
	if ops != nil {
		n.run(func(ctx context.Context) error {
			return server.Run(ctx, ops, server.Ops(n.metrics, n.front.Ready), n.log)
		})
	}
	serving, stopServing := context.WithCancel(n.beside)
	defer stopServing()
	served := make(chan error, 1)
	go func() { served <- server.Run(serving, listener, n.front, n.log) }()

	err := n.open(n.session.ctx)
	if n.session.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // it was told to stop while it started
	}
	if err == nil {
		select {
		case err = <-served:
			served <- nil
		case <-n.session.ctx.Done():
			n.drain()
		}
	}
	stopServing()
	err = errors.Join(err, <-served)
	n.stop()
	n.running.Wait()
	err = errors.Join(err, n.failed)
	if n.store != nil {
		err = errors.Join(err, n.store.Close())
	}
	return err
}

// drain goes on answering for a while, so that load balancers notice. Whoever does not
// want to wait for that says so once more.
func (n *node) drain() {
	if !n.front.Ready() {
		return // nobody was sent here yet
	}
	var rest time.Duration
	switch {
	case n.Drain.given != nil:
		rest = *n.Drain.given
	case n.store.Shared():
		rest = defaultDrain
	}
	n.front.Drain()
	if rest > 0 {
		n.log.Info("told to stop: no longer ready, and answering what still comes", "for", rest.String())
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(again)
		select {
		case <-time.After(rest):
		case <-again:
			n.log.Info("told to stop again: not waiting any longer")
		}
	}
}

// open makes everything that needs the database, starts what runs beside the
// server, and opens the front. A database that is away is waited for.
func (n *node) open(ctx context.Context) (err error) {
	err = n.whenReachable(ctx, func(ctx context.Context) (err error) {
		n.store, err = store.Open(ctx, n.session.database)
		return err
	})
	if err != nil {
		return err
	}
	customers, err := n.newCustomers(ctx)
	if err != nil {
		return err
	}
	var live *snapshot.Live
	err = n.whenReachable(ctx, func(ctx context.Context) (err error) {
		live, err = snapshot.NewLive(ctx, n.load)
		return err
	})
	if err != nil {
		return err
	}
	meter, err := n.openMeter(ctx)
	if err != nil {
		return err
	}
	keys := keyring.New(n.store.Keys, n.session.now)
	watch := n.watch(live, keys, customers.dispatcher.Wake)
	pages := site.New(site.Config{Snapshot: live.Snapshot, Demo: n.isDemo, BaseURL: string(n.BaseURL), Document: api.Document()})
	n.run(pages.Run)
	n.metrics.Catalogue(live)
	cfg := server.Config{
		Live: live, Keys: keys, Meter: meter, Trusted: n.Trusted, Log: n.log, Requests: n.journal, Metrics: n.metrics, Site: pages,
		Ready: n.front.Ready,
	}
	customers.start(&cfg, pages, watch.Away)
	n.front.Open(server.New(cfg))
	n.greet(live.Snapshot())
	return nil
}

// whenReachable does what needs the database, again and again while that is away.
// What is wrong with the configuration is not waited for.
func (n *node) whenReachable(ctx context.Context, do func(context.Context) error) error {
	for told := false; ; {
		attempt, cancel := context.WithTimeout(ctx, startTimeout)
		err := do(attempt)
		hung := attempt.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, store.ErrAway) && !(hung && errors.Is(err, context.DeadlineExceeded)):
			return err
		case !told:
			told = true
			fmt.Fprintf(n.session.stderr, "Palmarès listens on %s/ and waits for its database: %v; it tries again until it can serve\n", n.BaseURL, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryInterval):
		}
	}
}

// openMeter makes the meter, nil when there are no quotas.
func (n *node) openMeter(ctx context.Context) (meter *quota.Meter, err error) {
	if n.Quota != "on" {
		return nil, nil
	}
	cfg := quota.Config{
		Now: n.session.now, Log: n.log,
		DayKey: n.store.Usage.DayKey, Load: n.store.Usage.Load, Save: n.store.Usage.Save, Prune: n.store.Usage.Prune,
	}
	if n.store.Shared() {
		cfg.Count = n.store.Usage.Count
	}
	err = n.whenReachable(ctx, func(ctx context.Context) (err error) {
		meter, err = quota.New(ctx, cfg)
		return err
	})
	if err != nil {
		return nil, err
	}
	n.run(meter.Run)
	n.metrics.Flag("palmares_quota_alone", "1 while this node counts requests by itself, as the database does not answer.",
		meter.Alone)
	return meter, nil
}

// watch keeps memory and database in step.
func (n *node) watch(live *snapshot.Live, keys *keyring.Keyring, served func()) *server.Watch {
	watch := &server.Watch{
		State: func(ctx context.Context) (int64, int64, error) {
			now, err := n.store.State(ctx)
			return now.Version, now.Keys, err
		},
		NoteUse: n.store.Keys.MarkUsed, Interval: pollInterval, Served: served, Live: live, Keys: keys, Log: n.log,
	}
	if n.store.Shared() {
		wake := make(chan struct{}, 1)
		watch.Wake, watch.Interval = wake, listenInterval
		n.run(func(ctx context.Context) error {
			return n.store.Listen(ctx, func() {
				select {
				case wake <- struct{}{}:
				default: // it is about to look anyway
				}
			})
		})
	}
	n.run(watch.Run)
	n.metrics.Flag("palmares_database_up", "1 while the database answers, 0 while what is in memory is served.",
		func() bool { return !watch.Away() })
	return watch
}

// load builds what is to be served: the published catalogue, or as long as there
// is none the demo, which is never stored.
func (n *node) load(ctx context.Context) (*snapshot.Snapshot, error) {
	published, err := n.store.Catalogue.Load(ctx)
	if err != nil {
		return nil, err
	}
	defer tuneMemory()
	if published.Version > 0 {
		return snapshot.Build(published.Catalog, published.Version, published.ChangedOn), nil
	}
	if n.Demo == "off" {
		return snapshot.Empty("Palmarès", string(n.BaseURL)), nil
	}
	shipped, problems, err := content.ReadFS(ctx, demo.Folder, nil)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("the demo catalogue in this binary is broken: %v", problems[0])
	}
	shipped.URL = string(n.BaseURL)
	catalog.CarryOver(&catalog.Catalog{}, shipped, snapshot.NewestUpdate(shipped))
	return snapshot.Build(shipped, 0, snapshot.NewestUpdate(shipped)), nil
}

// isDemo tells the demo from a published catalogue.
func (n *node) isDemo(s *snapshot.Snapshot) bool { return n.Demo == "on" && s.Version == 0 }

// greet says where to go.
func (n *node) greet(snap *snapshot.Snapshot) {
	base := string(n.BaseURL)
	what := fmt.Sprintf("version %d of %s", snap.Version, snap.Catalog.Name)
	switch {
	case n.isDemo(snap):
		what = "the demo catalogue (invented; publish your own with `palmares publish DIR`)"
	case snap.Version == 0:
		what = "nothing yet (publish with `palmares publish DIR`)"
	}
	fmt.Fprintf(n.session.stderr, "Palmarès serves %s: %s\n  site      %s/\n  API       %s/api/v1/tools\n  document  %s/api/v1/openapi.json\n",
		what, counts(snap.Catalog), base, base, base)
}
