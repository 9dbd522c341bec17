package catalogdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"time"

	"palmares/internal/catalog"
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

// Verify returns sqldb.ErrDamaged if the bytes of a record or a picture are not those that its hash names, or if the
// records are not those of the published version, or a picture of it is missing. No database notices one bit that has
// changed within a text, or a row that somebody has removed.
func Verify(ctx context.Context, q sqldb.Queryer) error {
	var what, hash string
	var content sql.RawBytes
	scan := func(rows *sql.Rows) error {
		err := rows.Scan(&what, &hash, &content)
		if err == nil && record.Hash(content) != hash {
			err = damaged(what + " is not what was written")
		}
		return err
	}
	for _, query := range []string{
		`SELECT kind || '/' || slug, hash, document FROM records WHERE document <> ''`,
		`SELECT kind || '/' || slug || ' before version ' || until, hash, document FROM former_records WHERE document <> ''`,
		`SELECT 'the picture ' || hash, 'sha256-' || hash, bytes FROM picture_files
			WHERE length(hash) = 64`, // smaller versions have the name of the picture
	} {
		if err := scanRows(ctx, q, query, scan); err != nil {
			return err
		}
	}
	return verifyVersion(ctx, q)
}

func damaged(what string) error {
	return sqldb.Problem(sqldb.ErrDamaged, nil, "%s: restore a backup, or publish the folder again into a new database", what)
}

// verifyVersion compares the records with the state of the published version, and their pictures with the stored ones.
func verifyVersion(ctx context.Context, q sqldb.Queryer) error {
	var version int64
	var state string
	err := q.QueryRowContext(ctx, `SELECT version, feed_state FROM catalogue`).Scan(&version, &state)
	if err != nil || version == 0 {
		return err
	}
	var public []record.Change
	err = scanRows(ctx, q, `SELECT kind, slug, hash, deleted FROM records WHERE public`, func(rows *sql.Rows) error {
		var c record.Change
		err := rows.Scan(kindColumn{&c.Kind}, &c.Slug, &c.Hash, &c.Deleted)
		public = append(public, c)
		return err
	})
	if err == nil && record.State(public) != state {
		err = damaged("records are missing, or are not those of the published version")
	}
	stored := map[string]bool{}
	err = errors.Join(err, scanRows(ctx, q, `SELECT hash FROM picture_files`, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		stored[name] = true
		return err
	}))
	return errors.Join(err, scanRows(ctx, q, `SELECT document FROM records WHERE kind = '`+pictureKind.Name+`' AND document <> ''`,
		func(rows *sql.Rows) error {
			var document []byte
			var p catalog.Picture
			if err := errors.Join(rows.Scan(&document), json.Unmarshal(document, &p)); err != nil {
				return err
			}
			for _, name := range p.Names() {
				if !stored[name] {
					return damaged("the picture " + name + " is missing")
				}
			}
			return nil
		}))
}

// scanRows calls scan with each row of a query.
func scanRows(ctx context.Context, q sqldb.Queryer, query string, scan func(*sql.Rows) error) error {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
