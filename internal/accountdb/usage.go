package accountdb

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"slices"
	"time"

	"palmares/internal/account"
	"palmares/internal/pseudonym"
	"palmares/internal/quota"
	"palmares/internal/sqldb"
)

// Usage is how often accounts and networks sent requests, per day in UTC
// (`2026-11-15`), and the keys of the day under which networks are counted.
type Usage struct{ db *sqldb.DB }

var (
	usageTable = sqldb.Table{
		Name: "usage", Key: "day, account_id", Adds: true, Columns: []string{"day", "account_id", "requests"},
	}
	networkTable = sqldb.Table{
		Name: "network_usage", Key: "day, network", Adds: true, Columns: []string{"day", "network", "requests"},
	}
)

// DayKey stores candidate as the key of a day that has none yet, and returns the key of
// the day, candidate or an earlier one.
func (s *Usage) DayKey(ctx context.Context, day string, candidate pseudonym.Key) (pseudonym.Key, error) {
	return KeyOf(ctx, s.db, forUsage, day, candidate)
}

// Load returns what was saved of a day, each account and network once.
func (s *Usage) Load(ctx context.Context, day string) (quota.Usage, error) {
	return sqldb.Read(ctx, s.db, func(tx *sql.Tx) (u quota.Usage, err error) {
		u.Accounts, err = sqldb.Rows(ctx, tx, `SELECT account_id, requests FROM usage
			WHERE day = $1`, sqldb.ScanFields[quota.AccountCount], day)
		if err != nil {
			return u, err
		}
		var text sql.RawBytes // saves a million strings for a million networks
		u.Networks, err = sqldb.Rows(ctx, tx, `SELECT network, requests FROM network_usage
			WHERE day = $1`, func(scan sqldb.Scanner, c *quota.NetworkCount) error {
			if err := scan(&text, &c.Requests); err != nil {
				return err
			}
			return sqldb.DecodeHex(c.Network[:], text)
		}, day)
		return u, err
	})
}

// saveLock is how long a save waits for a row on PostgreSQL. Only a node that vanished
// holds one for longer, and all other counts wait behind it.
const saveLock = 500 * time.Millisecond

// Save adds to what is stored of a day, in one transaction. Counts of deleted accounts
// are left out. ErrBusy: another writer took too long; nothing was saved.
func (s *Usage) Save(ctx context.Context, day string, added quota.Usage) error {
	// In one order, so that two nodes cannot deadlock, and so that SQLite writes
	// neighbours together: a million networks in random order take three times as long.
	networks := slices.SortedFunc(slices.Values(added.Networks), func(a, b quota.NetworkCount) int {
		return bytes.Compare(a.Network[:], b.Network[:])
	})
	accounts := slices.SortedFunc(slices.Values(added.Accounts), func(a, b quota.AccountCount) int {
		return cmp.Compare(a.Account, b.Account)
	})
	saver := sqldb.WithLockWait(s.db.Retried(), saveLock)
	return saver.Write(ctx, func(tx *sql.Tx) error {
		b := sqldb.NewBatch(tx, usageTable, s.db.Placeholders())
		for some := range slices.Chunk(accounts, s.db.Placeholders()) {
			existing, err := s.lockAccounts(ctx, tx, some)
			if err != nil {
				return err
			}
			for _, c := range some {
				if !existing[c.Account] {
					continue
				}
				if err := b.Add(ctx, day, c.Account, c.Requests); err != nil {
					return err
				}
			}
		}
		if err := b.Flush(ctx); err != nil {
			return err
		}
		b = sqldb.NewBatch(tx, networkTable, s.db.Placeholders())
		for _, c := range networks {
			if err := b.Add(ctx, day, hex.EncodeToString(c.Network[:]), c.Requests); err != nil {
				return err
			}
		}
		return b.Flush(ctx)
	})
}

// lockAccounts returns which accounts exist, and keeps them from being deleted until the
// end of the transaction.
func (s *Usage) lockAccounts(ctx context.Context, tx *sql.Tx, counts []quota.AccountCount) (map[string]bool, error) {
	ids := make([]string, len(counts))
	for i, c := range counts {
		ids[i] = c.Account
	}
	args, list := sqldb.InAfter(nil, ids)
	query := `SELECT id FROM accounts WHERE id IN ` + list + ` ORDER BY id` + s.db.LockClause("FOR KEY SHARE")
	existing := map[string]bool{}
	_, err := sqldb.Rows(ctx, tx, query, func(scan sqldb.Scanner, id *string) error {
		err := scan(id)
		existing[*id] = true
		return err
	}, args...)
	return existing, err
}

// Prune deletes the keys and the networks' counts of the days before networks, and the
// accounts' counts of the days before accounts: see sqldb.DeleteDays. The keys go
// first: without them the counts identify nobody. What is left after an error, the next
// call deletes.
//
// On SQLite nothing of a deleted key is left in the file, nor in its log (but see
// sqliteDialect.purge). On PostgreSQL its bytes stay on the server's disk until vacuum
// and later writes overwrite the page, and as long as write-ahead log and backups are
// kept.
func (s *Usage) Prune(ctx context.Context, networks, accounts string) error {
	err := s.db.Retried().Write(ctx, func(tx *sql.Tx) error {
		_, err := DestroyKeys(ctx, tx, forUsage, networks)
		return cmp.Or(err, sqldb.DeleteDays("usage", accounts)(ctx, tx))
	})
	if err != nil {
		return err
	}
	// Locked in one order, so that two nodes that prune at once cannot deadlock; the order
	// of a deletion itself is up to PostgreSQL.
	err = sqldb.DeleteRows(ctx, s.db, `DELETE FROM network_usage WHERE (day, network) IN (
		SELECT day, network FROM network_usage WHERE day < $1 ORDER BY day, network LIMIT $2`+
		s.db.LockClause("FOR UPDATE")+`)`, networks)
	if err != nil {
		return err
	}
	// Also when no key was removed: a process that was killed may have removed one.
	return s.db.Purge(ctx)
}

// DayUsage is how many requests an account sent on a day, also in what its owner exports.
type DayUsage struct {
	Day      string `json:"day"`
	Requests int64  `json:"requests"`
}

// ForAccount returns the days from fromDay to toDay, inclusive, on which an account sent
// requests, oldest first.
func (s *Usage) ForAccount(ctx context.Context, accountID, fromDay, toDay string) ([]DayUsage, error) {
	return sqldb.List(ctx, s.db, `SELECT day, requests FROM usage
		WHERE account_id = $1 AND day >= $2 AND day <= $3 ORDER BY day`,
		sqldb.ScanFields[DayUsage], accountID, fromDay, toDay)
}

// A Consumer is an account or a network, and how many requests it sent on a day.
type Consumer struct {
	Account  string // the ID; "" for a network
	Email    string
	Plan     account.Plan
	Network  string // the pseudonym; "" for an account
	Requests int64
}

// Top returns the accounts and networks that sent the most requests on a day, up to limit.
func (s *Usage) Top(ctx context.Context, day string, limit int) ([]Consumer, error) {
	return sqldb.List(ctx, s.db, `SELECT a.id AS account, a.email, a.plan, '' AS network, u.requests
			FROM usage u JOIN accounts a ON a.id = u.account_id WHERE u.day = $1
		UNION ALL SELECT '', '', '', network, requests FROM network_usage WHERE day = $1
		ORDER BY requests DESC, network, account LIMIT $2`, sqldb.ScanFields[Consumer], day, limit)
}
