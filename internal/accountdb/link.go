package accountdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/vault"
)

// Why a link cannot be spent. ErrNotFound is one that never existed, or expired so long
// ago that it was deleted.
var (
	ErrLinkUsed    = errors.New("the link was used")
	ErrLinkExpired = errors.New("the link has expired")
)

// Links are the links in mails that sign in or confirm a deletion.
type Links struct {
	db      *sqldb.DB
	mailing *sqldb.DB // for Create
	ceiling account.MailLimit
	rooms   Rooms
	sealer  vault.Sealer // of addresses that are not confirmed
}

// Sealed returns the links with what seals and opens the addresses of readers who have not confirmed yet.
func (s *Links) Sealed(sealer vault.Sealer) *Links {
	sealed := *s
	sealed.sealer = sealer
	return &sealed
}

// pendingSeal is what such an address is sealed for.
const pendingSeal = "pending"

// Open returns an address that Request or Create has sealed, after the name by which it is found.
func (s *Links) Open(pending string) (string, error) {
	_, sealed, _ := strings.Cut(pending, " ")
	return s.sealer.Open(pendingSeal, sealed)
}

func (s *Links) stored(email string, purpose account.LinkPurpose) string {
	if purpose == account.LinkFollow {
		return s.sealer.Hash(email) + " " + s.sealer.Seal(pendingSeal, email)
	}
	return email
}

// Create creates a link for an address, which need not have an account, and returns its
// token in plain text, for the mail. Only its hash is stored.
// ErrInvalid: it is not an address.
func (s *Links) Create(ctx context.Context, email string, purpose account.LinkPurpose, now time.Time) (string, error) {
	email, err := account.NormalizeEmail(email)
	if err != nil {
		return "", sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	token := account.NewToken(rand.Reader)
	return token, sqldb.WriteOnce(ctx, s.mailing, `INSERT INTO links (hash, email, purpose, created_at, expires_at, used_at)
			VALUES ($1, $2, $3, $4, $5, '')`,
		account.TokenHash(token), s.stored(email, purpose), string(purpose), sqldb.FormatTime(now), sqldb.FormatTime(now.Add(purpose.Life())))
}

// Check reports whether a link can be spent, and returns its address. It changes
// nothing: mail scanners open every link. ErrLinkUsed, ErrLinkExpired, ErrNotFound.
func (s *Links) Check(ctx context.Context, token string, purpose account.LinkPurpose, now time.Time) (string, error) {
	if !account.HasTokenForm(token) {
		return "", noLink()
	}
	email, err := findLink(ctx, s.db.Reads(), token, purpose, now)
	if err == nil && purpose == account.LinkFollow {
		return s.Open(email)
	}
	return email, s.db.Explain(ctx, err)
}

// SignIn spends a link and starts a session for its address, whose account is created
// if there is none. It returns the secret of the session in plain text; only its hash is
// stored.
// The browser's previous session, whose secret is replaced, ends; "" for none. Of any
// number of calls with one link exactly one succeeds. ErrLinkUsed, ErrLinkExpired,
// ErrNotFound.
func (s *Links) SignIn(ctx context.Context, token, browser, replaced string, now time.Time) (string, error) {
	// Malformed tokens are refused without waiting for a writer.
	if _, err := s.Check(ctx, token, account.LinkSignIn, now); err != nil {
		return "", err
	}
	secret := account.NewToken(rand.Reader)
	err := writeKeys(ctx, s.db, func(tx *sql.Tx) error {
		email, err := spendLink(ctx, tx, token, account.LinkSignIn, now)
		if err != nil {
			return err
		}
		// Two links of one address that are spent at once still create one account.
		err = sqldb.Exec(ctx, tx, `INSERT INTO accounts (id, email, plan, created_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (email) DO NOTHING`,
			account.NewID(account.AccountID, now, rand.Reader), email, string(account.Developer), sqldb.FormatTime(now))
		if err != nil {
			return err
		}
		owner, err := lockAccount(ctx, tx, email)
		if err != nil {
			return err
		}
		if replaced != "" {
			if err := sqldb.Exec(ctx, tx, `DELETE FROM sessions WHERE hash = $1`, account.TokenHash(replaced)); err != nil {
				return err
			}
		}
		return sqldb.Exec(ctx, tx, `
			INSERT INTO sessions (hash, id, account_id, browser, created_at, seen_on, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			account.TokenHash(secret), account.NewID(account.SessionID, now, rand.Reader), owner.ID, browser,
			sqldb.FormatTime(now), now.UTC().Format(time.DateOnly), sqldb.FormatTime(now.Add(account.SessionLife)))
	})
	return secret, err
}

// SpendFollow spends a link of a reader in a transaction of hers, and returns her address, which it erases.
// ErrLinkUsed, ErrLinkExpired, ErrNotFound.
func (s *Links) SpendFollow(ctx context.Context, tx *sql.Tx, token string, now time.Time) (string, error) {
	pending, err := spendLink(ctx, tx, token, account.LinkFollow, now)
	if err != nil {
		return "", err
	}
	email, err := s.Open(pending)
	return email, cmp.Or(err, sqldb.Exec(ctx, tx, `UPDATE links SET email = '' WHERE hash = $1`, account.TokenHash(token)))
}

// Forget deletes whatever waits to be confirmed by a reader.
func (s *Links) Forget(ctx context.Context, tx *sql.Tx, email string) error {
	name := s.sealer.Hash(email)
	return sqldb.ExecAll(ctx, tx,
		sqldb.Do(`DELETE FROM links WHERE substr(email, 1, 32) = $1 AND purpose = $2`, name, string(account.LinkFollow)),
		sqldb.Do(`DELETE FROM mails WHERE substr(address, 1, 32) = $1 AND kind = $2`, name, string(mail.ConfirmFollow)))
}

// DeleteAccount spends a link that confirms a deletion, and deletes the account with
// everything that belongs to it, or nothing. Its subscription must have been cancelled before.
// ErrLinkUsed, ErrLinkExpired, ErrNotFound: of the link, or of the account.
func (s *Links) DeleteAccount(ctx context.Context, token string, now time.Time) error {
	if _, err := s.Check(ctx, token, account.LinkDeletion, now); err != nil {
		return err
	}
	return writeKeys(ctx, s.db, func(tx *sql.Tx) error {
		email, err := spendLink(ctx, tx, token, account.LinkDeletion, now)
		if err != nil {
			return err
		}
		owner, err := lockAccount(ctx, tx, email)
		if err != nil {
			return err
		}
		// The link stays until it expires, without its address, so that a second click
		// shows that the account was deleted.
		if err := sqldb.Exec(ctx, tx, `UPDATE links SET email = '' WHERE hash = $1`, account.TokenHash(token)); err != nil {
			return err
		}
		return deleteAccount(ctx, tx, owner)
	})
}

// spendLink marks a link as used. The update makes it happen once: a second one waits
// for the first and then finds nothing left to change.
func spendLink(
	ctx context.Context, tx *sql.Tx, token string, purpose account.LinkPurpose, now time.Time,
) (string, error) {
	email, err := sqldb.Value[string](ctx, tx, `
		UPDATE links SET used_at = $1 WHERE hash = $2 AND purpose = $3 AND used_at = '' AND expires_at > $1 RETURNING email`,
		sqldb.FormatTime(now), account.TokenHash(token), string(purpose))
	if !errors.Is(err, sql.ErrNoRows) {
		return email, err
	}
	if _, err := findLink(ctx, tx, token, purpose, now); err != nil {
		return "", err
	}
	return "", sqldb.Problem(ErrLinkUsed, nil, "the link was used just now: request a new one")
}

func findLink(
	ctx context.Context, q sqldb.Queryer, token string, purpose account.LinkPurpose, now time.Time,
) (string, error) {
	var email, expires, used string
	err := q.QueryRowContext(ctx, `SELECT email, expires_at, used_at FROM links WHERE hash = $1 AND purpose = $2`,
		account.TokenHash(token), string(purpose)).Scan(&email, &expires, &used)
	switch {
	case err != nil:
		return "", sqldb.OrMissing(err, noLink())
	case used != "":
		return "", sqldb.Problem(ErrLinkUsed, nil, "the link was used already: request a new one")
	case expires <= sqldb.FormatTime(now):
		return "", sqldb.Problem(ErrLinkExpired, nil, "the link has expired: request a new one")
	}
	return email, nil
}

// noLink does not repeat the token: errors are logged.
func noLink() error {
	return sqldb.Problem(sqldb.ErrNotFound, nil, "there is no such link: request a new one")
}
