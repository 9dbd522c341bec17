package accountdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/mail"
	"palmares/internal/pseudonym"
	"palmares/internal/sqldb"
)

// linkMails are the mails that contain links.
var linkMails = map[account.LinkPurpose]mail.Kind{
	account.LinkSignIn:   mail.SignIn,
	account.LinkDeletion: mail.ConfirmDeletion,
	account.LinkFollow:   mail.ConfirmFollow,
}

// ErrCeiling means that too many mails with links were requested by everybody together.
var ErrCeiling = errors.New("too many mails with links")

// Request queues the mail with a link, which leads to a destination once somebody has signed in
// (see accountsite; "" for the account), unless the address, the network or everybody
// together has reached its limit, and reports whether it did. The result and ErrCeiling
// must not be shown to the caller. ErrInvalid: the address.
//
// It does the same whether the address has an account or not. A request that is refused
// only reads, so that a flood of them keeps nobody from writing; the time
// it takes tells only that too many were made.
func (s *Links) Request(
	ctx context.Context, email string, purpose account.LinkPurpose, destination string, network netip.Prefix,
	now time.Time,
) (bool, error) {
	email, err := account.NormalizeEmail(email)
	if err != nil {
		return false, sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	keys, err := s.keys(ctx, now)
	if err != nil {
		return false, err
	}
	isOwner, err := sqldb.Get[bool](ctx, s.db, `SELECT EXISTS (SELECT 1 FROM accounts WHERE email = $1)`, email)
	if err != nil {
		return false, err
	}
	isEditor, err := s.rooms.IsEditor(ctx, s.db.Reads(), email)
	if err != nil {
		return false, s.db.Explain(ctx, err)
	}
	// Mails to owners and editors, to readers who want to follow something, and to others have a ceiling each,
	// so that made-up addresses do not keep owners out.
	everybody := "others"
	switch {
	case purpose == account.LinkFollow:
		everybody = "readers"
	case isOwner || isEditor:
		everybody = "owners"
	}
	address := newCounter(keys, account.AddressLimit(), "address "+string(purpose), []byte(email))
	client := newCounter(keys, account.NetworkLimit(), "network "+string(purpose), pseudonym.Network(network))
	wide := newCounter(keys, account.WideLimit(time.Hour), "wide "+everybody, pseudonym.Network(around(network)))
	total := newCounter(keys, s.ceiling, "all", []byte(everybody))
	return s.count(ctx, []*counter{address, client, wide, total}, func() error {
		switch {
		case !account.LinkMailAllowed(address.sent, client.sent, now), !account.WideLimit(time.Hour).Allows(wide.sent, now):
			return errRefused
		case !s.ceiling.Allows(total.sent, now) && !account.Reserved().Allows(wide.sent, now):
			return ErrCeiling
		}
		return nil
	}, now, func(tx *sql.Tx) error {
		return InsertMail(ctx, tx, mail.Request{To: s.stored(email, purpose), Kind: linkMails[purpose], About: destination}, now)
	})
}

// Limited writes what a visitor without an account sends in, unless her network, the wide one around it or everybody
// together has reached the limit of what it is, and reports whether it did.
func (s *Links) Limited(
	ctx context.Context, what string, network netip.Prefix, now time.Time, write func(*sql.Tx) error,
) (bool, error) {
	keys, err := s.keys(ctx, now)
	if err != nil {
		return false, err
	}
	client := newCounter(keys, account.ReportLimit(), what, pseudonym.Network(network))
	wide := newCounter(keys, account.WideLimit(24*time.Hour), what, pseudonym.Network(around(network)))
	all := newCounter(keys, account.TotalReportLimit(), what, []byte("all"))
	return s.count(ctx, []*counter{client, wide, all}, func() error {
		hasRoom := account.TotalReportLimit().Allows(all.sent, now) || account.Reserved().Allows(wide.sent, now)
		if !hasRoom || !account.ReportLimit().Allows(client.sent, now) || !account.WideLimit(24*time.Hour).Allows(wide.sent, now) {
			return errRefused
		}
		return nil
	}, now, write)
}

// around returns the wide network around a client, about as much as a provider has.
func around(network netip.Prefix) netip.Prefix {
	bits := 32
	if network.Addr().Is4() {
		bits = 16
	}
	return netip.PrefixFrom(network.Addr(), bits).Masked()
}

// count counts a request against counters, in the transaction that writes what it causes, unless
// refusal returns an error once they are read; it reports whether it did.
func (s *Links) count(
	ctx context.Context, counters []*counter, refusal func() error, now time.Time, write func(*sql.Tx) error,
) (bool, error) {
	var subjects []string
	for _, c := range counters {
		subjects = append(subjects, c.subjects...)
	}
	args, list := sqldb.InAfter(nil, subjects)
	found, err := sqldb.List(ctx, s.db, `SELECT subject, sent FROM link_requests WHERE subject IN `+list, sqldb.ScanFields[counted], args...)
	if err == nil {
		err = readCounters(found, now, counters)
	}
	if err == nil {
		err = refusal()
	}
	if err != nil {
		return false, unlessRefused(err)
	}
	err = s.db.Retried().Write(ctx, func(tx *sql.Tx) error {
		if err := lockCounters(ctx, tx, now, counters...); err != nil {
			return err
		}
		if err := refusal(); err != nil {
			return err
		}
		for _, c := range counters {
			c.own = append(c.own, now)
			if err := c.save(ctx, tx, now); err != nil {
				return err
			}
		}
		// Of the pseudonyms of yesterday without mails.
		if err := sqldb.Exec(ctx, tx, `DELETE FROM link_requests
			WHERE sent = '' AND subject IN `+list, args...); err != nil {
			return err
		}
		return write(tx)
	})
	return err == nil, unlessRefused(err)
}

// errRefused is the refusal of a request of which nobody needs to hear.
var errRefused = errors.New("too many were requested")

func unlessRefused(err error) error {
	if errors.Is(err, errRefused) {
		return nil
	}
	return err
}

// A counter is the mails that went to one address or were requested by one network. It
// is stored under one pseudonym for each of two days, so that a limit holds across
// midnight although the key of the day changes.
type counter struct {
	memory   time.Duration // how long a mail counts
	subjects []string      // today's first
	own      []time.Time   // times of mails under today's pseudonym
	sent     []time.Time   // times of mails under all pseudonyms
}

// newCounter returns the counter of a subject, without its times.
func newCounter(keys []pseudonym.Key, limit account.MailLimit, kind string, subject []byte) *counter {
	c := &counter{memory: limit.Memory()}
	for _, key := range keys {
		c.subjects = append(c.subjects, key.Of(kind, subject).String())
	}
	return c
}

type counted struct{ Subject, Sent string }

// lockCounters reads counters and locks them until the end of the transaction. The
// update changes nothing: it is a lock that both databases know. Rows are locked in one
// order, so that two transactions cannot deadlock.
func lockCounters(ctx context.Context, tx *sql.Tx, now time.Time, counters ...*counter) error {
	var all, values []string
	for _, c := range counters {
		all = append(all, c.subjects...)
	}
	slices.Sort(all)
	var args []any
	for i, subject := range all {
		values, args = append(values, fmt.Sprintf("($%d, '', '')", i+1)), append(args, subject)
	}
	found, err := sqldb.Rows(ctx, tx, `
		INSERT INTO link_requests (subject, sent, expires_at) VALUES `+strings.Join(values, ", ")+`
		ON CONFLICT (subject) DO UPDATE SET sent = link_requests.sent RETURNING subject, sent`,
		sqldb.ScanFields[counted], args...)
	if err != nil {
		return err
	}
	return readCounters(found, now, counters)
}

// readCounters sets the times of counters from their rows.
func readCounters(found []counted, now time.Time, counters []*counter) error {
	for _, c := range counters {
		c.own, c.sent = nil, nil
		for _, r := range found {
			day := slices.Index(c.subjects, r.Subject)
			if day < 0 {
				continue
			}
			for text := range strings.FieldsSeq(r.Sent) {
				ms, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return fmt.Errorf("a time in link_requests is not a number: %w", err)
				}
				at := time.UnixMilli(ms)
				if now.Sub(at) >= c.memory {
					continue
				}
				c.sent = append(c.sent, at)
				if day == 0 {
					c.own = append(c.own, at)
				}
			}
		}
	}
	return nil
}

// save writes the times under today's pseudonym.
func (c *counter) save(ctx context.Context, tx *sql.Tx, now time.Time) error {
	texts := make([]string, len(c.own))
	for i, at := range c.own {
		texts[i] = strconv.FormatInt(at.UnixMilli(), 10)
	}
	return sqldb.Exec(ctx, tx, `UPDATE link_requests SET sent = $1, expires_at = $2 WHERE subject = $3`,
		strings.Join(texts, " "), sqldb.FormatTime(now.Add(c.memory)), c.subjects[0])
}

// keys returns the key of the day, which is created on first use, and the key of the day
// before if there is one: without a key there are no counts.
func (s *Links) keys(ctx context.Context, now time.Time) ([]pseudonym.Key, error) {
	today, err := KeyOf(ctx, s.db.Retried(), forLinks, catalog.Day(now), pseudonym.NewKey())
	if err != nil {
		return nil, err
	}
	earlier, err := sqldb.List(ctx, s.db, `SELECT key FROM pseudonym_keys WHERE purpose = $1 AND day = $2`,
		sqldb.ScanValue[pseudonym.Key], forLinks, catalog.Day(now.UTC().AddDate(0, 0, -1)))
	return append([]pseudonym.Key{today}, earlier...), err
}
