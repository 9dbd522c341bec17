package quota

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// The server of the database is a year ahead for a while, as after a wrong boot.
func TestAClockThatWasAheadIsFollowedBackWithoutARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jump := time.Duration(0)
		s := &sharedCounters{fakeCounters: newCounters()}
		s.now = func() time.Time { return time.Now().Add(jump) }
		k := new(kit)
		cfg := config(s, time.Now, &k.log)
		cfg.Shared = true
		m, err := New(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		k.Meter = m
		today := time.Now().UTC().Format(time.DateOnly)
		k.use(t, ada, 10)
		k.use(t, home, 10)
		k.round(t)

		jump = 400 * 24 * time.Hour
		k.round(t)
		k.use(t, home, 100) // a caller who is refused from memory from now on
		if g := k.Take(home); !g.Refused || !k.log.Contains("clock has jumped") {
			t.Errorf("%+v, log %s", g, &k.log)
		}
		k.round(t)

		jump = 0
		if g := k.Take(home); g.Wait > 25*60*60 {
			t.Errorf("a caller is told to wait %d seconds", g.Wait)
		}
		k.round(t)
		if g := k.use(t, home, 1); g.Remaining != 89 || g.ResetAt() > time.Now().Add(25*time.Hour).UTC().Format(time.RFC3339) {
			t.Errorf("after the clock is right again: %+v until %s; want the 10 of %s counted", g, g.ResetAt(), today)
		}
		if g := k.use(t, ada, 1); g.Remaining != 989 {
			t.Errorf("an account has %d left; want 989", g.Remaining)
		}
		if !k.log.Contains("was ahead and has been corrected") {
			t.Errorf("the log says nothing: %s", &k.log)
		}
	})
}

func TestNewNetworksShareCountersAboveTheCeiling(t *testing.T) {
	k := open(t, newCounters(), clockAt(noon).Now)
	d := k.day.Load()
	d.ceiling = 1000
	at := func(n int) Subject {
		return anonymous(fmt.Sprintf("2001:db8:%x:%x::/64", n>>12, n&0xfff))
	}
	for n := range 10_000 {
		k.Take(at(n))
	}
	for range 2 { // neighbours of IPv4, which share nothing
		k.Take(anonymous("203.0.113.9/32"))
	}
	if g := k.Take(anonymous("203.0.113.10/32")); g.Remaining != 99 {
		t.Errorf("a network of IPv4 after a flood of IPv6: %+v", g)
	}
	if size := len(d.networks.counts); size > 1010 {
		t.Errorf("%d counters", size)
	}
	// Those that have a counter keep it; the neighbours of others share theirs.
	if g := k.Take(at(3)); g.Refused || g.Remaining != 98 {
		t.Errorf("an early network: %+v", g)
	}
	if g := k.Take(at(9_999)); !g.Refused {
		t.Errorf("a network whose /48 is used up: %+v", g)
	}
	if g := k.Take(anonymous("2001:db8:ffff::/64")); g.Refused {
		t.Errorf("a network of another /48: %+v", g)
	}
	// Beyond twice the ceiling by /32.
	for n := range 10_000 {
		k.Take(Subject{Tier: Anonymous, Network: netip.PrefixFrom(netip.AddrFrom16([16]byte{0x2a, 1, byte(n >> 8), byte(n), 5}), 64)})
	}
	if size := len(d.networks.counts); size > 12_100 {
		t.Errorf("%d counters", size)
	}
}
