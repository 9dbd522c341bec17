package deskdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

// ErrNoShare: there is no such private link.
var ErrNoShare = fmt.Errorf("private link %w", sqldb.ErrNotFound)

// MaxShares is how many private links a working copy may have.
const MaxShares = 20

// A Share is a private link to a working copy, for somebody who is not at the desk.
type Share struct {
	ID        string
	CopyID    string
	CreatedAt time.Time
	ExpiresAt time.Time
	Views     int
}

// Shares are the private links to working copies.
type Shares struct{ db *sqldb.DB }

// Create creates a link, which works for account.ShareLife while its maker, an address, may open the copy, and returns
// its token in plain text. Only its hash is stored. ErrNotFound: there is no such copy; sqldb.ErrTooMany: it has MaxShares.
func (s *Shares) Create(ctx context.Context, copyID, maker string, now time.Time) (string, Share, error) {
	token := account.NewShareToken(rand.Reader)
	share, err := sqldb.Write(ctx, s.db, func(tx *sql.Tx) (Share, error) {
		if _, err := lockCopy(ctx, s.db, tx, copyID); err != nil {
			return Share{}, err
		}
		err := sqldb.Exec(ctx, tx, `DELETE FROM shares WHERE copy_id = $1 AND expires_at <= $2`, copyID, sqldb.FormatTime(now))
		if err != nil {
			return Share{}, err
		}
		created, err := sqldb.Row(ctx, tx, `INSERT INTO shares (hash, id, copy_id, maker, created_at, expires_at, views)
			VALUES ($1, $2, $3, $4, $5, $6, 0) RETURNING `+shareColumns, sqldb.ScanFields[Share], account.TokenHash(token),
			account.NewID(account.ShareID, now, rand.Reader), copyID, maker, sqldb.FormatTime(now),
			sqldb.FormatTime(now.Add(account.ShareLife)))
		if err != nil {
			return Share{}, err
		}
		return created, sqldb.AtMost(ctx, tx, MaxShares, "private links to the working copy: revoke some first",
			`shares WHERE copy_id = $1`, copyID)
	})
	return token, share, err
}

// Find returns the link of a token. It changes nothing: see CountView. ErrNotFound: it never
// existed, has expired, was revoked, or its working copy is gone.
func (s *Shares) Find(ctx context.Context, token string, now time.Time) (share Share, err error) {
	if !account.HasShareForm(token) {
		return Share{}, noShare()
	}
	err = s.db.Lookup(ctx, func(pool *sql.DB) error {
		share, err = sqldb.Row(ctx, pool, `SELECT `+shareColumns+` FROM shares WHERE hash = $1 AND expires_at > $2`,
			sqldb.ScanFields[Share], account.TokenHash(token), sqldb.FormatTime(now))
		return err
	})
	return share, sqldb.OrMissing(err, noShare())
}

// Prune deletes links that have expired.
func (s *Shares) Prune(ctx context.Context, now time.Time) error {
	return sqldb.DeleteExpired(ctx, s.db, "shares", "hash", now)
}

// CountView counts a view of a link. It does not wait long: somebody waits for the page.
func (s *Shares) CountView(ctx context.Context, id string) error {
	return sqldb.WriteOnce(ctx, s.db.Hasty(), `UPDATE shares SET views = views + 1 WHERE id = $1`, id)
}

// List lists the links to a working copy that work, newest first.
func (s *Shares) List(ctx context.Context, copyID string, now time.Time) ([]Share, error) {
	return sqldb.List(ctx, s.db, `SELECT `+shareColumns+` FROM shares WHERE copy_id = $1 AND expires_at > $2
		ORDER BY id DESC LIMIT $3`, sqldb.ScanFields[Share], knownCopy(copyID), sqldb.FormatTime(now), MaxShares)
}

// Revoke ends a link to a working copy at once. ErrNotFound: it has none of that id.
func (s *Shares) Revoke(ctx context.Context, copyID, id string) error {
	if !account.IsID(account.ShareID, id) {
		return noShare()
	}
	return sqldb.WriteSome(ctx, s.db, noShare(), `DELETE FROM shares WHERE copy_id = $1 AND id = $2`, knownCopy(copyID), id)
}

// noShare does not repeat the token: errors are logged.
func noShare() error {
	return sqldb.Problem(ErrNoShare, nil, "there is no such private link: it has expired or was revoked")
}

const shareColumns = `id, copy_id, created_at, expires_at, views`
