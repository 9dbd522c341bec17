package quota

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"palmares/internal/pseudonym"
)

func TestWhatIsCountedIsSavedWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCounters()
		k := open(t, s, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- k.Run(ctx) }()
		synctest.Wait()
		today := time.Now().UTC().Format(time.DateOnly)
		for i := range int64(5) {
			k.use(t, ada, 10)
			k.use(t, home, 1)
			time.Sleep(time.Second)
			synctest.Wait()
			if a, h := s.ofAccount(today, ada.Account), s.ofNetworks(today); a != 10*(i+1) || h != i+1 {
				t.Errorf("after %d s: %d and %d requests saved, want %d and %d", i+1, a, h, 10*(i+1), i+1)
			}
		}
		saves := s.saves
		time.Sleep(time.Hour)
		synctest.Wait()
		if s.saves != saves {
			t.Error("something was saved while nobody asked")
		}
		k.use(t, ada, 7)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := s.ofAccount(today, ada.Account); n != 57 {
			t.Errorf("%d requests are saved after the stop, want 57", n)
		}
	})
}

func TestASaveThatFailsIsMadeLaterAndOnce(t *testing.T) {
	s, c := newCounters(), clockAt(noon)
	k := open(t, s, c.Now)
	k.round(t)
	s.disconnect()
	for range 3 {
		k.use(t, ada, 10)
		k.use(t, home, 1)
		k.report(k.runOnce(t.Context()))
	}
	s.reconnect()
	k.use(t, ada, 1)
	for range 2 {
		k.report(k.runOnce(t.Context()))
	}
	if a, h := s.ofAccount(sunday, ada.Account), s.ofNetworks(sunday); a != 31 || h != 3 {
		t.Errorf("%d and %d requests are saved, want 31 and 3", a, h)
	}
	log := k.log.String()
	if strings.Count(log, "level=ERROR") != 1 || strings.Count(log, "saved again") != 1 || !strings.Contains(log, errUnreachable.Error()) {
		t.Errorf("the log does not say once that it began and once that it ended:\n%s", log)
	}
}

func TestAStopThatCannotSaveSaysSo(t *testing.T) {
	s, c := newCounters(), clockAt(noon)
	k := open(t, s, c.Now)
	k.use(t, ada, 1)
	s.disconnect()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Run(ctx); !errors.Is(err, errUnreachable) {
		t.Errorf("Run ended with %v, want what the store said", err)
	}
}

func TestWithoutTheDaysCountsNobodyIsServed(t *testing.T) {
	s := newCounters()
	s.disconnect()
	m, err := New(t.Context(), config(s, time.Now, nil))
	if m != nil || !errors.Is(err, errUnreachable) {
		t.Errorf("New gave %v, %v; want the store's error", m, err)
	}
}

func TestAStoreThatIsUnreachableOverMidnightChangesNothing(t *testing.T) {
	s, c := newCounters(), clockAt("2026-11-15T23:00:00Z")
	k := open(t, s, c.Now)
	k.use(t, ada, 5)
	k.round(t)
	key := s.keys[monday]
	s.disconnect()
	k.use(t, ada, 5)
	c.set("2026-11-16T01:30:00Z")
	k.use(t, ada, 7)
	k.use(t, home, 8)
	if err := k.runOnce(t.Context()); !errors.Is(err, errUnreachable) {
		t.Fatalf("the round gave %v", err)
	}
	k.use(t, ada, 7)
	s.reconnect()
	k.round(t)
	if a, b := s.ofAccount(sunday, ada.Account), s.ofAccount(monday, ada.Account); a != 10 || b != 14 {
		t.Errorf("%d and %d requests are saved, want 10 and 14", a, b)
	}
	if s.keys[monday] != key {
		t.Error("the day's key changed")
	}
	if g := open(t, s, c.Now).Look(home); g.Remaining != 92 {
		t.Errorf("a restart finds %d remaining, want 92", g.Remaining)
	}
}

func TestADayThatBeginsUnpreparedIsCountedHereAndSavedLater(t *testing.T) {
	s, c := newCounters(), clockAt(noon)
	k := open(t, s, c.Now)
	k.round(t)
	s.disconnect()
	c.set("2026-11-19T12:00:00Z")
	k.use(t, ada, 5)
	k.use(t, home, 6)
	if err := k.runOnce(t.Context()); !errors.Is(err, errUnreachable) {
		t.Fatalf("the round gave %v", err)
	}
	k.use(t, home, 1)
	s.reconnect()
	k.round(t)
	k.use(t, ada, 5)
	k.round(t)
	k = open(t, s, c.Now)
	if a, h := k.Look(ada), k.Look(home); a.Remaining != 990 || h.Remaining != 93 {
		t.Errorf("a restart finds %d and %d remaining, want 990 and 93", a.Remaining, h.Remaining)
	}
}

func TestADayThatTheStoreKnewBetterIsTakenOver(t *testing.T) {
	s, c := newCounters(), clockAt(noon)
	k := open(t, s, c.Now)
	k.round(t)
	s.keys[thursday] = pseudonym.NewKey()
	s.accounts[thursday] = map[string]int64{ada.Account: 900}
	s.networks[thursday] = map[Pseudonym]int64{{1}: 50}
	c.set("2026-11-19T12:00:00Z")
	k.use(t, ada, 60)
	k.use(t, home, 6)
	k.round(t)
	k.round(t)
	if g := k.Take(ada); g.Remaining != 39 {
		t.Errorf("%d remaining, want 39", g.Remaining)
	}
	if g := k.Take(home); g.Remaining != 93 {
		t.Errorf("%d remaining to the network, want 93", g.Remaining)
	}
	k.round(t)
	if a, h := s.ofAccount(thursday, ada.Account), s.ofNetworks(thursday); a != 961 || h != 50 {
		t.Errorf("%d and %d are saved, want 961, and 50: pseudonyms under another key are of no use", a, h)
	}
	if n := k.day.Load().networks.used(Pseudonym{1}); n != 0 {
		t.Errorf("a pseudonym under another key was loaded with %d requests", n)
	}
}

func TestARequestThatHoldsADayWhileItIsClosedIsCountedOnTheNext(t *testing.T) {
	s, c := newCounters(), clockAt(noon)
	k := open(t, s, c.Now)
	k.use(t, ada, 1)
	held := k.day.Load()
	c.set("2026-11-16T12:00:00Z")
	k.use(t, ada, 1)
	if used, is := held.take(ada); used != 2 || is != taken {
		t.Errorf("before its last save the old day gave %d, %v; want 2, taken", used, is)
	}
	k.round(t)
	if _, is := held.take(ada); is != closed {
		t.Errorf("after its last save the old day gave %v, want closed: nobody would save it", is)
	}
	k.round(t)
	if a, b := s.ofAccount(sunday, ada.Account), s.ofAccount(monday, ada.Account); a != 2 || b != 1 {
		t.Errorf("%d and %d requests are saved, want 2 and 1", a, b)
	}
}

// loading runs a function before each Load.
type loading struct {
	Counters
	before func()
}

func (l loading) Load(ctx context.Context, day string) (Usage, error) {
	l.before()
	return l.Counters.Load(ctx, day)
}

func TestADayThatTurnsWhileTheNextIsMadeReadyFindsOneReadyAfterIt(t *testing.T) {
	s, c := newCounters(), clockAt(noon)
	k := open(t, s, c.Now)
	c.set("2026-11-16T23:59:59Z")
	k.use(t, ada, 1) // Tuesday is not ready yet
	k.cfg.Counters = loading{s, func() {
		c.set("2026-11-17T00:00:00Z")
		k.Take(ada)
	}}
	k.round(t)
	k.cfg.Counters = s
	k.round(t)
	if today := k.day.Load(); today.name != tuesday || k.next == nil || k.next.start != today.end {
		t.Errorf("on %s the next day is %+v", today.name, k.next)
	}
	if n := s.ofAccount(tuesday, ada.Account); n != 1 {
		t.Errorf("%d requests are saved for Tuesday, want 1", n)
	}
}

func TestKeysAndNetworksAreDestroyedAnHourAfterTheirDayAndAccountsAfter13Months(t *testing.T) {
	s, c := newCounters(), clockAt(noon)
	for _, day := range []string{"2025-10-14", "2025-10-15", "2025-10-16", "2025-10-17"} {
		s.accounts[day] = map[string]int64{ada.Account: 1}
	}
	s.keys["2026-11-14"] = pseudonym.NewKey()
	s.networks["2026-11-14"] = map[Pseudonym]int64{{1}: 50}
	k := open(t, s, c.Now)
	k.use(t, home, 1)
	k.use(t, ada, 1)
	k.round(t)
	has := func(day string) (key, networks, accounts bool) {
		_, key = s.keys[day]
		return key, s.ofNetworks(day) > 0, s.ofAccount(day, ada.Account) > 0
	}
	check := func(day string, key, networks, accounts bool) {
		t.Helper()
		if k, n, a := has(day); k != key || n != networks || a != accounts {
			t.Errorf("at %s, of %s: key %v, networks %v, accounts %v; want %v, %v, %v", c.Now().UTC(), day, k, n, a, key, networks, accounts)
		}
	}
	check("2026-11-14", false, false, false)
	check("2025-10-14", false, false, false)
	check("2025-10-15", false, false, true)
	check(sunday, true, true, true)

	c.set("2026-11-16T00:59:59Z")
	k.round(t)
	check(sunday, true, true, true)
	check("2025-10-15", false, false, true)
	c.set("2026-11-16T01:00:00Z")
	k.round(t)
	check(sunday, false, false, true)
	check(monday, true, false, false)
	check("2025-10-15", false, false, false)
	check("2025-10-16", false, false, true)
}

// Whatever happens in whatever order, short of a crash, a meter behaves like a map that
// counts every request.
func TestAMeterMatchesTheModel(t *testing.T) {
	subjects := []Subject{ada, grace, home, {Tier: Free, Account: "acc_bob"}, anonymous("2001:db8::/64")}
	rapid.Check(t, func(rt *rapid.T) {
		s, c := newCounters(), clockAt("2026-11-15T22:00:00Z")
		k := open(t, s, c.Now)
		day := sunday
		model := map[string]map[Subject]int{}
		look := func() {
			if now := c.Now().UTC().Format(time.DateOnly); now > day {
				day = now
			}
			if model[day] == nil {
				model[day] = map[Subject]int{}
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"ask": func(rt *rapid.T) {
				look()
				sub := rapid.SampledFrom(subjects).Draw(rt, "subject")
				for range rapid.SampledFrom([]int{1, 9, 70, 600}).Draw(rt, "times") {
					used := model[day][sub]
					g := k.Take(sub)
					refuse := sub.Tier != Pro && used >= sub.Tier.Limit()
					if g.Refused != refuse {
						rt.Fatalf("%v on %s after %d: refused %v", sub, day, used, g.Refused)
					}
					if refuse {
						continue
					}
					model[day][sub]++
					if want := sub.Tier.Limit() - used - 1; sub.Tier != Pro && g.Remaining != want {
						rt.Fatalf("%v on %s: %d remaining, want %d", sub, day, g.Remaining, want)
					}
				}
			},
			"move the clock": func(rt *rapid.T) {
				c.Advance(time.Duration(rapid.IntRange(-60, 500).Draw(rt, "minutes")) * time.Minute)
				// A clock that goes back further makes the meter leave the day.
				midnight, err := time.Parse(time.DateOnly, day)
				if err != nil {
					rt.Fatal(err)
				}
				if earliest := midnight.Add(-maxAhead); c.Now().Before(earliest) {
					c.Set(earliest)
				}
				look()
				k.Look(ada)
			},
			"save": func(*rapid.T) {
				look()
				k.report(k.runOnce(t.Context()))
			},
			"disconnect the store": func(*rapid.T) { s.disconnect() },
			"reconnect it":         func(*rapid.T) { s.reconnect() },
			"restart": func(rt *rapid.T) {
				look()
				s.reconnect()
				k.round(t)
				if c.Now().UTC().Format(time.DateOnly) < day {
					return // the model has only one day open, a restart may go back to another
				}
				k = open(t, s, c.Now)
			},
			"": func(rt *rapid.T) {
				for _, sub := range subjects {
					want := Unlimited
					look()
					if sub.Tier != Pro {
						want = sub.Tier.Limit() - model[day][sub]
					}
					if g := k.Look(sub); g.Remaining != want {
						rt.Fatalf("%v on %s: %d remaining, want %d", sub, day, g.Remaining, want)
					}
				}
			},
		})
		s.reconnect()
		k.round(t)
		for day, subs := range model {
			for sub, n := range subs {
				if got := s.ofAccount(day, sub.Account); sub.Tier != Anonymous && got != int64(n) {
					rt.Fatalf("%d requests of %v are saved for %s, want %d", got, sub, day, n)
				}
			}
		}
	})
}
