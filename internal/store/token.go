package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"time"

	"palmares/internal/account"
)

// Tokens are the tokens for publishing from elsewhere. Nodes keep nothing of them in
// memory.
type Tokens struct{ *db }

// Create creates a token and returns it in plain text. Only its hash is stored, so it
// cannot be retrieved later. A zero expires means never. ErrInvalid: the name.
func (s *Tokens) Create(ctx context.Context, name string, expires, now time.Time) (string, account.PublishToken, error) {
	name, err := account.NormalizeTokenName(name)
	if err != nil {
		return "", account.PublishToken{}, problem(ErrInvalid, err, "%v", err)
	}
	text := account.NewPublishToken(rand.Reader)
	t := account.PublishToken{
		ID: account.NewID(account.PublishTokenID, now, rand.Reader), Name: name, Prefix: text[:8], Suffix: text[len(text)-4:],
		CreatedAt: now.UTC().Truncate(time.Millisecond), ExpiresAt: expires.UTC().Truncate(time.Millisecond),
	}
	hash := account.HashKey(text)
	err = s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO publish_tokens (id, hash, name, prefix, suffix, created_at, expires_at, revoked_at, last_used_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, '', '')`,
			t.ID, hex.EncodeToString(hash[:]), t.Name, t.Prefix, t.Suffix, formatTime(t.CreatedAt), formatTime(t.ExpiresAt))
		return err
	})
	if err != nil {
		return "", account.PublishToken{}, err
	}
	return text, t, nil
}

const selectTokens = `SELECT id, name, prefix, suffix, created_at, expires_at, revoked_at, last_used_at FROM publish_tokens `

// List lists all tokens, revoked and expired ones too, oldest first.
func (s *Tokens) List(ctx context.Context) (list []account.PublishToken, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		list, err = rows(ctx, tx, 0, selectTokens+`ORDER BY id`, scanToken)
		return err
	})
	return list, err
}

// Find returns the token with a hash, revoked and expired ones included. ErrNotFound and
// account.ErrInvalidToken: no token has this hash.
func (s *Tokens) Find(ctx context.Context, hash [sha256.Size]byte) (account.PublishToken, error) {
	var t account.PublishToken
	err := s.dialect.lookup(ctx, func() error {
		return scanToken(s.lookups.QueryRowContext(ctx, selectTokens+`WHERE hash = $1`, hex.EncodeToString(hash[:])).Scan, &t)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return account.PublishToken{}, problem(ErrNotFound, account.ErrInvalidToken, "there is no such token")
	}
	return t, s.translate(ctx, err)
}

// Any reports whether there is a token, be it a revoked or expired one.
func (s *Tokens) Any(ctx context.Context) (exists bool, err error) {
	err = s.dialect.lookup(ctx, func() error {
		return s.lookups.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM publish_tokens)`).Scan(&exists)
	})
	return exists, s.translate(ctx, err)
}

// Revoke ends a token at once; one that was revoked already keeps its time. ErrNotFound:
// there is no such token.
func (s *Tokens) Revoke(ctx context.Context, id string, now time.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE publish_tokens SET revoked_at = CASE WHEN revoked_at = '' THEN $1 ELSE revoked_at END WHERE id = $2`, formatTime(now), id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return cmp.Or(err, problemWith(id, ErrNoToken, "there is no token %q", id))
		}
		return nil
	})
}

// MarkUsed stores when a token was last used. It does not wait long: somebody waits for
// the publication.
func (s *Tokens) MarkUsed(ctx context.Context, id string, now time.Time) error {
	return s.withWait(extendWait).write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE publish_tokens SET last_used_at = $1 WHERE id = $2 AND last_used_at < $1`, formatTime(now), id)
		return err
	})
}

func scanToken(scan scanner, t *account.PublishToken) error {
	var created, expires, revoked, used string
	err := scan(&t.ID, &t.Name, &t.Prefix, &t.Suffix, &created, &expires, &revoked, &used)
	for _, m := range []struct {
		text string
		time *time.Time
	}{{created, &t.CreatedAt}, {expires, &t.ExpiresAt}, {revoked, &t.RevokedAt}, {used, &t.LastUsedAt}} {
		if err == nil {
			*m.time, err = parseTime(m.text)
		}
	}
	return err
}
