// Package quota limits how many requests a caller makes in a UTC day.
//
// Requests are counted per account, whatever the number of its keys, or per network for
// callers without a key. What counts depends on the response: a 304 to a key, a refused
// key and server errors are free. Responses are built from memory in microseconds, so the
// API builds the response first and, if it counts, calls Take before writing it; a refusal
// replaces the response with a 429. Nothing is reserved and given back, so nobody is refused
// because of a request that turns out to be free, and every value of Remaining is given
// exactly once.
//
// A request uses no database and no lock that all requests share: counters are sharded,
// and a known one is incremented by a single atomic operation. Run saves the counts every
// half second; a crash loses those of the last second at most. A new day starts by
// swapping one pointer; its counters and key were prepared the day before.
//
// No address is kept, in memory or anywhere: a network is counted under its HMAC-SHA-256
// with a random key of the day. The key is stored beside the counts, so that a restart
// finds them again, and destroyed an hour after the end of the day. Then nothing leads
// from a count to an address any more.
//
// This is how one node counts. Where several nodes share a database, callers with a limit
// are counted in the database, many with one query (see sharedCounts). The counters in
// memory are then a cache, used to refuse early, and a fallback while the database is
// unreachable. A node that finds itself the only one counts in memory until another comes
// (see registration).
package quota

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// A Tier is a caller's daily limit. An account's plan determines it; see package account.
type Tier uint8

// The tiers, by their names in X-RateLimit-Tier. Free is that of the Developer plan.
const (
	Anonymous Tier = iota
	Free
	Pro
)

// Unlimited is the limit of Pro and what remains of it: the greatest number that every
// client can read as an integer.
const Unlimited = math.MaxInt32

func (t Tier) String() string { return tierNames[t] }

// Limit returns the number of requests in a day, Unlimited for Pro.
func (t Tier) Limit() int { return limits[t] }

var (
	tierNames = [...]string{Anonymous: "anonymous", Free: "free", Pro: "pro"}
	limits    = [...]int{Anonymous: 100, Free: 1000, Pro: Unlimited}
)

// A Subject is an account or a network whose requests are counted together.
type Subject struct {
	Tier    Tier
	Account string       // the account's ID; unused for Anonymous
	Network netip.Prefix // for Anonymous only: from clientip.Network
	// Calls, if it is not zero, is for Anonymous only: calls of tools are counted apart from
	// other requests, up to this number.
	Calls uint32
}

// limit returns how many requests are counted, and granted but for Pro.
func (s *Subject) limit() uint32 {
	if s.Tier == Anonymous && s.Calls > 0 {
		return s.Calls
	}
	return counted[s.Tier]
}

// A Grant is the result of counting a request.
type Grant struct {
	Tier      Tier
	Refused   bool // the day's requests are used up: respond 429
	Remaining int  // after this request
	Wait      int  // whole seconds until the reset, rounded up, at least 1
	reset     []string
}

// ResetAt returns when the quota is reset, as in X-RateLimit-Reset and `reset_at`:
// `2026-11-16T00:00:00Z`.
func (g Grant) ResetAt() string { return g.reset[0] }

// Counters stores the counts. The store's Usage is one. A day is `2026-11-15`. Except for
// Count and Renew the methods are never called concurrently.
type Counters interface {
	// DayKey stores candidate as the key of a day that has none yet, and returns the key
	// that the day has then, in one atomic step.
	DayKey(ctx context.Context, day string, candidate Key) (Key, error)
	// Load returns the totals of a day, each subject once.
	Load(ctx context.Context, day string) (Usage, error)
	// Save adds to the totals of a day in one transaction. No subject is in added twice.
	// Counts of accounts that no longer exist are ignored, or they would block all others.
	Save(ctx context.Context, day string, added Usage) error
	// Prune destroys the keys and the counts of networks of the days before networks, and
	// the counts of accounts of the days before accounts.
	Prune(ctx context.Context, networks, accounts string) error
	// Count grants requests of a day, to each subject as many as the limit of its tier
	// allows (all accounts in it are Free), in one atomic step that is exact across nodes.
	// Refused requests are not counted, and nothing is created for a subject that asks for
	// none. It is called only if Config.Shared is set, and concurrently only for day "",
	// which asks for nothing but the time.
	Count(ctx context.Context, day string, asked Usage) (Tally, error)
	// Join gives a node a row with no Renewals, unless it has one. It, Renew and Leave are called only if
	// Config.Shared is set.
	Join(ctx context.Context, id string) error
	// Renew replaces the row of a node by own, unless its Renewals are higher: then this is
	// an earlier renewal that was delayed. It removes the rows of gone nodes if their
	// Renewals are the same as in gone. It returns own, if there was a row to replace, and
	// all others as they were when Renew began.
	Renew(ctx context.Context, own Node, gone []Node) ([]Node, error)
	// Leave removes the row of a node.
	Leave(ctx context.Context, id string) error
}

// Config is what a Meter needs. All fields are required except Shared.
type Config struct {
	Counters Counters
	// Shared says that other nodes count in the same Counters.
	Shared bool
	Now    func() time.Time
	Log    *slog.Logger
}

// A Key is the secret of one day, with which networks are pseudonymized.
type Key [32]byte

// A Pseudonym identifies a network for one day: the first half of its HMAC-SHA-256, which
// is enough to distinguish a billion of them.
type Pseudonym [16]byte

// Usage is how many requests accounts and networks made in a day.
type Usage struct {
	Accounts []AccountCount
	Networks []NetworkCount
}

// AccountCount is the number of requests of an account.
type AccountCount struct {
	Account  string
	Requests int64
}

// NetworkCount is the number of requests of a network.
type NetworkCount struct {
	Network  Pseudonym
	Requests int64
	Limit    int64 // for Count, if it is not that of Anonymous; 0 if it is
}

// A Meter counts requests. New creates it with the saved counts of the day; any number of
// goroutines call Take and Look while one runs Run, which saves the counts.
type Meter struct {
	cfg Config
	day atomic.Pointer[day]

	mu   sync.Mutex // held to start a new day
	next *day       // prepared; nil if it could not be prepared yet
	past []pastDay  // ended, and not completely saved

	// Used only where nodes share the counters.
	base   context.Context // of queries for requests, which must outlive a caller
	shared sharedCounts
	nodes  registration
	clock  atomic.Pointer[clockReading] // nil on one node

	// Used only by Run.
	pruned    string    // the day of the last Prune
	failed    bool      // the last save failed
	clockRead time.Time // when readClock last read it
}

// New loads the counts of the day, and of the next in case it is about to start. It fails
// if they cannot be loaded: without them a quota that is used up would be granted again.
// It panics if a required field of cfg is not set.
func New(ctx context.Context, cfg Config) (*Meter, error) {
	if cfg.Counters == nil || cfg.Now == nil || cfg.Log == nil {
		panic("quota: a required field of Config is not set")
	}
	m := &Meter{cfg: cfg, base: context.WithoutCancel(ctx), nodes: newRegistration()}
	var err error
	if cfg.Shared {
		if _, err = m.count(ctx, "", Usage{}); err == nil {
			err = m.join(ctx)
		}
	}
	var today *day
	if err == nil {
		today, err = m.prepare(ctx, startOfDay(m.now()))
	}
	if err == nil {
		m.next, err = m.prepare(ctx, today.end)
	}
	if err != nil {
		return nil, fmt.Errorf("could not load the requests counted today: %w", err)
	}
	m.day.Store(today)
	return m, nil
}

// Take counts one request of s, unless its quota is used up: then it is refused and not
// counted. Requests of Pro are counted for the owner's chart and never refused. Where
// nodes share the counters, Take waits for them until the deadline of ctx.
func (m *Meter) Take(ctx context.Context, s Subject) Grant {
	now := m.now()
	d := m.today(now)
	for m.cfg.Shared && s.Tier != Pro {
		if g, ok := m.takeInMemory(d, s, now); ok {
			return g
		}
		if !m.isShared(ctx, s, d) {
			break
		}
		used, is, ok := m.takeShared(ctx, d, s, 1)
		if !ok && is == closed { // it is another day there: now we know which
			now = m.now()
			if newer := m.today(now); newer != d {
				d = newer
				used, is, ok = m.takeShared(ctx, d, s, 1)
			}
		}
		if ok {
			return d.grant(s, used, is == refused, now)
		}
		if is != moved {
			break
		}
	}
	return m.takeHere(d, s, now)
}

// takeHere counts a request in memory.
func (m *Meter) takeHere(d *day, s Subject, now time.Time) Grant {
	for {
		if used, is := d.take(s); is != closed {
			return d.grant(s, used, is == refused, now)
		}
		d = m.today(now) // the day ended and was closed since it was looked up
	}
}

// Look returns what Take would find, without counting: for a response that is free and
// still says what remains. It never refuses.
func (m *Meter) Look(ctx context.Context, s Subject) Grant {
	now := m.now()
	d := m.today(now)
	if m.isShared(ctx, s, d) && !m.shared.sole.Load() {
		if used, _, ok := m.takeShared(ctx, d, s, 0); ok {
			return d.grant(s, used, false, now)
		}
	}
	return d.grant(s, d.used(s), false, now)
}

// today returns the day on which a request is counted. It only moves forward: if the clock
// steps back over midnight the newer day stays, so that no quota is granted twice.
func (m *Meter) today(now time.Time) *day {
	if d := m.day.Load(); now.Unix() < d.end {
		return d
	}
	return m.startDay(now)
}

func (m *Meter) startDay(now time.Time) *day {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.day.Load()
	if now.Unix() < d.end {
		return d // another request was first
	}
	start := startOfDay(now)
	next := m.next
	m.next = nil
	if next == nil || next.start != start {
		// The store has been unreachable for a day, or the clock has jumped over one.
		// Requests do not wait for it: they are counted here, under a key that Run stores
		// later.
		next = newDay(start, newKey())
	}
	m.past = append(m.past, pastDay{d.name, d.accounts})
	m.day.Store(next)
	return next
}

// prepare returns a day with its stored key and counts. A future day has counts if the
// clock was ahead before a restart.
func (m *Meter) prepare(ctx context.Context, start int64) (*day, error) {
	name := dayName(start)
	key, err := m.cfg.Counters.DayKey(ctx, name, newKey())
	if err != nil {
		return nil, err
	}
	usage, err := m.cfg.Counters.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	d := newDay(start, key)
	d.add(usage)
	d.loaded = true
	d.ready.Store(true)
	return d, nil
}

// load does for a day that started unprepared what prepare does for others. It comes
// before the day's first save, so that it loads only what other nodes counted.
func (m *Meter) load(ctx context.Context, d *day) error {
	key, err := m.cfg.Counters.DayKey(ctx, d.name, d.key)
	if err != nil {
		return err
	}
	usage, err := m.cfg.Counters.Load(ctx, d.name)
	if err != nil {
		return err
	}
	if key != d.key {
		// The store had a key for the day, and has its networks under other pseudonyms.
		// Those counted here stay here: exact, and lost by a restart.
		d.private = true
		usage.Networks = nil
	}
	d.add(usage)
	d.loaded = true
	d.ready.Store(true)
	return nil
}

func newKey() Key {
	var k Key
	_, _ = rand.Read(k[:]) // never fails: without randomness it ends the process
	return k
}
