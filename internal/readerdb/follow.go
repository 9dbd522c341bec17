package readerdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/catalogdb"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/vault"
)

// How soon a reader is told.
const (
	FollowAtOnce = "aussitot" // of what is urgent
	FollowWeekly = "semaine"  // of everything
)

// MailsADay is how many mails somebody gets a day who is told at once.
const MailsADay = 10

// The bounds of follows: of one address, of all; how many readers are told in one transaction, and how many rows are
// read at once to find them.
const (
	maxFollows    = 50
	maxAllFollows = 100_000
	tellStep      = 200
	followsPage   = 2000
)

// A Follow is something that a reader follows by mail.
type Follow struct {
	ID      string
	Topic   string // outils/plume, categories/texte, or "" for everything
	Pace    string // FollowAtOnce or FollowWeekly
	Began   int64  // the last position of the chronicle when she began
	Cursor  int64  // the last position that her mails have told; Began before the first
	Address string
	Token   string // the secret by which it ends
	All     string // the sealed name of its reader, by which all of hers end, whichever has ended before
}

// readerSeal is what All is sealed for.
const readerSeal = "reader"

// Follows are what readers follow by mail.
type Follows struct {
	db     *sqldb.DB
	links  *accountdb.Links
	sealer vault.Sealer
}

// Sealed returns the follows with what seals and opens the addresses of readers.
func (s *Follows) Sealed(sealer vault.Sealer) *Follows {
	return &Follows{s.db, s.links.Sealed(sealer), sealer}
}

// Secrets are the addresses of all readers.
func (s *Follows) Secrets() vault.Secrets {
	return append(s.db.Secrets("follows", "sealed"), s.db.Secrets("reports", "sealed")...)
}

// Confirm spends a link, and has its address follow a topic from now on. Who follows it already gets
// another pace. ErrLinkUsed, ErrLinkExpired, ErrNotFound; sqldb.ErrTooMany: the address follows too much.
func (s *Follows) Confirm(ctx context.Context, token, topic, pace string, now time.Time) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		email, err := s.links.SpendFollow(ctx, tx, token, now)
		if err != nil {
			return err
		}
		position, err := catalogdb.LastEntry(ctx, tx)
		if err != nil {
			return err
		}
		id, secret, reader := account.NewID(account.FollowID, now, rand.Reader), account.NewToken(rand.Reader), s.sealer.Hash(email)
		err = sqldb.Exec(ctx, tx, `INSERT INTO follows (id, reader, sealed, hash, topic, pace, created_at, began, cursor, period, mails)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, '', 0)
			ON CONFLICT (reader, topic) DO UPDATE SET pace = excluded.pace,
				began = CASE WHEN follows.pace = excluded.pace THEN follows.began ELSE follows.cursor END`,
			id, reader, s.sealer.Seal(id, secret+" "+email), account.TokenHash(secret), topic, pace, sqldb.FormatTime(now), position)
		if err != nil {
			return err
		}
		if err := sqldb.AtMost(ctx, tx, maxAllFollows, "follows of all readers", `follows`); err != nil {
			return err
		}
		return sqldb.AtMost(ctx, tx, maxFollows, "follows of one address", `follows WHERE reader = $1`, reader)
	})
}

// Find returns the follow of an id. ErrNotFound: it has ended.
func (s *Follows) Find(ctx context.Context, id string) (f Follow, err error) {
	var sealed, reader string
	err = s.db.Lookup(ctx, func(pool *sql.DB) error {
		return pool.QueryRowContext(ctx, `SELECT id, topic, pace, began, cursor, sealed, reader
			FROM follows WHERE id = $1`, id).Scan(&f.ID, &f.Topic, &f.Pace, &f.Began, &f.Cursor, &sealed, &reader)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return f, sqldb.Problem(sqldb.ErrNotFound, nil, "the reader does not follow this any more")
	}
	if err != nil {
		return f, err
	}
	opened, err := s.sealer.Open(f.ID, sealed)
	f.Token, f.Address, _ = strings.Cut(opened, " ")
	f.All = s.sealer.Seal(readerSeal, reader)
	return f, err
}

// meant returns the condition of what a link in a mail is about: the follow of its secret or, unless all
// is "", everything of the reader.
func (s *Follows) meant(token, all string) (string, []any) {
	if all == "" {
		return `hash = $1`, []any{account.TokenHash(token)}
	}
	reader, err := s.sealer.Open(readerSeal, all)
	if err != nil {
		reader = "" // the secret may still name her
	}
	return `reader IN ($2, (SELECT reader FROM follows WHERE hash = $1))`, []any{account.TokenHash(token), reader}
}

// Meant returns what a link in a mail ends: see End. ErrNotFound: nothing, or nothing any more.
func (s *Follows) Meant(ctx context.Context, token, all string) (list []Follow, _ error) {
	which, args := s.meant(token, all)
	ids, err := sqldb.List(ctx, s.db, `SELECT id FROM follows WHERE `+which+` ORDER BY topic`, sqldb.ScanText, args...)
	for _, id := range ids {
		f, problem := s.Find(ctx, id)
		list, err = append(list, f), errors.Join(err, problem)
	}
	if len(list) == 0 && err == nil {
		err = sqldb.Problem(sqldb.ErrNotFound, nil, "the reader does not follow this any more")
	}
	return list, err
}

// End ends the follow of a secret or, unless all is "", all of its reader, and what waits to be confirmed.
// Nothing is kept of what has ended. It returns what the reader follows still. ErrNotFound: nothing has ended.
func (s *Follows) End(ctx context.Context, token, all string) (left []Follow, _ error) {
	found, err := s.Meant(ctx, token, all)
	if len(found) == 0 { // an address that cannot be opened can still go
		return nil, err
	}
	which, args := s.meant(token, all)
	f := found[0]
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		return errors.Join(sqldb.Exec(ctx, tx, `DELETE FROM follows WHERE `+which, args...), s.links.Forget(ctx, tx, f.Address))
	})
	if err == nil {
		left, err = s.Meant(ctx, token, f.All)
	}
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil
	}
	return left, err
}

// Remove ends all that an address follows, and erases it from reports and from what waits to be confirmed. It returns how
// many rows had it, sealed with whichever key. ErrInvalid: it is not an address.
func (s *Follows) Remove(ctx context.Context, address string) (int, error) {
	email, err := account.NormalizeEmail(address)
	if err != nil {
		return 0, sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	return sqldb.Write(ctx, s.db, func(tx *sql.Tx) (n int, err error) {
		for table, erase := range map[string]string{"follows": `DELETE FROM follows`, "reports": `UPDATE reports SET sealed = ''`} {
			rows, failed := sqldb.Rows(ctx, tx, `SELECT id, sealed FROM `+table+` WHERE sealed <> ''`, sqldb.ScanFields[vault.Sealed])
			err = errors.Join(err, failed)
			for _, r := range rows {
				opened, failed := s.sealer.Open(r.Owner, r.Text)
				if failed == nil && strings.HasSuffix(" "+opened, " "+email) { // a follow has its secret before that
					n, failed = n+1, sqldb.Exec(ctx, tx, erase+` WHERE id = $1`, r.Owner)
				}
				err = errors.Join(err, failed)
			}
		}
		return n, errors.Join(err, s.links.Forget(ctx, tx, email))
	})
}

// EndFollows ends all that the reader of a follow follows.
func EndFollows(ctx context.Context, tx *sql.Tx, id string) error {
	return sqldb.Exec(ctx, tx, `DELETE FROM follows WHERE reader = (SELECT reader FROM follows WHERE id = $1)`, id)
}

// A Round tells those who follow at a pace what happened.
type Round struct {
	Pace   string
	UpTo   int64  // the last position of the chronicle that is told
	Period string // the day or the week
	Most   int    // mails of a reader in a period
	Now    time.Time

	// Write returns the content of the mail about what a reader follows at the pace; "" if there is nothing to tell.
	Write func(follows []Follow) string
}

// Tell queues a mail for every reader to whom a round has something to tell, about all that she follows at its pace.
// Who had as many as a period allows is told in the next, since her cursor stays. Each is queued in the transaction
// that moves the cursor: however often this is called, on however many nodes and whatever is killed, nothing is told
// twice or lost.
func (s *Follows) Tell(ctx context.Context, r Round) error {
	type row struct {
		Follow
		reader string
	}
	for after := ""; ; {
		rows, err := sqldb.List(ctx, s.db, `SELECT id, topic, began, cursor, reader FROM follows
			WHERE pace = $1 AND cursor < $2 AND id > $3 ORDER BY id LIMIT $4`, func(scan sqldb.Scanner, f *row) error {
			return scan(&f.ID, &f.Topic, &f.Began, &f.Cursor, &f.reader)
		}, r.Pace, r.UpTo, after, followsPage)
		if err != nil || len(rows) == 0 {
			return err
		}
		after = rows[len(rows)-1].ID
		var readers []string
		for i := range rows {
			if r.Write([]Follow{rows[i].Follow}) != "" {
				readers = append(readers, rows[i].reader)
			}
		}
		slices.Sort(readers)
		for some := range slices.Chunk(slices.Compact(readers), tellStep) {
			err := s.db.Retried().Write(ctx, func(tx *sql.Tx) error {
				for _, reader := range some {
					if err := r.tell(ctx, tx, reader); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
}

// tell queues the mail of a reader, unless another node has. The first statement locks her rows.
func (r *Round) tell(ctx context.Context, tx *sql.Tx, reader string) error {
	mails := 0
	follows, err := sqldb.Rows(ctx, tx, `
		UPDATE follows SET mails = CASE WHEN period = $3 THEN mails ELSE 0 END, period = $3
		WHERE reader = $1 AND pace = $2
		RETURNING id, topic, began, cursor, mails`, func(scan sqldb.Scanner, f *Follow) error {
		var had int
		err := scan(&f.ID, &f.Topic, &f.Began, &f.Cursor, &had)
		mails = max(mails, had)
		return err
	}, reader, r.Pace, r.Period)
	if err != nil || len(follows) == 0 || mails >= r.Most {
		return err
	}
	slices.SortFunc(follows, func(a, b Follow) int { return strings.Compare(a.ID, b.ID) })
	content := r.Write(follows)
	if content == "" {
		return nil
	}
	err = sqldb.Exec(ctx, tx, `UPDATE follows SET cursor = CASE WHEN cursor < $3 THEN $3 ELSE cursor END, mails = $4
		WHERE reader = $1 AND pace = $2`, reader, r.Pace, r.UpTo, mails+1)
	if err != nil {
		return err
	}
	about := fmt.Sprint(r.Pace, " ", r.UpTo)
	// All her mails have the same recipient: see Claim.
	return accountdb.InsertMail(ctx, tx, mail.Request{To: follows[0].ID, Kind: mail.News, About: about, Content: content}, r.Now)
}
