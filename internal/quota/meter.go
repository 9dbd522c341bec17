package quota

import (
	"context"
	"fmt"
)

// A Meter counts requests. New creates it with the saved counts of the day; any number of
// goroutines call Take and Look while one runs Run, which saves the counts.
type Meter struct {
	dayClock
	shared *sharedCounts // nil on one node

	// Used only by Run.
	pruned string // the day of the last Prune
	failed bool   // the last save failed
}

// New loads the counts of the day, and of the next in case it is about to start. It fails
// if they cannot be loaded: without them a quota that is used up would be granted again.
// It panics if a required field of cfg is not set.
func New(ctx context.Context, cfg Config) (*Meter, error) {
	if cfg.Counters == nil || cfg.Now == nil || cfg.Log == nil {
		panic("quota: a required field of Config is not set")
	}
	m := &Meter{dayClock: dayClock{cfg: cfg}}
	if cfg.Shared {
		m.shared = &sharedCounts{dayClock: &m.dayClock, turn: make(chan struct{}, 1)}
	}
	if err := m.open(ctx); err != nil {
		return nil, fmt.Errorf("could not load the requests counted today: %w", err)
	}
	return m, nil
}

func (m *Meter) open(ctx context.Context) error {
	if m.shared != nil {
		if _, err := m.shared.count(ctx, "", Usage{}); err != nil {
			return err
		}
	}
	today, err := m.prepare(ctx, startOfDay(m.now()))
	if err != nil {
		return err
	}
	m.next, err = m.prepare(ctx, today.end)
	m.day.Store(today)
	return err
}

// Take counts one request of s, unless its quota is used up: then it is refused and not
// counted. Requests of Pro are counted for the owner's chart and never refused. Where
// nodes share the counters, Take waits for them until the deadline of ctx.
func (m *Meter) Take(ctx context.Context, s Subject) Grant {
	now := m.now()
	d := m.today(now)
	used, is := m.shared.take(ctx, d, s, 1)
	if is == closed { // it is another day there: now we know which
		now = m.now()
		d = m.today(now)
		used, is = m.shared.take(ctx, d, s, 1)
	}
	for is == closed || is == uncounted {
		used, is = d.take(s)
		if is == closed {
			d = m.today(now) // the day ended and was closed since it was looked up
		}
	}
	return d.grant(s, used, is == refused, now)
}

// Look returns what Take would find, without counting: for a response that is free and
// still says what remains. It never refuses.
func (m *Meter) Look(ctx context.Context, s Subject) Grant {
	now := m.now()
	d := m.today(now)
	used, is := m.shared.take(ctx, d, s, 0)
	if is == closed || is == uncounted {
		used = d.used(s)
	}
	return d.grant(s, used, false, now)
}

// Waits reports whether counting a request of s waits for the store.
func (m *Meter) Waits(s Subject) bool {
	return m.shared != nil && s.Tier != Pro && !m.shared.unreachable.Load()
}

// Alone reports whether this node counts by itself because the store that it shares with
// others does not respond.
func (m *Meter) Alone() bool { return m.shared != nil && m.shared.unreachable.Load() }
