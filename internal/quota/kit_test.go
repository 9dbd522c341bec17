package quota

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"palmares/internal/pseudonym"
	"palmares/internal/testkit"
)

// fakeCounters keeps in memory what the store keeps in tables, by the same rules, and can
// be made to fail.
type fakeCounters struct {
	mu       sync.Mutex
	err      error // of every call; nil for none
	keys     map[string]pseudonym.Key
	accounts map[string]map[string]int64
	networks map[string]map[Pseudonym]int64
	saves    int
}

func newCounters() *fakeCounters {
	return &fakeCounters{keys: map[string]pseudonym.Key{}, accounts: map[string]map[string]int64{}, networks: map[string]map[Pseudonym]int64{}}
}

var errUnreachable = errors.New("the database is unreachable")

func (s *fakeCounters) disconnect() { s.mu.Lock(); s.err = errUnreachable; s.mu.Unlock() }
func (s *fakeCounters) reconnect()  { s.mu.Lock(); s.err = nil; s.mu.Unlock() }

func (s *fakeCounters) DayKey(ctx context.Context, day string, candidate pseudonym.Key) (pseudonym.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := errors.Join(s.err, ctx.Err()); err != nil {
		return pseudonym.Key{}, err
	}
	if _, ok := s.keys[day]; !ok {
		s.keys[day] = candidate
	}
	return s.keys[day], nil
}

func (s *fakeCounters) Load(ctx context.Context, day string) (Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var u Usage
	for id, n := range s.accounts[day] {
		u.Accounts = append(u.Accounts, AccountCount{id, n})
	}
	for p, n := range s.networks[day] {
		u.Networks = append(u.Networks, NetworkCount{Network: p, Requests: n})
	}
	return u, errors.Join(s.err, ctx.Err())
}

func (s *fakeCounters) Save(ctx context.Context, day string, added Usage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := errors.Join(s.err, ctx.Err()); err != nil {
		return err
	}
	s.saves++
	if s.accounts[day] == nil {
		s.accounts[day], s.networks[day] = map[string]int64{}, map[Pseudonym]int64{}
	}
	for _, c := range added.Accounts {
		s.accounts[day][c.Account] += c.Requests
	}
	for _, c := range added.Networks {
		s.networks[day][c.Network] += c.Requests
	}
	return nil
}

func (s *fakeCounters) Prune(ctx context.Context, networks, accounts string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for day := range s.keys {
		if day < networks {
			delete(s.keys, day)
		}
	}
	for day := range s.networks {
		if day < networks {
			delete(s.networks, day)
		}
	}
	for day := range s.accounts {
		if day < accounts {
			delete(s.accounts, day)
		}
	}
	return errors.Join(s.err, ctx.Err())
}

// Count fails: one node has these counters for itself.
func (s *fakeCounters) Count(context.Context, string, Usage) (Tally, error) {
	return Tally{}, errors.New("these counters are not shared")
}

func (s *fakeCounters) ofAccount(day, id string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accounts[day][id]
}

func (s *fakeCounters) ofNetworks(day string) (sum int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.networks[day] {
		sum += n
	}
	return sum
}

// A clock is set with RFC 3339 times.
type clock struct{ *testkit.Clock }

func clockAt(s string) *clock { return &clock{testkit.NewClock(parseTime(s))} }

func (c *clock) set(s string) { c.Set(parseTime(s)) }

func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

// kit is a meter with what it logs.
type kit struct {
	*Meter
	log testkit.Log
}

func open(t testing.TB, s *fakeCounters, now func() time.Time) *kit {
	t.Helper()
	k := new(kit)
	m, err := New(t.Context(), config(s, now, &k.log))
	if err != nil {
		t.Fatal(err)
	}
	k.Meter = m
	return k
}

func config(c Counters, now func() time.Time, log *testkit.Log) Config {
	return Config{
		Counters: c, Now: now, Log: slog.New(slog.NewTextHandler(log, nil)),
	}
}

// round is one round of Run that must go well.
func (k *kit) round(t testing.TB) {
	t.Helper()
	if err := k.runOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func anonymous(network string) Subject {
	return Subject{Tier: Anonymous, Network: netip.MustParsePrefix(network)}
}

var (
	ada   = Subject{Tier: Free, Account: "acc_ada"}
	grace = Subject{Tier: Pro, Account: "acc_grace"}
	home  = anonymous("203.0.113.9/32")
)

// StoreTimeout is keyring.StoreTimeout, which this package cannot import.
const StoreTimeout = 240 * time.Millisecond

// Take and Look are those of a request that has not waited for the store.
func (k *kit) Take(s Subject) Grant {
	ctx, cancel := context.WithTimeout(context.Background(), StoreTimeout)
	defer cancel()
	return k.Meter.Take(ctx, s)
}

func (k *kit) Look(s Subject) Grant {
	ctx, cancel := context.WithTimeout(context.Background(), StoreTimeout)
	defer cancel()
	return k.Meter.Look(ctx, s)
}

// use takes n requests, which must be granted, and returns the last grant.
func (k *kit) use(t testing.TB, s Subject, n int) (g Grant) {
	t.Helper()
	for range n {
		if g = k.Take(s); g.Refused {
			t.Fatalf("%v was refused", s)
		}
	}
	return g
}

const (
	noon     = "2026-11-15T12:00:00Z"
	sunday   = "2026-11-15"
	monday   = "2026-11-16"
	tuesday  = "2026-11-17"
	thursday = "2026-11-19"
)

// expectEachRemainingOnce takes asked requests of s at once, more than its quota. Every value
// of Remaining must be returned exactly once; the rest must be refused.
func expectEachRemainingOnce(t *testing.T, s Subject, asked int, take func(i int) Grant) {
	t.Helper()
	grants := make(chan Grant, asked)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range asked {
		all.Go(func() {
			<-start
			grants <- take(i)
		})
	}
	close(start)
	all.Wait()
	close(grants)
	times, refusals := map[int]int{}, 0
	for g := range grants {
		if g.Refused {
			refusals++
			if g.Remaining != 0 {
				t.Errorf("%s: a refusal says that %d remain", s.Tier, g.Remaining)
			}
			continue
		}
		times[g.Remaining]++
	}
	limit := int(s.limit())
	for n := range limit {
		if times[n] != 1 {
			t.Errorf("%s: Remaining %d was given %d times", s.Tier, n, times[n])
		}
	}
	if len(times) != limit || refusals != asked-limit {
		t.Errorf("%s: %d requests, %d different Remaining, %d refused; want %d and %d", s.Tier, asked, len(times), refusals, limit, asked-limit)
	}
}
