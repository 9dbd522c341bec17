package catalogdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"time"

	"palmares/internal/record"
	"palmares/internal/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Part returns the tables of this package.
func Part() sqldb.Part {
	return sqldb.Part{
		Migrations: migrations,
		Singletons: map[string]string{"catalogue": "version = 0"},
		Created: func(ctx context.Context, db *sqldb.DB, tx *sql.Tx) error {
			empty := &record.Feed{ID: rand.Text(), Format: record.Format, State: record.State(nil)}
			if err := storeFeed(ctx, tx, empty); err != nil {
				return err
			}
			return writeView(ctx, db, tx)
		},
		Opened: renewView,
	}
}

// Examine returns what is published, and how many tools.
func Examine(ctx context.Context, q sqldb.Queryer, now time.Time) (all []sqldb.Finding, tools int64, err error) {
	var version int64
	var published time.Time
	err = q.QueryRowContext(ctx, `SELECT version, published_at, (`+CountTools+`) FROM catalogue`).
		Scan(&version, sqldb.Time(&published), &tools)
	if err != nil {
		return nil, 0, err
	}
	if version == 0 {
		return []sqldb.Finding{sqldb.Found("catalogue", sqldb.OK, "nothing is published yet")}, 0, nil
	}
	all = append(all, sqldb.Found("catalogue", sqldb.OK, "version %d with %d tools, published on %s",
		version, tools, published.Format(time.DateTime)))
	if ahead := published.Sub(now); ahead > sqldb.MaxSkew {
		all = append(all, sqldb.Found("clock", sqldb.Wrong,
			"the last publication is %s in the future: set the clock of this machine", ahead.Round(time.Second)))
	}
	stuck, err := sqldb.Value[int64](ctx, q, countStuck)
	if err != nil {
		return nil, 0, err
	}
	if stuck > 0 {
		all = append(all, sqldb.Found("calendar", sqldb.Wrong, "%d scheduled records could not be "+
			"published at their hour: `palmares log --planned` says why; correct the folder and publish it", stuck))
	}
	damaged := Verify(ctx, q)
	if damaged != nil && !errors.Is(damaged, sqldb.ErrDamaged) {
		return all, tools, damaged
	}
	if damaged != nil {
		return append(all, sqldb.Found("documents", sqldb.Wrong, "%v", damaged)), tools, nil
	}
	return append(all, sqldb.Found("documents", sqldb.OK, "every record and picture is what was written")), tools, nil
}

// Verify returns sqldb.ErrDamaged if the bytes of a record or a picture are not those that its hash names.
// No database notices one bit that has changed within a text.
func Verify(ctx context.Context, q sqldb.Queryer) error {
	var what, hash string
	var content sql.RawBytes
	for _, query := range []string{
		`SELECT kind || '/' || slug, hash, document FROM records WHERE document <> ''`,
		`SELECT 'the picture ' || hash, 'sha256-' || hash, bytes FROM picture_files
			WHERE length(hash) = 64`, // smaller versions have the name of the picture
	} {
		found, err := q.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			if err := found.Scan(&what, &hash, &content); err != nil {
				return err
			}
			if record.Hash(content) != hash {
				return sqldb.Problem(sqldb.ErrDamaged, nil,
					"%s is not what was written: restore a backup, or publish the folder again into a new database", what)
			}
		}
		if err := found.Err(); err != nil {
			return err
		}
	}
	return nil
}
