package web

import (
	"context"
	"sync"
	"time"
)

// StoreTimeout is how long one request may wait for the store, to look up its key
// and to count it together. Callers are promised a response within 250 ms; the rest
// is for the network. It is a variable for tests on machines of any speed.
var StoreTimeout = 240 * time.Millisecond

// A StoreContext is the context for everything that a request asks of the store
// before it is served. It ends when the HTTP request does, or StoreTimeout after the
// store was first needed.
//
// Unlike context.WithTimeout it costs nothing until then: most requests are served
// from memory and never read the clock or start the timer. The zero value is not usable;
// Start must be called first, and Stop when the request is served.
type StoreContext struct {
	context.Context // of the HTTP request

	mu       sync.Mutex
	deadline time.Time       // zero until it is asked for
	timed    context.Context // nil until something waits
	cancel   context.CancelFunc
}

// Start makes the context usable, also after Stop.
func (c *StoreContext) Start(parent context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Context, c.deadline, c.timed, c.cancel = parent, time.Time{}, nil, nil
}

// Stop releases the timer, if there is one.
func (c *StoreContext) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

// Deadline sets the deadline on its first call.
func (c *StoreContext) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.setDeadline(), true
}

// Done starts the timer on its first call.
func (c *StoreContext) Done() <-chan struct{} { return c.wait().Done() }

// Err returns why the context ended, nil if it has not.
func (c *StoreContext) Err() error { return c.wait().Err() }

func (c *StoreContext) wait() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithDeadline(c.Context, c.setDeadline())
	}
	return c.timed
}

// setDeadline is called with the lock held.
func (c *StoreContext) setDeadline() time.Time {
	if c.deadline.IsZero() {
		c.deadline = time.Now().Add(StoreTimeout)
	}
	return c.deadline
}
