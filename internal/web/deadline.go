package web

import (
	"context"
	"sync"
	"time"
)

// StoreTimeout is how long one request may wait for the store, to look up its key
// and to count it together. Callers are promised an answer within 250 ms; the rest
// is for the network.
const StoreTimeout = 240 * time.Millisecond

// A StoreContext is the context for everything that a request asks of the store
// before it is answered. It ends when the HTTP request does, or StoreTimeout after
// it began.
//
// Unlike context.WithTimeout it costs nothing until something waits on it: most
// requests are answered from memory and never start the timer. The zero value is not
// usable; Start must be called first, and Stop when the request is answered.
type StoreContext struct {
	context.Context // of the HTTP request
	deadline        time.Time

	mu     sync.Mutex
	timed  context.Context // nil until something waits
	cancel context.CancelFunc
}

// Start sets the deadline.
func (c *StoreContext) Start(parent context.Context) {
	c.Context, c.deadline = parent, time.Now().Add(StoreTimeout)
}

// Stop releases the timer, if there is one.
func (c *StoreContext) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

// Deadline is when the request has waited long enough.
func (c *StoreContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done starts the timer on its first call.
func (c *StoreContext) Done() <-chan struct{} { return c.start().Done() }

// Err returns why the context ended, nil if it has not.
func (c *StoreContext) Err() error { return c.start().Err() }

func (c *StoreContext) start() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithDeadline(c.Context, c.deadline)
	}
	return c.timed
}
