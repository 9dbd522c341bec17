package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// Published is one version of the catalogue.
type Published struct {
	Catalog   *catalog.Catalog // empty when Version is 0
	Version   int64            // 0 when nothing has been published
	ChangedOn string           // the UTC day of the publication that made it, YYYY-MM-DD

	sequence int64 // of its last event
}

// Load reads the catalogue as one publication left it.
func (s *Catalogue) Load(ctx context.Context) (*Published, error) {
	var p *Published
	err := s.read(ctx, func(tx *sql.Tx) error {
		var err error
		p, err = load(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// load reads everything in a few large queries without ORDER BY: the order of the
// records is Go's business, whatever the database's collation.
func load(ctx context.Context, tx *sql.Tx) (*Published, error) {
	c := &catalog.Catalog{}
	p := &Published{Catalog: c}
	var tools, comparisons, retired int
	err := tx.QueryRowContext(ctx, `
		SELECT name, url, version, sequence, changed_on,
			(SELECT count(*) FROM tools), (SELECT count(*) FROM comparisons), (SELECT count(*) FROM retired)
		FROM catalogue`).Scan(&c.Name, &c.URL, &p.Version, &p.sequence, &p.ChangedOn, &tools, &comparisons, &retired)
	if err != nil {
		return nil, err
	}

	if c.Categories, err = rows(ctx, tx, 0, `SELECT slug, label FROM categories`, func(scan scanner, x *catalog.Category) error {
		return scan(&x.Slug, &x.Label)
	}); err != nil {
		return nil, err
	}
	if c.Tools, err = rows(ctx, tx, tools, `
		SELECT `+joined(toolTexts)+`, score, verifiability, obsolescence, tier, mainstream, body FROM tools`, scanTool, separator); err != nil {
		return nil, err
	}
	if c.Comparisons, err = rows(ctx, tx, comparisons, `SELECT `+comparisonTable.list()+` FROM comparisons`, func(scan scanner, x *catalog.Comparison) error {
		return scan(&x.Slug, &x.Title, &x.ToolA, &x.ToolB, &x.Winner, &x.WinnerNote, &x.Published, &x.UpdatedAt, &x.Body)
	}); err != nil {
		return nil, err
	}
	if c.Retired, err = rows(ctx, tx, retired, `SELECT `+retiredTable.list()+` FROM retired`, func(scan scanner, x *catalog.Retired) error {
		return scan(&x.Slug, &x.Name, &x.Category, (*string)(&x.Reason), &x.RetiredAt, &x.Successor, &x.Body, &x.Note)
	}); err != nil {
		return nil, err
	}
	c.Sort()
	return p, loadPrices(ctx, tx, c)
}

// loadPrices gives each active tool its history and keeps the others apart.
func loadPrices(ctx context.Context, tx *sql.Tx, c *catalog.Catalog) error {
	type entry struct {
		slug     string
		position int
		change   catalog.PriceChange
	}
	entries, err := rows(ctx, tx, 0, `SELECT `+joined(priceTexts)+`, position FROM price_history`, func(scan scanner, e *entry) error {
		var texts string
		if err := scan(&texts, &e.position); err != nil {
			return err
		}
		x := &e.change
		return split(texts, &e.slug, &x.ChangedAt, (*string)(&x.OldPricing), &x.OldPrice, (*string)(&x.NewPricing), &x.NewPrice)
	}, separator)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.slug, b.slug), cmp.Compare(a.position, b.position))
	})
	c.PastPrices = map[string][]catalog.PriceChange{}
	for len(entries) > 0 {
		slug, n := entries[0].slug, 1
		for n < len(entries) && entries[n].slug == slug {
			n++
		}
		history := make([]catalog.PriceChange, n)
		for i := range history {
			history[i] = entries[i].change
		}
		if t := c.Tool(slug); t != nil {
			t.PriceHistory = history
		} else {
			c.PastPrices[slug] = history
		}
		entries = entries[n:]
	}
	return nil
}

func scanTool(scan scanner, t *catalog.Tool) error {
	var score, verifiability, obsolescence sql.NullFloat64
	var texts, sources, aliases string
	err := scan(&texts, &score, &verifiability, &obsolescence, &t.Tier, &t.Mainstream, &t.Body)
	if err == nil {
		err = split(texts, &t.Slug, &t.Name, &t.Domain, &t.Category, (*string)(&t.ICP), (*string)(&t.Pricing), &t.Price, &t.Tagline,
			&t.UpdatedAt, &t.CanonicalURL, &t.ReviewURL, &t.AlternativesURL, &t.TestedAt, &t.PriceCheckedAt, &sources, &aliases)
	}
	if err != nil {
		return err
	}
	t.Score, t.Verifiability, t.Obsolescence = figure(score), figure(verifiability), figure(obsolescence)
	if t.Sources, err = splitList(sources); err == nil {
		t.Aliases, err = splitList(aliases)
	}
	if err != nil {
		return fmt.Errorf("tool %s: %w", t.Slug, err)
	}
	return nil
}

// The texts of a tool and of a price change are read as one column and cut apart
// here: sixteen columns fewer, each a few locks in the SQLite driver and a string
// for the garbage collector, halve the time that a large catalogue takes to load.
var (
	toolTexts = []string{
		"slug", "name", "domain", "category", "icp", "pricing", "price", "tagline", "updated_at",
		"canonical_url", "avis_url", "alternatives_url", "tested_at", "price_checked_at", "sources", "aliases",
	}
	priceTexts = []string{"slug", "changed_at", "old_pricing", "old_price", "new_pricing", "new_price"}
)

// separator is the control character made for this, which no text of one line may
// hold: batch.add refuses it.
const separator = "\x1f"

// joined is the SQL that joins columns with the separator, its first argument.
func joined(columns []string) string { return strings.Join(columns, " || $1 || ") }

func split(texts string, dest ...*string) error {
	for i, d := range dest {
		var more bool
		*d, texts, more = strings.Cut(texts, separator)
		if more != (i < len(dest)-1) {
			return fmt.Errorf("the record of %s is damaged: restore the database from a backup", *dest[0])
		}
	}
	return nil
}

func figure(f sql.NullFloat64) *float64 {
	if !f.Valid {
		return nil
	}
	return &f.Float64
}

// joinList and splitList keep a list of strings in one column; none is "".
func joinList(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return string(wire.AppendJSON(nil, list))
}

func splitList(s string) (list []string, err error) {
	if s == "" {
		return nil, nil
	}
	if strings.IndexByte(s, '\\') < 0 { // without escapes no string holds a quote, and the array need not be parsed
		return strings.Split(s[len(`["`):len(s)-len(`"]`)], `","`), nil
	}
	err = json.Unmarshal([]byte(s), &list)
	return list, err
}

type scanner func(dest ...any) error

// rows reads all rows of a query, about capacity of them; none is nil.
func rows[T any](ctx context.Context, tx *sql.Tx, capacity int, query string, read func(scanner, *T) error, args ...any) ([]T, error) {
	found, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var all []T
	if capacity > 0 {
		all = make([]T, 0, capacity)
	}
	for found.Next() {
		all = append(all, *new(T))
		if err := read(found.Scan, &all[len(all)-1]); err != nil {
			return nil, err
		}
	}
	return all, found.Err()
}
