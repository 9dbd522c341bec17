package quota

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"palmares/internal/pseudonym"
)

const (
	// maxJitter is less than the two seconds around midnight in which the store accepts
	// either day.
	maxJitter = 250 * time.Millisecond
	// maxDrift exceeds any plausible drift of two clocks between two readings.
	maxDrift = time.Minute
	// maxAhead is how far the clock may step back over midnight without the day doing so.
	maxAhead = time.Hour
)

// A dayClock knows which day it is.
type dayClock struct {
	cfg   Config
	clock atomic.Pointer[clockReading] // nil on one node
	day   atomic.Pointer[day]

	mu   sync.Mutex // held to start a new day
	next *day       // prepared; nil if it could not be prepared yet
	past []pastDay  // ended, and not completely saved
}

// A clockReading is what the store's clock showed at a time of ours. Between two readings
// time is measured here, by the monotonic clock.
type clockReading struct{ here, there time.Time }

// A pastDay is what is kept of a day that has ended: the counts of accounts, for their
// owners' charts. Those of networks are many and no longer needed.
type pastDay struct {
	name     string
	accounts *table[string]
}

// now returns the time by the store's clock where nodes share it, by ours otherwise.
func (c *dayClock) now() time.Time {
	now := c.cfg.Now()
	if r := c.clock.Load(); r != nil {
		return r.there.Add(now.Sub(r.here))
	}
	return now
}

// setClock takes over the time that the store returned to a query sent at begin. The
// reading is off by at most half the round trip; differences within that are ignored.
func (c *dayClock) setClock(begin, there time.Time) {
	end := c.cfg.Now()
	took := end.Sub(begin)
	there = there.Add(took / 2)
	off := there.Sub(c.now()).Abs()
	isFirst := c.clock.Load() == nil
	if !isFirst && off <= max(took, maxJitter) {
		return
	}
	if !isFirst && off > maxDrift {
		c.cfg.Log.Warn("the database's clock has jumped: it decides which day it is",
			"by", off.Round(time.Second).String(), "to", there.UTC().Format(time.RFC3339))
	}
	c.clock.Store(&clockReading{here: end, there: there})
}

// today returns the day on which a request is counted. It only moves forward: if the clock
// steps back over midnight the newer day stays, so that no quota is granted twice.
func (c *dayClock) today(now time.Time) *day {
	if d := c.day.Load(); now.Unix() < d.end {
		return d
	}
	return c.startDay(now)
}

func (c *dayClock) startDay(now time.Time) *day {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.day.Load()
	if now.Unix() < d.end {
		return d // another request was first
	}
	start := startOfDay(now)
	next := c.next
	if next == nil || next.start != start {
		// The store has been unreachable for a day, or the clock has jumped over one.
		// Requests do not wait for it: they are counted here, under a key that Run stores
		// later.
		next = newDay(start, pseudonym.NewKey())
	}
	c.follow(d, next)
	return next
}

// follow makes another day that of today. The caller holds the lock.
func (c *dayClock) follow(d, other *day) {
	c.past = append(c.past, pastDay{d.name, d.accounts})
	c.next = nil
	c.day.Store(other)
}

// prepare returns a day with its stored key and counts. A future day has counts if the
// clock was ahead before a restart.
func (c *dayClock) prepare(ctx context.Context, start int64) (*day, error) {
	key, err := c.cfg.Counters.DayKey(ctx, dayName(start), pseudonym.NewKey())
	if err != nil {
		return nil, err
	}
	d := newDay(start, key)
	return d, c.load(ctx, d, key)
}

func (c *dayClock) load(ctx context.Context, d *day, key pseudonym.Key) error {
	usage, err := c.cfg.Counters.Load(ctx, d.name)
	if err != nil {
		return err
	}
	for _, n := range usage.Accounts {
		d.accounts.raise(n.Account, n.Requests)
	}
	// If the store had another key for the day, it has its networks under other pseudonyms.
	// Those counted here stay here: exact, and lost by a restart.
	d.private = key != d.key
	if !d.private {
		for _, n := range usage.Networks {
			d.networks.raise(n.Network, n.Requests)
		}
	}
	d.ready.Store(true)
	return nil
}
