package node

import (
	"context"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"palmares/internal/catalogdb"
)

// A healthCheck looks for what is wrong with a database that still responds, and logs it.
type healthCheck struct {
	store   *Database
	log     *slog.Logger
	failing atomic.Bool
	history atomic.Pointer[catalogdb.History] // nil until it is read
}

// healthInterval is short against the 30 seconds of the alert.
const healthInterval = 5 * time.Second

// run checks until ctx ends.
func (h *healthCheck) run(ctx context.Context) error {
	return repeat(ctx, healthInterval, h.check, func(err error) {
		h.log.Error("something is wrong with the database", "error", err)
	})
}

func (h *healthCheck) check(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, healthInterval)
	defer cancel()
	history, unread := h.store.Upkeep.Read(limited)
	if unread == nil {
		h.history.Store(&history)
	}
	err := h.store.SQL.Health(limited)
	if ctx.Err() == nil && h.failing.Swap(err != nil) && err == nil {
		h.log.Info("the database is in order again")
	}
	return err
}

// age returns a metric: how many seconds ago a task was last done, NaN if that is unknown.
func (h *healthCheck) age(t string, now func() time.Time) func() float64 {
	return func() float64 {
		history := h.history.Load()
		if history == nil || history.Since(t).IsZero() {
			return math.NaN()
		}
		return now().Sub(history.Since(t)).Seconds()
	}
}
