package dataset

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"
)

// breaks leave processors to requests. Whoever writes an export alone uses a whole one;
// while the process is busy with other things, it works less than half of the time, so
// that requests lose less than a third of their speed, also on two processors. The zero
// value is ready for use.
type breaks struct {
	resumed   time.Time // when work last began
	scheduled uint64    // goroutines until then
	sample    [1]metrics.Sample
}

const (
	workSlice = 5 * time.Millisecond // between two looks at the rest of the process
	busyRate  = 2                    // goroutines scheduled per millisecond: a thousand requests per second
)

// take takes a break if it is time for one, and returns the context's error.
func (b *breaks) take(ctx context.Context) error {
	worked := time.Since(b.resumed)
	if worked < workSlice {
		return nil
	}
	before := b.scheduled
	b.count()
	if !b.resumed.IsZero() && b.scheduled-before > busyRate*uint64(worked.Milliseconds()) {
		select {
		case <-time.After(worked * 3 / time.Duration(runtime.GOMAXPROCS(0))):
		case <-ctx.Done():
		}
		b.count()
	}
	b.resumed = time.Now()
	return ctx.Err()
}

// count counts the goroutines that were scheduled since the process began.
func (b *breaks) count() {
	b.sample[0].Name = "/sched/latencies:seconds"
	metrics.Read(b.sample[:])
	b.scheduled = 0
	for _, n := range b.sample[0].Value.Float64Histogram().Counts {
		b.scheduled += n
	}
}
