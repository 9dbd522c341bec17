package node

import (
	"context"
	"log/slog"
	"time"

	"palmares/internal/snapshot"
)

// readerMail queues the mails that readers cause: one a day to the contact of the catalogue, about what
// they report.
type readerMail struct {
	store *Database
	live  *snapshot.Live
	now   func() time.Time
	log   *slog.Logger
	wake  func() // the queue of mails
}

// readerInterval is how often is looked what is due, which costs a few small queries.
const readerInterval = 5 * time.Second

// run looks until ctx ends. Every node does: what one has queued, the others find done.
func (m *readerMail) run(ctx context.Context) error {
	tick := time.NewTicker(readerInterval)
	defer tick.Stop()
	for logged := ""; ; {
		err := m.queue(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			logged = ""
		case err.Error() != logged:
			logged = err.Error()
			m.log.Error("mails about readers and to readers cannot be queued now; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// queue queues what is due.
func (m *readerMail) queue(ctx context.Context) error {
	return m.store.Reports.QueueDigest(ctx, m.live.Snapshot().Catalog.Settings.Contact, m.now())
}
