package quota

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// What a request has waited for its key is taken off what it waits to be counted.
func TestARequestWaitsOnceForTheStore(t *testing.T) {
	for _, waited := range []time.Duration{0, 30 * time.Millisecond, StoreTimeout - minCountTime, StoreTimeout - minCountTime + 1, time.Hour} {
		for _, follows := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				c := newSharedCounters(time.Now)
				k := share(t, c, time.Now)
				c.meanwhile(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
				var all sync.WaitGroup
				if follows { // one is under way, and another gathers the next group
					for range 2 {
						all.Go(func() { k.Take(home) })
						synctest.Wait()
					}
				}
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), StoreTimeout-waited)
				defer cancel()
				g := k.Meter.Take(ctx, ada)
				took, most := time.Since(begin), max(StoreTimeout-waited, 0)
				if most < minCountTime {
					most = 0
				}
				if took > most || g.Refused || g.Remaining != 999 {
					t.Errorf("waited %s, follows %v: %s more, %+v; want %s at most", waited, follows, took, g, most)
				}
				all.Wait()
			})
		}
	}
}

func TestARequestThatIsNotAskedForIsStillCounted(t *testing.T) {
	c := newSharedCounters(clockAt(noon).Now)
	k := share(t, c, c.now)
	before := c.counts.Load()
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	k.Meter.Take(late, ada)
	if c.counts.Load() != before || k.Alone() {
		t.Error("the store was asked for a request that had no time left")
	}
	k.round(t)
	if n := c.ofAccount(sunday, ada.Account); n != 1 {
		t.Errorf("%d are stored; want 1", n)
	}
}

func TestALookSeesWhatOtherNodesCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // with a clock that no slow machine moves
		c := newSharedCounters(clockAt(noon).Now)
		here, there := share(t, c, c.now), share(t, c, c.now)
		if g := here.Look(ada); g.Remaining != 1000 || len(c.accounts[sunday]) != 0 {
			t.Errorf("a look: %+v, %d rows", g, len(c.accounts[sunday]))
		}
		there.use(t, ada, 7)
		if g := here.Look(ada); g.Remaining != 993 || g.Refused {
			t.Errorf("after 7 requests elsewhere: %+v", g)
		}
		there.use(t, ada, 993)
		if g := here.Look(ada); g.Remaining != 0 || g.Refused {
			t.Errorf("after all of them: %+v", g)
		}
		if n := c.ofAccount(sunday, ada.Account); n != 1000 {
			t.Errorf("%d are stored; want 1000: a look is not counted", n)
		}
	})
}

func TestALookAmongRequestsTakesNoNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSharedCounters(time.Now)
		k := share(t, c, time.Now)
		hold := make(chan struct{})
		c.meanwhile(func(context.Context) error { <-hold; return nil })
		var mu sync.Mutex
		given := map[int]int{}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				g := k.Take(ada)
				mu.Lock()
				defer mu.Unlock()
				given[g.Remaining]++
			})
			all.Go(func() { k.Look(ada) })
		}
		synctest.Wait()
		close(hold)
		all.Wait()
		for n := 980; n < 1000; n++ {
			if given[n] != 1 {
				t.Errorf("Remaining %d was given %d times", n, given[n])
			}
		}
	})
}
