package catalogdb

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"time"

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
			if err := writeFirstFeed(ctx, tx); err != nil {
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
		return []sqldb.Finding{{Subject: "catalogue", Text: "nothing is published yet"}}, 0, nil
	}
	all = append(all, sqldb.Finding{Subject: "catalogue", Text: fmt.Sprintf("version %d with %d tools, published on %s",
		version, tools, published.Format(time.DateTime))})
	if ahead := published.Sub(now); ahead > sqldb.MaxSkew {
		all = append(all, sqldb.Finding{Subject: "clock", Wrong: true, Text: fmt.Sprintf(
			"the last publication is %s in the future: set the clock of this machine", ahead.Round(time.Second))})
	}
	return all, tools, nil
}
