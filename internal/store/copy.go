package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// copied are the tables that Copy copies: all of them, each after those it refers to.
var copied = []string{
	"catalogue", "records", "former_records", "picture_files", "mirror", "publications", "events", "publish_tokens",
	"account_state", "accounts", "api_keys", "usage", "network_usage", "day_keys",
	"endpoints", "deliveries", "attempts", "recoveries",
	"mails", "links", "sessions", "link_requests", "link_keys",
	"subscriptions", "stripe_events", "stripe_cancellations",
}

// singletons have one row in a database that is empty, and how to tell that it is the first.
var singletons = map[string]string{"catalogue": "version = 0", "account_state": "revision = 0"}

// OpenOffline opens a database that no server may use meanwhile, to read and write whole
// tables. ErrServed: a server uses it. ErrNewer: its tables may have columns that this
// program does not know.
func OpenOffline(ctx context.Context, dsn string) (*Store, error) {
	d := newDB()
	d.alone = true
	s, err := openDB(ctx, dsn, d)
	if err != nil {
		return nil, err
	}
	if err := s.dialect.offline(ctx); err != nil {
		_ = s.Close() // it was only opened
		return nil, s.explain(ctx, err)
	}
	return s, nil
}

// Copied is what Copy has copied.
type Copied struct {
	Rows     int64
	Version  int64 // of the catalogue; 0 if nothing was published
	Tools    int64
	Accounts int64
}

// Copy writes everything that from has to another database, which must be empty, in one
// transaction: ids, times, hashes and sealed secrets stay as they are. OpenOffline opens
// both. Nothing can be written to from meanwhile. Copy calls progress with the number of rows of a table that are
// done, and of all of them.
func Copy(ctx context.Context, from, to *Store, progress func(table string, done, total int64)) (Copied, error) {
	var c Copied
	err := from.writeLarge(ctx, func(source *sql.Tx) error {
		if err := from.dialect.lockTables(ctx, source, copied); err != nil {
			return err
		}
		// An error about the other database is explained by it.
		return to.writeLarge(ctx, func(target *sql.Tx) error {
			return (&copying{from: from, to: to, source: source, target: target, progress: progress, done: &c}).run(ctx)
		})
	})
	return c, err
}

// A copying is one Copy.
type copying struct {
	from, to       *Store
	source, target *sql.Tx
	progress       func(string, int64, int64)
	done           *Copied
}

func (c *copying) run(ctx context.Context) error {
	if err := c.to.dialect.lockTables(ctx, c.target, copied); err != nil {
		return err
	}
	if err := c.refuseRows(ctx); err != nil {
		return err
	}
	for name := range singletons {
		if _, err := c.target.ExecContext(ctx, "DELETE FROM "+name); err != nil {
			return err
		}
	}
	for _, name := range copied {
		if err := c.table(ctx, name); err != nil {
			return err
		}
	}
	return c.target.QueryRowContext(ctx, `SELECT (SELECT version FROM catalogue), `+countTools+`, (SELECT count(*) FROM accounts)`).
		Scan(&c.done.Version, &c.done.Tools, &c.done.Accounts)
}

// refuseRows refuses a target that has anything.
func (c *copying) refuseRows(ctx context.Context) error {
	for _, name := range copied {
		query := "SELECT EXISTS (SELECT 1 FROM " + name + ")"
		if first, ok := singletons[name]; ok {
			query = "SELECT EXISTS (SELECT 1 FROM " + name + " WHERE NOT " + first + ")"
		}
		var occupied bool
		if err := c.target.QueryRowContext(ctx, query).Scan(&occupied); err != nil {
			return err
		}
		if occupied {
			return problem(ErrNotEmpty, nil, "%s is not empty (there is something in the table %s): copy to a new database; nothing was changed", c.to.name, name)
		}
	}
	return nil
}

// copyBytes is how much one statement writes at most, but for a single row.
const copyBytes = 4 << 20

// table copies the rows of one table.
func (c *copying) table(ctx context.Context, name string) error {
	var total, done int64
	if err := c.source.QueryRowContext(ctx, "SELECT count(*) FROM "+name).Scan(&total); err != nil {
		return c.from.explain(ctx, err)
	}
	// By name: columns that a migration added may be in another order.
	columns, booleans, err := columnsOf(ctx, c.target, name)
	if err != nil {
		return err
	}
	rows, err := c.source.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s", strings.Join(columns, ", "), name))
	if err != nil {
		return c.from.explain(ctx, err)
	}
	defer rows.Close()
	b := newBatch(c.target, table{name: name, columns: columns}, c.to.dialect.placeholders())
	for size := 0; rows.Next(); done++ {
		row := make([]any, len(columns))
		places := make([]any, len(columns))
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return c.from.explain(ctx, err)
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
		if err := b.add(ctx, row...); err != nil {
			return err
		}
		if len(b.args) == 0 {
			size = 0
		} else if size > copyBytes {
			if err := b.flush(ctx); err != nil {
				return err
			}
			size = 0
		}
		c.progress(name, done, total)
	}
	if err := rows.Err(); err != nil {
		return c.from.explain(ctx, err)
	}
	c.done.Rows += done
	return b.flush(ctx)
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
