package quota

import (
	"net/netip"
	"sync/atomic"
	"time"

	"palmares/internal/pseudonym"
)

// A day holds the counters of one UTC day. Requests find it through a pointer that is
// swapped when the day ends; requests that still hold it then are counted on it, or find
// it closed.
type day struct {
	name       string
	start, end int64  // Unix seconds
	reset      string // the end, as a header value
	key        pseudonym.Key
	accounts   *table[string]
	networks   *table[Pseudonym]
	ceiling    int // see maxNetworks

	ready   atomic.Bool // the stored counts were taken over; then private no longer changes
	private bool        // the store has another key: networks are not saved
}

const secondsOfDay = 24 * 60 * 60

// startOfDay returns a Unix time, in which every UTC day has the same length.
func startOfDay(t time.Time) int64 {
	s := t.Unix()
	return s - s%secondsOfDay
}

func dayName(start int64) string { return time.Unix(start, 0).UTC().Format(time.DateOnly) }

func newDay(start int64, key pseudonym.Key) *day {
	return &day{
		name:     dayName(start),
		start:    start,
		end:      start + secondsOfDay,
		reset:    time.Unix(start+secondsOfDay, 0).UTC().Format(time.RFC3339),
		key:      key,
		accounts: newTable(func(string) int { return 0 }),
		networks: newTable(Pseudonym.family),
		ceiling:  maxNetworks,
	}
}

// counted is how far the requests of a tier are counted. For Pro it is until the counter
// is full, so that it never overflows to zero.
var counted = [...]uint32{Anonymous: uint32(limits[Anonymous]), Free: uint32(limits[Free]), Pro: fullCounter}

func (d *day) take(s Subject) (used uint32, is outcome) {
	if s.Tier == Anonymous {
		return d.networks.take(d.counterOf(s), s.limit())
	}
	return d.accounts.take(s.Account, counted[s.Tier])
}

func (d *day) used(s Subject) uint32 {
	if s.Tier == Anonymous {
		return d.networks.used(d.counterOf(s))
	}
	return d.accounts.used(s.Account)
}

// isStored reports whether the store has the counters of a tier.
func (d *day) isStored(t Tier) bool { return d.ready.Load() && (t != Anonymous || !d.private) }

func (d *day) grant(s Subject, used uint32, isRefused bool, now time.Time) Grant {
	g := Grant{Tier: s.Tier, Remaining: Unlimited, reset: d.reset}
	if s.Tier != Pro {
		g.Refused = isRefused
		// An account that was Pro this morning may have used more than its limit.
		g.Remaining = max(0, int(s.limit())-int(used))
	}
	// The started second is included, so that a client that waits this long is not early.
	// It is at least 1, as now is before the day's end.
	// A day that is further ahead than maxAhead is about to be left: see stepBack.
	g.Wait = int(min(d.end-now.Unix(), secondsOfDay+int64(maxAhead.Seconds())))
	return g
}

// maxNetworks is how many networks of IPv4, and of IPv6, a day may have before new ones share a
// counter with their neighbours: half a million take less than 50 MB. Somebody who is assigned a
// /32 of IPv6 has four billion networks, which are not to take those of IPv4 their counters.
const maxNetworks = 500_000

// coarser are the lengths of the prefixes that new networks are counted by once a day has
// once, twice, … as many counters as its ceiling. The last has few enough.
var coarser = [...]struct{ four, six int }{{24, 48}, {16, 32}}

// counterOf returns the pseudonym that a network is counted under. A network keeps the
// counter that it has; nodes may disagree about others while one is above its ceiling.
func (d *day) counterOf(s Subject) Pseudonym {
	network := s.Network
	p := d.pseudonym(network, s.Calls > 0)
	for i, bits := range coarser {
		if !d.networks.isOver(p, d.ceiling*(i+1)) {
			return p
		}
		length := bits.six
		if network.Addr().Is4() {
			length = bits.four
		}
		if wide, err := network.Addr().Prefix(min(length, network.Bits())); err == nil { // only the zero Prefix has none
			p = d.pseudonym(wide, s.Calls > 0)
		}
	}
	return p
}

// pseudonym returns the pseudonym of a network for the day. Its calls of tools have another one.
func (d *day) pseudonym(network netip.Prefix, isCalls bool) Pseudonym {
	kind := "requests"
	if isCalls {
		kind = "calls"
	}
	p := Pseudonym(d.key.Of(kind, pseudonym.Network(network)))
	p[0] &^= 1
	if !network.Addr().Is4() {
		p[0] |= 1
	}
	return p
}

// family returns 0 for the pseudonym of a network of IPv4, and 1 for one of IPv6.
func (p Pseudonym) family() int { return int(p[0] & 1) }
