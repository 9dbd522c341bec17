package testkit

import (
	"sync/atomic"
	"time"
)

// A Clock stands still until a test moves it. Any goroutine may use it.
type Clock struct{ now atomic.Pointer[time.Time] }

// NewClock returns a clock that shows now.
func NewClock(now time.Time) *Clock {
	c := &Clock{}
	c.Set(now)
	return c
}

// Now returns the time the clock shows.
func (c *Clock) Now() time.Time { return *c.now.Load() }

// Set makes the clock show now.
func (c *Clock) Set(now time.Time) { c.now.Store(&now) }

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	for {
		old := c.now.Load()
		if now := old.Add(d); c.now.CompareAndSwap(old, &now) {
			return
		}
	}
}
