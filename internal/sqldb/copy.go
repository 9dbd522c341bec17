package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Copy writes everything that from has to another database, which must be empty, in one
// transaction: ids, times, hashes and sealed secrets stay as they are. OpenOffline opens
// both. Nothing can be written to from meanwhile. Copy calls progress with the number of rows
// of a table that are done, and of all of them. It returns how many rows there are.
func Copy(ctx context.Context, from, to *DB, progress func(table string, done, total int64)) (int64, error) {
	tables, err := tablesOf(from.parts)
	if err != nil {
		return 0, err
	}
	c := &copying{from: from, to: to, tables: tables, progress: progress}
	err = from.WriteLarge(ctx, func(source *sql.Tx) error {
		if err := from.dialect.lockTables(ctx, source, tables); err != nil {
			return err
		}
		// An error about the other database is explained by it.
		return to.WriteLarge(ctx, func(target *sql.Tx) error {
			c.source, c.target = source, target
			return c.run(ctx)
		})
	})
	return c.rows, err
}

// A copying is one Copy.
type copying struct {
	from, to       *DB
	tables         []string
	source, target *sql.Tx
	progress       func(string, int64, int64)
	rows           int64
}

func (c *copying) run(ctx context.Context) error {
	if err := c.to.dialect.lockTables(ctx, c.target, c.tables); err != nil {
		return err
	}
	for _, name := range c.tables {
		if err := c.refuseRows(ctx, name); err != nil {
			return err
		}
	}
	for _, name := range c.tables {
		if c.first(name) != "" {
			if _, err := c.target.ExecContext(ctx, "DELETE FROM "+name); err != nil {
				return err
			}
		}
		if err := c.table(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// first returns the condition by which the only row of a table is still the first, "" for
// tables that have none at the beginning.
func (c *copying) first(name string) string {
	for _, part := range c.to.parts {
		if condition := part.Singletons[name]; condition != "" {
			return condition
		}
	}
	return ""
}

// refuseRows refuses a target that has anything in a table.
func (c *copying) refuseRows(ctx context.Context, name string) error {
	query := "SELECT EXISTS (SELECT 1 FROM " + name + ")"
	if first := c.first(name); first != "" {
		query = "SELECT EXISTS (SELECT 1 FROM " + name + " WHERE NOT " + first + ")"
	}
	occupied, err := Value[bool](ctx, c.target, query)
	if err != nil {
		return err
	}
	if occupied {
		return Problem(ErrNotEmpty, nil, "%s is not empty (there is something in the table %s): "+
			"copy to a new database; nothing was changed", c.to.name, name)
	}
	return nil
}

// copyBytes is how much one statement writes at most, but for a single row.
const copyBytes = 4 << 20

func (c *copying) table(ctx context.Context, name string) error {
	var total, done int64
	if err := c.source.QueryRowContext(ctx, "SELECT count(*) FROM "+name).Scan(&total); err != nil {
		return c.from.Explain(ctx, err)
	}
	// By name: columns that a migration added may be in another order.
	columns, booleans, err := columnsOf(ctx, c.target, name)
	if err != nil {
		return err
	}
	rows, err := c.source.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s", strings.Join(columns, ", "), name))
	if err != nil {
		return c.from.Explain(ctx, err)
	}
	defer rows.Close()
	b := NewBatch(c.target, Table{Name: name, Columns: columns}, c.to.Placeholders())
	for size := 0; rows.Next(); done++ {
		row := make([]any, len(columns))
		places := make([]any, len(columns))
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return c.from.Explain(ctx, err)
		}
		for i, v := range row {
			switch v := v.(type) {
			case int64:
				if booleans[i] { // SQLite has none
					row[i] = v != 0
				}
			case string:
				size += len(v)
			case []byte:
				size += len(v)
			}
		}
		if err := b.Add(ctx, row...); err != nil {
			return err
		}
		if len(b.args) == 0 {
			size = 0
		} else if size > copyBytes {
			if err := b.Flush(ctx); err != nil {
				return err
			}
			size = 0
		}
		c.progress(name, done, total)
	}
	if err := rows.Err(); err != nil {
		return c.from.Explain(ctx, err)
	}
	c.rows += done
	return b.Flush(ctx)
}

// columnsOf returns the names of a table's columns, and which of them are booleans.
func columnsOf(ctx context.Context, tx *sql.Tx, name string) (names []string, booleans []bool, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT * FROM "+name+" WHERE FALSE")
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	columns, err := rows.ColumnTypes()
	if err != nil {
		return nil, nil, err
	}
	for _, c := range columns {
		names = append(names, c.Name())
		booleans = append(booleans, strings.HasPrefix(c.DatabaseTypeName(), "BOOL"))
	}
	return names, booleans, rows.Err()
}
