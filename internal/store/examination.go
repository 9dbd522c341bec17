package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// A Finding is one thing that Examine has looked at.
type Finding struct {
	Subject string
	Text    string // what was found, or what is wrong and what to do
	Wrong   bool
}

// maxSkew is how far the clocks of a node and of its database may differ, and how long
// ago a publication may be dated in the future: links and sessions live for minutes.
const maxSkew = 5 * time.Second

// Examine looks at a database without changing it, not even its tables. It returns how many
// tools are published, and reports whether the tables are those of this program, so that Open
// would not change them either.
func Examine(ctx context.Context, dsn string, now time.Time) (all []Finding, tools int64, current bool) {
	e := &examination{db: newDB(), now: now}
	defer e.db.close() //nolint:errcheck // nothing was written
	err := e.db.connect(ctx, dsn)
	if err == nil {
		err = e.run(ctx)
	}
	if err != nil {
		e.add("database", true, "%v", e.db.explain(ctx, err))
	}
	return e.found, e.tools, err == nil && e.version == e.known
}

// An examination is one Examine.
type examination struct {
	db             *db
	now            time.Time
	version, known int // of the tables
	tools          int64
	found          []Finding
}

func (e *examination) add(subject string, wrong bool, format string, args ...any) {
	e.found = append(e.found, Finding{subject, fmt.Sprintf(format, args...), wrong})
}

func (e *examination) run(ctx context.Context) error {
	if err := e.tables(ctx); err != nil || e.version <= unreleased {
		return err
	}
	if err := e.catalogue(ctx); err != nil {
		return err
	}
	return e.db.dialect.examine(ctx, e)
}

func (e *examination) tables(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	limited, cancel := e.db.dialect.schemaContext(ctx)
	defer cancel()
	if e.version, err = e.db.schema(limited, e.db.reads); err != nil {
		return err
	}
	e.known = unreleased + len(files)
	switch {
	case e.version == 0:
		e.add("tables", false, "none yet: the first command creates them")
	case e.version > e.known:
		e.add("tables", true, "version %d, and this palmares knows version %d: upgrade palmares", e.version, e.known)
	case e.version <= unreleased:
		e.add("tables", true, "version %d, from before the first release: export with that program, and publish the export into a new database", e.version)
	case e.version < e.known:
		e.add("tables", false, "version %d: the next command brings them to version %d", e.version, e.known)
	default:
		e.add("tables", false, "version %d", e.version)
	}
	return nil
}

func (e *examination) catalogue(ctx context.Context) error {
	var version int64
	var at string
	err := e.db.reads.QueryRowContext(ctx, `SELECT version, published_at, `+countTools+` FROM catalogue`).Scan(&version, &at, &e.tools)
	if err != nil {
		return err
	}
	if version == 0 {
		e.add("catalogue", false, "nothing is published yet")
		return nil
	}
	published, err := parseTime(at)
	if err != nil {
		return err
	}
	e.add("catalogue", false, "version %d with %d tools, published on %s", version, e.tools, published.Format(time.DateTime))
	if ahead := published.Sub(e.now); ahead > maxSkew {
		e.add("clock", true, "the last publication is %s in the future: set the clock of this machine", ahead.Round(time.Second))
	}
	return nil
}

func (d *sqliteDialect) examine(ctx context.Context, e *examination) error {
	if err := e.db.withWait(retryWait).write(ctx, func(*sql.Tx) error { return nil }); err != nil {
		return err
	}
	if err := integrity(ctx, e.db.reads, d.name); err != nil {
		return err
	}
	var pages, size int64
	if err := e.db.reads.QueryRowContext(ctx, `SELECT page_count, page_size FROM pragma_page_count, pragma_page_size`).Scan(&pages, &size); err != nil {
		return err
	}
	if !slices.ContainsFunc(e.found, func(f Finding) bool { return f.Subject == "clock" }) {
		e.add("clock", false, "not before the last publication")
	}
	e.add("integrity", false, "all %.1f MB of %s read, nothing is wrong, and it can be written", float64(pages*size)/1e6, d.name)
	return nil
}

// nodeConnections is what a node opens at most.
const nodeConnections = maxConnections + lookupConnections + sendConnections + 2

func (d *postgresDialect) examine(ctx context.Context, e *examination) error {
	var version string
	var standby bool
	var most, used int
	var clock time.Time
	sent := time.Now()
	err := e.db.reads.QueryRowContext(ctx, `
		SELECT current_setting('server_version'), pg_is_in_recovery(), clock_timestamp(),
			current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')`).Scan(&version, &standby, &clock, &most, &used)
	if err != nil {
		return err
	}
	took := time.Since(sent)
	e.add("server", standby, "PostgreSQL %s%s", version, map[bool]string{true: ", a standby: connect to the primary"}[standby])
	const advice = ": raise max_connections, or use PgBouncer"
	e.add("connections", most-used < nodeConnections, "%d of %d are open, and a node opens up to %d%s", used, most, nodeConnections, map[bool]string{true: advice}[most-used < nodeConnections])
	// The server read its clock at some time between sending and receiving.
	skew := max(sent.Sub(clock), clock.Sub(sent.Add(took)), 0)
	e.add("clock", skew > maxSkew, "%s of the server's, which took %s to answer%s", skew.Round(time.Millisecond), took.Round(100*time.Microsecond),
		map[bool]string{true: ": set the clock of this machine or of the server"}[skew > maxSkew])
	return nil
}
