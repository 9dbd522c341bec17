package quota

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// start runs a node of its own on shared counters; stop ends it, as a process ends.
func start(t *testing.T, c *sharedCounters) (k *kit, stop func()) {
	t.Helper()
	k = share(t, c, time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	return k, func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// untilSole waits until a node counts in memory, or no longer does.
func untilSole(t *testing.T, k *kit, want bool) {
	t.Helper()
	for range 100 {
		if k.shared.sole.Load() == want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("after ten seconds a node counts in memory: %v", !want)
}

func (c *sharedCounters) rows() map[string]Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.nodes)
}

func TestTheOnlyNodeCountsInMemoryAndSaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		k, stop := start(t, c)
		untilSole(t, k, true)
		before := c.counts.Load()
		for n := 1; n <= 5; n++ {
			a, h := k.use(t, ada, 10), k.use(t, home, 2)
			if a.Remaining != 1000-10*n || h.Remaining != 100-2*n || k.Look(ada).Remaining != a.Remaining {
				t.Errorf("%d and %d remain, a look sees %d", a.Remaining, h.Remaining, k.Look(ada).Remaining)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			today := time.Now().UTC().Format(time.DateOnly)
			if a, h := c.ofAccount(today, ada.Account), c.ofNetworks(today); a != int64(10*n) || h != int64(2*n) {
				t.Errorf("after %d s %d and %d are saved", n, a, h)
			}
		}
		if c.counts.Load() != before || k.Alone() {
			t.Errorf("%d questions to the store, on its own %v", c.counts.Load()-before, k.Alone())
		}
		stop()
		if len(c.rows()) != 0 {
			t.Errorf("a node that has ended is still there: %v", c.rows())
		}
	})
}

// A ledger has what requests of many accounts were granted.
type ledger struct {
	mu      sync.Mutex
	granted map[string]map[int]int // how often a Remaining was given to an account
}

// ask sends requests to a node, each for the next account, until ctx ends.
func (l *ledger) ask(ctx context.Context, k *kit, pause time.Duration) {
	for i := 0; ctx.Err() == nil; i++ {
		s := Subject{Tier: Free, Account: fmt.Sprintf("acc_%d", i%25)}
		if g := k.Meter.Take(context.WithoutCancel(ctx), s); !g.Refused {
			l.mu.Lock()
			if l.granted[s.Account] == nil {
				l.granted[s.Account] = map[int]int{}
			}
			l.granted[s.Account][g.Remaining]++
			l.mu.Unlock()
		}
		time.Sleep(pause)
	}
}

// check expects every Remaining from 999 to have been given once, and to be stored.
func (l *ledger) check(t *testing.T, c *sharedCounters) (sum int) {
	t.Helper()
	today := time.Now().UTC().Format(time.DateOnly)
	for account, granted := range l.granted {
		sum += len(granted)
		for n := 1000 - len(granted); n < 1000; n++ {
			if granted[n] != 1 {
				t.Errorf("%s: Remaining %d was given %d times", account, n, granted[n])
				break
			}
		}
		if stored := c.ofAccount(today, account); stored != int64(len(granted)) {
			t.Errorf("%s: %d are stored, %d were granted", account, stored, len(granted))
		}
	}
	return sum
}

func TestNodesThatComeAndGoGiveEveryRemainingOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		c.meanwhile(func(context.Context) error { time.Sleep(1300 * time.Microsecond); return nil })
		c.slowSave = 2700 * time.Microsecond
		l := &ledger{granted: map[string]map[int]int{}}
		// visit is a node with four callers.
		visit := func(during func(k *kit)) {
			k, stop := start(t, c)
			ctx, hangUp := context.WithCancel(t.Context())
			var callers sync.WaitGroup
			for i := range 4 {
				callers.Go(func() { l.ask(ctx, k, time.Duration(900+100*i)*time.Microsecond) })
			}
			during(k)
			hangUp()
			callers.Wait()
			stop()
		}
		visit(func(first *kit) {
			untilSole(t, first, true)
			visit(func(second *kit) {
				if first.shared.sole.Load() || second.shared.sole.Load() {
					t.Error("a node counts in memory beside another")
				}
				time.Sleep(time.Second)
				visit(func(third *kit) {
					time.Sleep(time.Second)
					for _, k := range []*kit{first, second, third} {
						if k.shared.sole.Load() {
							t.Error("a node counts in memory beside two others")
						}
					}
				})
			})
			untilSole(t, first, true)
			for range 3 {
				time.Sleep(300 * time.Millisecond)
				visit(func(*kit) { time.Sleep(200 * time.Millisecond) })
				untilSole(t, first, true)
			}
			if first.Alone() {
				t.Errorf("a node counted on its own:\n%s", &first.log)
			}
		})
		sum := l.check(t, c)
		asked := c.counts.Load()
		t.Logf("%d requests were granted, with %d questions to the store", sum, asked)
		if sum < 10_000 || asked == 0 {
			t.Errorf("%d requests and %d questions are too few to show anything", sum, asked)
		}
	})
}

func TestANodeThatComesWaitsUntilTheOnlyOneHasSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		first, stop := start(t, c)
		untilSole(t, first, true)
		c.slowSave = 250 * time.Millisecond // the node that comes looks several times meanwhile
		l := &ledger{granted: map[string]map[int]int{}}
		ctx, hangUp := context.WithCancel(t.Context())
		var caller sync.WaitGroup
		caller.Go(func() { l.ask(ctx, first, 5*time.Millisecond) })
		time.Sleep(400 * time.Millisecond)
		begin := time.Now()
		second := share(t, c, time.Now)
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("it took %s to join a node that is there", took)
		}
		caller.Go(func() { l.ask(ctx, second, 5*time.Millisecond) })
		time.Sleep(time.Second)
		hangUp()
		caller.Wait()
		l.check(t, c)
		if a, b := first.Look(Subject{Tier: Free, Account: "acc_1"}), second.Look(Subject{Tier: Free, Account: "acc_1"}); a.Remaining != b.Remaining || a.Remaining == 1000 {
			t.Errorf("looks see %d and %d", a.Remaining, b.Remaining)
		}
		stop()
	})
}

func TestTheOnlyNodeGoesOnFromWhatOthersCounted(t *testing.T) {
	c := newSharedCounters(clockAt(noon).Now)
	k, other := share(t, c, c.now), share(t, c, c.now)
	k.use(t, ada, 5)
	other.use(t, ada, 7)
	other.use(t, home, 3)
	if err := c.Leave(t.Context(), other.nodes.id); err != nil {
		t.Fatal(err)
	}
	if _, err := k.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k.settle(t.Context()); !k.shared.sole.Load() {
		t.Fatalf("it does not count in memory: %s", &k.log)
	}
	if a, h := k.Take(ada), k.Take(home); a.Remaining != 987 || h.Remaining != 96 {
		t.Errorf("%d and %d remain; want 987 and 96", a.Remaining, h.Remaining)
	}
}

func TestRequestsThatAreBeingCountedHoldUpTheChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		k := share(t, c, time.Now)
		settle := func() { k.settle(t.Context()) }
		counted := make(chan struct{})
		c.meanwhile(func(context.Context) error { <-counted; return nil })
		var all sync.WaitGroup
		grants := make(chan Grant, 3)
		take := func() { grants <- k.Meter.Take(t.Context(), ada) }
		all.Go(take) // is being counted in the store
		synctest.Wait()
		all.Go(take) // waits for it
		synctest.Wait()
		all.Go(settle)
		synctest.Wait()
		if k.shared.sole.Load() {
			t.Error("it counts in memory while a query is running")
		}
		all.Go(take)
		close(counted)
		all.Wait()
		left := 0
		for range 3 {
			left += (<-grants).Remaining
		}
		if !k.shared.sole.Load() || left != 999+998+997 {
			t.Errorf("counts in memory %v; the sum of Remaining is %d", k.shared.sole.Load(), left)
		}

		c.nodes["busy"] = Node{ID: "busy"}
		if _, err := k.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		k.shared.inMemory.RLock() // a request is being counted in memory
		var ended atomic.Bool
		all.Go(func() { settle(); ended.Store(true) })
		for k.shared.inMemory.TryRLock() && !ended.Load() { // until somebody waits for it
			k.shared.inMemory.RUnlock()
			runtime.Gosched()
		}
		if n := c.rows()[k.nodes.id]; !k.shared.sole.Load() || !n.Sole || c.saves != 0 {
			t.Error("it has saved, and counts in the store, while a request is being counted in memory")
		}
		k.shared.inMemory.RUnlock()
		all.Wait()
		if n := c.rows()[k.nodes.id]; k.shared.sole.Load() || n.Sole || c.saves != 1 {
			t.Error("it still counts in memory")
		}
	})
}

func TestANodeThatCrashedIsWaitedForOnlyIfItCountedInMemory(t *testing.T) {
	for _, sole := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newSharedCounters(time.Now)
			c.nodes["crashed"] = Node{ID: "crashed", Renewals: 7, Sole: sole}
			begin := time.Now()
			k, stop := start(t, c)
			if took := time.Since(begin); sole != (took >= soleTimeout) || took > soleTimeout+time.Second {
				t.Errorf("counted in memory %v: the next node waited %s", sole, took)
			}
			for time.Since(begin) < timeout(sole) {
				if k.shared.sole.Load() {
					t.Fatalf("the next node counts in memory after %s", time.Since(begin))
				}
				time.Sleep(100 * time.Millisecond)
			}
			untilSole(t, k, true)
			if took := time.Since(begin); took > timeout(sole)+2*time.Second {
				t.Errorf("it took %s to become the only node", took)
			}
			stop()
		})
	}
}

// Both read before either has written: what a node reads decides only about what it wrote
// before.
func TestANodeThatComesWhileAnotherBecomesTheOnlyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		first := share(t, c, time.Now)
		var second *kit
		c.renewing = func() {
			c.renewing = nil
			second = share(t, c, time.Now)
		}
		first.settle(t.Context())
		if first.shared.sole.Load() {
			t.Error("a node counts in memory beside another that already counts in the store")
		}
		first.use(t, ada, 3)
		if g := second.Take(ada); g.Remaining != 996 {
			t.Errorf("%d remain; want 996", g.Remaining)
		}
	})
}

func TestTheOnlyNodeThatLosesTheStoreCountsOnItsOwnAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		k, stop := start(t, c)
		untilSole(t, k, true)
		k.use(t, ada, 10)
		c.disconnect()
		lost := time.Now()
		for !k.Alone() && time.Since(lost) < time.Minute {
			k.use(t, ada, 1)
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(lost); took > soleTimeout {
			t.Errorf("it was noticed after %s, when others no longer wait for this node", took)
		}
		g := k.use(t, ada, 5)
		c.mu.Lock()
		delete(c.nodes, k.nodes.id) // another node was there, and has gone
		c.mu.Unlock()
		c.reconnect()
		untilSole(t, k, false)
		untilSole(t, k, true)
		if again := k.Take(ada); k.Alone() || again.Remaining != g.Remaining-1 {
			t.Errorf("on its own %v, %d remain after %d", k.Alone(), again.Remaining, g.Remaining)
		}
		stop()
		if n := c.ofAccount(time.Now().UTC().Format(time.DateOnly), ada.Account); n != int64(1000-g.Remaining+1) {
			t.Errorf("%d are stored; want %d", n, 1000-g.Remaining+1)
		}
	})
}

func TestANodeThatOthersHaveRemovedJoinsBeforeItCounts(t *testing.T) {
	clock := clockAt(noon)
	c := newSharedCounters(clock.Now)
	k := share(t, c, clock.Now)
	delete(c.nodes, k.nodes.id)
	c.nodes["other"] = Node{ID: "other", Sole: true}
	clock.Advance(nodeTimeout - rowMargin) // the process was stopped
	before := c.counts.Load()
	if k.use(t, ada, 1); c.counts.Load() != before || !k.Alone() {
		t.Error("it counted in the store beside a node that counts in memory")
	}
	if k.reconnect(t.Context()); !k.Alone() {
		t.Error("it has not waited for the other node")
	}
	c.nodes["other"] = Node{ID: "other"}
	k.reconnect(t.Context())
	if g := k.use(t, ada, 1); k.Alone() || g.Remaining != 998 || c.counts.Load() != before+1 {
		t.Errorf("on its own %v, %d remain", k.Alone(), g.Remaining)
	}
}

func TestTheOnlyNodeKnowsWhatOthersCountedOnTheNextDay(t *testing.T) {
	clock := clockAt("2026-11-15T23:59:58Z")
	c := newSharedCounters(clock.Now)
	k := share(t, c, clock.Now)
	// Another node's clock is ahead. It counts, and ends.
	c.accounts[monday], c.networks[monday] = map[string]int64{ada.Account: 10}, map[Pseudonym]int64{}
	if k.settle(t.Context()); !k.shared.sole.Load() {
		t.Fatalf("it does not count in memory: %s", &k.log)
	}
	if g := k.Take(ada); g.Remaining != 999 {
		t.Errorf("%d remain on sunday", g.Remaining)
	}
	clock.Advance(2 * time.Second)
	if g := k.Take(ada); g.Remaining != 989 {
		t.Errorf("%d remain on monday; want 989", g.Remaining)
	}
	k.round(t)
	if s, m := c.ofAccount(sunday, ada.Account), c.ofAccount(monday, ada.Account); s != 1 || m != 11 {
		t.Errorf("%d and %d are saved; want 1 and 11", s, m)
	}
}

// A cutOff is the counters as one node sees them, which can be cut off from them.
type cutOff struct {
	*sharedCounters
	off          atomic.Bool
	offAfterMark atomic.Bool // cut off as soon as the node has marked its row
}

func (c *cutOff) Count(ctx context.Context, day string, asked Usage) (Tally, error) {
	if c.off.Load() {
		return Tally{}, errCutOff
	}
	return c.sharedCounters.Count(ctx, day, asked)
}

func (c *cutOff) Save(ctx context.Context, day string, added Usage) error {
	if c.off.Load() {
		return errCutOff
	}
	return c.sharedCounters.Save(ctx, day, added)
}

func (c *cutOff) Join(ctx context.Context, id string) error {
	if c.off.Load() {
		return errCutOff
	}
	return c.sharedCounters.Join(ctx, id)
}

func (c *cutOff) Renew(ctx context.Context, own Node, gone []Node) ([]Node, error) {
	if c.off.Load() {
		return nil, errCutOff
	}
	nodes, err := c.sharedCounters.Renew(ctx, own, gone)
	if own.Sole && c.offAfterMark.Load() {
		c.off.Store(true)
	}
	return nodes, err
}

var errCutOff = errors.New("cut off")

// openCutOff returns a node that can be cut off.
func openCutOff(t *testing.T, c *sharedCounters) (*kit, *cutOff) {
	t.Helper()
	own, k := &cutOff{sharedCounters: c}, new(kit)
	cfg := config(own, time.Now, &k.log)
	cfg.Shared = true
	var err error
	if k.Meter, err = New(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	return k, own
}

// startCutOff starts such a node.
func startCutOff(t *testing.T, c *sharedCounters) (*kit, *cutOff, func()) {
	t.Helper()
	k, own := openCutOff(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := k.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return k, own, func() { cancel(); running.Wait() }
}

func TestTwoNodesThatCountedAloneDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		first, ofFirst, stopFirst := startCutOff(t, c)
		untilSole(t, first, true)
		ofFirst.off.Store(true)
		time.Sleep(soleTimeout)
		second, ofSecond, stopSecond := startCutOff(t, c)
		untilSole(t, second, true)
		ofSecond.off.Store(true)
		time.Sleep(soleTimeout)
		if !first.Alone() || !second.Alone() {
			t.Fatal("nodes that are cut off do not count alone")
		}
		ofFirst.off.Store(false)
		ofSecond.off.Store(false)
		time.Sleep(5 * time.Second)
		if first.Alone() || second.Alone() || first.shared.sole.Load() || second.shared.sole.Load() {
			t.Errorf("they do not count together: alone %v and %v, rows %v", first.Alone(), second.Alone(), c.rows())
		}
		stopFirst()
		stopSecond()
	})
}

func TestANodeThatWasStoppedForAWhileStillCountsInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		first, ofFirst, stopFirst := startCutOff(t, c)
		second, _, stopSecond := startCutOff(t, c)
		synctest.Wait() // either may have tried to count in memory before it saw the other
		first.use(t, ada, 3)
		ofFirst.off.Store(true) // nothing is sent, as if the process were stopped
		time.Sleep(nodeTimeout - 2*time.Second)
		if second.use(t, ada, 4); second.shared.sole.Load() {
			t.Error("a node counts in memory although another may come back")
		}
		ofFirst.off.Store(false)
		if g := first.Take(ada); first.Alone() || g.Remaining != 992 {
			t.Errorf("alone %v, %d remain; want 992", first.Alone(), g.Remaining)
		}
		stopFirst()
		stopSecond()
	})
}

func TestANodeThatIsCutOffWithAMarkedRowDoesNotCountWithoutTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		first, ofFirst := openCutOff(t, c)
		first.use(t, ada, 3)
		second, _, stopSecond := startCutOff(t, c)
		ofFirst.offAfterMark.Store(true)
		if err := first.becomeSole(t.Context()); err != nil || first.shared.sole.Load() {
			t.Fatalf("the first of two nodes counts in memory: %v, %v", first.shared.sole.Load(), err)
		}
		untilSole(t, second, true) // others wait for a marked row for a short time only
		second.use(t, ada, 4)
		ofFirst.off.Store(false)
		if first.Take(ada); !first.Alone() {
			t.Error("it counts in the store while another counts in memory")
		}
		stopSecond()
	})
}
