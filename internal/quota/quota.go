// Package quota knows who may still ask today.
//
// A quota is a number of requests in a UTC day, for an account whatever the number
// of its keys, or for the network of a caller without a key. What counts depends on
// the answer: a 304 to a key, a refused key or a fault of ours are free. Answers are
// made from memory in microseconds, so the API makes the answer first and, when it
// is one that counts, calls Take between making and writing it; a refusal replaces
// the answer by a 429. Nothing is ever reserved and given back, hence nobody is
// refused because of a request that turns out to be free, and every value of
// Remaining is given exactly once.
//
// A request touches no database and no lock that all requests share: counters
// stand in shards, and one that is known is raised by a single atomic operation.
// What was counted is written behind by Run, half a second later; a crash forgets
// no more than that. The day turns by the exchange of one pointer, with the next
// day's counters and key made ready the day before.
//
// No address is kept, in memory or anywhere: a network is counted under its
// HMAC-SHA-256 with a random key of the day. The key is stored beside the counts, so
// that a restart finds them again, and destroyed after the day, when nothing can
// lead from a count to an address any more.
//
// That is the counting of one node. Where several share a store, the callers who have
// a limit are counted in the store itself, many of them with one question (see
// counting); the counters in memory are then what is known of the store's, to refuse
// from and to go on with when it is away.
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

// A Tier says how much a caller may ask in a day.
type Tier uint8

// The tiers, by their names in X-RateLimit-Tier. Free is the Developer plan.
const (
	Anonymous Tier = iota
	Free
	Pro
)

// Unlimited is the limit of Pro and what remains to it: the greatest number that
// every client can read as an integer.
const Unlimited = math.MaxInt32

func (t Tier) String() string { return tierNames[t] }

// Limit is the number of requests in a day, Unlimited for Pro.
func (t Tier) Limit() int { return limits[t] }

var (
	tierNames = [...]string{Anonymous: "anonymous", Free: "free", Pro: "pro"}
	limits    = [...]int{Anonymous: 100, Free: 1000, Pro: Unlimited}
)

// A Subject is one whose requests are counted together.
type Subject struct {
	Tier    Tier
	Account string       // the account's id; unused for Anonymous
	Network netip.Prefix // for Anonymous only: what clientip.Network gave
}

// A Grant is the answer to a Subject, true for one moment of one day.
type Grant struct {
	Tier      Tier
	Refused   bool // the day's requests are used up: answer 429
	Remaining int  // after this request
	Wait      int  // whole seconds until the reset, rounded up, at least 1
	reset     []string
}

// ResetAt is the moment at which the quota is whole again, as X-RateLimit-Reset
// and `reset_at` have it: `2026-11-16T00:00:00Z`.
func (g Grant) ResetAt() string { return g.reset[0] }

// Config is what a Meter is made of. Every field but Count must be set. The functions are
// the store's; Save, DayKey, Load and Prune are never called concurrently.
//
// A day is `2026-11-15`.
type Config struct {
	// Now is the clock, time.Now outside of tests.
	Now func() time.Time
	// Log is told when counts cannot be saved, and when they can again.
	Log *slog.Logger

	// DayKey stores candidate as the key of a day that has none yet, and gives the
	// key that the day has, its own or an earlier one, in one atomic step.
	DayKey func(ctx context.Context, day string, candidate Key) (Key, error)
	// Load gives what was saved of a day: sums, each subject once.
	Load func(ctx context.Context, day string) (Usage, error)
	// Save adds to what is stored of a day: all of it in one transaction, or an error
	// and nothing. No subject is in it twice. Counts of an account that no longer
	// exists are to be left out without an error, or they would hold up all others.
	Save func(ctx context.Context, day string, added Usage) error
	// Prune destroys the keys and the networks' counts of the days before networks,
	// and the accounts' counts of the days before accounts.
	Prune func(ctx context.Context, networks, accounts string) error

	// Count is set where several nodes share the store, nil on one. It grants requests
	// of a day to subjects, each as far as the limit of its tier allows (all accounts in
	// it are Free), in one atomic step that is exact among all nodes. Requests that are
	// refused are not counted, and of a subject that asks for none nothing is kept that
	// was not there. It is never called concurrently but with a question about
	// no day, which only asks for the time.
	Count func(ctx context.Context, day string, asked Usage) (Tally, error)
}

// A Key is the secret of one day, from which the pseudonyms of networks are made.
type Key [32]byte

// A Pseudonym stands for a network, for one day: the first half of its
// HMAC-SHA-256, which is ample to tell a billion of them apart.
type Pseudonym [16]byte

// Usage is how often accounts and networks asked in a day.
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
}

// A Meter counts. New makes it with the counts of the day that were saved; any
// number of goroutines call Take and Look, while one Run saves what they count.
type Meter struct {
	cfg Config
	day atomic.Pointer[day]

	mu   sync.Mutex // for the turn of a day, and what it needs
	next *day       // ready to be the day; nil when it could not be made ready yet
	past []pastDay  // over, and not saved to the end

	// Where several nodes share the store.
	base   context.Context // of what is asked for requests, which have no other
	shared counting
	clock  atomic.Pointer[reading] // nil on one node

	// Run's own.
	pruned string // the day as of which the last Prune was made
	failed bool   // the last attempt to save
}

// New reads the counts of the day from the store, and of the next in case it is
// about to begin. Without them it would give away a day that was used already, so it
// fails when the store does.
func New(ctx context.Context, cfg Config) (*Meter, error) {
	m := &Meter{cfg: cfg, base: context.WithoutCancel(ctx)}
	var err error
	if cfg.Count != nil {
		_, err = m.ask(ctx, "", Usage{})
	}
	var today *day
	if err == nil {
		today, err = m.prepare(ctx, startOfDay(m.now()))
	}
	if err == nil {
		m.next, err = m.prepare(ctx, today.end)
	}
	if err != nil {
		return nil, fmt.Errorf("the requests already counted today cannot be read: %w", err)
	}
	m.day.Store(today)
	return m, nil
}

// Take counts one request of s, unless its day is used up: then it is refused and
// not counted. Requests of Pro are counted for the owner's chart and never refused.
// Where nodes share the store it is waited for until the deadline of ctx.
func (m *Meter) Take(ctx context.Context, s Subject) Grant {
	now := m.now()
	d := m.today(now)
	if m.isShared(ctx, s, d) {
		used, is, ok := m.takeShared(ctx, d, s, 1)
		if !ok && is == closed { // it is another day there: now we know which
			now = m.now()
			if newer := m.today(now); newer != d {
				d = newer
				used, is, ok = m.takeShared(ctx, d, s, 1)
			}
		}
		if ok {
			return d.grant(s.Tier, used, is == refused, now)
		}
	}
	for {
		if used, is := d.take(s); is != closed {
			return d.grant(s.Tier, used, is == refused, now)
		}
		d = m.today(now) // the day turned and was closed since it was looked up
	}
}

// Look is what a Take would find, without counting: for an answer that is free and
// still says what remains. It never refuses.
func (m *Meter) Look(ctx context.Context, s Subject) Grant {
	now := m.now()
	d := m.today(now)
	if m.isShared(ctx, s, d) {
		if used, _, ok := m.takeShared(ctx, d, s, 0); ok {
			return d.grant(s.Tier, used, false, now)
		}
	}
	return d.grant(s.Tier, d.used(s), false, now)
}

// today is the day on which a request is counted. It only moves forward: when the
// clock steps back over midnight the newer day stays, so that none is given twice.
func (m *Meter) today(now time.Time) *day {
	if d := m.day.Load(); now.Unix() < d.end {
		return d
	}
	return m.turn(now)
}

func (m *Meter) turn(now time.Time) *day {
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
		// The store has been away for a day, or the clock has leapt over one. Requests
		// do not wait for that: they are counted here, under a key that Run stores later.
		next = newDay(start, newKey())
	}
	m.past = append(m.past, pastDay{d.name, d.accounts})
	m.day.Store(next)
	return next
}

// prepare makes a day with the key and the counts that the store has of it. A day to
// come has counts when the clock was ahead before a restart.
func (m *Meter) prepare(ctx context.Context, start int64) (*day, error) {
	name := dayName(start)
	key, err := m.cfg.DayKey(ctx, name, newKey())
	if err != nil {
		return nil, err
	}
	usage, err := m.cfg.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	d := newDay(start, key)
	d.add(usage)
	d.settled = true
	d.ready.Store(true)
	return d, nil
}

// settle does for a day that began unprepared what prepare does for others. It comes
// before the day's first Save, so that what it loads are others' counts only.
func (m *Meter) settle(ctx context.Context, d *day) error {
	key, err := m.cfg.DayKey(ctx, d.name, d.key)
	if err != nil {
		return err
	}
	usage, err := m.cfg.Load(ctx, d.name)
	if err != nil {
		return err
	}
	if key != d.key {
		// The store knew the day, and its networks by other pseudonyms. Those counted
		// here stay here: exact, and forgotten by a restart.
		d.private = true
		usage.Networks = nil
	}
	d.add(usage)
	d.settled = true
	d.ready.Store(true)
	return nil
}

func newKey() Key {
	var k Key
	_, _ = rand.Read(k[:]) // it does not fail: without randomness the process ends in there
	return k
}
