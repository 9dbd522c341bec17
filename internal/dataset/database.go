package dataset

import (
	"database/sql"
	_ "embed"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"palmares/internal/catalog"
	"palmares/internal/record"
)

//go:embed schema.sql
var schema string

// A database is the SQLite file that is being written, in one transaction.
type database struct {
	w       *writer
	path    string
	db      *sql.DB
	tx      *sql.Tx
	inserts map[string]*sql.Stmt // by table
	rows    int64
	args    []any
}

// createDatabase begins the SQLite file. It has no journal: a file that was not finished
// is thrown away.
func (w *writer) createDatabase() (*database, error) {
	path, err := filepath.Abs(filepath.Join(w.dir, "palmares.sqlite")) // a relative one would be a host in a URL
	if err != nil {
		return nil, err
	}
	d := &database{w: w, path: path, inserts: map[string]*sql.Stmt{}}
	pragmas := url.Values{"_dqs": {"0"}}
	for _, pragma := range []string{
		"page_size(4096)", "journal_mode(OFF)", "synchronous(OFF)", "locking_mode(EXCLUSIVE)",
		"temp_store(MEMORY)", "cache_size(-65536)", "user_version(" + strconv.Itoa(Format) + ")",
	} {
		pragmas.Add("_pragma", pragma)
	}
	uri := url.URL{Scheme: "file", Path: filepath.ToSlash(d.path), RawQuery: pragmas.Encode()}
	d.db, err = sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, err
	}
	d.db.SetMaxOpenConns(1)
	d.tx, err = d.db.BeginTx(w.ctx, nil)
	if err != nil {
		d.abandon()
		return nil, err
	}
	statements := append(createTables(), schema, setIndex("automerge", 0), setIndex("hashsize", 32<<20))
	if err := d.exec(statements...); err != nil {
		d.abandon()
		return nil, err
	}
	return d, nil
}

// setIndex returns the statement that sets an option of the full-text index. Its segments
// are merged once, at the end, and are few because each is large: merging them again and
// again would take a fifth of the time.
func setIndex(option string, value int) string {
	return "INSERT INTO search (search, rank) VALUES ('" + option + "', " + strconv.Itoa(value) + ")"
}

func (d *database) exec(statements ...string) error {
	for _, statement := range statements {
		if _, err := d.tx.ExecContext(d.w.ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// abandon closes the file, whatever is in it.
func (d *database) abandon() {
	if d.tx != nil {
		_ = d.tx.Rollback() // the file is thrown away, or finished
	}
	_ = d.db.Close()
}

// insert adds a row to a table, with values for all columns or for those in parentheses.
func (d *database) insert(table string, values ...any) error {
	stmt := d.inserts[table]
	if stmt == nil {
		var err error
		stmt, err = d.tx.PrepareContext(d.w.ctx, "INSERT INTO "+table+" VALUES (?"+strings.Repeat(", ?", len(values)-1)+")")
		if err != nil {
			return err
		}
		d.inserts[table] = stmt
	}
	_, err := stmt.ExecContext(d.w.ctx, values...)
	return err
}

// add adds a record, with its histories and its words.
func (d *database) add(r *row) error {
	if r.Kind == catalog.CatalogueKind {
		return d.addMeta(r)
	}
	d.rows++
	d.args = append(d.args[:0], d.rows, r.change.Slug)
	for i := range r.Kind.Fields {
		if f := &r.Kind.Fields[i]; isColumn(f) {
			d.args = append(d.args, sqlValue(r.Value(f.Name)))
		}
	}
	d.args = append(d.args, r.change.Hash, string(r.canonical))
	if r.Kind == catalog.ToolKind {
		monthly := d.w.snap.Catalog.Tool(r.change.Slug).EurosPerMonth()
		d.args = append(d.args, sqlValue(&monthly))
	}
	err := d.insert(r.Kind.Folder, d.args...)
	if err != nil {
		return err
	}
	if r.Kind == catalog.ProofKind {
		return nil // without words to find it by
	}
	err = d.insert("search (rowid, kind, slug, name, tagline, body)", d.rows, r.Kind.Name, r.change.Slug,
		sqlValue(r.Value(r.Kind.Title())), sqlValue(r.Value(r.Kind.Summary)), sqlValue(r.Value("body")))
	if err != nil {
		return err
	}
	if r.Kind == catalog.ToolKind {
		return d.addHistories(d.w.snap.Catalog.Tool(r.change.Slug))
	}
	return nil
}

func (d *database) addHistories(t *catalog.Tool) error {
	for _, f := range histories {
		list := f.In(t)
		for i := range f.List.Len(list) {
			d.args = append(d.args[:0], t.Slug)
			for j := range f.List.Fields {
				d.args = append(d.args, sqlValue(record.Public(&f.List.Fields[j], f.List.At(list, i))))
			}
			if err := d.insert(f.Name, d.args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// addMeta adds what concerns the catalogue as such.
func (d *database) addMeta(r *row) error {
	c, feed := d.w.snap.Catalog, d.w.snap.Feed
	for _, category := range c.Categories {
		if err := d.insert("categories", category.Slug, category.Label, category.Description, category.Position); err != nil {
			return err
		}
	}
	return d.insert("meta",
		feed.ID, d.w.snap.Version, feed.Last, feed.State, c.CreditLine(), d.w.snap.PublishedAt, r.change.Hash, string(r.canonical))
}

// finish ends the file and compresses it.
func (d *database) finish() error {
	err := d.exec(
		"INSERT INTO search (search) VALUES ('optimize')",
		setIndex("automerge", 4), setIndex("hashsize", 1<<20), // the defaults, for who writes to a copy
		"CREATE INDEX price_history_of_tool ON price_history (tool)",
		"CREATE INDEX score_history_of_tool ON score_history (tool)",
	)
	if err != nil {
		return err
	}
	if err := d.tx.Commit(); err != nil {
		return err
	}
	if err := d.db.Close(); err != nil {
		return err
	}
	if err := d.compress(); err != nil {
		return err
	}
	return os.Remove(d.path)
}

func (d *database) compress() error {
	from, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer from.Close()
	o, err := d.w.create(databaseFile)
	if err != nil {
		return err
	}
	if _, err := io.Copy(o.to, from); err != nil {
		return err
	}
	o.rows = d.rows
	return o.finish()
}
