package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// A StateStore says what has changed. The store is one.
type StateStore interface {
	// State returns the version of the catalogue and a number that increases with every
	// change of a key or an account. It is cheap: it is called several times a second.
	State(ctx context.Context) (catalogue, keys int64, err error)
}

// A KeyUseStore stores when keys were last used. The store's Keys is one.
type KeyUseStore interface {
	MarkUsed(ctx context.Context, used []account.KeyUse) error
}

// WatchConfig is what a Watch works with. All fields are required unless they say
// otherwise.
type WatchConfig struct {
	State    StateStore
	Uses     KeyUseStore
	Interval time.Duration // how often State is called
	// Wake causes a call of State at once. Nil where the database does not notify.
	Wake <-chan struct{}
	// Served is called when a new version is being served: only then may receivers of
	// webhooks, who may request it from this node at once, hear of it. It may be nil.
	Served func()
	Live   *snapshot.Live
	Keys   *keyring.Keyring
	Log    *slog.Logger
}

// A Watch keeps memory in step with the store: it loads a catalogue that another process
// published, refreshes keys when any of them changed, and stores now and then which keys
// were used. These tasks run concurrently with the calls of State, which never wait for
// them.
type Watch struct {
	cfg      WatchConfig
	outage   atomic.Pointer[error] // why the store does not respond; nil if it does
	behind   atomic.Bool
	retries  int       // failed loads in a row
	nextLoad time.Time // not before, after a failed load
}

// NewWatch returns a watch.
func NewWatch(cfg WatchConfig) *Watch { return &Watch{cfg: cfg} }

// Outage returns why the store did not respond when it was last asked, nil if it did.
func (w *Watch) Outage() error {
	if err := w.outage.Load(); err != nil {
		return *err
	}
	return nil
}

// Behind reports whether there is a version that could not be loaded: an older one is
// served.
func (w *Watch) Behind() bool { return w.behind.Load() }

// Run watches until ctx ends. A store that does not respond is logged once and asked
// again; what is in memory is served meanwhile.
func (w *Watch) Run(ctx context.Context) error {
	tick, use := time.NewTicker(w.cfg.Interval), time.NewTicker(useInterval)
	defer tick.Stop()
	defer use.Stop()
	var load, refresh, marking task
	keys, failing := int64(-1), false
	responded := time.Now()
	for {
		select {
		case <-ctx.Done():
			load.running.Wait()
			refresh.running.Wait()
			marking.running.Wait()
			return w.markUsed(ctx)
		case <-use.C:
			marking.start(ctx, w.markUsed)
			continue
		case <-tick.C:
		case <-w.cfg.Wake:
		}
		err := w.poll(ctx, &keys, &load, &refresh)
		switch {
		case ctx.Err() != nil:
			continue // and end
		case err != nil && !failing:
			w.cfg.Log.Error(outage(err), "error", err)
		case err == nil && failing:
			w.cfg.Log.Info("the database responds again")
		}
		failing = err != nil
		if failing {
			w.outage.Store(&err)
		} else {
			w.outage.Store(nil)
			responded = time.Now()
		}
		w.cfg.Keys.SetReachable(!failing)
		w.cfg.Keys.Distrust(time.Since(responded) > trustKeys)
	}
}

// outage says what an error of the store means for what is served.
func outage(err error) string {
	if web.IsPermanent(err) {
		return "the database refuses this server, which waiting does not cure; serving what is in memory"
	}
	return "the database does not respond; serving what is in memory"
}

const (
	// trustKeys is how long keys are checked from memory while the store is unreachable:
	// a revocation must take effect by then, even here.
	trustKeys = 15 * time.Minute
	// useInterval is how often the last use of keys is worth a write.
	useInterval = time.Minute
	useTimeout  = 2 * time.Second
	// refreshTimeout leaves time for a second attempt within the five seconds in which a
	// revocation must take effect.
	refreshTimeout = 2 * time.Second
	// stateTimeout is for a database that hangs: it counts as unreachable. A query that was
	// lost must not delay the next one for long.
	stateTimeout = time.Second
)

// markUsed stores the last use of keys. It is not cut short when ctx ends.
func (w *Watch) markUsed(ctx context.Context) error {
	used := w.cfg.Keys.Used()
	if len(used) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), useTimeout)
	defer cancel()
	err := w.cfg.Uses.MarkUsed(ctx, used)
	if err != nil {
		w.cfg.Log.Error("could not store the last use of keys", "error", err)
	}
	return err
}

func (w *Watch) refreshKeys(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	err := w.cfg.Keys.Refresh(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		w.cfg.Log.Error("a key has changed, and the keys in use could not be refreshed yet", "error", err)
	}
	return err
}

// poll reads the state once and starts what follows from it.
func (w *Watch) poll(ctx context.Context, keys *int64, load, refresh *task) error {
	query, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	version, revision, err := w.cfg.State.State(query)
	if err != nil {
		load.abort()
		refresh.abort()
		w.retries, w.nextLoad = 0, time.Time{} // what fails meanwhile is not the catalogue's fault
		return err
	}
	if revision != *keys {
		w.cfg.Keys.Invalidate()
		*keys = revision
	}
	if w.cfg.Keys.NeedsRefresh() {
		refresh.start(ctx, w.refreshKeys)
	}
	w.reportLoad(load)
	switch served := w.cfg.Live.Snapshot().Version; {
	case version == served:
		w.behind.Store(false)
		w.retries, w.nextLoad = 0, time.Time{}
	case time.Now().After(w.nextLoad):
		load.start(ctx, w.load)
	}
	return nil
}

// maxLoadDelay is the longest pause between attempts to load a version.
const maxLoadDelay = 30 * time.Second

// reportLoad logs that a load has failed, once until one succeeds, and makes the next attempt
// wait: reading a large catalogue is a lot of work for a database.
func (w *Watch) reportLoad(load *task) {
	err := load.takeFailure()
	if err == nil || errors.Is(err, context.Canceled) { // it was aborted because the database does not respond
		return
	}
	delay := maxLoadDelay
	if w.retries < 6 {
		delay = w.cfg.Interval << w.retries
	}
	w.retries++
	w.nextLoad = time.Now().Add(min(delay, maxLoadDelay))
	if !w.behind.Swap(true) {
		w.cfg.Log.Error("the new version of the catalogue could not be loaded; serving the previous one and trying again",
			"serving", w.cfg.Live.Snapshot().Version, "error", err)
	}
}

// A task runs concurrently with the watch, at most once at a time: loading a large
// catalogue takes seconds, and a revocation must not wait for it.
type task struct {
	running sync.WaitGroup
	mu      sync.Mutex
	cancel  context.CancelFunc // of the running one; nil if none runs
	err     error              // of the last one, until it is taken
}

// start runs do unless the task is running.
func (t *task) start(ctx context.Context, do func(context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	t.cancel = cancel
	t.running.Go(func() {
		err := do(ctx)
		cancel()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.cancel, t.err = nil, err
	})
}

// abort cancels a running task, because the store does not respond: it might hang and keep
// the next one from starting.
func (t *task) abort() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		t.cancel()
	}
}

// takeFailure returns the error of the last one, once.
func (t *task) takeFailure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.err
	t.err = nil
	return err
}

// load loads a new version and serves it.
func (w *Watch) load(ctx context.Context) error {
	start := time.Now()
	if err := w.cfg.Live.Refresh(ctx); err != nil {
		return err
	}
	s := w.cfg.Live.Snapshot()
	w.behind.Store(false)
	w.cfg.Log.Info("serving a new version of the catalogue", "version", s.Version, "tools", len(s.Catalog.Tools),
		"took", time.Since(start).Round(time.Millisecond).String())
	if w.cfg.Served != nil {
		w.cfg.Served()
	}
	return nil
}
