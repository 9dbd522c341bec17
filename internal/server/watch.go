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
)

// A Watch keeps memory and store in step: it loads a catalogue that another
// process published, reads keys again when any of them changed, and tells the store
// now and then which keys were used. All of that runs beside the question whether
// anything changed, which waits for none of it.
type Watch struct {
	// State asks the store, cheaply, for the newest version of the catalogue and
	// of the keys.
	State func(context.Context) (catalogue, keys int64, err error)
	// NoteUse stores when keys were last used.
	NoteUse func(context.Context, []account.KeyUse) error
	// Interval is how often State is asked.
	Interval time.Duration
	// Wake has State asked at once; nil where nobody tells.
	Wake <-chan struct{}
	// Served is told when a new version is being served: only then is it news to
	// receivers of webhooks, who may ask this node for it at once. Nil for nobody.
	Served func()
	Live   *snapshot.Live
	Keys   *keyring.Keyring
	Log    *slog.Logger

	away atomic.Bool
}

// Away tells whether the store did not answer when it was last asked.
func (w *Watch) Away() bool { return w.away.Load() }

// Run watches until ctx ends. A store that does not answer is reported once and
// asked again: what is in memory goes on being served.
func (w *Watch) Run(ctx context.Context) error {
	tick, note := time.NewTicker(w.Interval), time.NewTicker(noteEvery)
	defer tick.Stop()
	defer note.Stop()
	var load, renewal, noting errand
	keys, failing := int64(-1), false
	answered := time.Now()
	for {
		select {
		case <-ctx.Done():
			load.running.Wait()
			renewal.running.Wait()
			noting.running.Wait()
			return w.noteUse(ctx)
		case <-note.C:
			noting.begin(ctx, w.noteUse)
			continue
		case <-tick.C:
		case <-w.Wake:
		}
		err := w.look(ctx, &keys, &load, &renewal)
		switch {
		case ctx.Err() != nil:
			continue // and end
		case err != nil && !failing:
			w.Log.Error("the database does not answer; serving what is in memory", "error", err)
		case err == nil && failing:
			w.Log.Info("the database answers again")
		}
		if failing = err != nil; !failing {
			answered = time.Now()
		}
		w.away.Store(failing)
		w.Keys.SetReachable(!failing)
		w.Keys.Distrust(time.Since(answered) > trustKeys)
	}
}

// trustKeys is how long keys are answered from memory while the store is away:
// a revocation must hold by then, even here.
const trustKeys = 15 * time.Minute

// noteEvery is as often as a key's last use is worth a write.
const noteEvery = time.Minute

// noteTimeout is how long it may take.
const noteTimeout = 2 * time.Second

// noteUse stores the last use of keys; the end of ctx does not cut it short.
func (w *Watch) noteUse(ctx context.Context) error {
	used := w.Keys.Used()
	if len(used) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	err := w.NoteUse(ctx, used)
	if err != nil {
		w.Log.Error("the last use of keys cannot be stored", "error", err)
	}
	return err
}

// renewTimeout leaves a revocation time for a second attempt within its five seconds.
const renewTimeout = 2 * time.Second

func (w *Watch) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	err := w.Keys.Refresh(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		w.Log.Error("a key has changed, and the keys in use cannot be read again yet", "error", err)
	}
	return err
}

// stateTimeout is for a database that hangs: it is taken for one that is away. A
// question that was lost must not be waited for when it is back.
const stateTimeout = time.Second

func (w *Watch) look(ctx context.Context, keys *int64, load, renewal *errand) error {
	asking, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	version, revision, err := w.State(asking)
	if err != nil {
		load.giveUp()
		renewal.giveUp()
		return err
	}
	if revision != *keys {
		w.Keys.Invalidate()
		*keys = revision
	}
	if w.Keys.NeedsRefresh() {
		renewal.begin(ctx, w.renew)
	}
	if version != w.Live.Snapshot().Version {
		load.begin(ctx, w.load)
	}
	return load.failure()
}

// An errand is what the watch has done beside it, one at a time: a large catalogue
// takes seconds, and a revocation must not wait for it.
type errand struct {
	running sync.WaitGroup
	mu      sync.Mutex
	cancel  context.CancelFunc // of the one that runs; nil when none does
	err     error              // of the last one
}

func (e *errand) begin(ctx context.Context, do func(context.Context) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	e.cancel = cancel
	e.running.Go(func() {
		err := do(ctx)
		cancel()
		e.mu.Lock()
		defer e.mu.Unlock()
		e.cancel, e.err = nil, err
	})
}

// giveUp ends an errand to a store that does not answer: it might hang for ever, and
// keep the next one waiting.
func (e *errand) giveUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cancel != nil {
		e.cancel()
	}
}

func (e *errand) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

func (w *Watch) load(ctx context.Context) error {
	start := time.Now()
	if err := w.Live.Refresh(ctx); err != nil {
		return err
	}
	s := w.Live.Snapshot()
	w.Log.Info("serving a new version of the catalogue", "version", s.Version, "tools", len(s.Catalog.Tools),
		"took", time.Since(start).Round(time.Millisecond).String())
	if w.Served != nil {
		w.Served()
	}
	return nil
}
