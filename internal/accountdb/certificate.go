package accountdb

import (
	"context"
	"database/sql"
	"time"

	"palmares/internal/certificate"
	"palmares/internal/sqldb"
)

// Certificates are the certificates of the site's domains and what belongs to their orders,
// sealed: see certificate.Store.
type Certificates struct{ db *sqldb.DB }

// Get returns a sealed value, "" if there is none.
func (s *Certificates) Get(ctx context.Context, name string) (sealed string, err error) {
	err = s.db.Lookup(ctx, func(pool *sql.DB) error {
		sealed, err = sqldb.Value[string](ctx, pool, `SELECT sealed FROM certificates WHERE name = $1`, name)
		return err
	})
	return sealed, sqldb.OrMissing(err, nil)
}

// Put stores a sealed value.
func (s *Certificates) Put(ctx context.Context, name, sealed string) error {
	return sqldb.WriteOnce(ctx, s.db, `INSERT INTO certificates (name, sealed) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed`, name, sealed)
}

// Delete removes a value.
func (s *Certificates) Delete(ctx context.Context, name string) error {
	return sqldb.WriteOnce(ctx, s.db, `DELETE FROM certificates WHERE name = $1`, name)
}

// LastOrder returns what is known of the orders of a domain; the zero value if there was none.
func (s *Certificates) LastOrder(ctx context.Context, domain string) (o certificate.Order, err error) {
	err = s.db.Reads().QueryRowContext(ctx, `SELECT tried_at, claimed_until, failures FROM certificate_orders
		WHERE domain = $1`, domain).Scan(sqldb.Time(&o.Tried), sqldb.Time(&o.ClaimedUntil), &o.Failures)
	return o, s.db.Explain(ctx, sqldb.OrMissing(err, nil))
}

// Claim begins an order, and reports whether nobody else has begun one since last was read.
func (s *Certificates) Claim(
	ctx context.Context, domain string, last certificate.Order, now, until time.Time,
) (bool, error) {
	return sqldb.Write(ctx, s.db, func(tx *sql.Tx) (bool, error) {
		n, err := sqldb.ExecRows(ctx, tx, `
			INSERT INTO certificate_orders (domain, tried_at, claimed_until, failures) VALUES ($1, $2, $3, 0)
			ON CONFLICT (domain) DO UPDATE SET tried_at = excluded.tried_at, claimed_until = excluded.claimed_until
			WHERE certificate_orders.tried_at = $4`,
			domain, sqldb.FormatTime(now), sqldb.FormatTime(until), sqldb.FormatTime(last.Tried))
		return n == 1, err
	})
}

// End ends an order, after so many failures.
func (s *Certificates) End(ctx context.Context, domain string, failures int) error {
	return sqldb.WriteOnce(ctx, s.db, `UPDATE certificate_orders SET claimed_until = '', failures = $1 WHERE domain = $2`,
		failures, domain)
}
