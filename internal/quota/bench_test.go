package quota

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// The cost of a quota on a request's path. Run it with -cpu 1,8.
func BenchmarkTake(b *testing.B) {
	accounts, networks := make([]Subject, 1024), make([]Subject, 1024)
	for i := range accounts {
		accounts[i] = Subject{Tier: Pro, Account: "acc_01jcqv3f5e8k2m4n6p8r0s" + strconv.Itoa(1000+i)}
		networks[i] = Subject{Network: netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)}), 32)}
	}
	for _, bench := range []struct {
		name     string
		subjects []Subject
	}{
		{"one account", accounts[:1]},
		{"many accounts", accounts},
		{"one account, refused", []Subject{ada}},
		{"one network", networks[:1]},
		{"many networks", networks},
	} {
		b.Run(bench.name, func(b *testing.B) {
			k := open(b, newCounters(), time.Now)
			for _, s := range bench.subjects {
				k.Take(s)
			}
			var worker atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := int(worker.Add(101)); pb.Next(); i++ {
					k.Meter.Take(b.Context(), bench.subjects[i%len(bench.subjects)])
				}
			})
		})
	}
}

func BenchmarkSetHeaders(b *testing.B) {
	k := open(b, newCounters(), time.Now)
	g, h := k.Take(ada), http.Header{}
	b.ReportAllocs()
	for b.Loop() {
		g.SetHeaders(h)
	}
}

// discard saves nothing.
type discard struct{ Counters }

func (discard) Save(context.Context, string, Usage) error { return nil }

// What a day of a million callers takes: in memory before anything is saved and
// after, and the time of the save itself without the store's.
func BenchmarkMillionNetworks(b *testing.B) {
	for b.Loop() {
		before := heap()
		k := open(b, newCounters(), clockAt(noon).Now)
		fill(k.day.Load().networks, 1_000_000)
		unsaved := heap()
		k.cfg.Counters = discard{k.cfg.Counters}
		start := time.Now()
		k.round(b)
		took := time.Since(start)
		saved := heap()
		b.ReportMetric(float64(unsaved-before)/1e6, "B/network-unsaved")
		b.ReportMetric(float64(saved-before)/1e6, "B/network-saved")
		b.ReportMetric(float64(took.Milliseconds()), "ms/save")
		k.Look(home)
	}
}
