package accountdb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

// Sessions are the sessions of browsers that are signed in.
type Sessions struct{ db *sqldb.DB }

const selectSessions = `SELECT s.id, s.account_id, s.browser, s.created_at, s.seen_on, s.expires_at FROM sessions s `

// Find returns the session of a secret and its account. ErrNotFound: it never existed,
// was ended or has expired.
func (s *Sessions) Find(ctx context.Context, secret string, now time.Time) (account.Session, account.Account, error) {
	if !account.HasTokenForm(secret) {
		return account.Session{}, account.Account{}, noSession()
	}
	var session account.Session
	var owner account.Account
	err := scanSession(s.db.Reads().QueryRowContext(ctx, `
		SELECT s.id, s.account_id, s.browser, s.created_at, s.seen_on, s.expires_at, a.id, a.email, a.plan, a.created_at
		FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = $1`, tokenHash(secret)).Scan,
		&session, &owner.ID, &owner.Email, (*string)(&owner.Plan), sqldb.Time(&owner.CreatedAt))
	if errors.Is(err, sql.ErrNoRows) || err == nil && !now.Before(session.ExpiresAt) {
		err = noSession()
	}
	if err != nil {
		return account.Session{}, account.Account{}, s.db.Explain(ctx, err)
	}
	return session, owner, nil
}

// extendWait is short: somebody waits for a page, and the next one extends the session
// as well.
const extendWait = 300 * time.Millisecond

// Extend records that a session is used and extends it from now, once a day. It reports
// whether it did.
func (s *Sessions) Extend(ctx context.Context, session account.Session, now time.Time) (bool, error) {
	today := now.UTC().Format(time.DateOnly)
	if session.SeenOn >= today {
		return false, nil
	}
	var n int64
	err := sqldb.WithWriteWait(s.db, extendWait).Write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE sessions SET seen_on = $1, expires_at = $2 WHERE id = $3 AND seen_on < $1`,
			today, sqldb.FormatTime(now.Add(account.SessionLife)), session.ID)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n > 0 && err == nil, err
}

// List lists the sessions of an account that have not expired, newest first.
func (s *Sessions) List(ctx context.Context, accountID string, now time.Time) ([]account.Session, error) {
	var all []account.Session
	err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		all, err = sqldb.Rows(ctx, tx, 0, selectSessions+`WHERE s.account_id = $1 AND s.expires_at > $2`,
			func(scan sqldb.Scanner, session *account.Session) error {
				return scanSession(scan, session)
			}, accountID, sqldb.FormatTime(now))
		return err
	})
	slices.SortFunc(all, func(a, b account.Session) int { return cmp.Compare(b.ID, a.ID) })
	return all, err
}

// End ends a session of an account. ErrNotFound: it has none of that id.
func (s *Sessions) End(ctx context.Context, accountID, id string) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE account_id = $1 AND id = $2`, accountID, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return cmp.Or(err, noSession())
		}
		return nil
	})
}

// EndOthers ends all sessions of an account but one.
func (s *Sessions) EndOthers(ctx context.Context, accountID, kept string) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE account_id = $1 AND id <> $2`, accountID, kept)
		return err
	})
}

func noSession() error {
	return sqldb.Problem(sqldb.ErrNotFound, nil, "there is no such session: it was ended or has expired; sign in again")
}

// linkMemory is how long an expired link is kept, so that whoever follows it is told
// that it has expired.
const linkMemory = time.Hour

// Prune deletes what has expired: sessions, links, the times of mails sent and the keys
// of their pseudonyms.
func (s *Sessions) Prune(ctx context.Context, now time.Time) error {
	var destroyed int64
	err := s.db.Retried().Write(ctx, func(tx *sql.Tx) error {
		// Yesterday's is kept: a limit reaches back a day.
		done, err := tx.ExecContext(ctx, `DELETE FROM link_keys
			WHERE day < $1`, now.UTC().AddDate(0, 0, -1).Format(time.DateOnly))
		if err != nil {
			return err
		}
		destroyed, err = done.RowsAffected()
		return err
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
		if err := s.pruneExpired(ctx, t.table, t.key, sqldb.FormatTime(t.before)); err != nil {
			return err
		}
	}
	if destroyed == 0 {
		return nil
	}
	return s.db.Purge(ctx)
}

func (s *Sessions) pruneExpired(ctx context.Context, table, key, before string) error {
	lock := s.db.LockClause("FOR UPDATE SKIP LOCKED") // rows in use are left for the next call
	return sqldb.DeleteRows(ctx, s.db, `DELETE FROM `+table+` WHERE `+key+` IN (
		SELECT `+key+` FROM `+table+` WHERE expires_at <= $1 LIMIT $2`+lock+`)`, before)
}

func scanSession(scan sqldb.Scanner, session *account.Session, more ...any) error {
	return scan(append([]any{
		&session.ID, &session.AccountID, &session.Browser, sqldb.Time(&session.CreatedAt), &session.SeenOn,
		sqldb.Time(&session.ExpiresAt),
	}, more...)...)
}
