package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"palmares/internal/quota"
)

// Usage is how often accounts and networks sent requests, and the keys of the day
// under which networks are counted.
type Usage struct{ *db }

// The methods here are what a quota.Config asks for, in its words. A day is
// `2026-11-15`.

// DayKey stores candidate as the key of a day that has none yet, and gives the key
// that the day has, its own or an earlier one.
func (s *Usage) DayKey(ctx context.Context, day string, candidate quota.Key) (quota.Key, error) {
	var text string
	// Mostly there is one, and a process that starts need not wait for a publication.
	err := s.reads.QueryRowContext(ctx, `SELECT key FROM day_keys WHERE day = $1`, day).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		err = s.write(ctx, func(tx *sql.Tx) error {
			// The update changes nothing: of two that come at once the second waits for the
			// first and is given its key, in one statement on both databases.
			return tx.QueryRowContext(ctx, `
				INSERT INTO day_keys (day, key) VALUES ($1, $2)
				ON CONFLICT (day) DO UPDATE SET key = day_keys.key RETURNING key`, day, hex.EncodeToString(candidate[:])).Scan(&text)
		})
	}
	var key quota.Key
	if err == nil {
		_, err = hex.Decode(key[:], []byte(text))
	}
	return key, s.explain(ctx, err)
}

// Load gives what was saved of a day, each account and network once.
func (s *Usage) Load(ctx context.Context, day string) (quota.Usage, error) {
	var u quota.Usage
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		u.Accounts, err = rows(ctx, tx, 0, `SELECT account_id, requests FROM usage WHERE day = $1`, func(scan scanner, c *quota.AccountCount) error {
			return scan(&c.Account, &c.Requests)
		}, day)
		if err != nil {
			return err
		}
		var text sql.RawBytes // a million networks are a million strings less
		u.Networks, err = rows(ctx, tx, 0, `SELECT network, requests FROM network_usage WHERE day = $1`, func(scan scanner, c *quota.NetworkCount) error {
			if err := scan(&text, &c.Requests); err != nil {
				return err
			}
			_, err := hex.Decode(c.Network[:], text)
			return err
		}, day)
		return err
	})
	if err != nil {
		return quota.Usage{}, err
	}
	return u, nil
}

// saveLock is how long a save waits for a row on PostgreSQL, where nobody holds one
// for longer but who has vanished: behind it all other counts wait.
const saveLock = 500 * time.Millisecond

// Save adds to what is stored of a day, in one transaction. Counts of accounts
// that no longer exist are left out. ErrBusy: another writer took too long; nothing
// was saved.
func (s *Usage) Save(ctx context.Context, day string, added quota.Usage) error {
	// In one order, so that two nodes cannot wait for each other, and so that SQLite
	// writes neighbours together: a million networks in random order take it three
	// times as long.
	networks := slices.SortedFunc(slices.Values(added.Networks), func(a, b quota.NetworkCount) int {
		return bytes.Compare(a.Network[:], b.Network[:])
	})
	accounts := slices.SortedFunc(slices.Values(added.Accounts), func(a, b quota.AccountCount) int {
		return cmp.Compare(a.Account, b.Account)
	})
	saver := s.withWait(retryWait)
	saver.lockWait = saveLock
	return saver.write(ctx, func(tx *sql.Tx) error {
		b := newBatch(tx, usageTable, s.dialect.placeholders())
		for some := range slices.Chunk(accounts, s.dialect.placeholders()) {
			existing, err := s.keepAccounts(ctx, tx, some)
			if err != nil {
				return err
			}
			for _, c := range some {
				if !existing[c.Account] {
					continue
				}
				if err := b.add(ctx, day, c.Account, c.Requests); err != nil {
					return err
				}
			}
		}
		if err := b.flush(ctx); err != nil {
			return err
		}
		b = newBatch(tx, networkTable, s.dialect.placeholders())
		for _, c := range networks {
			if err := b.add(ctx, day, hex.EncodeToString(c.Network[:]), c.Requests); err != nil {
				return err
			}
		}
		return b.flush(ctx)
	})
}

// keepAccounts tells which accounts exist, and keeps them from being deleted until
// the end of the transaction. On SQLite nobody else writes until then anyway.
func (s *Usage) keepAccounts(ctx context.Context, tx *sql.Tx, counts []quota.AccountCount) (map[string]bool, error) {
	ids := make([]string, len(counts))
	for i, c := range counts {
		ids[i] = c.Account
	}
	list, args := in(ids)
	query := `SELECT id FROM accounts WHERE id IN ` + list + ` ORDER BY id` + s.dialect.lockClause("FOR KEY SHARE")
	existing := map[string]bool{}
	_, err := rows(ctx, tx, 0, query, func(scan scanner, id *string) error {
		err := scan(id)
		existing[*id] = true
		return err
	}, args...)
	return existing, err
}

// pruneRows is how many counts of networks are deleted in one transaction: a day has
// had a million, and other writers have their turn in between.
const pruneRows = 5000

// Prune destroys the keys and the networks' counts of the days before networks,
// and the accounts' counts of the days before accounts. The keys go first: without
// them the counts say nothing of anybody. What an error leaves, the next call takes.
//
// On SQLite nothing of a destroyed key is left in the file, nor in its log (but see
// clearLog). On PostgreSQL the row is dead at once and its bytes stay on the
// server's disk until vacuum and later writes pass over the page, and as long as
// write-ahead log and backups are kept: who can read those reads a key of the day
// until then.
func (s *Usage) Prune(ctx context.Context, networks, accounts string) error {
	err := s.withWait(retryWait).write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM day_keys WHERE day < $1`, networks); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM usage WHERE day < $1`, accounts)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.pruneNetworks(ctx, networks); err != nil {
		return err
	}
	// Also when no key was removed: a process that was killed may have removed one.
	return s.explain(ctx, s.dialect.purge(ctx))
}

func (s *Usage) pruneNetworks(ctx context.Context, before string) error {
	// In one order, so that two nodes that prune at once cannot wait for each other;
	// the order of a deletion itself is PostgreSQL's own.
	forUpdate := s.dialect.lockClause("FOR UPDATE")
	for {
		var removed int64
		err := s.withWait(retryWait).write(ctx, func(tx *sql.Tx) error {
			done, err := tx.ExecContext(ctx, `
				DELETE FROM network_usage WHERE (day, network) IN (SELECT day, network FROM network_usage WHERE day < $1 ORDER BY day, network LIMIT $2`+forUpdate+`)`, before, pruneRows)
			if err != nil {
				return err
			}
			removed, err = done.RowsAffected()
			return err
		})
		if err != nil || removed < pruneRows {
			return err
		}
	}
}

// DayUsage is how often an account asked on a day.
type DayUsage struct {
	Day      string
	Requests int64
}

// ForAccount gives the days from fromDay to toDay, both included, on which an
// account, by its id, asked at all, oldest first.
func (s *Usage) ForAccount(ctx context.Context, accountID, fromDay, toDay string) ([]DayUsage, error) {
	var days []DayUsage
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		days, err = rows(ctx, tx, 0, `SELECT day, requests FROM usage WHERE account_id = $1 AND day >= $2 AND day <= $3`, func(scan scanner, d *DayUsage) error {
			return scan(&d.Day, &d.Requests)
		}, accountID, fromDay, toDay)
		return err
	})
	slices.SortFunc(days, func(a, b DayUsage) int { return cmp.Compare(a.Day, b.Day) })
	return days, err
}
