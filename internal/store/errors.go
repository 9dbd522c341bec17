package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What callers may need to tell apart, with errors.Is. The errors that carry them
// are sentences for people: what is wrong, where, and what to do.
var (
	ErrNotFound      = errors.New("not found")
	ErrAccountExists = errors.New("the account exists")
	ErrKeyLimit      = errors.New("the account has all the keys of its plan")
	ErrKeyEnded      = errors.New("the key has ended")
	ErrInvalid       = errors.New("invalid value")

	ErrBusy         = errors.New("the database is busy")
	ErrFull         = errors.New("no space left")
	ErrReadOnly     = errors.New("the database cannot be written")
	ErrNotADatabase = errors.New("not a database")
	ErrNotOurs      = errors.New("a database of another program")
	ErrNewer        = errors.New("the database is newer than this program")
	ErrUnreachable  = errors.New("the database cannot be reached")
	// ErrAway is ErrUnreachable that may pass by itself: nothing has to be corrected.
	ErrAway = fmt.Errorf("%w at the moment", ErrUnreachable)
	// errStandby is a server that only reads: another is the primary, or it will be
	// itself in a moment.
	errStandby = fmt.Errorf("%w: %w", ErrReadOnly, ErrAway)
)

// A RemovalsError stops a publication in which active tools disappear without
// having been retired or renamed.
type RemovalsError struct {
	Slugs []string
}

func (e *RemovalsError) Error() string {
	const most = 10
	shown, more := e.Slugs, ""
	if len(shown) > most {
		more = fmt.Sprintf(" and %d more", len(shown)-most)
		shown = shown[:most]
	}
	return fmt.Sprintf("%d published tools are missing: %s%s; write an obituary for each in cimetiere/, "+
		"name it as an alias of the tool it became, or pass --allow-removals", len(e.Slugs), strings.Join(shown, ", "), more)
}

// sentence is an error for people that code can still tell apart.
type sentence struct {
	text  string
	kind  error
	cause error // what the driver said; nil where that might repeat a password
}

func (e *sentence) Error() string { return e.text }

func (e *sentence) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

func problem(kind, cause error, format string, args ...any) error {
	return &sentence{text: fmt.Sprintf(format, args...), kind: kind, cause: cause}
}

func (s *Store) busy(cause error) error {
	return problem(ErrBusy, cause, "%s has been busy for too long, most likely with another publication: try again when that is done; nothing was changed", s.name)
}

// isBusy tells whether SQLite has another writer at the moment.
func isBusy(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_BUSY
}

// isGoneAccount tells whether PostgreSQL refused a row of an account that was
// deleted a moment ago.
func isGoneAccount(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23503" // foreign_key_violation
}

// isBroken tells whether a connection was cut, which says nothing of the next one.
func isBroken(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return strings.HasPrefix(pg.Code, "57P0") || strings.HasPrefix(pg.Code, "08") // it was told to go
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return !errors.As(err, &connect) && (errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF))
}

// explain turns what a driver says into a sentence for whoever runs the program.
// Errors that are sentences already pass through. When the server hung or was not
// there, its idle connections are no more used.
func (s *Store) explain(ctx context.Context, err error) error {
	told := s.tell(ctx, err)
	if errors.Is(told, context.DeadlineExceeded) || errors.Is(told, ErrAway) {
		s.doubt()
	}
	return told
}

// tell is explain for those whose patience is so short that it says nothing of the
// server.
func (s *Store) tell(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err() // the drivers name it in many ways
	}
	var told *sentence
	if errors.As(err, &told) {
		return err
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return s.explainSQLite(lite.Code()&0xff, err)
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return s.explainPostgres(pg, err)
	}
	var connect *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return problem(ErrAway, err, "%s cannot be reached: check that it runs and that host and port are right (%v)", s.name, err)
	}
	return err
}

func (s *Store) explainSQLite(code int, err error) error {
	switch code {
	case sqlite3.SQLITE_BUSY:
		return s.busy(err)
	case sqlite3.SQLITE_FULL:
		return problem(ErrFull, err, "there is no space left for %s: free some and try again; nothing was changed", s.name)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return problem(ErrReadOnly, err, "%s cannot be written: the file and its folder must belong to the user that runs palmares", s.name)
	case sqlite3.SQLITE_NOTADB:
		return problem(ErrNotADatabase, err, "%s is not a SQLite database: give --database the path of one, or of a file that does not exist yet; nothing was changed", s.name)
	case sqlite3.SQLITE_CORRUPT:
		return problem(ErrNotADatabase, err, "%s is damaged: restore it from a backup (%v)", s.name, err)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

func (s *Store) explainPostgres(pg *pgconn.PgError, err error) error {
	switch pg.Code {
	case "55P03", "40P01": // lock_not_available, deadlock_detected
		return s.busy(err)
	case "53100": // disk_full
		return problem(ErrFull, err, "there is no space left for %s: free some and try again; nothing was changed", s.name)
	case "25006": // read_only_sql_transaction: this server was the primary, and there may be another
		return problem(errStandby, err, "%s cannot be written: connect to the primary server (%s)", s.name, pg.Message)
	case "57014": // query_canceled
		return problem(ErrAway, err, "%s takes too long to answer (%s)", s.name, pg.Message)
	case "42501": // insufficient_privilege
		return problem(ErrReadOnly, err, "%s cannot be written: connect to it as a user who may create tables and write to them (%s)", s.name, pg.Message)
	case "42P07": // duplicate_table
		return problem(ErrNotOurs, err, "%s has tables of another program under the names that palmares uses: give it a database or a schema of its own (…?search_path=palmares); nothing was changed (%s)", s.name, pg.Message)
	case "3F000": // invalid_schema_name
		return problem(ErrUnreachable, err, "%s has no schema to make tables in: create the one that search_path names, as in CREATE SCHEMA palmares", s.name)
	case "3D000": // invalid_catalog_name
		return problem(ErrUnreachable, err, "%s does not exist: create it, as in createdb palmares", s.name)
	case "28000", "28P01": // invalid_authorization_specification, invalid_password
		return problem(ErrUnreachable, err, "%s refuses this user or password: check both in the postgres:// URL (%s)", s.name, pg.Message)
	}
	switch pg.Code[:2] {
	case "08", "53", "57": // the connection, resources, operator intervention
		return problem(ErrAway, err, "%s is not available at the moment: try again (%s)", s.name, pg.Message)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}
