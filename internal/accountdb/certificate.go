package accountdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/acme/autocert"

	"palmares/internal/certificate"
	"palmares/internal/sqldb"
	"palmares/internal/vault"
)

// Certificates are the certificates of the site's domains and what belongs to their orders, sealed: see
// certificate.Store.
type Certificates struct {
	db     *sqldb.DB
	sealer vault.Sealer
}

// Sealed returns the certificates that a key seals.
func (s *Certificates) Sealed(sealer vault.Sealer) *Certificates {
	return &Certificates{s.db, sealer}
}

// Get returns a value. One that a former key sealed is sealed again.
func (s *Certificates) Get(ctx context.Context, name string) ([]byte, error) {
	sealed, err := sqldb.Get[string](ctx, s.db, `
		SELECT sealed FROM certificates WHERE name = $1 AND sealed <> ''`, name)
	if err != nil {
		return nil, sqldb.OrMissing(err, autocert.ErrCacheMiss)
	}
	if id := s.sealer.Missing(sealed); id != "" {
		return nil, fmt.Errorf("it is sealed with key %s, which is not in --secret-key: "+
			"add the previous key, after a comma if there is a new one", id)
	}
	value, err := s.sealer.Open(name, sealed)
	if err != nil {
		return nil, errors.New("it is damaged: restore the database from a backup")
	}
	if !s.sealer.Current(sealed) {
		err = s.Put(ctx, name, []byte(value))
	}
	return []byte(value), err
}

// Put stores a value. It is bound to its name.
func (s *Certificates) Put(ctx context.Context, name string, value []byte) error {
	return sqldb.WriteOnce(ctx, s.db, `INSERT INTO certificates (name, sealed) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed`, name, s.sealer.Seal(name, string(value)))
}

// Delete removes a value.
func (s *Certificates) Delete(ctx context.Context, name string) error {
	return sqldb.WriteOnce(ctx, s.db, `DELETE FROM certificates WHERE name = $1`, name)
}

// Claim begins an order that ends before a time, unless the order before it has not ended or the next one
// has to wait. None waits for a day: then the clock was wrong.
func (s *Certificates) Claim(ctx context.Context, domain string, now, until time.Time) (certificate.Order, error) {
	return sqldb.Write(ctx, s.db, func(tx *sql.Tx) (o certificate.Order, err error) {
		n, err := sqldb.ExecRows(ctx, tx, `INSERT INTO certificates (name, next_at) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET next_at = excluded.next_at
			WHERE certificates.next_at <= $3 OR certificates.next_at > $4`,
			domain, sqldb.FormatTime(until), sqldb.FormatTime(now), sqldb.FormatTime(now.AddDate(0, 0, 1)))
		if err != nil {
			return o, err
		}
		o.Claimed = n == 1
		err = tx.QueryRowContext(ctx, `SELECT next_at, failures FROM certificates WHERE name = $1`, domain).
			Scan(sqldb.Time(&o.Next), &o.Failures)
		return o, err
	})
}

// End ends an order.
func (s *Certificates) End(ctx context.Context, domain string, o certificate.Order) error {
	return sqldb.WriteOnce(ctx, s.db, `UPDATE certificates SET next_at = $1, failures = $2 WHERE name = $3`,
		sqldb.FormatTime(o.Next), o.Failures, domain)
}
