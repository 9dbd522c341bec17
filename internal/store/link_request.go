package store

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/mail"
)

// linkMails are the mails that contain links.
var linkMails = map[account.LinkPurpose]mail.Kind{
	account.LinkSignIn:   mail.SignIn,
	account.LinkDeletion: mail.ConfirmDeletion,
}

// Request queues the mail with a link, unless the address or the network has reached its
// limit, and reports whether it did. The result is for waking the queue and must not be
// shown to the caller. ErrInvalid: the address.
//
// It never looks whether the address has an account, and it does the same work whether
// the mail may be sent or not, including the mail itself, which is queued and then
// rolled back: the time it takes reveals nothing either way.
func (s *Links) Request(ctx context.Context, email string, purpose account.LinkPurpose, network netip.Prefix, now time.Time) (bool, error) {
	email, err := account.NormalizeEmail(email)
	if err != nil {
		return false, problem(ErrInvalid, err, "%v", err)
	}
	keys, err := s.keys(ctx, now)
	if err != nil {
		return false, err
	}
	address := counter{memory: account.AddressLimit().Memory()}
	client := counter{memory: account.NetworkLimit().Memory()}
	for _, key := range keys {
		addr := network.Addr().As16()
		address.subjects = append(address.subjects, key.pseudonym("address", []byte(email)))
		client.subjects = append(client.subjects, key.pseudonym("network", append(addr[:], byte(network.Bits()))))
	}
	var allowed bool
	err = s.withWait(retryWait).write(ctx, func(tx *sql.Tx) error {
		if err := lockCounters(ctx, tx, now, &address, &client); err != nil {
			return err
		}
		allowed = account.LinkMailAllowed(address.sent, client.sent, now)
		for _, c := range []*counter{&address, &client} {
			if allowed {
				c.own = append(c.own, now)
			}
			if err := c.save(ctx, tx, now); err != nil {
				return err
			}
		}
		// A flood of invented addresses must not leave a row for each of them.
		list, args := in(slices.Concat(address.subjects, client.subjects))
		if _, err := tx.ExecContext(ctx, `DELETE FROM link_requests WHERE sent = '' AND subject IN `+list, args...); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `SAVEPOINT mail`); err != nil {
			return err
		}
		if err := queueMail(ctx, tx, mail.Request{To: email, Kind: linkMails[purpose]}, now); err != nil {
			return err
		}
		end := `ROLLBACK TO SAVEPOINT mail`
		if allowed {
			end = `RELEASE SAVEPOINT mail`
		}
		_, err := tx.ExecContext(ctx, end)
		return err
	})
	return allowed && err == nil, err
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
	type row struct{ subject, sent string }
	found, err := rows(ctx, tx, len(all), `
		INSERT INTO link_requests (subject, sent, expires_at) VALUES `+strings.Join(values, ", ")+`
		ON CONFLICT (subject) DO UPDATE SET sent = link_requests.sent RETURNING subject, sent`,
		func(scan scanner, r *row) error { return scan(&r.subject, &r.sent) }, args...)
	if err != nil {
		return err
	}
	for _, c := range counters {
		for _, r := range found {
			day := slices.Index(c.subjects, r.subject)
			if day < 0 {
				continue
			}
			for text := range strings.FieldsSeq(r.sent) {
				ms, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return fmt.Errorf("a time in link_requests is not a number: %w", err)
				}
				at := time.UnixMilli(ms)
				if now.Sub(at) >= c.memory {
					continue
				}
				if c.sent = append(c.sent, at); day == 0 {
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
	_, err := tx.ExecContext(ctx, `UPDATE link_requests SET sent = $1, expires_at = $2 WHERE subject = $3`,
		strings.Join(texts, " "), formatTime(now.Add(c.memory)), c.subjects[0])
	return err
}

// A linkKey derives the pseudonyms of one day.
type linkKey [32]byte

// pseudonym returns the name under which a subject is stored. It depends on the kind, so
// that an address and a network never share one.
func (k linkKey) pseudonym(kind string, subject []byte) string {
	mac := hmac.New(sha256.New, k[:])
	mac.Write([]byte(kind + "\x00"))
	mac.Write(subject)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// keys returns the key of the day, which is created on first use, and that of the day
// before if there is one: without a key there are no counts.
func (s *Links) keys(ctx context.Context, now time.Time) ([]linkKey, error) {
	today, yesterday := now.UTC().Format(time.DateOnly), now.UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	// A read is enough on all but the first request of a day.
	key, err := readLinkKey(s.reads.QueryRowContext(ctx, `SELECT key FROM link_keys WHERE day = $1`, today))
	if errors.Is(err, sql.ErrNoRows) {
		err = s.withWait(retryWait).write(ctx, func(tx *sql.Tx) (err error) {
			var candidate linkKey
			rand.Read(candidate[:]) //nolint:errcheck // documented never to fail
			// The update changes nothing: of two concurrent statements the second returns the
			// key of the first.
			key, err = readLinkKey(tx.QueryRowContext(ctx, `
				INSERT INTO link_keys (day, key) VALUES ($1, $2)
				ON CONFLICT (day) DO UPDATE SET key = link_keys.key RETURNING key`, today, hex.EncodeToString(candidate[:])))
			return err
		})
	}
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	keys := []linkKey{key}
	switch key, err := readLinkKey(s.reads.QueryRowContext(ctx, `SELECT key FROM link_keys WHERE day = $1`, yesterday)); {
	case err == nil:
		keys = append(keys, key)
	case !errors.Is(err, sql.ErrNoRows):
		return nil, s.explain(ctx, err)
	}
	return keys, nil
}

func readLinkKey(row *sql.Row) (linkKey, error) {
	var text string
	var key linkKey
	err := row.Scan(&text)
	if err == nil {
		_, err = hex.Decode(key[:], []byte(text))
	}
	return key, err
}
