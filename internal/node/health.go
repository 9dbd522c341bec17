package node

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// A healthCheck looks for what is wrong with a database that still responds, and logs it.
type healthCheck struct {
	store   *Database
	log     *slog.Logger
	failing atomic.Bool
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
	err := h.store.SQL.Health(limited)
	if ctx.Err() == nil && h.failing.Swap(err != nil) && err == nil {
		h.log.Info("the database is in order again")
	}
	return err
}
