package accountdb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

// ErrKeySuspended: the key is in excess of its account's plan.
var ErrKeySuspended = errors.New("the key is suspended")

// countedKeys selects the keys that count against a plan and work.
const countedKeys = `revoked_at = '' AND expires_at = '' AND suspended_at = ''`

// SuspensionDue returns when the keys in excess of an account's plan are suspended; zero
// when none will be.
func (s *Keys) SuspensionDue(ctx context.Context, accountID string) (time.Time, error) {
	due, err := sqldb.Get[time.Time](ctx, s.db, `SELECT keys_due_at FROM accounts WHERE id = $1`, accountID)
	return due, sqldb.OrMissing(err, noAccountID(accountID))
}

// SuspendExcess starts account.KeyGrace for every account that has more keys than its
// plan allows, and suspends the excess keys of those whose grace has ended, keeping the
// most recently used. It may be called any number of times on any number of nodes.
func (s *Keys) SuspendExcess(ctx context.Context, now time.Time) error {
	var over, due []string
	// Read first without a writer's lock: there is hardly ever anything to write.
	err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		most := account.MaxKeys(account.Developer)
		over, err = sqldb.Rows(ctx, tx, `
			SELECT a.id FROM accounts a JOIN api_keys k ON k.account_id = a.id
			WHERE a.plan = $1 AND a.keys_due_at = '' AND `+countedKeys+`
			GROUP BY a.id HAVING count(*) > $2`, sqldb.ScanText, string(account.Developer), most)
		if err != nil {
			return err
		}
		due, err = sqldb.Rows(ctx, tx, `SELECT id FROM accounts
			WHERE keys_due_at <> '' AND keys_due_at <= $1`, sqldb.ScanText, sqldb.FormatTime(now))
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range over {
		err := sqldb.WriteOnce(ctx, s.db, `UPDATE accounts SET keys_due_at = $1
				WHERE id = $2 AND plan = $3 AND keys_due_at = ''`,
			sqldb.FormatTime(now.Add(account.KeyGrace)), id, string(account.Developer))
		if err != nil {
			return err
		}
	}
	for _, id := range due {
		err := writeKeys(ctx, s.db, func(tx *sql.Tx) error {
			// Checked again: another node may have done it, and the account may be Pro by now.
			plan, err := sqldb.Value[string](ctx, tx, `UPDATE accounts SET keys_due_at = ''
				WHERE id = $1 AND keys_due_at <> '' AND keys_due_at <= $2 RETURNING plan`, id, sqldb.FormatTime(now))
			if err != nil {
				return sqldb.OrMissing(err, nil)
			}
			return sqldb.Exec(ctx, tx, `UPDATE api_keys SET suspended_at = $1
				WHERE account_id = $2 AND `+countedKeys+` AND id NOT IN (
					SELECT id FROM api_keys WHERE account_id = $2 AND `+countedKeys+` ORDER BY last_used_at DESC, id DESC LIMIT $3)`,
				sqldb.FormatTime(now), id, account.MaxKeys(account.Plan(plan)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// movePlan changes the plan of an account whose row is locked. due is when keys in excess
// of a lower plan are suspended; zero for Pro. Endpoints that were suspended start again
// without failures: the time without Pro does not count against them.
func movePlan(ctx context.Context, tx *sql.Tx, accountID string, plan account.Plan, due time.Time) error {
	if plan == account.Pro {
		err := sqldb.Exec(ctx, tx,
			clearFailures+`WHERE account_id = $1 AND EXISTS (SELECT 1 FROM accounts WHERE id = $1 AND plan <> 'pro')`, accountID)
		if err != nil {
			return err
		}
	}
	if err := sqldb.Exec(ctx, tx, `
		UPDATE accounts SET keys_due_at = CASE WHEN plan = $1 THEN keys_due_at ELSE $2 END, plan = $1 WHERE id = $3`,
		string(plan), sqldb.FormatTime(due), accountID); err != nil {
		return err
	}
	return resumeKeys(ctx, tx, accountID, plan)
}

// resumeKeys ends the suspension of keys, oldest first, as far as the plan allows.
func resumeKeys(ctx context.Context, tx *sql.Tx, accountID string, plan account.Plan) error {
	live, err := sqldb.Value[int](ctx, tx, `SELECT count(*) FROM api_keys WHERE account_id = $1 AND `+countedKeys,
		accountID)
	if err != nil {
		return err
	}
	return sqldb.Exec(ctx, tx, `UPDATE api_keys SET suspended_at = '' WHERE id IN (
		SELECT id FROM api_keys WHERE account_id = $1 AND revoked_at = '' AND suspended_at <> '' ORDER BY id LIMIT $2)`,
		accountID, max(0, account.MaxKeys(plan)-live))
}
