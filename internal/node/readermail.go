package node

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"palmares/internal/accountdb"
	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

// readerMail queues the mails that readers cause: to the contact of the catalogue, about what they report,
// and to those who follow something. Every node does: what one has queued, the others find done.
type readerMail struct {
	store *Database
	live  *snapshot.Live
	pages *site.Site
	now   func() time.Time
	log   *slog.Logger
	wake  func() // the queue of mails
}

const (
	// readerInterval is how often is looked what is due, which costs a few small queries.
	readerInterval = 5 * time.Second
	// weeklyHour is when the mails of a week leave on Monday, UTC.
	weeklyHour = 6 * time.Hour
)

// run looks until ctx ends.
func (m *readerMail) run(ctx context.Context) error {
	return repeat(ctx, readerInterval, m.queue, func(err error) {
		m.log.Error("mails about readers and to readers cannot be queued now; trying again", "error", err)
	})
}

// queue queues what is due.
func (m *readerMail) queue(ctx context.Context) error {
	err := m.store.Reports.QueueDigest(ctx, m.live.Snapshot().Catalog.Settings.Contact, m.now())
	if err != nil {
		return err
	}
	now := m.now().UTC()
	if err := m.tell(ctx, accountdb.FollowAtOnce, now.Format(time.DateOnly), accountdb.MailsADay); err != nil {
		return err
	}
	monday := now.Add(-weeklyHour)
	monday = monday.AddDate(0, 0, -(int(monday.Weekday())+6)%7)
	return m.tell(ctx, accountdb.FollowWeekly, monday.Format(time.DateOnly), 1)
}

// tell queues the mails of a pace about the events of the served version.
func (m *readerMail) tell(ctx context.Context, pace, period string, most int) error {
	version := m.live.Snapshot().Version
	c, err := m.store.Follows.Cursor(ctx, pace, version)
	if err != nil || c.Last == 0 || c.Sequence >= c.Last && c.Period == period || pace == accountdb.FollowWeekly && c.Period >= period {
		return err
	}
	if !c.IsFollowed {
		return m.store.Follows.Advance(ctx, pace, accountdb.FollowCursor{Sequence: c.Last, Period: period})
	}
	for isNew := c.Period != period; isNew || c.Sequence < c.Last; isNew = false {
		next := min(c.Last, c.Sequence+catalogdb.MaxBetween)
		var topics []string
		_, _, err := m.store.Events.Between(ctx, c.Sequence, next, func(_ int64, e *catalog.Event) bool {
			if isTold(e, pace) {
				topics = append(topics, m.pages.TopicsOf(e)...)
			}
			return false
		})
		if err != nil {
			return err
		}
		if len(topics) > 0 || isNew {
			slices.Sort(topics)
			err := m.store.Follows.Tell(ctx, pace, period, most, slices.Compact(topics), c.Sequence, c.Last, version, m.now())
			if err != nil {
				return err
			}
			m.wake()
		}
		c.Sequence = next
		if err := m.store.Follows.Advance(ctx, pace, c); err != nil {
			return err
		}
	}
	c.Period = period
	return m.store.Follows.Advance(ctx, pace, c)
}

// isTold reports whether those who follow at a pace are told of an event.
func isTold(e *catalog.Event, pace string) bool {
	urgent := []string{catalog.PricingUpdated, catalog.ToolRetired, catalog.ToolRemoved, catalog.ToolRestored}
	return pace == accountdb.FollowWeekly || slices.Contains(urgent, e.Type)
}
