package accountdb

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

// ErrNoToken: there is no such token.
var ErrNoToken = fmt.Errorf("token %w", sqldb.ErrNotFound)

// Tokens are the tokens for publishing from elsewhere. Nodes keep nothing of them in
// memory.
type Tokens struct{ db *sqldb.DB }

// Create creates a token and returns it in plain text. Only its hash is stored, so it
// cannot be retrieved later. A zero expires means never. ErrInvalid: the name.
func (s *Tokens) Create(
	ctx context.Context, name string, expires, now time.Time,
) (string, account.PublishToken, error) {
	name, err := account.NormalizeTokenName(name)
	if err != nil {
		return "", account.PublishToken{}, sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	text := account.NewPublishToken(rand.Reader)
	t := account.PublishToken{
		ID: account.NewID(account.PublishTokenID, now, rand.Reader), Name: name, Prefix: text[:8], Suffix: text[len(text)-4:],
		CreatedAt: now.UTC().Truncate(time.Millisecond), ExpiresAt: expires.UTC().Truncate(time.Millisecond),
	}
	hash := account.HashKey(text)
	return text, t, sqldb.WriteOnce(ctx, s.db, `
			INSERT INTO publish_tokens (id, hash, name, prefix, suffix, created_at, expires_at, revoked_at, last_used_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, '', '')`,
		t.ID, fmt.Sprintf("%x", hash), t.Name, t.Prefix, t.Suffix, sqldb.FormatTime(t.CreatedAt),
		sqldb.FormatTime(t.ExpiresAt))
}

const selectTokens = `SELECT id, name, prefix, suffix, created_at, expires_at, revoked_at, last_used_at
	FROM publish_tokens `

// List lists all tokens, revoked and expired ones too, oldest first.
func (s *Tokens) List(ctx context.Context) ([]account.PublishToken, error) {
	return sqldb.List(ctx, s.db, selectTokens+`ORDER BY id`, sqldb.ScanFields[account.PublishToken])
}

// Find returns the token with a hash, revoked and expired ones included. ErrNotFound and
// account.ErrInvalidToken: no token has this hash.
func (s *Tokens) Find(ctx context.Context, hash [sha256.Size]byte) (t account.PublishToken, err error) {
	err = s.db.Lookup(ctx, func(pool *sql.DB) error {
		t, err = sqldb.Row(ctx, pool, selectTokens+`WHERE hash = $1`, sqldb.ScanFields[account.PublishToken],
			fmt.Sprintf("%x", hash))
		return err
	})
	return t, sqldb.OrMissing(err, sqldb.Problem(sqldb.ErrNotFound, account.ErrInvalidToken, "there is no such token"))
}

// Any reports whether there is a token, be it a revoked or expired one.
func (s *Tokens) Any(ctx context.Context) (exists bool, err error) {
	err = s.db.Lookup(ctx, func(pool *sql.DB) error {
		return pool.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM publish_tokens)`).Scan(&exists)
	})
	return exists, err
}

// Revoke ends a token at once; one that was revoked already keeps its time. ErrNotFound:
// there is no such token.
func (s *Tokens) Revoke(ctx context.Context, id string, now time.Time) error {
	return sqldb.WriteSome(ctx, s.db, sqldb.ProblemWith(id, ErrNoToken, "there is no token %q", id), `UPDATE publish_tokens
		SET revoked_at = CASE WHEN revoked_at = '' THEN $1 ELSE revoked_at END WHERE id = $2`, sqldb.FormatTime(now), id)
}

// MarkUsed stores when a token was last used. It does not wait long: somebody waits for
// the publication.
func (s *Tokens) MarkUsed(ctx context.Context, id string, now time.Time) error {
	return sqldb.WriteOnce(ctx, s.db.Hasty(), `UPDATE publish_tokens SET last_used_at = $1
			WHERE id = $2 AND last_used_at < $1`, sqldb.FormatTime(now), id)
}
