package sqldb

import (
	"errors"
	"fmt"
	"slices"
)

// Errors that callers may need to distinguish, with errors.Is. Errors that wrap them
// are messages for people: what is wrong, where, and what to do.
var (
	ErrNotFound = errors.New("not found")
	ErrInvalid  = errors.New("invalid value")
	ErrTooMany  = errors.New("rate limit exceeded")
	// ErrChanged: what a form was rendered from has changed. It was submitted before, or somebody
	// else did the same meanwhile.
	ErrChanged = errors.New("it has changed meanwhile")

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
func IsOutage(err error) bool { return errors.Is(err, ErrBusy) || isRefusal(err) }

// IsPermanent reports whether the database refuses, and will until somebody changes it or the
// options: a wrong password or a full disk, say, and not a server that restarts.
func IsPermanent(err error) bool {
	problem, ok := errors.AsType[*Error](err)
	return ok && problem.Permanent()
}

// refusals are the kinds of errors that need somebody to act, unless they are ErrUnavailable.
var refusals = []error{
	ErrUnreachable, ErrReadOnly, ErrFull, ErrDisk, ErrNotADatabase, ErrNotOurs, ErrNewer, ErrOlder,
}

func isRefusal(err error) bool {
	return slices.ContainsFunc(refusals, func(kind error) bool { return errors.Is(err, kind) })
}

// An Error is a message for people that matches its kind with errors.Is: one of the errors
// above, or of the package that returns it. What to do about it depends on who reads it: the
// command line adds the commands that help, pages have their own words.
type Error struct {
	Subject string // the address, id or path that it is about; "" for none

	text  string
	kind  error
	cause error // what the driver said; nil where that might repeat a password
}

func (e *Error) Error() string { return e.text }

// Permanent reports what IsPermanent does.
func (e *Error) Permanent() bool {
	return isRefusal(e.kind) && !errors.Is(e.kind, ErrUnavailable)
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

// Problem returns an Error. The cause may be nil.
func Problem(kind, cause error, format string, args ...any) error {
	return &Error{text: fmt.Sprintf(format, args...), kind: kind, cause: cause}
}

// ProblemWith returns an Error about a subject.
func ProblemWith(subject string, kind error, format string, args ...any) error {
	return &Error{Subject: subject, text: fmt.Sprintf(format, args...), kind: kind}
}

func busy(name string, cause error) error {
	return Problem(ErrBusy, cause, "%s has been busy for too long, most likely with another publication: "+
		"try again when that is done; nothing was changed", name)
}

func full(name string, cause error) error {
	return Problem(ErrFull, cause, "there is no space left for %s: free some, then do this again; nothing was changed",
		name)
}
