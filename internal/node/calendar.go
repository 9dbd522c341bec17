package node

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// A calendar makes the versions of the catalogue that are due.
type calendar struct {
	store *Database
	now   func() time.Time
	log   *slog.Logger
	stuck atomic.Int64 // records that are not public although their hour has passed
}

// calendarInterval is how often the calendar looks what is due, which costs a few small queries.
const calendarInterval = time.Second

// run looks until ctx ends.
func (c *calendar) run(ctx context.Context) error {
	return repeat(ctx, calendarInterval, c.advance, func(err error) {
		c.log.Error("what is scheduled cannot be published now; trying again", "error", err)
	})
}

// repeat does something again and again until ctx ends. What fails in the same way as before is not
// reported again.
func repeat(ctx context.Context, every time.Duration, do func(context.Context) error, report func(error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for reported := ""; ; {
		err := do(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			reported = ""
		case err.Error() != reported:
			reported = err.Error()
			report(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// advance makes all versions that are due.
func (c *calendar) advance(ctx context.Context) error {
	done, err := c.store.Catalogue.Advance(ctx, c.now)
	for _, v := range done.Versions {
		c.log.Info("what was scheduled is published", "version", v.Version, "events", len(v.Diff.Changes))
	}
	for i := range done.Stuck {
		s := &done.Stuck[i]
		c.log.Error("a scheduled record could not be published: correct the folder and publish it again",
			"record", s.Name(), "due", s.Due, "problem", s.Problem)
	}
	if err != nil {
		return err
	}
	stuck, err := c.store.Catalogue.Stuck(ctx)
	if err != nil {
		return err
	}
	c.stuck.Store(stuck)
	return c.store.Catalogue.Prepare(ctx, c.now)
}
