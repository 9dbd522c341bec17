package deskdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

// ErrNoCopy: there is no such working copy.
var ErrNoCopy = fmt.Errorf("working copy %w", sqldb.ErrNotFound)

// The bounds of working copies.
const (
	MaxCopies     = 500      // of everybody
	MaxCopyBytes  = 1 << 20  // of one, as of a file of the content folder
	MaxCopyNote   = 4000     // characters
	MaxCopyFiles  = 20       // pictures of one
	MaxFileBytes  = 10 << 20 // of a picture
	MaxFilesBytes = 64 << 20 // of all pictures of one
	maxCopyPath   = 250      // bytes
)

// A WorkingCopy is a file of the content folder that somebody changes, before it is published. Its JSON is what
// its author exports.
type WorkingCopy struct {
	ID        string    `json:"id"`
	Path      string    `json:"path"` // in the content folder: outils/plume.md
	Replaces  string    `json:"-"`    // the path of a file that the publication removes; "" for none
	Author    string    `json:"-"`    // the address of who writes it, perhaps of a former editor
	Base      string    `json:"-"`    // hex SHA-256 of Original; "" for a new record
	State     string    `json:"state"`
	Note      string    `json:"note,omitempty"` // to the reviewer, or back to the author
	Revision  int64     `json:"-"`              // rises with every save
	CreatedAt time.Time `json:"created_at"`
	SavedAt   time.Time `json:"saved_at"`
	Original  []byte    `json:"-"` // the file it started from; empty for a new record
	Data      []byte    `json:"-"` // as it is now
}

// Copies are the working copies of everybody at the desk. Deleting an account leaves them.
type Copies struct{ db *sqldb.DB }

// Create stores a new working copy, of which it takes Path, Replaces, Author, Original and Data. If
// the author has one of this path already, it returns that. ErrInvalid; sqldb.ErrTooMany: there are
// MaxCopies.
func (s *Copies) Create(ctx context.Context, c WorkingCopy, now time.Time) (WorkingCopy, error) {
	author, err := account.NormalizeEmail(c.Author)
	if err != nil {
		return WorkingCopy{}, sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	if err := cmp.Or(checkPath(c.Path), checkSize(c.Original), checkSize(c.Data)); err != nil {
		return WorkingCopy{}, err
	}
	if c.Replaces != "" {
		if err := checkPath(c.Replaces); err != nil {
			return WorkingCopy{}, err
		}
	}
	return sqldb.Write(ctx, s.db, func(tx *sql.Tx) (WorkingCopy, error) {
		// Copies are created one after the other, so that there are never too many.
		if err := s.db.InTurn(ctx, tx); err != nil {
			return WorkingCopy{}, err
		}
		n, err := sqldb.ExecRows(ctx, tx, `
			INSERT INTO working_copies (id, path, replaces, author, base, original, data, state, note, revision, created_at, saved_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', 1, $9, $9) ON CONFLICT (path, author) DO NOTHING`,
			account.NewID(account.CopyID, now, rand.Reader), c.Path, c.Replaces, author, baseOf(c.Original), stored(c.Original),
			stored(c.Data), CopyInProgress, sqldb.FormatTime(now))
		if err == nil && n > 0 {
			err = sqldb.AtMost(ctx, tx, MaxCopies, "working copies: publish or delete some first", `working_copies`)
		}
		if err != nil {
			return WorkingCopy{}, err
		}
		return sqldb.Row(ctx, tx, selectWholeCopies+`WHERE path = $1 AND author = $2`, sqldb.ScanFields[WorkingCopy], c.Path, author)
	})
}

// Find returns a working copy. ErrNotFound: there is none of that id.
func (s *Copies) Find(ctx context.Context, id string) (WorkingCopy, error) {
	c, err := findCopy(ctx, s.db.Reads(), id)
	return c, s.db.Explain(ctx, err)
}

// List lists all working copies without their bytes, those saved last first.
func (s *Copies) List(ctx context.Context) ([]WorkingCopy, error) {
	return sqldb.List(ctx, s.db, `SELECT `+copyColumns+`, NULL, NULL FROM working_copies
		ORDER BY saved_at DESC, id DESC LIMIT $1`, sqldb.ScanFields[WorkingCopy], MaxCopies)
}

// Save stores what somebody wrote on the basis of a revision, and returns the new one. The same
// bytes again change nothing, so that a save may be repeated. What was ready is in progress
// again. ErrNotFound; ErrInvalid: it is too long; sqldb.ErrChanged: there is another revision.
func (s *Copies) Save(ctx context.Context, id string, revision int64, data []byte, now time.Time) (int64, error) {
	if err := checkSize(data); err != nil {
		return 0, err
	}
	return s.write(ctx, id, revision, data, now, ``)
}

// Rebase is Save for somebody who has seen that the file changed meanwhile: original is the file as
// it is now.
func (s *Copies) Rebase(
	ctx context.Context, id string, revision int64, original, data []byte, now time.Time,
) (int64, error) {
	if err := cmp.Or(checkSize(original), checkSize(data)); err != nil {
		return 0, err
	}
	return s.write(ctx, id, revision, data, now, `, original = $6, base = $7`, stored(original), baseOf(original))
}

// write saves a working copy, and what else is set.
func (s *Copies) write(
	ctx context.Context, id string, revision int64, data []byte, now time.Time, set string, more ...any,
) (int64, error) {
	return sqldb.Write(ctx, s.db, func(tx *sql.Tx) (int64, error) {
		c, err := lockCopy(ctx, s.db, tx, id)
		if err != nil || set == "" && string(c.Data) == string(data) {
			return c.Revision, err
		}
		if c.Revision != revision {
			return 0, copyChanged(id)
		}
		if c.State != CopyForReview {
			c.State = CopyInProgress
		}
		return revision + 1, sqldb.Exec(ctx, tx, `UPDATE working_copies
			SET data = $1, revision = $2, saved_at = $3, state = $4`+set+` WHERE id = $5`,
			append([]any{stored(data), revision + 1, sqldb.FormatTime(now), c.State, id}, more...)...)
	})
}

// Delete deletes a working copy, its pictures and its private links, unless it was saved since the
// revision that was published or seen. ErrNotFound; sqldb.ErrChanged.
func (s *Copies) Delete(ctx context.Context, id string, revision int64) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := lockCopy(ctx, s.db, tx, id); err != nil {
			return err
		}
		return sqldb.ExecSome(ctx, tx, copyChanged(id), `DELETE FROM working_copies WHERE id = $1 AND revision = $2`, id,
			revision)
	})
}

// lockCopy finds a working copy and locks its row until the end of the transaction.
func lockCopy(ctx context.Context, db *sqldb.DB, tx *sql.Tx, id string) (WorkingCopy, error) {
	err := sqldb.LockRows(ctx, db, tx, `SELECT id FROM working_copies WHERE id = $1`, "FOR UPDATE", knownCopy(id))
	if err != nil {
		return WorkingCopy{}, err
	}
	return findCopy(ctx, tx, id)
}

func findCopy(ctx context.Context, q sqldb.Queryer, id string) (WorkingCopy, error) {
	c, err := sqldb.Row(ctx, q, selectWholeCopies+`WHERE id = $1`, sqldb.ScanFields[WorkingCopy], knownCopy(id))
	return c, sqldb.OrMissing(err, sqldb.ProblemWith(id, ErrNoCopy, "there is no working copy %q", id))
}

// knownCopy returns the id of a working copy, "" for a text that cannot be one.
func knownCopy(id string) string {
	if !account.IsID(account.CopyID, id) {
		return ""
	}
	return id
}

func copyChanged(id string) error {
	return sqldb.ProblemWith(id, sqldb.ErrChanged, "the working copy %s was saved meanwhile: load it again", id)
}

const (
	copyColumns       = `id, path, replaces, author, base, state, note, revision, created_at, saved_at`
	selectWholeCopies = `SELECT ` + copyColumns + `, original, data FROM working_copies `
)

// baseOf returns the hash of the file that a working copy starts from, "" for none.
func baseOf(original []byte) string {
	if original == nil {
		return ""
	}
	hash := sha256.Sum256(original)
	return hex.EncodeToString(hash[:])
}

// stored returns bytes that are never NULL.
func stored(b []byte) []byte { return append([]byte{}, b...) }

// isText reports whether PostgreSQL can store a text.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// checkPath returns ErrInvalid for what cannot be a file of the content folder.
func checkPath(path string) error {
	if !fs.ValidPath(path) || path == "." || len(path) > maxCopyPath || !isText(path) {
		return sqldb.Problem(sqldb.ErrInvalid, nil, "%.300q is not a file of the content folder: "+
			"expected a path of at most %d bytes, as in outils/plume.md", path, maxCopyPath)
	}
	return nil
}

func checkSize(data []byte) error {
	if len(data) > MaxCopyBytes {
		return sqldb.Problem(sqldb.ErrInvalid, nil, "the file has %d bytes; the maximum is %d", len(data), MaxCopyBytes)
	}
	return nil
}
