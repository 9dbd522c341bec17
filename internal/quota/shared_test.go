package quota

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// sharedCounters are counters that several nodes share, with a clock of their own.
type sharedCounters struct {
	*fakeCounters
	now    func() time.Time
	counts atomic.Int64
	// during, when set, runs in each count, before anything is counted; meanwhile sets it.
	during func(ctx context.Context) error
	// slowSave is how long each save takes.
	slowSave time.Duration
}

func (c *sharedCounters) Save(ctx context.Context, day string, added Usage) error {
	if c.slowSave > 0 {
		time.Sleep(c.slowSave)
	}
	return c.fakeCounters.Save(ctx, day, added)
}

func (c *sharedCounters) meanwhile(during func(ctx context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.during = during
}

func (c *sharedCounters) Count(ctx context.Context, day string, asked Usage) (Tally, error) {
	c.mu.Lock()
	during := c.during
	c.mu.Unlock()
	if during != nil {
		if err := during(ctx); err != nil {
			return Tally{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := errors.Join(c.err, ctx.Err()); err != nil {
		return Tally{}, err
	}
	tally := Tally{Now: c.now(), Accounts: map[string]Counted{}, Networks: map[Pseudonym]Counted{}}
	if tally.Open = day == tally.Now.UTC().Format(time.DateOnly); !tally.Open {
		return tally, nil
	}
	c.counts.Add(1)
	if c.accounts[day] == nil {
		c.accounts[day], c.networks[day] = map[string]int64{}, map[Pseudonym]int64{}
	}
	for _, a := range asked.Accounts {
		if strings.HasPrefix(a.Account, "gone") {
			continue
		}
		if _, ok := c.accounts[day][a.Account]; !ok && a.Requests == 0 {
			continue
		}
		old := c.accounts[day][a.Account]
		c.accounts[day][a.Account] = max(old, min(old+a.Requests, int64(Free.Limit())))
		tally.Accounts[a.Account] = Counted{c.accounts[day][a.Account] - old, c.accounts[day][a.Account]}
	}
	for _, n := range asked.Networks {
		if _, ok := c.networks[day][n.Network]; !ok && n.Requests == 0 {
			continue
		}
		old := c.networks[day][n.Network]
		c.networks[day][n.Network] = max(old, min(old+n.Requests, int64(Anonymous.Limit())))
		tally.Networks[n.Network] = Counted{c.networks[day][n.Network] - old, c.networks[day][n.Network]}
	}
	return tally, nil
}

// share makes a node on shared counters, with a clock of its own.
func share(t testing.TB, c *sharedCounters, now func() time.Time) *kit {
	t.Helper()
	k := new(kit)
	cfg := config(c, now, &k.log)
	cfg.Shared = true
	m, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	k.Meter = m
	return k
}

func newSharedCounters(now func() time.Time) *sharedCounters {
	return &sharedCounters{fakeCounters: newCounters(), now: now}
}

func TestOneTwoAndThreeNodesGiveEveryRemainingOnce(t *testing.T) {
	for i, s := range []Subject{ada, home, ada, anonymous("2001:db8:1:2::/64"), ada, home} {
		c := newSharedCounters(clockAt(noon).Now)
		nodes := make([]*kit, 1+i/2)
		for n := range nodes {
			nodes[n] = share(t, c, c.now)
		}
		limit, asked := s.Tier.Limit(), s.Tier.Limit()*6/5
		expectEachRemainingOnce(t, s, asked, func(i int) Grant {
			return nodes[i%len(nodes)].Meter.Take(t.Context(), s) // no deadline: a slow machine must not count alone
		})
		if stored := c.ofAccount(sunday, ada.Account) + c.ofNetworks(sunday); stored != int64(limit) {
			t.Errorf("%s: %d are stored; want %d: what is refused is not counted", s.Tier, stored, limit)
		}
		for _, k := range nodes {
			if k.Alone() {
				t.Error("a node counted alone")
			}
			k.round(t)
		}
		if stored := c.ofAccount(sunday, ada.Account) + c.ofNetworks(sunday); stored != int64(limit) {
			t.Errorf("%s: %d are stored after a save; want %d", s.Tier, stored, limit)
		}
	}
}

func TestRequestsThatWaitShareTheNextQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		k := share(t, c, time.Now)
		hold := make(chan struct{})
		c.meanwhile(func(context.Context) error { <-hold; return nil })
		var all sync.WaitGroup
		for range 500 {
			all.Go(func() { k.use(t, ada, 1) })
			all.Go(func() { k.Take(home) })
		}
		synctest.Wait()
		close(hold)
		all.Wait()
		if n := c.counts.Load(); n != 2 {
			t.Errorf("a thousand requests were %d questions; want 2: the first one's, and all others'", n)
		}
		if g := k.Look(ada); g.Remaining != 500 {
			t.Errorf("%d remain; want 500", g.Remaining)
		}
	})
}

func TestAnExhaustedSubjectIsRefusedFromMemory(t *testing.T) {
	c := newSharedCounters(clockAt(noon).Now)
	k := share(t, c, c.now)
	k.use(t, ada, 1000)
	k.use(t, home, 100)
	asked := c.counts.Load()
	if !k.Take(ada).Refused || !k.Take(home).Refused || c.counts.Load() != asked {
		t.Errorf("%d more questions for what was known", c.counts.Load()-asked)
	}
}

func TestProIsNotAskedOfTheStore(t *testing.T) {
	c := newSharedCounters(clockAt(noon).Now)
	k := share(t, c, c.now)
	if k.use(t, grace, 50); c.counts.Load() != 0 {
		t.Error("a request of Pro waited for the store")
	}
	k.round(t)
	if n := c.ofAccount(sunday, grace.Account); n != 50 {
		t.Errorf("%d are saved; want 50", n)
	}
}

func TestAnAccountThatTheStoreDoesNotKnowIsCountedHere(t *testing.T) {
	c := newSharedCounters(clockAt(noon).Now)
	k := share(t, c, c.now)
	gone := Subject{Tier: Free, Account: "gone"}
	if g := k.use(t, gone, 3); g.Remaining != 997 || k.Alone() {
		t.Errorf("%+v, alone %v", g, k.Alone())
	}
}

func TestNoRequestWaitsLongForTheStoreAndAfterAFailureNoneWaitsAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		k := share(t, c, time.Now)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- k.Run(ctx) }()
		k.use(t, ada, 10)
		k.use(t, home, 1)
		c.meanwhile(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }) // a black hole
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				<-time.After(time.Duration(i) * 3 * time.Millisecond) // some while a group is under way
				begin := time.Now()
				k.use(t, ada, 1)
				if took := time.Since(begin); took > 250*time.Millisecond {
					t.Errorf("a request waited for %s", took)
				}
			})
		}
		all.Wait()
		if !k.Alone() {
			t.Error("nobody noticed")
		}
		begin := time.Now()
		if g := k.use(t, ada, 100); g.Remaining != 790 || time.Since(begin) != 0 {
			t.Errorf("%d remain after %s; want 790, at once", g.Remaining, time.Since(begin))
		}
		k.use(t, home, 99)
		if !k.Take(home).Refused {
			t.Error("the limit does not hold while the store is unreachable")
		}
		<-time.After(time.Minute)
		c.meanwhile(nil)
		back := time.Now()
		for k.Alone() {
			<-time.After(10 * time.Millisecond)
		}
		if took := time.Since(back); took > 2*time.Second {
			t.Errorf("it took %s to notice that the store is back", took)
		}
		today := time.Now().UTC().Format(time.DateOnly)
		if a, h := c.ofAccount(today, ada.Account), c.ofNetworks(today); a != 210 || h != 100 {
			t.Errorf("%d and %d are stored; want 210 and 100", a, h)
		}
		if g := k.Take(ada); g.Remaining != 789 {
			t.Errorf("%d remain; want 789", g.Remaining)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if log := k.log.String(); strings.Count(log, "counts requests alone") != 1 || strings.Count(log, "across all nodes again") != 1 {
			t.Errorf("the log does not say once that it began and once that it ended:\n%s", log)
		}
	})
}

func TestTheStoresClockDecidesTheDay(t *testing.T) {
	there := clockAt("2026-11-15T23:00:00Z")
	c := newSharedCounters(there.Now)
	for _, mine := range []string{"2026-11-15T11:00:00Z", "2026-11-16T02:00:00Z", "2026-11-15T23:00:00Z"} {
		here := clockAt(mine)
		k := share(t, c, here.Now)
		if g := k.Take(ada); g.ResetAt() != "2026-11-16T00:00:00Z" || g.Wait != 3600 || k.Alone() {
			t.Errorf("at %s here: %+v", mine, g)
		}
		if g := k.Look(home); g.ResetAt() != "2026-11-16T00:00:00Z" || g.Wait != 3600 {
			t.Errorf("at %s here: %+v", mine, g)
		}
	}
	// Hours go by in which nobody asks; the node's clock then is late.
	here := clockAt("2026-11-15T23:00:00Z")
	k := share(t, c, here.Now)
	there.set("2026-11-16T00:00:30Z")
	here.Advance(time.Minute)
	if g := k.Take(ada); g.ResetAt() != "2026-11-17T00:00:00Z" || g.Remaining != 999 || g.Wait != 86370 {
		t.Errorf("after midnight there: %+v", g)
	}
	if a, b := c.ofAccount(sunday, ada.Account), c.ofAccount(monday, ada.Account); a != 3 || b != 1 {
		t.Errorf("%d and %d are stored; want 3 and 1", a, b)
	}
}

func TestANodeThatTurnsTheDayIsCountedOnTheNewOne(t *testing.T) {
	clock := clockAt("2026-11-15T23:59:59Z")
	c := newSharedCounters(clock.Now)
	nodes := []*kit{share(t, c, clock.Now), share(t, c, clock.Now)}
	for _, k := range nodes {
		k.use(t, home, 50)
	}
	if !nodes[0].Take(home).Refused || !nodes[1].Take(home).Refused {
		t.Error("the day is not used up")
	}
	clock.Advance(time.Second)
	for i, k := range nodes {
		if g := k.use(t, home, 10); g.Remaining != 100-10*(i+1) {
			t.Errorf("node %d: %+v", i, g)
		}
	}
	if len(c.networks[monday]) != 1 {
		t.Errorf("one network has %d pseudonyms: the nodes have different keys", len(c.networks[monday]))
	}
}

func TestTwoNodesLoseNothingWhileTheStoreIsUnreachable(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	clock := clockAt(noon)
	c := newSharedCounters(clock.Now)
	nodes := []*kit{share(t, c, clock.Now), share(t, c, clock.Now)}
	for range 3 {
		for _, k := range nodes {
			k.use(t, ada, 10)
		}
		c.disconnect()
		for _, k := range nodes {
			k.use(t, ada, 7)
			k.reconnect(t.Context())
			if !k.Alone() {
				t.Error("a store that is unreachable was found well")
			}
		}
		c.reconnect()
		for _, k := range nodes {
			k.reconnect(t.Context())
			if k.Alone() {
				t.Error("a store that is well was not found")
			}
		}
	}
	if n := c.ofAccount(sunday, ada.Account); n != 3*2*17 {
		t.Errorf("%d are stored; want %d", n, 3*2*17)
	}
	if g := nodes[0].Take(ada); g.Remaining != 1000-103 {
		t.Errorf("%d remain; want %d", g.Remaining, 1000-103)
	}
}

func TestALargeRestIsSavedInPieces(t *testing.T) {
	c := newSharedCounters(clockAt(noon).Now)
	k := share(t, c, c.now)
	c.disconnect()
	k.use(t, ada, 1)
	fill(k.day.Load().networks, 2*batchSize+10)
	c.reconnect()
	k.reconnect(t.Context())
	if c.saves != 3 || c.ofNetworks(sunday) != 2*batchSize+10 || c.ofAccount(sunday, ada.Account) != 1 {
		t.Errorf("%d saves, %d networks", c.saves, c.ofNetworks(sunday))
	}
}
