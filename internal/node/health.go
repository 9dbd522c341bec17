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
	tick := time.NewTicker(healthInterval)
	defer tick.Stop()
	for logged := ""; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		limited, cancel := context.WithTimeout(ctx, healthInterval)
		err := h.store.SQL.Health(limited)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		h.failing.Store(err != nil)
		switch {
		case err == nil && logged != "":
			h.log.Info("the database is in order again")
			logged = ""
		case err != nil && err.Error() != logged:
			h.log.Error("something is wrong with the database", "error", err)
			logged = err.Error()
		}
	}
}
