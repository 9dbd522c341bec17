package sqldb

import (
	"context"
	"net"
	"time"
)

// A trackedConn is closed with the store.
type trackedConn struct {
	net.Conn
	forget func() bool
}

// dial connects. The kernel notices when the server's machine is gone. Closing the store closes every
// connection, including those on which the driver spends up to 15 seconds cancelling an abandoned
// query, so that nothing is left over.
func (d *postgresDialect) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5},
		Control:         limitUnacked,
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &trackedConn{conn, context.AfterFunc(d.opened, func() { _ = conn.Close() })}, nil // nobody uses it any more
}

func (t *trackedConn) Close() error {
	t.forget()
	return t.Conn.Close()
}
