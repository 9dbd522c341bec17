package sqldb

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// connections are all connections to the server, including those on which the driver
// spends up to 15 seconds cancelling an abandoned query. Closing the store closes them
// too, so that nothing is left over.
type connections struct {
	mu     sync.Mutex
	open   map[*trackedConn]bool
	closed bool
}

type trackedConn struct {
	net.Conn
	in *connections
}

// dial connects. The kernel notices when the server's machine is gone.
func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5},
		Control:         limitUnacked,
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	tracked := &trackedConn{conn, c}
	c.open[tracked] = true
	return tracked, nil
}

func (t *trackedConn) Close() error {
	t.in.mu.Lock()
	delete(t.in.open, t)
	t.in.mu.Unlock()
	return t.Conn.Close()
}

// close closes every connection and refuses new ones.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for tracked := range c.open {
		_ = tracked.Conn.Close() // nobody uses it any more
	}
	clear(c.open)
}
