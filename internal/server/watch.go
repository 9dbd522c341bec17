package server

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"palmares/internal/account"
	"palmares/internal/snapshot"
)

// A Watch keeps memory and store in step: it loads a catalogue that another
// process published, has keys looked up again when any of them changed, and tells
// the store now and then which keys were used.
type Watch struct {
	// State asks the store, cheaply, for the newest version of the catalogue and
	// of the keys.
	State func(context.Context) (catalogue, keys int64, err error)
	// NoteUse stores when keys were last used.
	NoteUse func(context.Context, []account.Use) error
	// Interval is how often State is asked.
	Interval time.Duration
	// Wake has State asked at once; nil where nobody tells.
	Wake <-chan struct{}
	Live *snapshot.Live
	Keys *account.Keyring
	Log  *slog.Logger

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
	var loads loads
	defer loads.running.Wait()
	keys, failing := int64(-1), false
	answered := time.Now()
	for {
		select {
		case <-ctx.Done():
			return w.noteUse(ctx)
		case <-note.C:
			if err := w.noteUse(ctx); err != nil {
				w.Log.Error("the last use of keys cannot be stored", "error", err)
			}
			continue
		case <-tick.C:
		case <-w.Wake:
		}
		err := w.look(ctx, &keys, &loads)
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
		w.Keys.Doubt(time.Since(answered) > trustKeys)
	}
}

// trustKeys is how long keys are answered from memory while the store is away:
// a revocation must hold by then, even here.
const trustKeys = 15 * time.Minute

// noteEvery is as often as a key's last use is worth a write.
const noteEvery = time.Minute

// noteUse stores the last use of keys; the end of ctx does not cut it short.
func (w *Watch) noteUse(ctx context.Context) error {
	used := w.Keys.Used()
	if len(used) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return w.NoteUse(ctx, used)
}

// stateTimeout is for a database that hangs: it is taken for one that is away. A
// question that was lost must not be waited for when it is back.
const stateTimeout = time.Second

func (w *Watch) look(ctx context.Context, keys *int64, loads *loads) error {
	asking, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	version, revision, err := w.State(asking)
	if err != nil {
		loads.giveUp()
		return err
	}
	if revision != *keys {
		w.Keys.Forget()
		*keys = revision
	}
	if version != w.Live.Snapshot().Version {
		loads.begin(ctx, w.load)
	}
	return loads.failure()
}

// loads are the loads of a catalogue, one at a time. They run beside the
// watch: a large catalogue takes seconds, and a revocation must not wait for it.
type loads struct {
	running sync.WaitGroup
	mu      sync.Mutex
	cancel  context.CancelFunc // of the one that runs; nil when none does
	err     error              // of the last one
}

func (l *loads) begin(ctx context.Context, load func(context.Context) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	l.cancel = cancel
	l.running.Go(func() {
		err := load(ctx)
		cancel()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.cancel, l.err = nil, err
	})
}

// giveUp ends a load from a store that does not answer: it might hang for ever, and
// keep the next one waiting.
func (l *loads) giveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
	}
}

func (l *loads) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (w *Watch) load(ctx context.Context) error {
	start := time.Now()
	if err := w.Live.Refresh(ctx); err != nil {
		return err
	}
	s := w.Live.Snapshot()
	w.Log.Info("serving a new version of the catalogue", "version", s.Version, "tools", len(s.Catalog.Tools),
		"took", time.Since(start).Round(time.Millisecond).String())
	return nil
}
