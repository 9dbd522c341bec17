package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors that callers may need to distinguish, with errors.Is. Errors that wrap them
// are messages for people: what is wrong, where, and what to do.
var (
	ErrNotFound   = errors.New("not found")
	ErrNoAccount  = fmt.Errorf("account %w", ErrNotFound)
	ErrNoKey      = fmt.Errorf("key %w", ErrNotFound)
	ErrNoEndpoint = fmt.Errorf("endpoint %w", ErrNotFound)
	ErrNoVersion  = fmt.Errorf("version %w", ErrNotFound)
	ErrNoDelivery = fmt.Errorf("delivery %w", ErrNotFound)
	ErrNoToken    = fmt.Errorf("token %w", ErrNotFound)

	ErrAccountExists = errors.New("the account exists")
	ErrKeyLimit      = errors.New("the account has reached the key limit of its plan")
	ErrKeyEnded      = errors.New("the key is no longer valid")
	ErrKeyOverlaps   = errors.New("too many replaced keys still work")
	ErrInvalid       = errors.New("invalid value")

	ErrBusy         = errors.New("the database is busy")
	ErrFull         = errors.New("no space left")
	ErrDisk         = errors.New("disk I/O error")
	ErrReadOnly     = errors.New("the database cannot be written")
	ErrNotADatabase = errors.New("not a database")
	ErrNotOurs      = errors.New("belongs to another program")
	ErrNotSQLite    = fmt.Errorf("%w of SQLite", ErrNotADatabase)
	ErrForeignFile  = fmt.Errorf("%w: a file", ErrNotOurs)
	ErrDamaged      = fmt.Errorf("%w: damaged", ErrNotADatabase)
	ErrVanished     = fmt.Errorf("%w: its file is gone", ErrReadOnly)
	ErrServed       = errors.New("another server is using the database")
	ErrNotEmpty     = errors.New("the database is not empty")
	ErrNewer        = errors.New("the database is newer than this program")
	ErrOlder        = errors.New("the database is older than the first release")
	ErrUnreachable  = errors.New("the database cannot be reached")
	// ErrUnavailable is a transient ErrUnreachable.
	ErrUnavailable = fmt.Errorf("%w at the moment", ErrUnreachable)
	// errStandby is a server that is read-only: another is the primary, or this one is about
	// to be.
	errStandby = fmt.Errorf("%w: %w", ErrReadOnly, ErrUnavailable)
)

// IsOutage reports whether err says that the database cannot be used, and nothing about what
// was asked of it.
func IsOutage(err error) bool { return errors.Is(err, ErrBusy) || isAny(err, refusals) }

// IsPermanent reports whether the database refuses, and will until somebody changes it or the
// options: a wrong password or a full disk, say, and not a server that restarts.
func IsPermanent(err error) bool {
	problem, ok := errors.AsType[*Error](err)
	return ok && problem.Permanent()
}

// refusals are the kinds of errors that need somebody to act, unless they are ErrUnavailable.
var refusals = []error{ErrUnreachable, ErrReadOnly, ErrFull, ErrDisk, ErrNotADatabase, ErrNotOurs, ErrNewer, ErrOlder}

func isAny(err error, kinds []error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

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
	if len(e.Slugs) == 1 {
		return "1 published tool is missing: " + e.Slugs[0]
	}
	return fmt.Sprintf("%d published tools are missing: %s%s", len(e.Slugs), strings.Join(shown, ", "), more)
}

// An Error is a message for people that matches its kind, one of the errors above, with
// errors.Is. What to do about it depends on who reads it: the command line adds the
// commands that help, pages have their own words.
type Error struct {
	Subject string // the address, id or path that it is about; "" for none

	text  string
	kind  error
	cause error // what the driver said; nil where that might repeat a password
}

func (e *Error) Error() string { return e.text }

// Permanent reports what IsPermanent does.
func (e *Error) Permanent() bool {
	return isAny(e.kind, refusals) && !errors.Is(e.kind, ErrUnavailable)
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

func problem(kind, cause error, format string, args ...any) error {
	return &Error{text: fmt.Sprintf(format, args...), kind: kind, cause: cause}
}

func problemWith(subject string, kind error, format string, args ...any) error {
	return &Error{Subject: subject, text: fmt.Sprintf(format, args...), kind: kind}
}

func busy(name string, cause error) error {
	return problem(ErrBusy, cause, "%s has been busy for too long, most likely with another publication: try again when that is done; nothing was changed", name)
}

func full(name string, cause error) error {
	return problem(ErrFull, cause, "there is no space left for %s: free some, then do this again; nothing was changed", name)
}

// explain turns an error of the driver into a message for whoever runs the program.
// Errors that have a message already pass through. When the server hung or was
// unreachable, its idle connections are not used again.
func (s *db) explain(ctx context.Context, err error) error {
	err = s.translate(ctx, err)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnavailable) {
		if s.dialect != nil { // Open may fail before there is one
			s.dialect.discardIdle()
		}
	}
	return err
}

// translate is explain for callers with a timeout so short that reaching it says
// nothing about the server.
func (s *db) translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err() // the drivers name it in many ways
	}
	var message *Error
	if errors.As(err, &message) || s.dialect == nil {
		return err
	}
	err = s.dialect.explain(err)
	s.faults.note(err)
	return err
}
