// Package readership counts how often pages are read, and from which other sites readers come, without
// watching anybody: it needs no cookie, address or identifier. A view is a GET request of a person's
// browser that shows a page of HTML, answered with 200, or with 304: who comes back reads it again.
//
// Views are added up in memory, without a lock, and saved twice a minute and at the end. A save notes
// its number, so that one that was committed though it seemed to fail is not added again.
package readership

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"palmares/internal/cache"
	"palmares/internal/catalog"
	"palmares/internal/pseudonym"
)

// The kinds of what has views, and the name of all that a day has no room for.
const (
	Pages  = "page"
	Hosts  = "host"
	Others = "autres"

	saveInterval = 30 * time.Second
	saveTimeout  = 10 * time.Second // for a store that hangs
	finalTries   = 4                // of the last saves: the store may be busy with a publication
	keepYears    = 2
	maxDays      = 8 // that are kept in memory while nothing can be saved
)

// Most is how many names of a kind a day has.
var Most = map[string]int64{Pages: 5000, Hosts: 200}

// Config is what a Counter needs.
type Config struct {
	Store   Store
	Trusted []netip.Prefix // proxies whose X-Forwarded-For is believed; nil for none
	BaseURL string         // of the site, from which nobody comes
	Now     func() time.Time
	Log     *slog.Logger
}

// A Store keeps what was counted.
type Store interface {
	// Begin removes what is older than a day, and keys of weeks before week with what is kept under
	// them. It returns the key of week: candidate if it had none.
	Begin(ctx context.Context, oldest, week string, candidate pseudonym.Key) (pseudonym.Key, error)
	// Save adds a batch in one transaction, unless it was saved before.
	Save(ctx context.Context, b *Batch) error
}

// A Batch is what a process counted between two saves.
type Batch struct {
	Writer   string // the process
	Number   int64  // rises with every batch of the writer
	Views    map[Name]int64
	Searches []Search
}

// A Name is what has views on a day in UTC, 2026-11-15: the path of a page, or a host.
type Name struct{ Day, Kind, Name string }

// A Counter counts views. Any number of goroutines call View and Missed while one runs Run.
type Counter struct {
	cfg    Config
	today  atomic.Pointer[day]
	robots *cache.Cache[string, bool] // whether a User-Agent is that of a robot

	mu    sync.Mutex // of what follows
	week  *week      // nil until its key is known
	found []Search
	asked [1 << 12]uint8 // searches of the day, by a few bits of the HMAC of a network

	// Used only by Run.
	days  []*day // today, the day before, and those that could not be saved
	batch Batch  // the last one
	saved int64  // the number of the last one that was saved
	begun string // the day of the last Begin
}

// New returns a Counter that has counted nothing.
func New(cfg Config) *Counter {
	c := &Counter{cfg: cfg, batch: Batch{Writer: catalog.Day(cfg.Now()) + " " + rand.Text()}}
	c.robots = cache.New(64<<10, func(agent string, _ bool) int { return len(agent) })
	c.turn(catalog.Day(cfg.Now()))
	return c
}

// View counts a request that was answered with a page, if a reader sent it.
func (c *Counter) View(r *http.Request) {
	if !c.isReader(r) {
		return
	}
	d := c.today.Load()
	d.tallies[Pages].add(r.URL.Path)
	if from := r.Header["Referer"]; from != nil {
		if host := hostOf(from[0], r.Host, c.cfg.BaseURL); host != "" {
			d.tallies[Hosts].add(host)
		}
	}
}

// A day is what this process counts on a day.
type day struct {
	name    string
	tallies map[string]*tally // by kind
}

// turn begins a day.
func (c *Counter) turn(name string) {
	d := &day{name, map[string]*tally{Pages: {most: Most[Pages]}, Hosts: {most: Most[Hosts]}}}
	c.days = append(c.days[max(0, len(c.days)-maxDays):], d)
	c.today.Store(d)
}

// A tally counts names, up to a number of them, and all others together.
type tally struct {
	most   int64
	size   atomic.Int64
	counts sync.Map // of *atomic.Int64, by name
}

func (t *tally) add(name string) {
	n, ok := t.counts.Load(name)
	if !ok {
		if t.size.Add(1) > t.most {
			name = Others
		}
		n, _ = t.counts.LoadOrStore(name, new(atomic.Int64))
	}
	n.(*atomic.Int64).Add(1)
}

// Run saves what is counted until ctx ends, which must outlast the last request, and then the rest. It
// returns an error only if that fails; earlier failures are logged, and tried again.
func (c *Counter) Run(ctx context.Context) (err error) {
	for ctx.Err() == nil {
		if err := c.round(ctx, c.cfg.Now().UTC()); err != nil {
			c.cfg.Log.Error("could not save the views of pages: they are kept in memory and lost by a restart", "error", err)
		}
		now := c.cfg.Now().UTC()
		select {
		case <-ctx.Done():
		case <-time.After(min(saveInterval, now.Truncate(24*time.Hour).AddDate(0, 0, 1).Sub(now))):
		}
	}
	for range finalTries {
		err = c.save(ctx)
	}
	return err
}

// round begins a day, or the same one anew, and saves what was counted: names that came first must not
// keep out those that are read more, of which the store keeps the most.
func (c *Counter) round(ctx context.Context, now time.Time) error {
	today := catalog.Day(now)
	if today != c.today.Load().name || c.saved == c.batch.Number {
		c.turn(today)
	}
	if err := c.save(ctx); err != nil || today == c.begun {
		return err
	}
	name := weekName(now)
	key, err := c.cfg.Store.Begin(ctx, catalog.Day(now.AddDate(-keepYears, 0, 0)), name, pseudonym.NewKey())
	if err != nil {
		return err
	}
	c.begun = today
	c.mu.Lock()
	defer c.mu.Unlock()
	c.week = &week{name, key}
	clear(c.asked[:])
	return nil
}

// save saves the batch that could not be saved, as it is, or what was counted since. It is not cut off
// by the end of the process. A day is looked at again after its end, as a request may have begun to
// count on it before.
func (c *Counter) save(ctx context.Context) error {
	b := &c.batch
	if c.saved == b.Number {
		b.Views = map[Name]int64{}
		c.mu.Lock()
		b.Searches, c.found = c.found, nil
		c.mu.Unlock()
		for _, d := range c.days {
			for kind, t := range d.tallies {
				for name, n := range t.counts.Range {
					if x := n.(*atomic.Int64).Swap(0); x > 0 {
						b.Views[Name{d.name, kind, name.(string)}] += x
					}
				}
			}
		}
		c.days = c.days[max(0, len(c.days)-2):]
		if len(b.Views)+len(b.Searches) == 0 {
			return nil
		}
		b.Number++
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	err := c.cfg.Store.Save(ctx, b)
	if err == nil {
		c.saved = b.Number
	}
	return err
}
