package accountdb

import (
	"context"
	"database/sql"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

// Sessions are the sessions of browsers that are signed in.
type Sessions struct{ db *sqldb.DB }

// Find returns the session of a secret and its account. ErrNotFound: it never existed,
// was ended or has expired.
func (s *Sessions) Find(ctx context.Context, secret string, now time.Time) (account.Session, account.Account, error) {
	if !account.HasTokenForm(secret) {
		return account.Session{}, account.Account{}, noSession()
	}
	var session account.Session
	var owner account.Account
	err := s.db.Reads().QueryRowContext(ctx, `
		SELECT s.id, s.account_id, s.browser, s.created_at, s.seen_on, s.expires_at, a.id, a.email, a.plan, a.created_at
		FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = $1`, account.TokenHash(secret)).
		Scan(append(sqldb.Fields(&session), sqldb.Fields(&owner)...)...)
	if err == nil && !now.Before(session.ExpiresAt) {
		err = noSession()
	}
	return session, owner, s.db.Explain(ctx, sqldb.OrMissing(err, noSession()))
}

// Extend records that a session is used and extends it from now, once a day. It reports
// whether it did.
func (s *Sessions) Extend(ctx context.Context, session account.Session, now time.Time) (bool, error) {
	today := now.UTC().Format(time.DateOnly)
	if session.SeenOn >= today {
		return false, nil
	}
	n, err := sqldb.Write(ctx, s.db.Hasty(), func(tx *sql.Tx) (int64, error) {
		return sqldb.ExecRows(ctx, tx, `UPDATE sessions SET seen_on = $1, expires_at = $2 WHERE id = $3 AND seen_on < $1`,
			today, sqldb.FormatTime(now.Add(account.SessionLife)), session.ID)
	})
	return n > 0, err
}

// List lists the sessions of an account that have not expired, newest first.
func (s *Sessions) List(ctx context.Context, accountID string, now time.Time) ([]account.Session, error) {
	return sqldb.List(ctx, s.db, `SELECT s.id, s.account_id, s.browser, s.created_at, s.seen_on, s.expires_at
		FROM sessions s WHERE s.account_id = $1 AND s.expires_at > $2 ORDER BY s.id DESC`,
		sqldb.ScanFields[account.Session], accountID, sqldb.FormatTime(now))
}

// End ends a session of an account. ErrNotFound: it has none of that id.
func (s *Sessions) End(ctx context.Context, accountID, id string) error {
	return sqldb.WriteSome(ctx, s.db, noSession(), `DELETE FROM sessions WHERE account_id = $1 AND id = $2`, accountID, id)
}

// EndOthers ends all sessions of an account but one.
func (s *Sessions) EndOthers(ctx context.Context, accountID, kept string) error {
	return sqldb.WriteOnce(ctx, s.db, `DELETE FROM sessions WHERE account_id = $1 AND id <> $2`, accountID, kept)
}

func noSession() error {
	return sqldb.Problem(sqldb.ErrNotFound, nil, "there is no such session: it was ended or has expired; sign in again")
}

// linkMemory is how long an expired link is kept, so that whoever follows it is told
// that it has expired.
const linkMemory = time.Hour

// Prune deletes what has expired: sessions, links, the times of mails sent and the keys of their pseudonyms.
func (s *Sessions) Prune(ctx context.Context, now time.Time) error {
	// Yesterday's is kept: a limit reaches back a day.
	destroyed, err := sqldb.Write(ctx, s.db.Retried(), func(tx *sql.Tx) (int64, error) {
		return DestroyKeys(ctx, tx, forLinks, catalog.Day(now.UTC().AddDate(0, 0, -1)))
	})
	if err != nil {
		return err
	}
	for _, t := range []struct {
		table, key string
		before     time.Time
	}{
		{"link_requests", "subject", now},
		{"links", "hash", now.Add(-linkMemory)},
		{"sessions", "hash", now},
	} {
		if err := sqldb.DeleteExpired(ctx, s.db, t.table, t.key, t.before); err != nil {
			return err
		}
	}
	if destroyed == 0 {
		return nil
	}
	return s.db.Purge(ctx)
}
