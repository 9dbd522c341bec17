package store

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
)

// Keys are the API keys of accounts.
type Keys struct{ *db }

// Create creates a key for an account and returns it in plain text. Only its hash is
// stored, so it cannot be retrieved later.
// ErrNotFound: no such account; ErrKeyLimit: it has reached the key limit of its plan;
// ErrInvalid: the name.
func (s *Keys) Create(ctx context.Context, email, name string, now time.Time) (string, account.Key, error) {
	return s.create(ctx, email, name, nil, now)
}

// CreateNext is Create for a form that may be submitted twice: newest is the id of the
// newest key when the form was rendered, "" for none. ErrChanged: there is a newer one.
func (s *Keys) CreateNext(ctx context.Context, email, name, newest string, now time.Time) (string, account.Key, error) {
	return s.create(ctx, email, name, &newest, now)
}

func (s *Keys) create(ctx context.Context, email, name string, newest *string, now time.Time) (string, account.Key, error) {
	name, err := account.NormalizeKeyName(name)
	if err != nil {
		return "", account.Key{}, problem(ErrInvalid, err, "%v", err)
	}
	text, k := newKey(name, now)
	err = s.writeKeys(ctx, func(tx *sql.Tx) error {
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
		var live int
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM api_keys WHERE account_id = $1 AND revoked_at = '' AND expires_at = ''`, a.ID).Scan(&live)
		if err != nil {
			return err
		}
		if most := account.MaxKeys(a.Plan); live >= most {
			return problemWith(a.Email, ErrKeyLimit, "%s has %d live keys and the %s plan has %d", a.Email, live, a.Plan, most)
		}
		k.AccountID, k.Plan = a.ID, a.Plan
		return insertKey(ctx, tx, text, k)
	})
	if err != nil {
		return "", account.Key{}, err
	}
	return text, k, nil
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
	err := s.writeKeys(ctx, func(tx *sql.Tx) error {
		// The account is locked first, as for every change of its keys: of two concurrent
		// rotations the second sees what the first did, and a deletion cannot deadlock.
		if err := lockOwner(ctx, tx, owner, id); err != nil {
			return err
		}
		var old account.Key
		_, err := scanKey(tx.QueryRowContext(ctx, selectKeys+`WHERE k.id = $1`, id).Scan, &old)
		if err != nil {
			return err
		}
		switch old.State(now) {
		case account.KeyRevoked:
			return problemWith(id, ErrKeyEnded, "the key %s was revoked on %s and cannot be rotated", id, catalog.Day(old.RevokedAt))
		case account.KeyExpired:
			return problemWith(id, ErrKeyEnded, "the key %s expired on %s and cannot be rotated", id, catalog.Day(old.ExpiresAt))
		case account.KeyOverlap:
			// Another successor would be one more live key than the plan allows.
			return problemWith(id, ErrKeyEnded, "the key %s was rotated already and works until %s: rotate its successor instead", id, formatTime(old.ExpiresAt))
		case account.KeySuspended:
			return problem(ErrKeySuspended, nil, "the key %s is suspended and cannot be rotated: revoke another key of its account, which brings it back, or change the plan", id)
		}
		if err := checkOverlaps(ctx, tx, old, now); err != nil {
			return err
		}
		text, k = newKey(old.Name, now)
		k.AccountID, k.Plan = old.AccountID, old.Plan
		if _, err := tx.ExecContext(ctx, `UPDATE api_keys SET expires_at = $1 WHERE id = $2`, formatTime(now.Add(account.Overlap)), id); err != nil {
			return err
		}
		return insertKey(ctx, tx, text, k)
	})
	if err != nil {
		return "", account.Key{}, err
	}
	return text, k, nil
}

// checkOverlaps limits the keys that work beside those of the plan: otherwise rotating a
// key and then its successor, again and again, would give any number of them.
func checkOverlaps(ctx context.Context, tx *sql.Tx, k account.Key, now time.Time) error {
	var replaced int
	var next string
	err := tx.QueryRowContext(ctx, `
		SELECT count(*), coalesce(min(expires_at), '') FROM api_keys WHERE account_id = $1 AND revoked_at = '' AND expires_at > $2`,
		k.AccountID, formatTime(now)).Scan(&replaced, &next)
	if err == nil && replaced >= account.MaxKeys(k.Plan) {
		err = problemWith(k.ID, ErrKeyOverlaps, "%d replaced keys of the account still work, as many as it may have: revoke one, or wait until %s", replaced, next)
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

func insertKey(ctx context.Context, tx *sql.Tx, text string, k account.Key) error {
	hash := account.HashKey(text)
	_, err := tx.ExecContext(ctx, `
		INSERT INTO api_keys (id, account_id, hash, name, prefix, suffix, created_at, last_used_at, revoked_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, '', '', '')`,
		k.ID, k.AccountID, hex.EncodeToString(hash[:]), k.Name, k.Prefix, k.Suffix, formatTime(k.CreatedAt))
	return err
}

// lockAccount finds an account and locks its row until the end of the transaction, so
// that two requests cannot both count to one below the limit. An update that changes
// nothing is a lock that both databases know.
func lockAccount(ctx context.Context, tx *sql.Tx, email string) (account.Account, error) {
	normal, err := account.NormalizeEmail(email)
	if err != nil {
		return account.Account{}, noAccount(email)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE accounts SET plan = plan WHERE email = $1`, normal); err != nil {
		return account.Account{}, err
	}
	return findAccount(ctx, tx, email)
}

// lockOwner locks the account that a key belongs to, as lockAccount does.
func lockOwner(ctx context.Context, tx *sql.Tx, owner account.Owner, keyID string) error {
	locked, err := tx.ExecContext(ctx, `
		UPDATE accounts SET plan = plan WHERE id = (SELECT account_id FROM api_keys WHERE id = $1) AND ($2 OR id = $3)`, keyID, owner.Any(), owner.AccountID())
	if err != nil {
		return err
	}
	if n, err := locked.RowsAffected(); err != nil || n == 0 {
		return cmp.Or(err, noKey(keyID))
	}
	return nil
}

const selectKeys = `
	SELECT k.hash, k.id, k.account_id, a.plan, k.name, k.prefix, k.suffix, k.created_at, k.last_used_at, k.revoked_at, k.expires_at, k.suspended_at
	FROM api_keys k JOIN accounts a ON a.id = k.account_id `

// List lists the keys of an account, revoked ones too, oldest first. ErrNotFound:
// no such account.
func (s *Keys) List(ctx context.Context, email string) ([]account.Key, error) {
	var keys []account.Key
	err := s.read(ctx, func(tx *sql.Tx) error {
		a, err := findAccount(ctx, tx, email)
		if err != nil {
			return err
		}
		keys, err = rows(ctx, tx, 0, selectKeys+`WHERE k.account_id = $1`, func(scan scanner, k *account.Key) error {
			_, err := scanKey(scan, k)
			return err
		}, a.ID)
		return err
	})
	slices.SortFunc(keys, func(a, b account.Key) int { return cmp.Compare(a.ID, b.ID) })
	return keys, err
}

// Find returns a key. ErrNotFound: there is none, or it is another account's.
func (s *Keys) Find(ctx context.Context, owner account.Owner, id string) (account.Key, error) {
	var k account.Key
	_, err := scanKey(s.reads.QueryRowContext(ctx, selectKeys+`WHERE k.id = $1 AND ($2 OR k.account_id = $3)`, id, owner.Any(), owner.AccountID()).Scan, &k)
	if errors.Is(err, sql.ErrNoRows) {
		return account.Key{}, noKey(id)
	}
	return k, s.explain(ctx, err)
}

// ByHash returns the key with a hash, revoked and expired ones included. ErrNotFound and
// account.ErrInvalidKey: no key has this hash.
func (s *Keys) ByHash(ctx context.Context, hash [sha256.Size]byte) (account.Key, error) {
	var k account.Key
	err := s.dialect.lookup(ctx, func() error {
		_, err := scanKey(s.lookups.QueryRowContext(ctx, selectKeys+`WHERE k.hash = $1`, hex.EncodeToString(hash[:])).Scan, &k)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return account.Key{}, problem(ErrNotFound, account.ErrInvalidKey, "no account has this key")
	}
	return k, s.translate(ctx, err)
}

// ByHashes is ByHash for many keys in few queries. Keys that do not exist are left out.
func (s *Keys) ByHashes(ctx context.Context, hashes [][sha256.Size]byte) (map[[sha256.Size]byte]account.Key, error) {
	all := make(map[[sha256.Size]byte]account.Key, len(hashes))
	for some := range slices.Chunk(hashes, s.dialect.placeholders()) {
		err := s.dialect.lookup(ctx, func() error { return s.addByHash(ctx, some, all) })
		if err != nil {
			return nil, s.translate(ctx, err)
		}
	}
	return all, nil
}

func (s *Keys) addByHash(ctx context.Context, hashes [][sha256.Size]byte, to map[[sha256.Size]byte]account.Key) error {
	texts := make([]string, len(hashes))
	for i, hash := range hashes {
		texts[i] = hex.EncodeToString(hash[:])
	}
	list, args := in(texts)
	found, err := s.lookups.QueryContext(ctx, selectKeys+`WHERE k.hash IN `+list, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var k account.Key
		hash, err := scanKey(found.Scan, &k)
		if err != nil {
			return err
		}
		to[hash] = k
	}
	return found.Err()
}

// Revoke ends a key at once; one that was revoked already keeps its time. If that makes
// room for a suspended key, it works again. ErrNotFound: there is no such key.
func (s *Keys) Revoke(ctx context.Context, owner account.Owner, id string, now time.Time) error {
	return s.writeKeys(ctx, func(tx *sql.Tx) error {
		if err := lockOwner(ctx, tx, owner, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE api_keys SET revoked_at = CASE WHEN revoked_at = '' THEN $1 ELSE revoked_at END WHERE id = $2`, formatTime(now), id); err != nil {
			return err
		}
		var accountID string
		var plan account.Plan
		err := tx.QueryRowContext(ctx, `SELECT id, plan FROM accounts WHERE id = (SELECT account_id FROM api_keys WHERE id = $1)`, id).Scan(&accountID, (*string)(&plan))
		if err != nil {
			return err
		}
		return resumeKeys(ctx, tx, accountID, plan)
	})
}

// Rename changes the name of a key. ErrNotFound: there is no such key; ErrInvalid: the
// name.
func (s *Keys) Rename(ctx context.Context, owner account.Owner, id, name string) error {
	name, err := account.NormalizeKeyName(name)
	if err != nil {
		return problem(ErrInvalid, err, "%v", err)
	}
	return s.writeKeys(ctx, func(tx *sql.Tx) error {
		if err := lockOwner(ctx, tx, owner, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE api_keys SET name = $1 WHERE id = $2`, name, id)
		return err
	})
}

func noKey(id string) error {
	return problemWith(id, ErrNoKey, "there is no key %q", id)
}

// MarkUsed stores when keys were last used; used must not name a key twice. Nodes need
// not know of it, so the revision does not change.
func (s *Keys) MarkUsed(ctx context.Context, used []account.KeyUse) error {
	// In one order, so that two nodes hardly ever deadlock.
	used = slices.SortedFunc(slices.Values(used), func(a, b account.KeyUse) int { return cmp.Compare(a.KeyID, b.KeyID) })
	return s.withWait(retryWait).write(ctx, func(tx *sql.Tx) error {
		for some := range slices.Chunk(used, s.dialect.placeholders()/2) {
			places, args := make([]string, len(some)), make([]any, 0, 2*len(some))
			for i, u := range some {
				places[i] = fmt.Sprintf("($%d, $%d)", 2*i+1, 2*i+2)
				args = append(args, u.KeyID, formatTime(u.At))
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

func scanKey(scan scanner, k *account.Key) (hash [sha256.Size]byte, err error) {
	var hexHash, created, used, revoked, expires, suspended string
	if err := scan(&hexHash, &k.ID, &k.AccountID, (*string)(&k.Plan), &k.Name, &k.Prefix, &k.Suffix, &created, &used, &revoked, &expires, &suspended); err != nil {
		return hash, err
	}
	if err := decodeHex(hash[:], []byte(hexHash)); err != nil {
		return hash, err
	}
	for _, m := range []struct {
		text string
		time *time.Time
	}{{created, &k.CreatedAt}, {used, &k.LastUsedAt}, {revoked, &k.RevokedAt}, {expires, &k.ExpiresAt}, {suspended, &k.SuspendedAt}} {
		if *m.time, err = parseTime(m.text); err != nil {
			return hash, err
		}
	}
	return hash, nil
}
