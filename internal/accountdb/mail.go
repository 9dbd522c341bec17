package accountdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"slices"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
)

// mailID begins the ids of mails and of claims, which only this table holds.
const mailID = "mal_"

// Mails is the queue of outgoing mail.
type Mails struct {
	db    *sqldb.DB
	rooms Rooms
}

// Check returns mail.ErrObsolete when a mail about payments or the plan is no longer
// true of its reader.
func (s *Mails) Check(ctx context.Context, r mail.Request) error {
	a, err := findAccount(ctx, s.db.Reads(), r.To)
	if errors.Is(err, sqldb.ErrNotFound) {
		return mail.ErrObsolete
	}
	if err != nil {
		return s.db.Explain(ctx, err)
	}
	paid, err := findSubscription(ctx, s.db.Reads(), `WHERE account_id = $1`, a.ID)
	if err != nil {
		return s.db.Explain(ctx, err)
	}
	standing := mail.Standing{Pro: a.Plan == account.Pro}
	if paid.Granted {
		standing.GraceUntil = paid.GraceUntil
	}
	if r.Obsolete(standing) {
		return mail.ErrObsolete
	}
	return nil
}

// Queue queues a mail. ErrInvalid: the address or the kind.
func (s *Mails) Queue(ctx context.Context, r mail.Request, now time.Time) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error { return QueueMail(ctx, tx, r, now) })
}

// QueueStuck queues a mail about a record that cannot be published at its hour, in the transaction that
// stores why. Contacts that are no mail address get none.
func (s *Mails) QueueStuck(ctx context.Context, tx *sql.Tx, contact string, r *catalog.Scheduled, now time.Time) error {
	if _, err := account.NormalizeEmail(contact); err != nil {
		return nil // the address of a page, or none
	}
	return QueueMail(ctx, tx, mail.Request{To: contact, Kind: mail.ScheduleStuck, About: r.Name() + " " + r.Due}, now)
}

// QueueMail is Queue inside the transaction of what the mail is about, so that neither
// is written without the other.
//
// A mail that waits already and says the same is not queued twice. It is due at once and
// its attempts start again, since somebody is waiting for it, unless it is being sent
// right now. Limits are not enforced here, where a mail that was sent leaves no trace:
// see Links.Request.
func QueueMail(ctx context.Context, tx *sql.Tx, r mail.Request, now time.Time) error {
	to, err := account.NormalizeEmail(r.To)
	if err != nil {
		return sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	if !r.Kind.Known() {
		return sqldb.Problem(sqldb.ErrInvalid, nil, "there is no mail of the kind %q: see the kinds of package mail", r.Kind)
	}
	r.To = to
	return InsertMail(ctx, tx, r, now)
}

// InsertMail is QueueMail for a recipient that is an address, a sealed one, or the id of a follow.
func InsertMail(ctx context.Context, tx *sql.Tx, r mail.Request, now time.Time) error {
	return sqldb.Exec(ctx, tx, `
		INSERT INTO mails (id, address, kind, about, content, created_at, due_at, lease, attempts, last_error)
		VALUES ($1, $2, $3, $4, $5, $6, $6, '', 0, '')
		ON CONFLICT (address, kind, about) DO UPDATE SET created_at = excluded.created_at, due_at = excluded.due_at, attempts = 0
		WHERE mails.lease = ''`,
		account.NewID(mailID, now, rand.Reader), r.To, string(r.Kind), r.About, r.Content, sqldb.FormatTime(now))
}

// Claim returns at most limit mails that are due, the longest due first, and leases them
// to the caller for mail.Lease. If the process dies, the mail is due again when the
// lease ends, and says whether it was begun. Of News, a reader gets one after the other, since one
// may correct what the one before told.
func (s *Mails) Claim(ctx context.Context, now time.Time, limit int) ([]mail.Claim, error) {
	// Nearly always nothing is due, and then no transaction is needed.
	due, err := sqldb.Get[bool](ctx, s.db, `SELECT EXISTS (SELECT 1 FROM mails WHERE due_at <= $1)`, sqldb.FormatTime(now))
	if err != nil || !due {
		return nil, err
	}
	lease := account.NewID(mailID, now, rand.Reader)
	claimed, err := sqldb.Write(ctx, s.db.Retried(), func(tx *sql.Tx) ([]mail.Claim, error) {
		// The outer condition repeats the inner one: on PostgreSQL the row may have been
		// claimed by another between the two.
		return sqldb.Rows(ctx, tx, `
			UPDATE mails SET lease = $1, due_at = $2
			WHERE id IN (SELECT id FROM mails AS m WHERE due_at <= $3 AND NOT EXISTS (SELECT 1 FROM mails AS o
				WHERE m.kind = $5 AND o.address = m.address AND o.kind = m.kind AND (o.due_at <= $3 AND o.id < m.id OR o.due_at > $3 AND o.lease <> '')
			) ORDER BY due_at, id LIMIT $4) AND due_at <= $3
			RETURNING id, lease, address, kind, about, content, created_at, attempts, last_error = '`+begun+`'`,
			sqldb.ScanFields[mail.Claim], lease, sqldb.FormatTime(now.Add(mail.Lease)), sqldb.FormatTime(now), limit, string(mail.News))
	})
	slices.SortFunc(claimed, func(a, b mail.Claim) int { return cmp.Compare(a.ID, b.ID) })
	return claimed, err
}

// begun is in the place of a mail's last failure while it is handed over.
const begun = "begun"

// Begin marks a claimed mail as begun until it is finished. mail.ErrObsolete: the lease has ended.
func (s *Mails) Begin(ctx context.Context, c mail.Claim) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		n, err := sqldb.ExecRows(ctx, tx, `UPDATE mails SET last_error = $1 WHERE id = $2 AND lease = $3`, begun, c.ID, c.Lease)
		if n == 0 && err == nil {
			err = mail.ErrObsolete
		}
		return err
	})
}

// Finish stores the outcome of a claimed mail: it is deleted, or due again. A reader whose address does not
// exist follows nothing any more. If the lease has ended and another claim has the mail, nothing changes.
func (s *Mails) Finish(ctx context.Context, c mail.Claim, v mail.Verdict) error {
	if v.RetryAt.IsZero() {
		return s.db.Write(ctx, func(tx *sql.Tx) error {
			n, err := sqldb.ExecRows(ctx, tx, `DELETE FROM mails WHERE id = $1 AND lease = $2`, c.ID, c.Lease)
			if err == nil && n > 0 && c.Kind == mail.News && v.Bounced {
				err = s.rooms.EndFollows(ctx, tx, c.To)
			}
			return err
		})
	}
	return sqldb.WriteOnce(ctx, s.db, `
		UPDATE mails SET attempts = attempts + 1, due_at = $1, last_error = $2, lease = '' WHERE id = $3 AND lease = $4`,
		sqldb.FormatTime(v.RetryAt), v.Failure, c.ID, c.Lease)
}

// Oldest returns when the mail that waits longest was queued; zero when none waits.
func (s *Mails) Oldest(ctx context.Context) (time.Time, error) {
	return sqldb.Get[time.Time](ctx, s.db, `SELECT coalesce(min(created_at), '') FROM mails`)
}
