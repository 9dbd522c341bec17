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
// requests are answered from memory, so that few queries run at once. Apart from them
// are those of what no page, program or publication may hold up: hotConnections tell
// what changed and whose a key is, one counts and one listens.
const (
	maxConnections = 8
	hotConnections = 3
)

// connectTimeout is for a server that cannot be seen. An attempt that waits longer
// would be waiting for an old packet when the server is back.
const connectTimeout = 2 * time.Second

// What the server ends by itself, should a node hang or vanish: a statement, the
// wait for a lock, a transaction in which nothing happens, and a connection whose
// other end is gone, whatever runs on it. Writes have shorter limits, and publications
// and migrations only the last, see tryWrite. A URL that sets one of these has its way.
var sessionLimits = map[string]string{
	"statement_timeout":                   "60s",
	"lock_timeout":                        "5s",
	"idle_in_transaction_session_timeout": "60s",
	"tcp_keepalives_idle":                 "10",
	"tcp_keepalives_interval":             "2",
	"tcp_keepalives_count":                "5",
	"tcp_user_timeout":                    "20s",
}

// silence is how long the kernel waits for a server that has said nothing to what was
// sent to it.
const silence = 10 * time.Second

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
	s.doubted, s.hotDoubted = new(atomic.Int64), new(atomic.Int64)
	s.reads = s.pool(cfg, poolOptions{size: maxConnections, doubted: s.doubted, ping: true})
	s.writes = s.reads
	hot := cfg.Copy()
	// One round trip for each question, on a new connection too: the statements are
	// small, and to have each prepared first would be one more on a long way.
	hot.DefaultQueryExecMode = pgx.QueryExecModeExec
	s.hot = s.pool(hot, poolOptions{size: hotConnections, doubted: s.hotDoubted})
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
	s.countDoubted = new(atomic.Int64)
	s.counts = s.pool(counting, poolOptions{size: 1, doubted: s.countDoubted, prepare: countStatement})
	return nil
}

// IsShared tells whether several nodes may work on the database at once, as on
// PostgreSQL: then they are to Listen, and to count with CountUsage.
func (s *Store) IsShared() bool { return s.postgres }

// madeAt is when a connection was made, in Unix nanoseconds.
const madeAt = "palmares.made_at"

// poolOptions are what pools differ in.
type poolOptions struct {
	size    int
	doubted *atomic.Int64 // the last doubt in its connections, in Unix nanoseconds
	ping    bool          // a connection that was idle is asked first whether it lives
	prepare string        // the one statement that is asked, ready on every connection
}

// pool keeps connections. One that was made before the last doubt is not used
// again: when the server fails over or its network breaks, those that were idle hang
// one after the other, and each would cost a request its patience.
func (s *Store) pool(cfg *pgx.ConnConfig, o poolOptions) *sql.DB {
	stale := func(c *pgx.Conn) bool {
		made, _ := c.PgConn().CustomData()[madeAt].(int64) // always set
		return made < o.doubted.Load()
	}
	db := stdlib.OpenDB(*cfg,
		stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
			c.PgConn().CustomData()[madeAt] = time.Now().UnixNano()
			if o.prepare == "" {
				return nil
			}
			_, err := c.Prepare(ctx, o.prepare, o.prepare) // under its own text, by which it is asked
			return err
		}),
		stdlib.OptionShouldPing(func(_ context.Context, p stdlib.ShouldPingParams) bool {
			return o.ping && p.IdleDuration > time.Second && !stale(p.Conn)
		}),
		stdlib.OptionResetSession(func(_ context.Context, c *pgx.Conn) error {
			if stale(c) {
				return driver.ErrBadConn
			}
			return nil
		}))
	db.SetMaxOpenConns(o.size)
	db.SetMaxIdleConns(o.size)
	if o.ping {
		db.SetConnMaxIdleTime(5 * time.Minute)
	}
	return db
}

// doubtEvery keeps a server that is merely slow from being asked for new
// connections all the time, besides.
const doubtEvery = 500 * time.Millisecond

// doubt has every connection that is not in use made anew. It is called when one
// hung or broke. The hot ones are apart: a server that is too slow for somebody is
// not away, and on a long way a new connection takes longer than any question.
func (s *Store) doubt() {
	if s.postgres {
		doubt(s.doubted)
	}
}

func doubt(doubted *atomic.Int64) {
	last, now := doubted.Load(), time.Now().UnixNano()
	if now-last >= doubtEvery.Nanoseconds() {
		doubted.CompareAndSwap(last, now)
	}
}

// ask asks a hot question, which changes nothing: when its connection turns out to
// be broken, as all are after a restart of the server, it is asked again on a new
// one. Those connections are not pinged before; that would be one more round trip.
func (s *Store) ask(ctx context.Context, question func() error) error {
	err := question()
	if s.postgres && err != nil && ctx.Err() == nil && isBroken(err) {
		doubt(s.hotDoubted)
		s.doubt()
		err = question()
	}
	return err
}

// warmTimeout is for one more connection, to a server that has answered just now.
const warmTimeout = 500 * time.Millisecond

// warm makes one more of the hot connections, if any is missing: a request that had
// to wait for that on a long way would lose its patience first, and with it what was
// begun. It fails in silence: whoever called it has an answer, and calls again soon.
func (s *Store) warm(ctx context.Context) {
	if !s.postgres {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, warmTimeout)
	defer cancel()
	before := s.hot.Stats().OpenConnections
	for open := before; open == before && open < hotConnections; open = s.hot.Stats().OpenConnections {
		conn, err := s.hot.Conn(ctx) // an idle one first; it is held until there is another
		if err != nil {
			return
		}
		defer conn.Close()
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
	dialer := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5},
		Control:         limitSilence,
	}
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
