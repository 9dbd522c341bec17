package server

import (
	"context"
	"log/slog"
	"time"

	"palmares/internal/account"
	"palmares/internal/snapshot"
)

// A Watch follows the store: it loads a catalogue that another process
// published, and has keys looked up again when any of them changed.
type Watch struct {
	// State asks the store, cheaply, for the newest version of the catalogue and
	// of the keys.
	State func(context.Context) (catalogue, keys int64, err error)
	// Interval is how often State is asked.
	Interval time.Duration
	Live     *snapshot.Live
	Keys     *account.Keyring
	Log      *slog.Logger
}

// Run watches until ctx ends. A store that does not answer is reported once and
// asked again: what is in memory goes on being served.
func (w *Watch) Run(ctx context.Context) error {
	tick := time.NewTicker(w.Interval)
	defer tick.Stop()
	keys, failing := int64(-1), false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := w.look(ctx, &keys)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !failing:
			w.Log.Error("the database does not answer; serving what is in memory", "error", err)
		case err == nil && failing:
			w.Log.Info("the database answers again")
		}
		failing = err != nil
	}
}

func (w *Watch) look(ctx context.Context, keys *int64) error {
	version, revision, err := w.State(ctx)
	if err != nil {
		return err
	}
	if revision != *keys {
		w.Keys.Forget()
		*keys = revision
	}
	if version == w.Live.Snapshot().Version {
		return nil
	}
	start := time.Now()
	if err := w.Live.Refresh(ctx); err != nil {
		return err
	}
	s := w.Live.Snapshot()
	w.Log.Info("serving a new version of the catalogue", "version", s.Version, "tools", len(s.Catalog.Tools),
		"took", time.Since(start).Round(time.Millisecond).String())
	return nil
}
