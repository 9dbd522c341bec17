package quota

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/pseudonym"
)

func TestEveryRemainingValueIsGivenExactlyOnceWhateverComesAtOnce(t *testing.T) {
	for _, s := range []Subject{ada, home, anonymous("2001:db8:1:2::/64")} {
		k := open(t, newCounters(), clockAt(noon).Now)
		asked := s.Tier.Limit() + s.Tier.Limit()*2/5
		expectEachRemainingOnce(t, s, asked, func(int) Grant { return k.Take(s) })
	}
}

func TestSubjectsDoNotUseUpEachOther(t *testing.T) {
	k := open(t, newCounters(), clockAt(noon).Now)
	k.use(t, ada, 1000)
	k.use(t, home, 100)
	if !k.Take(ada).Refused || !k.Take(home).Refused {
		t.Error("a quota was not used up")
	}
	for _, s := range []Subject{
		{Tier: Free, Account: "acc_bob"},
		anonymous("203.0.113.10/32"), anonymous("2001:db8::/64"), anonymous("2001:db8:0:1::/64"),
		anonymous("::ffff:203.0.113.9/64"), // the bytes of home's address, as a network of IPv6
		{Tier: Anonymous},                  // no address at all, as on a Unix socket
	} {
		if g := k.Take(s); g.Refused || g.Remaining != s.Tier.Limit()-1 {
			t.Errorf("%v: %+v, want its whole quota", s, g)
		}
	}
}

func TestCallsOfToolsAreCountedApart(t *testing.T) {
	s := newCounters()
	k := open(t, s, clockAt(noon).Now)
	agent := home
	agent.Calls = 500
	expectEachRemainingOnce(t, agent, 700, func(int) Grant { return k.Take(agent) })
	if g := k.Take(home); g.Refused || g.Remaining != 99 {
		t.Errorf("after all calls, a request is given %+v", g)
	}
	k.round(t)
	again := open(t, s, clockAt(noon).Now)
	if g := again.Take(agent); !g.Refused {
		t.Errorf("after a restart, a call is given %+v", g)
	}
	if g := again.Take(home); g.Remaining != 98 {
		t.Errorf("after a restart, a request is given %+v", g)
	}
}

func TestProIsCountedAndNeverRefused(t *testing.T) {
	s := newCounters()
	k := open(t, s, clockAt(noon).Now)
	if g := k.use(t, grace, 2500); g.Remaining != 2147483647 {
		t.Errorf("Remaining is %d, want 2147483647", g.Remaining)
	}
	k.round(t)
	if n := s.ofAccount(sunday, grace.Account); n != 2500 {
		t.Errorf("%d requests were saved, want 2500", n)
	}
	fallen := Subject{Tier: Free, Account: grace.Account}
	if g := k.Take(fallen); !g.Refused || g.Remaining != 0 {
		t.Errorf("after 2500 requests as Pro, Developer is given %+v; want a refusal with 0 remaining", g)
	}
}

func TestAFullCounterNeitherStartsAgainNorRefusesPro(t *testing.T) {
	s := newCounters()
	s.accounts[sunday] = map[string]int64{grace.Account: 1 << 40, ada.Account: -7}
	k := open(t, s, clockAt(noon).Now)
	if g := k.Take(grace); g.Refused || g.Remaining != Unlimited {
		t.Errorf("Pro is given %+v", g)
	}
	if g := k.Take(Subject{Tier: Free, Account: grace.Account}); !g.Refused {
		t.Errorf("a full counter began again: %+v", g)
	}
	if g := k.Take(ada); g.Refused || g.Remaining != 999 {
		t.Errorf("an account with a broken count is given %+v, want 999 remaining", g)
	}
}

func TestAClockThatStepsBackGivesNoDayTwice(t *testing.T) {
	s, c := newCounters(), clockAt("2026-11-15T23:59:59.9Z")
	k := open(t, s, c.Now)
	k.use(t, ada, 1000)
	k.use(t, home, 100)
	c.set(noon)
	if !k.Take(ada).Refused || !k.Take(home).Refused {
		t.Error("the clock went back twelve hours and the day began again")
	}
	c.set("2026-11-16T00:00:00.1Z")
	if g := k.use(t, ada, 3); g.Remaining != 997 || g.ResetAt() != "2026-11-17T00:00:00Z" || g.Wait != 86400 {
		t.Errorf("the new day: %+v", g)
	}
	k.use(t, home, 100)
	c.set("2026-11-15T23:00:00Z")
	if g := k.Take(ada); g.Remaining != 996 || g.ResetAt() != "2026-11-17T00:00:00Z" || g.Wait != 90000 {
		t.Errorf("back over midnight: %+v, want the newer day, 996 remaining and 25 hours to wait", g)
	}
	if !k.Take(home).Refused {
		t.Error("back over midnight a used-up day was given again")
	}
	c.set("2026-11-16T00:00:00Z")
	if g := k.Take(ada); g.Remaining != 995 {
		t.Errorf("forward again: %+v, want 995 remaining", g)
	}
	k.round(t)
	if a, b := s.ofAccount(sunday, ada.Account), s.ofAccount(monday, ada.Account); a != 1000 || b != 5 {
		t.Errorf("saved: %d and %d requests, want 1000 and 5", a, b)
	}
}

func TestARestartWithTheClockSetBackFindsBothDaysAsTheyWere(t *testing.T) {
	s, c := newCounters(), clockAt("2026-11-15T23:59:00Z")
	k := open(t, s, c.Now)
	k.use(t, ada, 600)
	k.use(t, home, 60)
	k.round(t)
	c.set("2026-11-16T00:01:00Z")
	k.use(t, ada, 200)
	k.use(t, home, 20)
	k.round(t)

	c.set("2026-11-15T23:58:00Z")
	k = open(t, s, c.Now)
	k.round(t)
	if a, h := k.Look(ada), k.Look(home); a.Remaining != 400 || h.Remaining != 40 {
		t.Errorf("on Sunday again: %d and %d remaining, want 400 and 40", a.Remaining, h.Remaining)
	}
	c.set("2026-11-16T00:00:00Z")
	if a, h := k.Look(ada), k.Look(home); a.Remaining != 800 || h.Remaining != 80 {
		t.Errorf("on Monday again: %d and %d remaining, want 800 and 80", a.Remaining, h.Remaining)
	}
}

// Requests come from all sides while the clock goes over four midnights and
// the counts are being saved: each is on the day that its answer says, once.
func TestTheTurnOfADayUnderLoadLosesNothingAndCountsNothingTwice(t *testing.T) {
	s, c := newCounters(), clockAt("2026-11-15T23:59:59.99Z")
	k := open(t, s, c.Now)
	var asked atomic.Int64
	stop := make(chan struct{})
	counts := make(chan map[string]int64)
	const callers = 16
	for range callers {
		go func() {
			mine := map[string]int64{}
			for {
				mine[k.Take(grace).ResetAt()]++
				k.Take(home)
				asked.Add(1)
				runtime.Gosched()
				select {
				case <-stop:
					counts <- mine
					return
				default:
				}
			}
		}()
	}
	for range 4 {
		for range 20 {
			c.Advance(time.Millisecond)
			k.round(t)
			for n := asked.Load(); asked.Load() < n+callers; {
				runtime.Gosched()
			}
		}
		c.Advance(24*time.Hour - 20*time.Millisecond)
	}
	close(stop)
	total := map[string]int64{}
	for range callers {
		for reset, n := range <-counts {
			total[reset] += n
		}
	}
	k.round(t)
	for reset, want := range total {
		end, err := time.Parse(time.RFC3339, reset)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.ofAccount(end.AddDate(0, 0, -1).Format(time.DateOnly), grace.Account); got != want {
			t.Errorf("%d requests were saved for the day that ends %s, want %d", got, reset, want)
		}
	}
	if len(total) < 4 {
		t.Errorf("requests were counted on %d days, want at least four: %v", len(total), total)
	}
}

// At the turn itself every caller is refused on the old day and has a whole new one,
// in which each value is given once.
func TestAtMidnightEveryQuotaIsWholeAgainAtOnce(t *testing.T) {
	c := clockAt("2026-11-15T23:59:59.999999999Z")
	k := open(t, newCounters(), c.Now)
	k.round(t)
	k.use(t, ada, 1000)
	k.use(t, home, 100)
	if g := k.Take(ada); !g.Refused || g.Wait != 1 || g.ResetAt() != "2026-11-16T00:00:00Z" {
		t.Errorf("a nanosecond before midnight: %+v, want a refusal for one more second", g)
	}
	c.Advance(time.Nanosecond)
	remaining := make([]sync.Map, 2)
	var all sync.WaitGroup
	for range 1400 {
		all.Go(func() {
			for i, s := range []Subject{ada, home} {
				if g := k.Take(s); !g.Refused {
					if _, twice := remaining[i].LoadOrStore(g.Remaining, true); twice {
						t.Errorf("%s: Remaining %d was given twice", s.Tier, g.Remaining)
					}
				}
			}
		})
	}
	all.Wait()
	for i, want := range []int{1000, 100} {
		n := 0
		remaining[i].Range(func(any, any) bool { n++; return true })
		if n != want {
			t.Errorf("%d requests were granted on the new day, want %d", n, want)
		}
	}
}

func TestANetworkIsKnownByAnHMACThatChangesEveryDay(t *testing.T) {
	s, c := newCounters(), clockAt(noon)
	k := open(t, s, c.Now)
	k.use(t, home, 2)
	k.round(t)
	c.set("2026-11-16T12:00:00Z")
	k.use(t, home, 3)
	k.round(t)
	if s.keys[monday] == s.keys[tuesday] || s.keys[monday] == (pseudonym.Key{}) {
		t.Fatal("the keys of two days are the same, or there is none")
	}
	key := s.keys[monday]
	want := Pseudonym(key.Of("requests", pseudonym.Network(netip.MustParsePrefix("203.0.113.9/32"))))
	want[0] &^= 1 // the bit of IPv4
	if n := s.networks[monday][want]; n != 3 || len(s.networks[monday]) != 1 {
		t.Errorf("saved %v, want 3 under the HMAC of the network", s.networks[monday])
	}
}

func TestAKnownAccountCostsNoAllocation(t *testing.T) {
	k := open(t, newCounters(), time.Now)
	for _, s := range []Subject{ada, grace} {
		k.Take(s)
		if n := testing.AllocsPerRun(1200, func() { k.Meter.Take(t.Context(), s); k.Meter.Look(t.Context(), s) }); n != 0 {
			t.Errorf("%s: %v allocations, want none", s.Tier, n)
		}
	}
}

func TestAMillionNetworksStayUnder200MB(t *testing.T) {
	before := heap()
	k := open(t, newCounters(), clockAt(noon).Now)
	networks := k.day.Load().networks
	number := int64(1_000_000)
	if raceDetector {
		number /= 10 // it makes this slow, and a tenth must do with a tenth
	}
	fill(networks, int(number))
	// Nothing is saved yet: that is when a day takes most.
	if grown := int64(heap()) - int64(before); grown > 200*number {
		t.Errorf("%d networks take %d bytes, want less than 200 for each", number, grown)
	}
	if n := networks.used(pseudonymOf(int(number - 1))); n != 1 {
		t.Errorf("the last has used %d, want 1", n)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func pseudonymOf(i int) (p Pseudonym) {
	binary.LittleEndian.PutUint64(p[:], uint64(i))
	return p
}

func fill(networks *table[Pseudonym], number int) {
	for i := range number {
		networks.take(pseudonymOf(i), 100)
	}
}
