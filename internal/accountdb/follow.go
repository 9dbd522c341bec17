package accountdb

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
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// How soon a reader is told.
const (
	FollowAtOnce = "aussitot" // of prices, retirements and returns
	FollowWeekly = "semaine"  // of everything
)

// MailsADay is how many mails somebody gets a day who is told at once.
const MailsADay = 10

// The bounds of follows: of one address, of all, and how many are told in one transaction.
const (
	maxFollows    = 50
	maxAllFollows = 100_000
	tellStep      = 200
)

// A Follow is something that a reader follows by mail.
type Follow struct {
	ID      string
	Topic   string // outils/plume, categories/texte, or "" for everything
	Pace    string // FollowAtOnce or FollowWeekly
	Address string
	Token   string // the secret by which it ends
	All     string // the sealed name of its reader, by which all of hers end, whichever has ended before

	Mailed map[string]string // by slug, the price of a tool that the reader was mailed last, on the last day with a mail: see site.News
}

// readerSeal is what All is sealed for.
const readerSeal = "reader"

// Follows are what readers follow by mail.
type Follows struct {
	db     *sqldb.DB
	sealer webhook.Sealer
}

// Sealed returns the follows with what seals and opens the addresses of readers.
func (s *Follows) Sealed(sealer webhook.Sealer) *Follows { return &Follows{s.db, sealer} }

// Confirm spends a link, and has its address follow a topic from now on. Who follows it already gets
// another pace. ErrLinkUsed, ErrLinkExpired, ErrNotFound; ErrTooMany: the address follows too much.
func (s *Follows) Confirm(ctx context.Context, token, topic, pace string, now time.Time) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		pending, err := spendLink(ctx, tx, token, account.LinkFollow, now)
		if err != nil {
			return err
		}
		email, err := (&Links{sealer: s.sealer}).Open(pending)
		if err != nil {
			return err
		}
		if err := sqldb.Exec(ctx, tx, `UPDATE links SET email = '' WHERE hash = $1`, tokenHash(token)); err != nil {
			return err
		}
		id, secret, reader := account.NewID(account.FollowID, now, rand.Reader), account.NewToken(rand.Reader), s.sealer.Hash(email)
		err = sqldb.Exec(ctx, tx, `INSERT INTO follows (id, reader, sealed, hash, topic, pace, created_at, told, told_from, period, mails)
			VALUES ($1, $2, $3, $4, $5, $6, $7, (SELECT sequence FROM catalogue), 0, '', 0)
			ON CONFLICT (reader, topic) DO UPDATE SET pace = excluded.pace`,
			id, reader, s.sealer.Seal(id, secret+" "+email), tokenHash(secret), topic, pace, sqldb.FormatTime(now))
		if err != nil {
			return err
		}
		if err := atMost(ctx, tx, maxAllFollows, "follows of all readers", `follows`); err != nil {
			return err
		}
		return atMost(ctx, tx, maxFollows, "follows of one address", `follows WHERE reader = $1`, reader)
	})
}

// Find returns the follow of an id. ErrNotFound: it has ended.
func (s *Follows) Find(ctx context.Context, id string) (f Follow, err error) {
	var sealed, reader, mailed string
	err = s.db.Lookup(ctx, func(pool *sql.DB) error {
		return pool.QueryRowContext(ctx, `SELECT id, topic, pace, sealed, reader, mailed FROM follows WHERE id = $1`, id).
			Scan(&f.ID, &f.Topic, &f.Pace, &sealed, &reader, &mailed)
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
	f.Mailed = map[string]string{}
	_, prices, _ := strings.Cut(mailed, " ")
	for price := range strings.FieldsSeq(prices) {
		slug, told, isTold := strings.Cut(price, "=")
		if isTold {
			f.Mailed[slug] = told
		} else {
			delete(f.Mailed, slug[1:])
		}
	}
	return f, err
}

// meant returns the condition of what a link in a mail is about: the follow of its secret or, unless all
// is "", everything of the reader.
func (s *Follows) meant(token, all string) (string, []any) {
	if all == "" {
		return `hash = $1`, []any{tokenHash(token)}
	}
	reader, err := s.sealer.Open(readerSeal, all)
	if err != nil {
		reader = "" // the secret may still name her
	}
	return `reader IN ($2, (SELECT reader FROM follows WHERE hash = $1))`, []any{tokenHash(token), reader}
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
		return errors.Join(sqldb.Exec(ctx, tx, `DELETE FROM follows WHERE `+which, args...),
			sqldb.Exec(ctx, tx, `DELETE FROM links WHERE substr(email, 1, 32) = $1 AND purpose = $2`, s.sealer.Hash(f.Address), string(account.LinkFollow)),
			sqldb.Exec(ctx, tx, `DELETE FROM mails WHERE substr(address, 1, 32) = $1 AND kind = $2`, s.sealer.Hash(f.Address), string(mail.ConfirmFollow)))
	})
	if err == nil {
		left, err = s.Meant(ctx, token, f.All)
	}
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil
	}
	return left, err
}

// A FollowCursor is how far readers were told at a pace.
type FollowCursor struct {
	Sequence   int64  // of the last event that is done
	Period     string // the last one that is done
	Last       int64  // the sequence of the last event of a version; 0 if it is unknown
	IsFollowed bool   // somebody follows something at the pace
}

// Cursor returns the cursor of a pace, with the last event of a version.
func (s *Follows) Cursor(ctx context.Context, pace string, version int64) (c FollowCursor, err error) {
	err = s.db.Reads().QueryRowContext(ctx, `SELECT coalesce(max(sequence), 0), coalesce(max(period), ''),
		coalesce((SELECT last_sequence FROM publications WHERE version = $2), 0), EXISTS (SELECT 1 FROM follows WHERE pace = $1)
		FROM reader_cursors WHERE name = $1`, pace, version).
		Scan(&c.Sequence, &c.Period, &c.Last, &c.IsFollowed)
	return c, s.db.Explain(ctx, err)
}

// Advance moves the cursor of a pace, if it is not further already.
func (s *Follows) Advance(ctx context.Context, pace string, c FollowCursor) error {
	return sqldb.WriteOnce(ctx, s.db, `INSERT INTO reader_cursors (name, sequence, period) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence, period = excluded.period
		WHERE reader_cursors.sequence <= excluded.sequence`, pace, c.Sequence, c.Period)
}

// Tell queues a mail for every reader who follows one of the topics at a pace and was not told of the events
// after one up to another, which a version has: about all that the reader follows at that pace, and at most
// so many in a period. What a reader who had them already follows is marked by one more, and told in the next
// period, whatever happens in it. Each is queued in the transaction that notes it: however often this is
// called, on however many nodes and whatever is killed, nobody is told twice.
func (s *Follows) Tell(
	ctx context.Context, pace, period string, most int, topics []string, after, upTo, version int64, now time.Time,
) error {
	args, list := sqldb.InAfter([]any{pace, upTo, period, most}, append(topics, "none")) // PostgreSQL knows no empty list
	const full = `(SELECT reader FROM follows WHERE pace = $1 AND period = $3 AND mails >= $4)`
	due := `pace = $1 AND told < $2 AND (topic IN ` + list + ` OR period <> $3 AND mails > $4) AND reader NOT IN ` + full
	for {
		n, err := sqldb.Write(ctx, s.db.Retried(), func(tx *sql.Tx) (int, error) {
			readers, err := sqldb.Rows(ctx, tx, fmt.Sprintf(`SELECT DISTINCT reader FROM follows WHERE %s ORDER BY reader LIMIT %d`, due, tellStep), sqldb.ScanText, args...)
			for _, reader := range readers {
				if err == nil {
					err = tell(ctx, tx, reader, after, version, now, args[:4:4])
				}
			}
			if len(readers) == 0 && err == nil {
				err = sqldb.Exec(ctx, tx, `UPDATE follows SET period = $3, mails = $4 + 1
					WHERE pace = $1 AND told < $2 AND topic IN `+list+` AND reader IN `+full, args...)
			}
			return len(readers), err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

// tell queues the mail of a reader, unless another node has. SQLite finds the rows by their reader: a
// condition on the pace alone would have it go through all of them.
func tell(ctx context.Context, tx *sql.Tx, reader string, after, version int64, now time.Time, args []any) error {
	followed, err := sqldb.Rows(ctx, tx, `UPDATE follows SET told_from = CASE WHEN mails > $4 OR told > $6 THEN told ELSE $6 END, told = $2, period = $3,
		mails = 1 + (SELECT max(CASE WHEN pace = $1 AND period = $3 THEN mails ELSE 0 END) FROM follows WHERE reader = $5)
		WHERE reader = $5 AND CASE WHEN pace = $1 THEN told < $2 ELSE FALSE END RETURNING id || ' ' || told_from`,
		sqldb.ScanText, append(args, reader, after)...)
	if err != nil || len(followed) == 0 {
		return err
	}
	slices.Sort(followed) // all her mails have the same recipient: see Claim
	to, _, _ := strings.Cut(followed[0], " ")
	return insertMail(ctx, tx, mail.Request{To: to, Kind: mail.News, About: fmt.Sprint(args[1], version) + " " + strings.Join(followed, " ")}, now)
}
