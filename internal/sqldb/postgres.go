package sqldb

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// maxConnections is what one node takes of the server's hundred (its default):
// requests are served from memory, so that few queries run at once. In addition
// there are connections for what no page, program or publication may hold up:
// lookupConnections for what requests wait for, sendConnections for webhooks and mails, one that
// counts and one that listens.
const (
	maxConnections    = 5
	lookupConnections = 3
	sendConnections   = 5
)

// connectTimeout is for an unreachable server. An attempt that waits longer would
// still be waiting for an old packet when the server is back.
const connectTimeout = 2 * time.Second

// sessionLimits are what the server ends by itself if a node hangs or vanishes: a
// statement, the wait for a lock, an idle transaction, and a connection whose other
// end is gone, whatever runs on it. Writes have shorter limits, and publications and
// migrations only the last, see tryWrite. Parameters of the URL take precedence.
var sessionLimits = map[string]string{
	"statement_timeout":                   "60s",
	"lock_timeout":                        "5s",
	"idle_in_transaction_session_timeout": "60s",
	"tcp_keepalives_idle":                 "10",
	"tcp_keepalives_interval":             "2",
	"tcp_keepalives_count":                "5",
	"tcp_user_timeout":                    "20s",
}

// unackedTimeout is how long the kernel waits for a server that does not acknowledge
// what was sent to it.
const unackedTimeout = 10 * time.Second

// schemaTimeout is for a server that accepts the connection and then says nothing.
const schemaTimeout = 5 * time.Second

// postgresDialect is a PostgreSQL server: several nodes, and row locks.
type postgresDialect struct {
	name        string
	application string // name of the sessions of nodes and commands
	config      *pgx.ConnConfig
	reads       *sql.DB
	lookups     *sql.DB
	opened      context.Context // ends with close, which closes all connections
	end         context.CancelFunc

	// When a connection of a pool last hung or broke, in Unix nanoseconds: older ones are
	// not used again.
	staleBefore, lookupsStaleBefore, countsStaleBefore atomic.Int64
}

func (s *DB) openPostgres(ctx context.Context, dsn, counting string) error {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		// The error is not passed on: it may repeat the URL, and the password with it.
		return Problem(ErrUnreachable, nil, "the postgres:// URL cannot be read: "+
			"write it as postgres://USER:PASSWORD@HOST:PORT/NAME, special characters in the password percent-encoded")
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = Patience * connectTimeout
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "palmares"
	}
	application := cfg.RuntimeParams["application_name"]
	if s.alone {
		cfg.RuntimeParams["application_name"] += " (alone)"
	}
	for name, limit := range sessionLimits {
		if cfg.RuntimeParams[name] == "" {
			cfg.RuntimeParams[name] = limit
		}
	}
	s.name = fmt.Sprintf("the PostgreSQL database %q on %s:%d", cfg.Database, cfg.Host, cfg.Port)
	d := &postgresDialect{name: s.name, application: application, config: cfg}
	d.opened, d.end = context.WithCancel(context.WithoutCancel(ctx))
	cfg.DialFunc = d.dial
	s.dialect, s.shared = d, true
	// The server may be far away, and many rows share one round trip. It accepts 65535.
	s.placeholders = 3000
	s.reads = openPool(cfg, poolOptions{size: maxConnections, staleBefore: &d.staleBefore, ping: true})
	s.writes, d.reads = s.reads, s.reads
	sends := openPool(cfg, poolOptions{size: sendConnections, staleBefore: &d.staleBefore, ping: true})
	s.sends = pools{reads: sends, writes: sends}
	lookups := cfg.Copy()
	// One round trip per query, on a new connection too: the statements are small, and
	// preparing each first would cost another round trip.
	lookups.DefaultQueryExecMode = pgx.QueryExecModeExec
	d.lookups = openPool(lookups, poolOptions{size: lookupConnections, staleBefore: &d.lookupsStaleBefore})
	s.lookups = d.lookups
	// Counting has a connection of its own, so that no request waits behind a
	// publication or an account page to be counted.
	counter := cfg.Copy()
	counter.RuntimeParams["statement_timeout"] = fmt.Sprint(CountTimeout.Milliseconds())
	// A count is visible to every node at once and need not be on the server's disk
	// before the response to its request: if the server itself crashes, the last 0.6 s of
	// counting are lost (three times wal_writer_delay), where a single node may lose 1 s.
	if counter.RuntimeParams["synchronous_commit"] == "" {
		counter.RuntimeParams["synchronous_commit"] = "off"
	}
	prepare := counting
	if cfg.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
		prepare = "" // a pooler runs each transaction on another connection
	}
	s.counts = openPool(counter, poolOptions{size: 1, staleBefore: &d.countsStaleBefore, prepare: prepare})
	return nil
}

// madeAt is the key under which a connection has the time it was made, in Unix
// nanoseconds.
const madeAt = "palmares.made_at"

// poolOptions are what pools differ in.
type poolOptions struct {
	size        int
	staleBefore *atomic.Int64 // connections made earlier are not used again, in Unix nanoseconds
	ping        bool          // idle connections are pinged before use
	prepare     string        // the usual statement of the pool, prepared on every connection; "" for none
}

// openPool opens a pool that does not reuse stale connections: when the server fails
// over or its network breaks, idle connections hang one after the other, and each
// would cost a request its timeout.
func openPool(cfg *pgx.ConnConfig, o poolOptions) *sql.DB {
	stale := func(c *pgx.Conn) bool {
		made, _ := c.PgConn().CustomData()[madeAt].(int64) // always set
		return made < o.staleBefore.Load()
	}
	db := stdlib.OpenDB(*cfg,
		stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
			c.PgConn().CustomData()[madeAt] = time.Now().UnixNano()
			if o.prepare == "" {
				return nil
			}
			_, err := c.Prepare(ctx, o.prepare, o.prepare) // under its own text, which queries use
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

func (*postgresDialect) limitWrite(ctx context.Context, tx *sql.Tx, l writeLimits) error {
	return Exec(ctx, tx, fmt.Sprintf("SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = %d; "+
		"SET LOCAL idle_in_transaction_session_timeout = %d",
		l.lock.Milliseconds(), l.statement.Milliseconds(), l.idle.Milliseconds()))
}

// discardEvery keeps a server that is merely slow from getting new connections all the
// time as well.
const discardEvery = 500 * time.Millisecond

// discardIdle leaves the lookup pool alone: a server that is too slow for one caller
// is not unreachable, and over a long distance a new connection takes longer than any
// query.
func (d *postgresDialect) discardIdle() { discard(&d.staleBefore) }

func discard(staleBefore *atomic.Int64) {
	last, now := staleBefore.Load(), time.Now().UnixNano()
	if now-last >= discardEvery.Nanoseconds() {
		staleBefore.CompareAndSwap(last, now)
	}
}

// lookup repeats the query, which changes nothing, because connections of this pool
// are not pinged before use (that would cost a round trip) and all of them are broken
// after a restart of the server.
func (d *postgresDialect) lookup(ctx context.Context, query func() error) error {
	err := query()
	if err != nil && ctx.Err() == nil && isBroken(err) {
		discard(&d.lookupsStaleBefore)
		d.discardIdle()
		err = query()
	}
	return err
}

func (d *postgresDialect) counted(err error) {
	if errors.Is(d.explain(err), ErrReadOnly) {
		// The server is no longer the primary, and the connection would outlive that.
		discard(&d.countsStaleBefore)
		d.discardIdle()
	}
}

func (d *postgresDialect) polled(ctx context.Context, err error) {
	if err != nil {
		discard(&d.lookupsStaleBefore) // Poll is given plenty of time: the server is not just slow
		return
	}
	d.addLookup(ctx)
}

// addLookupTimeout is for one more connection to a server that has just responded.
const addLookupTimeout = 500 * time.Millisecond

// addLookup opens one more lookup connection if one is missing: a request that had to
// wait for a new connection over a long distance would time out first, and abandon the
// attempt. Errors are ignored: it is called again soon.
func (d *postgresDialect) addLookup(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, addLookupTimeout)
	defer cancel()
	before := d.lookups.Stats().OpenConnections
	for open := before; open == before && open < lookupConnections; open = d.lookups.Stats().OpenConnections {
		conn, err := d.lookups.Conn(ctx) // an idle one first; it is held until there is another
		if err != nil {
			return
		}
		defer conn.Close()
	}
}

func (*postgresDialect) schemaContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, Patience*schemaTimeout)
}

// hasTables ignores tables of other programs, which may well be beside ours.
func (*postgresDialect) hasTables(ctx context.Context, q Queryer) (bool, error) {
	// Not to_regclass: after the wait for the advisory lock it still reads from a
	// cache without the table that another process created meanwhile.
	return Value[bool](ctx, q, `SELECT EXISTS (SELECT 1 FROM pg_tables
		WHERE schemaname = current_schema() AND tablename = 'palmares_schema')`)
}

func (*postgresDialect) lockSchema(ctx context.Context, tx *sql.Tx) error {
	return Exec(ctx, tx, `SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))`, applicationID)
}

// lockTables lets others read.
func (*postgresDialect) lockTables(ctx context.Context, tx *sql.Tx, tables []string) error {
	return Exec(ctx, tx, "LOCK TABLE "+strings.Join(tables, ", ")+" IN EXCLUSIVE MODE")
}

func (*postgresDialect) claim() error { return nil }

// offline looks for sessions, which nodes always have.
func (d *postgresDialect) offline(ctx context.Context) error {
	others, err := Value[int](ctx, d.lookups, `
		SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`, d.application)
	if err != nil || others == 0 {
		return err
	}
	return ProblemWith(d.name, ErrServed, "%s is in use by palmares (%d sessions): stop every server and command that "+
		"uses it first", d.name, others)
}

func (*postgresDialect) present() error { return nil }

func (*postgresDialect) inspect(context.Context) error { return nil }

func (*postgresDialect) markOurs(context.Context, *sql.Tx) error { return nil }

// purge does nothing: when deleted bytes leave the server's disk is up to its vacuum,
// its write-ahead log and its backups.
func (*postgresDialect) purge(context.Context) error { return nil }

func (d *postgresDialect) close() error {
	d.end()
	return nil
}

// isBusy is false: the server itself waits for locks.
func (*postgresDialect) isBusy(error) bool { return false }

// IsMissingReference reports whether PostgreSQL refused a row that refers to another that
// has just been deleted.
func IsMissingReference(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23503" // foreign_key_violation
}

// isBroken reports whether a connection was cut, which says nothing about the next one.
func isBroken(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return strings.HasPrefix(pg.Code, "57P0") || strings.HasPrefix(pg.Code, "08") // the server shuts down or dropped it
	}
	var connect *pgconn.ConnectError
	return !errors.As(err, &connect) && isNetwork(err)
}

func isNetwork(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.EOF) || errors.Is(err, pgconn.ErrConnClosed)
}

func (d *postgresDialect) explain(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return d.explainServer(pg, err)
	}
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	if unverified || err != nil && strings.Contains(err.Error(), "server refused TLS connection") {
		return Problem(ErrUnreachable, err, "%s cannot be reached over TLS: check sslmode and sslrootcert in the "+
			"postgres:// URL and the server's certificate (%v)", d.name, err)
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) || isNetwork(err) {
		return Problem(ErrUnavailable, err, "%s cannot be reached: check that it runs and that host and port are right (%v)",
			d.name, err)
	}
	return err
}

// bouncerRefuses matches what PgBouncer says when its configuration, not its server, is
// the reason.
var bouncerRefuses = regexp.MustCompile(`unsupported startup parameter|no such (database|user)|not allowed|authentication failed`)

func (d *postgresDialect) explainServer(pg *pgconn.PgError, err error) error {
	switch pg.Code {
	case "55P03", "40P01": // lock_not_available, deadlock_detected
		return busy(d.name, err)
	case "53100": // disk_full
		return full(d.name, err)
	case "25006": // read_only_sql_transaction: this server was the primary, and there may be another
		return Problem(errStandby, err, "%s cannot be written: connect to the primary server (%s)", d.name, pg.Message)
	case "57014": // query_canceled
		return Problem(ErrUnavailable, err, "%s takes too long to answer (%s)", d.name, pg.Message)
	case "42501": // insufficient_privilege
		return Problem(ErrReadOnly, err, "%s cannot be written: connect to it as a user who may create tables and write to "+
			"them (%s)", d.name, pg.Message)
	case "42P07": // duplicate_table
		return Problem(ErrNotOurs, err, "%s has tables of another program under the names that palmares uses: "+
			"give it a database or a schema of its own (…?search_path=palmares); nothing was changed (%s)", d.name, pg.Message)
	case "3F000": // invalid_schema_name
		return Problem(ErrUnreachable, err, "%s has no schema to create tables in: create the one that search_path names, "+
			"as in CREATE SCHEMA palmares", d.name)
	case "3D000": // invalid_catalog_name
		return Problem(ErrUnreachable, err, "%s does not exist: create it, as in createdb palmares", d.name)
	case "57P04": // database_dropped
		return Problem(ErrUnreachable, err, "%s was dropped: create it and restore a backup, or give --database another one",
			d.name)
	case "08P01": // protocol_violation: PgBouncer uses it for most of what it has to say
		if bouncerRefuses.MatchString(pg.Message) {
			return Problem(ErrUnreachable, err, "%s refuses this connection: change the configuration of PgBouncer or the "+
				"postgres:// URL; for a startup parameter, add it to ignore_startup_parameters (%s)", d.name, pg.Message)
		}
	case "26000", "42P05": // invalid_sql_statement_name, duplicate_prepared_statement
		return Problem(ErrUnreachable, err, "%s is behind a pooler that runs each transaction on another connection: "+
			"add ?default_query_exec_mode=exec to the postgres:// URL (%s)", d.name, pg.Message)
	case "28000", "28P01": // invalid_authorization_specification, invalid_password
		return Problem(ErrUnreachable, err, "%s refuses this user or password: check both in the postgres:// URL (%s)",
			d.name, pg.Message)
	}
	switch pg.Code[:2] {
	case "08", "53", "57": // the connection, resources, operator intervention
		return Problem(ErrUnavailable, err, "%s is not available at the moment: try again (%s)", d.name, pg.Message)
	}
	return fmt.Errorf("%s: %w", d.name, err)
}
