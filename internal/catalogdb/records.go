package catalogdb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"unique"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/sqldb"
	"palmares/internal/wire"
)

// The kinds of records that the public never sees.
var (
	pastKind    = kindNamed("past")    // what is kept of tools that are no longer active
	pictureKind = kindNamed("picture") // what pictures are, by path
)

var otherKinds sync.Map // by name

// kindNamed returns the kind of a name, always the same one; it may be one of a later release.
func kindNamed(name string) *catalog.Kind {
	if k := catalog.KindNamed(name); k != nil {
		return k
	}
	k, _ := otherKinds.LoadOrStore(name, catalog.LaterKind(name))
	return k.(*catalog.Kind)
}

// kindColumn is the target of a scan of the name of a kind.
type kindColumn struct{ to **catalog.Kind }

func (c kindColumn) Scan(name any) error {
	text, ok := name.(string)
	if !ok {
		return fmt.Errorf("a column has %T where a kind belongs", name)
	}
	*c.to = kindNamed(text)
	return nil
}

// A row is a row of the table records.
type row struct {
	record.Change        // zero but for Kind, Slug, Version, At, Deleted and Hash if the row is not public
	public        bool   // beside one that is not, there may be one of the same name that is
	document      string // what Hash is of; "" if Deleted
	private       string // see private
}

var recordTable = sqldb.Table{Name: "records", Key: "kind, slug, public", Columns: []string{
	"kind", "slug", "public", "position", "version", "at", "deleted", "renamed_to", "first_position", "first_at", "hash",
	"document", "private", "written",
}}

func (r *row) key() rowKey { return rowKey{r.Kind, r.Slug, r.public} }

// eachRow calls fn with the rows that meet a condition; "" for all.
func eachRow(ctx context.Context, tx *sql.Tx, fn func(*row) error, where string, args ...any) error {
	query := `SELECT kind, slug, public, position, version, at, deleted, renamed_to, first_position, first_at, hash,
		document, private FROM records`
	if where != "" {
		query += " WHERE " + where
	}
	found, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	var r row
	for found.Next() {
		err := found.Scan(kindColumn{&r.Kind}, &r.Slug, &r.public, &r.Position, &r.Version, &r.At, &r.Deleted, &r.RenamedTo,
			&r.FirstPosition, &r.FirstAt, &r.Hash, &r.document, &r.private)
		if err != nil {
			return err
		}
		// Many rows have the same texts of these.
		r.At, r.FirstAt = unique.Make(r.At).Value(), unique.Make(r.FirstAt).Value()
		if err := fn(&r); err != nil {
			return err
		}
	}
	return found.Err()
}

// private is what the document of a record does not say.
type private struct {
	// Body is the body of a record that is given away without it.
	Body string `json:"body,omitempty"`
	// Prices, Scores and Criteria are the indexes of the automatic entries of the histories of a
	// tool.
	Prices   []int `json:"prices,omitempty"`
	Scores   []int `json:"scores,omitempty"`
	Criteria []int `json:"criteria,omitempty"`
	// Display is DisplayBefore of a tool.
	Display string `json:"display,omitempty"`
}

// privateOf returns what the document of a public record of c does not say.
func privateOf(c *catalog.Catalog, value any) (p private) {
	if t, ok := value.(*catalog.Tool); ok {
		p = privateOfTool(t)
	}
	if c.Settings.Dataset == catalog.DatasetHead {
		p.Body = catalog.KindOf(value).Body(value)
	}
	return p
}

// privateOfTool returns which entries of the histories of a tool are automatic, and what it was shown for.
func privateOfTool(t *catalog.Tool) private {
	return private{
		Display:  t.DisplayBefore,
		Prices:   marked(t.PriceHistory, priceMark),
		Scores:   marked(t.ScoreHistory, scoreMark),
		Criteria: marked(t.CriteriaHistory, criteriaMark),
	}
}

func priceMark(e *catalog.PriceChange) *bool       { return &e.Automatic }
func scoreMark(e *catalog.ScoreChange) *bool       { return &e.Automatic }
func criteriaMark(e *catalog.CriteriaChange) *bool { return &e.Automatic }

// marked returns the indexes of the entries that have a mark.
func marked[E any](history []E, mark func(*E) *bool) (list []int) {
	for i := range history {
		if *mark(&history[i]) {
			list = append(list, i)
		}
	}
	return list
}

// text returns p as it is stored.
func (p private) text() string {
	if p.Body == "" && p.Prices == nil && p.Scores == nil && p.Criteria == nil && p.Display == "" {
		return ""
	}
	return string(wire.AppendJSON(nil, p))
}

// mark marks the automatic entries of the histories of a tool.
func (p private) mark(t *catalog.Tool) error {
	t.DisplayBefore = p.Display
	return errors.Join(
		markAll(p.Prices, t.PriceHistory, priceMark, "prices"),
		markAll(p.Scores, t.ScoreHistory, scoreMark, "scores"),
		markAll(p.Criteria, t.CriteriaHistory, criteriaMark, "criteria"),
	)
}

func markAll[E any](list []int, history []E, mark func(*E) *bool, what string) error {
	for _, i := range list {
		if i < 0 || i >= len(history) {
			return fmt.Errorf("there is no entry %d in the history of %s", i, what)
		}
		*mark(&history[i]) = true
	}
	return nil
}

// keptVersions is how many versions can be undone: what they replaced and removed is kept,
// the bytes of pictures included, which other nodes and caches may still show.
const keptVersions = 50

// A recordWriter writes rows for a version, and keeps the documents that they replace.
type recordWriter struct {
	tx      *sql.Tx
	version int64
	most    int // rows at once
	rows    *sqldb.Batch
	pending []row // of one kind, all public or none
}

func (w *recordWriter) put(ctx context.Context, r row) error {
	if n := len(w.pending); n == w.most || n > 0 && (w.pending[0].Kind != r.Kind || w.pending[0].public != r.public) {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	w.pending = append(w.pending, r)
	return nil
}

// flush writes the rows that put has not written yet.
func (w *recordWriter) flush(ctx context.Context) error {
	if len(w.pending) == 0 {
		return nil
	}
	slugs := make([]string, len(w.pending))
	for i := range w.pending {
		slugs[i] = w.pending[i].Slug
	}
	if err := w.keep(ctx, w.pending[0].Kind, w.pending[0].public, slugs); err != nil {
		return err
	}
	for i := range w.pending {
		r := &w.pending[i]
		err := w.rows.Add(ctx, r.Kind.Name, r.Slug, r.public, r.Position, r.Version, r.At, r.Deleted, r.RenamedTo,
			r.FirstPosition, r.FirstAt, r.Hash, r.document, r.private, w.version)
		if err != nil {
			return err
		}
	}
	w.pending = w.pending[:0]
	return w.rows.Flush(ctx)
}

// keep copies the documents of rows that are about to be replaced.
func (w *recordWriter) keep(ctx context.Context, kind *catalog.Kind, public bool, slugs []string) error {
	if w.version == 1 || kind == catalog.ProofKind {
		return nil // there are none, or nobody takes back what was seen
	}
	args, list := sqldb.InAfter([]any{w.version, kind.Name, public}, slugs)
	return sqldb.Exec(ctx, w.tx, `
		INSERT INTO former_records (until, kind, slug, public, hash, document, private)
		SELECT CAST($1 AS BIGINT), kind, slug, public, hash, document, private FROM records
		WHERE kind = $2 AND public = $3 AND NOT deleted AND slug IN `+list, args...)
}

// finish writes what is left, and removes what no version can need any more: since is the first one of the day, whose
// morning the chronicle compares.
func (w *recordWriter) finish(ctx context.Context, since int64) error {
	if err := w.flush(ctx); err != nil {
		return err
	}
	// Undo must know which rows the version wrote, also those that replaced nothing.
	if w.version > 1 {
		if err := sqldb.Exec(ctx, w.tx, `
			INSERT INTO former_records (until, kind, slug, public, hash, document, private)
			SELECT written, kind, slug, public, '', '', '' FROM records WHERE written = $1 AND kind <> $2
			ON CONFLICT DO NOTHING`, w.version, catalog.ProofKind.Name); err != nil {
			return err
		}
	}
	err := sqldb.Exec(ctx, w.tx, `DELETE FROM former_records WHERE until <= $1`, min(w.version-keptVersions, since-1))
	if err != nil {
		return err
	}
	return sqldb.Exec(ctx, w.tx, `DELETE FROM records WHERE NOT public AND deleted AND written <= $1`, w.version-keptVersions)
}

type rowKey struct {
	kind   *catalog.Kind
	slug   string
	public bool
}

// A storedRow is what a publication must know of a row that it may replace, apart from what
// its feed knows of public ones.
type storedRow struct {
	hash    string
	private [sha256.Size]byte // a digest; zero if there is nothing private
}

func privateDigest(text string) (sum [sha256.Size]byte) {
	if text != "" {
		sum = sha256.Sum256([]byte(text))
	}
	return sum
}
