package catalogdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

// toolsQuery returns the query of the view tools_view, which has a column for each field of a
// tool. Lists are JSON.
func toolsQuery(db *sqldb.DB) string {
	document := "document"
	if db.Shared() { // PostgreSQL, whose operators need the type
		document = "CAST(document AS JSON)"
	}
	var columns []string
	for _, f := range catalog.ToolFields {
		if f.Form == catalog.PublishAt {
			continue // what is published has none
		}
		value := fmt.Sprintf("%s ->> '%s'", document, f.Name)
		switch f.Form {
		case catalog.Figure:
			value = "CAST(" + value + " AS DOUBLE PRECISION)"
		case catalog.Tier:
			value = "CAST(" + value + " AS INTEGER)"
		case catalog.Flag, catalog.Draft:
			value = "coalesce(CAST(" + value + " AS BOOLEAN), FALSE)"
		}
		columns = append(columns, value+" AS "+f.Name)
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM records WHERE kind = 'outil' AND public AND NOT deleted"
}

// renewView makes tools_view what the fields of this program are.
func renewView(ctx context.Context, db *sqldb.DB) error {
	stored, err := sqldb.Value[string](ctx, db.Reads(), `SELECT tools_view FROM catalogue`)
	if err != nil || stored == toolsQuery(db) {
		return err
	}
	return db.WriteLarge(ctx, func(tx *sql.Tx) error { return writeView(ctx, db, tx) })
}

func writeView(ctx context.Context, db *sqldb.DB, tx *sql.Tx) error {
	query := toolsQuery(db)
	for _, statement := range []string{"DROP VIEW IF EXISTS tools_view", "CREATE VIEW tools_view AS " + query} {
		if err := sqldb.Exec(ctx, tx, statement); err != nil {
			return err
		}
	}
	return sqldb.Exec(ctx, tx, `UPDATE catalogue SET tools_view = $1`, query)
}
