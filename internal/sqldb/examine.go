package sqldb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"palmares/internal/osfile"
)

// A Finding is one thing that somebody wants to know about a server.
type Finding struct {
	Subject string
	Verdict Verdict
	Text    string // what was found, or what is wrong and what to do, or why it could not be looked at
}

// A Verdict says whether something is in order.
type Verdict int

// What nobody has looked at is not in order.
const (
	Unknown Verdict = iota
	OK
	Wrong
)

// Found returns a Finding.
func Found(subject string, verdict Verdict, format string, args ...any) Finding {
	return Finding{subject, verdict, fmt.Sprintf(format, args...)}
}

// MaxSkew is how far the clocks of a node and of its database may differ: links and sessions
// live for minutes.
const MaxSkew = 5 * time.Second

// Examine looks at a database without changing it, not even its tables, and reports whether
// they are those of this program, so that Open would not change them either. If there are
// tables, it calls also, which returns what their contents tell.
func Examine(
	ctx context.Context, dsn string, cfg Config, also func(context.Context, Queryer) ([]Finding, error),
) (all []Finding, current bool) {
	d, err := connect(ctx, dsn, cfg, false)
	if d.dialect == nil { // it has not come to that
		return []Finding{{"database", Wrong, err.Error()}}, false
	}
	e := &examination{DB: d}
	if err == nil {
		err = e.run(ctx, also)
	}
	defer d.Close() //nolint:errcheck // nothing was written
	if err != nil && !d.Shared() {
		// On a full disk, SQLite may say only that input or output failed.
		if failed := e.tryWrite(); errors.Is(failed, syscall.ENOSPC) {
			err = failed
		}
	}
	if err != nil {
		e.add("database", Wrong, "%v", d.Explain(ctx, err))
	}
	return e.found, err == nil && e.version == e.known
}

// An examination is one Examine.
type examination struct {
	*DB
	version, known int // of the tables
	found          []Finding
}

func (e *examination) add(subject string, verdict Verdict, format string, args ...any) {
	e.found = append(e.found, Found(subject, verdict, format, args...))
}

func (e *examination) run(ctx context.Context, also func(context.Context, Queryer) ([]Finding, error)) error {
	if err := e.examineTables(ctx); err != nil || e.version == 0 {
		return err
	}
	more, err := also(ctx, e.reads)
	e.found = append(e.found, more...)
	if err != nil {
		return err
	}
	if e.Shared() {
		return e.examineServer(ctx)
	}
	return e.examineFile(ctx)
}

func (e *examination) examineTables(ctx context.Context) error {
	all, err := migrationsOf(e.parts)
	if err != nil {
		return err
	}
	limited, cancel := e.dialect.schemaContext(ctx)
	defer cancel()
	e.version, err = e.schema(limited, e.reads, all)
	if err != nil {
		return err
	}
	e.known = unreleased + len(all)
	switch {
	case e.version == 0:
		e.add("tables", Unknown, "none yet: the first command creates them")
	case e.version < e.known:
		e.add("tables", OK, "version %d: the next command brings them to version %d", e.version, e.known)
	default:
		e.add("tables", OK, "version %d", e.version)
	}
	return nil
}

func (e *examination) examineFile(ctx context.Context) error {
	// A transaction that changes nothing needs no space, and one that changes little may find it in the
	// write-ahead log.
	if err := WriteOnce(ctx, e.Retried(), `UPDATE palmares_schema SET version = version`); err != nil {
		return err
	}
	if err := e.tryWrite(); err != nil {
		return err
	}
	if err := integrity(ctx, e.reads, e.name); err != nil {
		return err
	}
	var pages, size int64
	const query = `SELECT page_count, page_size FROM pragma_page_count, pragma_page_size`
	if err := e.reads.QueryRowContext(ctx, query).Scan(&pages, &size); err != nil {
		return err
	}
	if !slices.ContainsFunc(e.found, func(f Finding) bool { return f.Subject == "clock" }) {
		e.add("clock", Unknown, "there is nothing to compare it with: `timedatectl` says whether a service sets it")
	}
	e.add("integrity", OK, "all %.1f MB of %s read, nothing is wrong, and it can be written",
		float64(pages*size)/1e6, e.name)
	if free, err := osfile.Free(filepath.Dir(e.name)); err == nil { // it is not known on all systems
		e.room(free, pages*size)
	}
	return nil
}

// room compares the space beside a file with its size.
func (e *examination) room(free, size int64) {
	const text = "%.1f MB are free beside the database, which has %.1f"
	if free < size {
		e.add("space", Wrong, text+": a backup and an upgrade may need as much as it has; make room", float64(free)/1e6,
			float64(size)/1e6)
		return
	}
	e.add("space", OK, text, float64(free)/1e6, float64(size)/1e6)
}

// tryWrite writes a megabyte to a file beside the database, and removes it.
func (e *examination) tryWrite() error {
	if err := osfile.TryWrite(filepath.Dir(e.name), 1<<20); err != nil {
		return fmt.Errorf("no megabyte can be written beside %s: %w", e.name, err)
	}
	return nil
}

// nodeConnections is what a node opens at most.
const nodeConnections = maxConnections + lookupConnections + sendConnections + 2

func (e *examination) examineServer(ctx context.Context) error {
	var version string
	var standby bool
	var most, used int
	var clock time.Time
	sent := time.Now()
	err := e.reads.QueryRowContext(ctx, `
		SELECT current_setting('server_version'), pg_is_in_recovery(), clock_timestamp(),
			current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')`).
		Scan(&version, &standby, &clock, &most, &used)
	if err != nil {
		return err
	}
	took := time.Since(sent)
	// judge adds what was found, with what to do if that is wrong.
	judge := func(wrong bool, subject, advice, format string, args ...any) {
		verdict := OK
		if wrong {
			verdict, format = Wrong, format+advice
		}
		e.add(subject, verdict, format, args...)
	}
	judge(standby, "server", ", a standby: connect to the primary", "PostgreSQL %s", version)
	judge(most-used < nodeConnections, "connections", ": raise max_connections, or use PgBouncer",
		"%d of %d are open, and a node opens up to %d", used, most, nodeConnections)
	// The server read its clock at some time between sending and receiving.
	skew := max(sent.Sub(clock), clock.Sub(sent.Add(took)), 0)
	judge(skew > MaxSkew, "clock", ": set the clock of this machine or of the server",
		"%s of the server's, which took %s to answer", skew.Round(time.Millisecond), took.Round(100*time.Microsecond))
	return nil
}
