package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// maxConnections is what one node takes of the server's hundred (its default):
// requests are answered from memory, so that few queries run at once. Two more are
// apart from them: the one that counts and the one that listens.
const maxConnections = 10

// connectTimeout is for a server that cannot be seen. An attempt that waits longer
// would be waiting for an old packet when the server is back.
const connectTimeout = 2 * time.Second

// What the server ends by itself, should a node hang or vanish: a statement, the
// wait for a lock, and a transaction in which nothing happens. Publications and
// migrations are exempt, see tryWrite. A URL that sets one of these has its way.
var sessionLimits = map[string]string{
	"statement_timeout":                   "60s",
	"lock_timeout":                        "5s",
	"idle_in_transaction_session_timeout": "60s",
}

// countTimeout is for the statement that counts: whoever asked has been answered
// without it by then.
const countTimeout = 250 * time.Millisecond

func (s *Store) openPostgres(dsn string) error {
	s.postgres = true
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		// The error is not passed on: it may repeat the URL, and the password with it.
		return problem(ErrUnreachable, nil, "the postgres:// URL cannot be read: write it as postgres://USER:PASSWORD@HOST:PORT/NAME, special characters in the password percent-encoded")
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "palmares"
	}
	for name, limit := range sessionLimits {
		if cfg.RuntimeParams[name] == "" {
			cfg.RuntimeParams[name] = limit
		}
	}
	s.wires = &wires{open: map[*wire]bool{}}
	cfg.DialFunc = s.wires.dial
	s.name = fmt.Sprintf("the PostgreSQL database %q on %s:%d", cfg.Database, cfg.Host, cfg.Port)
	s.server = cfg
	s.doubted = new(atomic.Int64)
	s.reads = s.pool(cfg, maxConnections)
	s.writes = s.reads
	// It has a connection of its own, so that no request waits behind a publication
	// or a page of an account to be counted.
	counting := cfg.Copy()
	counting.RuntimeParams["statement_timeout"] = fmt.Sprint(countTimeout.Milliseconds())
	// A count is seen by every node at once and need not be on the server's disk before
	// its caller is answered: should the server itself crash, the last 0.6 s of counting
	// are forgotten (three times wal_writer_delay), where one node alone may forget 1 s.
	if counting.RuntimeParams["synchronous_commit"] == "" {
		counting.RuntimeParams["synchronous_commit"] = "off"
	}
	s.counts = s.pool(counting, 1)
	return nil
}

// IsShared tells whether several nodes may work on the database at once, as on
// PostgreSQL: then they are to Listen, and to count with CountUsage.
func (s *Store) IsShared() bool { return s.postgres }

// madeAt is when a connection was made, in Unix nanoseconds.
const madeAt = "palmares.made_at"

// pool keeps connections. One that was made before the last doubt is not used
// again: when the server fails over or its network breaks, those that were idle hang
// one after the other, and each would cost a request its patience.
func (s *Store) pool(cfg *pgx.ConnConfig, size int) *sql.DB {
	stale := func(c *pgx.Conn) bool {
		made, _ := c.PgConn().CustomData()[madeAt].(int64) // always set
		return made < s.doubted.Load()
	}
	db := stdlib.OpenDB(*cfg,
		stdlib.OptionAfterConnect(func(_ context.Context, c *pgx.Conn) error {
			c.PgConn().CustomData()[madeAt] = time.Now().UnixNano()
			return nil
		}),
		stdlib.OptionShouldPing(func(_ context.Context, p stdlib.ShouldPingParams) bool {
			return p.IdleDuration > time.Second && !stale(p.Conn)
		}),
		stdlib.OptionResetSession(func(_ context.Context, c *pgx.Conn) error {
			if stale(c) {
				return driver.ErrBadConn
			}
			return nil
		}))
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db
}

// doubtEvery keeps a server that is merely slow from being asked for new
// connections all the time, besides.
const doubtEvery = 500 * time.Millisecond

// doubt has every connection that is not in use made anew. It is called when one
// hung or broke.
func (s *Store) doubt() {
	if !s.postgres {
		return
	}
	last, now := s.doubted.Load(), time.Now().UnixNano()
	if now-last >= doubtEvery.Nanoseconds() {
		s.doubted.CompareAndSwap(last, now)
	}
}

// wires are all connections to the server, also those that the driver still tells for
// up to 15 seconds that a question was given up: at the end they are cut, so that
// nothing is left over.
type wires struct {
	mu   sync.Mutex
	open map[*wire]bool
	over bool
}

type wire struct {
	net.Conn
	of *wires
}

// dial connects. A server whose machine is gone says nothing: the kernel finds out.
func (w *wires) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5}}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	c := &wire{conn, w}
	w.open[c] = true
	return c, nil
}

func (c *wire) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// cut ends every connection, and has no more made.
func (w *wires) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	for c := range w.open {
		_ = c.Conn.Close() // nobody listens to it any more
	}
	clear(w.open)
}
