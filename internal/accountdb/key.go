package accountdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

// Errors about keys that callers may need to distinguish.
var (
	ErrNoKey       = fmt.Errorf("key %w", sqldb.ErrNotFound)
	ErrKeyLimit    = errors.New("the account has reached the key limit of its plan")
	ErrKeyRate     = errors.New("the account has created as many keys as it may in a day")
	ErrKeyEnded    = errors.New("the key is no longer valid")
	ErrKeyOverlaps = errors.New("too many replaced keys still work")
)

// Keys are the API keys of accounts.
type Keys struct{ db *sqldb.DB }

// Create creates a key for an account and returns it in plain text. Only its hash is
// stored, so it cannot be retrieved later. newest is for a form that may be submitted
// twice: the id of the newest key when the form was rendered, "" for none; otherwise nil.
// ErrNotFound: no such account; ErrKeyLimit: it has reached the key limit of its plan; ErrKeyRate;
// ErrInvalid: the name; sqldb.ErrChanged: there is a newer key than newest.
func (s *Keys) Create(
	ctx context.Context, email, name string, newest *string, now time.Time,
) (string, account.Key, error) {
	name, err := account.NormalizeKeyName(name)
	if err != nil {
		return "", account.Key{}, sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	text, k := newKey(name, now)
	err = writeKeys(ctx, s.db, func(tx *sql.Tx) error {
		a, err := lockAccount(ctx, tx, email)
		if err != nil {
			return err
		}
		if newest != nil {
			if err := checkNewest(ctx, tx, "api_keys", a.ID, *newest); err != nil {
				return err
			}
		}
		// A key that was rotated out has an end and does not count during its overlap.
		live, err := sqldb.Value[int](ctx, tx, `SELECT count(*) FROM api_keys
			WHERE account_id = $1 AND revoked_at = '' AND expires_at = ''`, a.ID)
		if err != nil {
			return err
		}
		if most := account.MaxKeys(a.Plan); live >= most {
			return sqldb.ProblemWith(a.Email, ErrKeyLimit, "%s has %d live keys and the %s plan has %d",
				a.Email, live, a.Plan, most)
		}
		k.AccountID, k.Plan = a.ID, a.Plan
		return insertKey(ctx, tx, text, k)
	})
	return text, k, err
}

// Rotate creates the successor of a key, with the same name, and returns it in clear for
// the only time. The old key works for account.Overlap and no longer counts against the
// plan. ErrNotFound: there is no such key; ErrKeyEnded: it was revoked, has expired or
// has a successor already; ErrKeyOverlaps: as many replaced keys as the plan has keys
// still work; ErrKeySuspended: its successor would be one more live key than
// the plan allows.
func (s *Keys) Rotate(ctx context.Context, owner account.Owner, id string, now time.Time) (string, account.Key, error) {
	var text string
	var k account.Key
	err := writeKeys(ctx, s.db, func(tx *sql.Tx) error {
		// The account is locked first, as for every change of its keys: of two concurrent
		// rotations the second sees what the first did, and a deletion cannot deadlock.
		if err := lockOwner(ctx, tx, owner, id); err != nil {
			return err
		}
		old, err := sqldb.Row(ctx, tx, selectKeys+`WHERE k.id = $1`, sqldb.ScanFields[account.Key], id)
		if err != nil {
			return err
		}
		switch old.State(now) {
		case account.KeyRevoked:
			return sqldb.ProblemWith(id, ErrKeyEnded, "the key %s was revoked on %s and cannot be rotated",
				id, catalog.Day(old.RevokedAt))
		case account.KeyExpired:
			return sqldb.ProblemWith(id, ErrKeyEnded, "the key %s expired on %s and cannot be rotated",
				id, catalog.Day(old.ExpiresAt))
		case account.KeyOverlap:
			// Another successor would be one more live key than the plan allows.
			return sqldb.ProblemWith(id, ErrKeyEnded, "the key %s was rotated already and works until %s: "+
				"rotate its successor instead", id, sqldb.FormatTime(old.ExpiresAt))
		case account.KeySuspended:
			return sqldb.Problem(ErrKeySuspended, nil, "the key %s is suspended and cannot be rotated: "+
				"revoke another key of its account, which brings it back, or change the plan", id)
		}
		if err := checkOverlaps(ctx, tx, old, now); err != nil {
			return err
		}
		text, k = newKey(old.Name, now)
		k.AccountID, k.Plan = old.AccountID, old.Plan
		if err := sqldb.Exec(ctx, tx, `UPDATE api_keys SET expires_at = $1
			WHERE id = $2`, sqldb.FormatTime(now.Add(account.Overlap)), id); err != nil {
			return err
		}
		return insertKey(ctx, tx, text, k)
	})
	return text, k, err
}

// checkOverlaps limits the keys that work beside those of the plan: otherwise rotating a
// key and then its successor, again and again, would give any number of them.
func checkOverlaps(ctx context.Context, tx *sql.Tx, k account.Key, now time.Time) error {
	var replaced int
	var next string
	err := tx.QueryRowContext(ctx, `
		SELECT count(*), coalesce(min(expires_at), '') FROM api_keys WHERE account_id = $1 AND revoked_at = '' AND expires_at > $2`,
		k.AccountID, sqldb.FormatTime(now)).Scan(&replaced, &next)
	if err == nil && replaced >= account.MaxKeys(k.Plan) {
		err = sqldb.ProblemWith(k.ID, ErrKeyOverlaps, "%d replaced keys of the account still work, as many as it may have: "+
			"revoke one, or wait until %s", replaced, next)
	}
	return err
}

// newKey returns a key and its record, which has no owner yet.
func newKey(name string, now time.Time) (string, account.Key) {
	text := account.NewKey(rand.Reader)
	return text, account.Key{
		ID: account.NewID(account.KeyID, now, rand.Reader), Name: name,
		Prefix: text[:8], Suffix: text[len(text)-4:], CreatedAt: now.UTC().Truncate(time.Millisecond),
	}
}

// insertKey stores a key of an account that is locked. ErrKeyRate: it has created too many.
func insertKey(ctx context.Context, tx *sql.Tx, text string, k account.Key) error {
	created, err := sqldb.Value[int](ctx, tx, `SELECT count(*) FROM api_keys WHERE account_id = $1 AND created_at > $2`,
		k.AccountID, sqldb.FormatTime(k.CreatedAt.AddDate(0, 0, -1)))
	if err == nil && created >= account.MaxNewKeys {
		err = sqldb.ProblemWith(k.AccountID, ErrKeyRate,
			"the account %s has created %d keys in 24 hours, as many as it may: try again tomorrow", k.AccountID, created)
	}
	if err != nil {
		return err
	}
	hash := account.HashKey(text)
	return sqldb.Exec(ctx, tx, `
		INSERT INTO api_keys (id, account_id, hash, name, prefix, suffix, created_at, last_used_at, revoked_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, '', '', '')`,
		k.ID, k.AccountID, hex.EncodeToString(hash[:]), k.Name, k.Prefix, k.Suffix, sqldb.FormatTime(k.CreatedAt))
}

// lockOwner locks the account that a key belongs to, as lockAccount does.
func lockOwner(ctx context.Context, tx *sql.Tx, owner account.Owner, keyID string) error {
	return sqldb.ExecSome(ctx, tx, noKey(keyID), `UPDATE accounts SET plan = plan
		WHERE id = (SELECT account_id FROM api_keys WHERE id = $1) AND ($2 OR id = $3)`,
		keyID, owner.Any(), owner.AccountID())
}

const (
	selectKeys = `SELECT ` + keyColumns
	keyColumns = `k.id, k.account_id, a.plan, k.name, k.prefix, k.suffix, k.created_at, k.last_used_at, k.revoked_at,
		k.expires_at, k.suspended_at FROM api_keys k JOIN accounts a ON a.id = k.account_id `
)

// List lists the keys of an account, revoked ones too, oldest first. ErrNotFound:
// no such account.
func (s *Keys) List(ctx context.Context, email string) ([]account.Key, error) {
	return sqldb.Read(ctx, s.db, func(tx *sql.Tx) ([]account.Key, error) {
		a, err := findAccount(ctx, tx, email)
		if err != nil {
			return nil, err
		}
		return sqldb.Rows(ctx, tx, selectKeys+`WHERE k.account_id = $1 ORDER BY k.id`, sqldb.ScanFields[account.Key], a.ID)
	})
}

// Find returns a key. ErrNotFound: there is none, or it is another account's.
func (s *Keys) Find(ctx context.Context, owner account.Owner, id string) (account.Key, error) {
	k, err := sqldb.Row(ctx, s.db.Reads(), selectKeys+`WHERE k.id = $1 AND ($2 OR k.account_id = $3)`, sqldb.ScanFields[account.Key],
		id, owner.Any(), owner.AccountID())
	return k, s.db.Explain(ctx, sqldb.OrMissing(err, noKey(id)))
}

// ByHash returns the key with a hash, revoked and expired ones included. ErrNotFound and
// account.ErrInvalidKey: no key has this hash.
func (s *Keys) ByHash(ctx context.Context, hash [sha256.Size]byte) (account.Key, error) {
	var k account.Key
	err := s.db.Lookup(ctx, func(pool *sql.DB) (err error) {
		k, err = sqldb.Row(ctx, pool, selectKeys+`WHERE k.hash = $1`, sqldb.ScanFields[account.Key], hex.EncodeToString(hash[:]))
		return err
	})
	return k, sqldb.OrMissing(err, sqldb.Problem(sqldb.ErrNotFound, account.ErrInvalidKey, "no account has this key"))
}

// Masked returns the keys that begin and end with some characters, revoked and expired ones included. ErrNotFound and
// account.ErrInvalidKey: none does.
func (s *Keys) Masked(ctx context.Context, prefix, suffix string) ([]account.Key, error) {
	keys, err := sqldb.List(ctx, s.db, selectKeys+`WHERE k.prefix = $1 AND k.suffix = $2 ORDER BY k.id`,
		sqldb.ScanFields[account.Key], prefix, suffix)
	if err == nil && len(keys) == 0 {
		err = sqldb.Problem(sqldb.ErrNotFound, account.ErrInvalidKey, "no account has this key")
	}
	return keys, err
}

// ByHashes is ByHash for many keys in few queries. Keys that do not exist are left out.
func (s *Keys) ByHashes(ctx context.Context, hashes [][sha256.Size]byte) (map[[sha256.Size]byte]account.Key, error) {
	all := make(map[[sha256.Size]byte]account.Key, len(hashes))
	type hashed struct {
		Hash [sha256.Size]byte
		account.Key
	}
	for some := range slices.Chunk(hashes, s.db.Placeholders()) {
		texts := make([]string, len(some))
		for i, hash := range some {
			texts[i] = hex.EncodeToString(hash[:])
		}
		args, list := sqldb.InAfter(nil, texts)
		var found []hashed
		err := s.db.Lookup(ctx, func(pool *sql.DB) (err error) {
			found, err = sqldb.Rows(ctx, pool, `SELECT k.hash, `+keyColumns+`WHERE k.hash IN `+list,
				sqldb.ScanFields[hashed], args...)
			return err
		})
		for _, k := range found {
			all[k.Hash] = k.Key
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Revoke ends a key at once; one that was revoked already keeps its time. If that makes
// room for a suspended key, it works again. ErrNotFound: there is no such key.
func (s *Keys) Revoke(ctx context.Context, owner account.Owner, id string, now time.Time) error {
	return writeKeys(ctx, s.db, func(tx *sql.Tx) error {
		if err := lockOwner(ctx, tx, owner, id); err != nil {
			return err
		}
		if err := sqldb.Exec(ctx, tx, `UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at = ''`,
			sqldb.FormatTime(now), id); err != nil {
			return err
		}
		k, err := sqldb.Row(ctx, tx, selectKeys+`WHERE k.id = $1`, sqldb.ScanFields[account.Key], id)
		if err != nil {
			return err
		}
		return resumeKeys(ctx, tx, k.AccountID, k.Plan)
	})
}

// Rename changes the name of a key. ErrNotFound: there is no such key; ErrInvalid: the
// name.
func (s *Keys) Rename(ctx context.Context, owner account.Owner, id, name string) error {
	name, err := account.NormalizeKeyName(name)
	if err != nil {
		return sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	return writeKeys(ctx, s.db, func(tx *sql.Tx) error {
		if err := lockOwner(ctx, tx, owner, id); err != nil {
			return err
		}
		return sqldb.Exec(ctx, tx, `UPDATE api_keys SET name = $1 WHERE id = $2`, name, id)
	})
}

func noKey(id string) error {
	return sqldb.ProblemWith(id, ErrNoKey, "there is no key %q", id)
}

// MarkUsed stores when keys were last used; used must not name a key twice. Nodes need
// not know of it, so the revision does not change.
func (s *Keys) MarkUsed(ctx context.Context, used []account.KeyUse) error {
	// In one order, so that two nodes hardly ever deadlock.
	used = slices.SortedFunc(slices.Values(used), func(a, b account.KeyUse) int { return cmp.Compare(a.KeyID, b.KeyID) })
	return s.db.Retried().Write(ctx, func(tx *sql.Tx) error {
		for some := range slices.Chunk(used, s.db.Placeholders()/2) {
			places, args := make([]string, len(some)), make([]any, 0, 2*len(some))
			for i, u := range some {
				places[i] = fmt.Sprintf("($%d, $%d)", 2*i+1, 2*i+2)
				args = append(args, u.KeyID, sqldb.FormatTime(u.At))
			}
			_, err := tx.ExecContext(ctx, `
				WITH used (id, at) AS (VALUES `+strings.Join(places, ", ")+`)
				UPDATE api_keys SET last_used_at = used.at FROM used WHERE api_keys.id = used.id AND api_keys.last_used_at < used.at`, args...)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
