package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/record"
)

// A column connects a column of a table with a field of a record. The lists of
// columns below are the only place where the store names the fields of records:
// rows are written and read with them.
type column[T any] struct {
	name  string
	field func(*T) any // a pointer to a string, []string, other list, *float64, int, int64 or bool
}

var toolColumns = []column[catalog.Tool]{
	{"slug", func(t *catalog.Tool) any { return &t.Slug }},
	{"name", func(t *catalog.Tool) any { return &t.Name }},
	{"domain", func(t *catalog.Tool) any { return &t.Domain }},
	{"category", func(t *catalog.Tool) any { return &t.Category }},
	{"icp", func(t *catalog.Tool) any { return (*string)(&t.ICP) }},
	{"pricing", func(t *catalog.Tool) any { return (*string)(&t.Pricing) }},
	{"price", func(t *catalog.Tool) any { return &t.Price }},
	{"tagline", func(t *catalog.Tool) any { return &t.Tagline }},
	{"score", func(t *catalog.Tool) any { return &t.Score }},
	{"verifiability", func(t *catalog.Tool) any { return &t.Verifiability }},
	{"obsolescence", func(t *catalog.Tool) any { return &t.Obsolescence }},
	{"tier", func(t *catalog.Tool) any { return &t.Tier }},
	{"mainstream", func(t *catalog.Tool) any { return &t.Mainstream }},
	{"updated_at", func(t *catalog.Tool) any { return &t.UpdatedAt }},
	{"canonical_url", func(t *catalog.Tool) any { return &t.CanonicalURL }},
	{"avis_url", func(t *catalog.Tool) any { return &t.ReviewURL }},
	{"alternatives_url", func(t *catalog.Tool) any { return &t.AlternativesURL }},
	{"tested_at", func(t *catalog.Tool) any { return &t.TestedAt }},
	{"price_checked_at", func(t *catalog.Tool) any { return &t.PriceCheckedAt }},
	{"sources", func(t *catalog.Tool) any { return &t.Sources }},
	{"aliases", func(t *catalog.Tool) any { return &t.Aliases }},
	{"price_display", func(t *catalog.Tool) any { return &t.PriceDisplay }},
	{"plans", func(t *catalog.Tool) any { return &t.Plans }},
	{"authors", func(t *catalog.Tool) any { return &t.Authors }},
	{"logo", func(t *catalog.Tool) any { return &t.Logo }},
	{"image", func(t *catalog.Tool) any { return &t.Image }},
	{"price_history_mode", func(t *catalog.Tool) any { return (*string)(&t.PriceHistoryMode) }},
	{"score_note", func(t *catalog.Tool) any { return &t.ScoreNote }},
	{"body", func(t *catalog.Tool) any { return &t.Body }},
}

var comparisonColumns = []column[catalog.Comparison]{
	{"slug", func(x *catalog.Comparison) any { return &x.Slug }},
	{"title", func(x *catalog.Comparison) any { return &x.Title }},
	{"tool_a", func(x *catalog.Comparison) any { return &x.ToolA }},
	{"tool_b", func(x *catalog.Comparison) any { return &x.ToolB }},
	{"winner", func(x *catalog.Comparison) any { return &x.Winner }},
	{"winner_note", func(x *catalog.Comparison) any { return &x.WinnerNote }},
	{"published", func(x *catalog.Comparison) any { return &x.Published }},
	{"updated_at", func(x *catalog.Comparison) any { return &x.UpdatedAt }},
	{"authors", func(x *catalog.Comparison) any { return &x.Authors }},
	{"aliases", func(x *catalog.Comparison) any { return &x.Aliases }},
	{"image", func(x *catalog.Comparison) any { return &x.Image }},
	{"body", func(x *catalog.Comparison) any { return &x.Body }},
}

var retiredColumns = []column[catalog.Retired]{
	{"slug", func(r *catalog.Retired) any { return &r.Slug }},
	{"name", func(r *catalog.Retired) any { return &r.Name }},
	{"category", func(r *catalog.Retired) any { return &r.Category }},
	{"reason", func(r *catalog.Retired) any { return (*string)(&r.Reason) }},
	{"retired_at", func(r *catalog.Retired) any { return &r.RetiredAt }},
	{"successor", func(r *catalog.Retired) any { return &r.Successor }},
	{"body", func(r *catalog.Retired) any { return &r.Body }},
	{"note", func(r *catalog.Retired) any { return &r.Note }},
}

var categoryColumns = []column[catalog.Category]{
	{"slug", func(c *catalog.Category) any { return &c.Slug }},
	{"label", func(c *catalog.Category) any { return &c.Label }},
	{"description", func(c *catalog.Category) any { return &c.Description }},
	{"aliases", func(c *catalog.Category) any { return &c.Aliases }},
	{"position", func(c *catalog.Category) any { return &c.Position }},
}

var pageColumns = []column[catalog.Page]{
	{"slug", func(p *catalog.Page) any { return &p.Slug }},
	{"title", func(p *catalog.Page) any { return &p.Title }},
	{"menu", func(p *catalog.Page) any { return (*string)(&p.Menu) }},
	{"description", func(p *catalog.Page) any { return &p.Description }},
	{"image", func(p *catalog.Page) any { return &p.Image }},
	{"body", func(p *catalog.Page) any { return &p.Body }},
}

var settingColumns = []column[catalog.Settings]{
	{"headline", func(s *catalog.Settings) any { return &s.Headline }},
	{"introduction", func(s *catalog.Settings) any { return &s.Introduction }},
	{"description", func(s *catalog.Settings) any { return &s.Description }},
	{"contact", func(s *catalog.Settings) any { return &s.Contact }},
	{"publisher", func(s *catalog.Settings) any { return &s.Publisher }},
	{"logo", func(s *catalog.Settings) any { return &s.Logo }},
	{"pro", func(s *catalog.Settings) any { return &s.Pro }},
	{"dataset", func(s *catalog.Settings) any { return &s.Dataset }},
}

var pictureColumns = []column[catalog.Picture]{
	{"path", func(p *catalog.Picture) any { return &p.Path }},
	{"source", func(p *catalog.Picture) any { return &p.Source }},
	{"hash", func(p *catalog.Picture) any { return &p.Hash }},
	{"ext", func(p *catalog.Picture) any { return &p.Ext }},
	{"width", func(p *catalog.Picture) any { return &p.Width }},
	{"height", func(p *catalog.Picture) any { return &p.Height }},
	{"variants", func(p *catalog.Picture) any { return &p.Variants }},
}

var priceColumns = []column[entry[catalog.PriceChange]]{
	{"slug", func(e *entry[catalog.PriceChange]) any { return &e.slug }},
	{"position", func(e *entry[catalog.PriceChange]) any { return &e.position }},
	{"changed_at", func(e *entry[catalog.PriceChange]) any { return &e.change.ChangedAt }},
	{"old_pricing", func(e *entry[catalog.PriceChange]) any { return (*string)(&e.change.OldPricing) }},
	{"old_price", func(e *entry[catalog.PriceChange]) any { return &e.change.OldPrice }},
	{"new_pricing", func(e *entry[catalog.PriceChange]) any { return (*string)(&e.change.NewPricing) }},
	{"new_price", func(e *entry[catalog.PriceChange]) any { return &e.change.NewPrice }},
	{"automatic", func(e *entry[catalog.PriceChange]) any { return &e.change.Automatic }},
}

var scoreColumns = []column[entry[catalog.ScoreChange]]{
	{"slug", func(e *entry[catalog.ScoreChange]) any { return &e.slug }},
	{"position", func(e *entry[catalog.ScoreChange]) any { return &e.position }},
	{"changed_at", func(e *entry[catalog.ScoreChange]) any { return &e.change.ChangedAt }},
	{"old_score", func(e *entry[catalog.ScoreChange]) any { return &e.change.OldScore }},
	{"new_score", func(e *entry[catalog.ScoreChange]) any { return &e.change.NewScore }},
	{"old_verifiability", func(e *entry[catalog.ScoreChange]) any { return &e.change.OldVerifiability }},
	{"new_verifiability", func(e *entry[catalog.ScoreChange]) any { return &e.change.NewVerifiability }},
	{"old_obsolescence", func(e *entry[catalog.ScoreChange]) any { return &e.change.OldObsolescence }},
	{"new_obsolescence", func(e *entry[catalog.ScoreChange]) any { return &e.change.NewObsolescence }},
	{"note", func(e *entry[catalog.ScoreChange]) any { return &e.change.Note }},
	{"automatic", func(e *entry[catalog.ScoreChange]) any { return &e.change.Automatic }},
}

var pastColumns = []column[pastTool]{
	{"slug", func(t *pastTool) any { return &t.slug }},
	{"name", func(t *pastTool) any { return &t.Name }},
	{"category", func(t *pastTool) any { return &t.Category }},
	{"pricing", func(t *pastTool) any { return (*string)(&t.Pricing) }},
	{"price", func(t *pastTool) any { return &t.Price }},
	{"score", func(t *pastTool) any { return &t.Score }},
	{"verifiability", func(t *pastTool) any { return &t.Verifiability }},
	{"obsolescence", func(t *pastTool) any { return &t.Obsolescence }},
	{"price_history_mode", func(t *pastTool) any { return (*string)(&t.PriceHistoryMode) }},
}

// only returns the columns with the given names.
func only[T any](columns []column[T], names ...string) []column[T] {
	return slices.DeleteFunc(slices.Clone(columns), func(c column[T]) bool { return !slices.Contains(names, c.name) })
}

func columnNames[T any](columns []column[T]) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// rowOf returns the values of a record, for an INSERT of the columns.
func rowOf[T any](columns []column[T], from *T) []any {
	row := make([]any, len(columns))
	for i, c := range columns {
		switch p := c.field(from).(type) {
		case *string:
			row[i] = *p
		case *[]string:
			row[i] = joinList(*p)
		case *[]catalog.PlanRow:
			row[i] = joinList(*p)
		case *[]catalog.Variant:
			row[i] = joinList(*p)
		case *[]record.Image:
			row[i] = joinList(*p)
		case **float64:
			row[i] = *p
		case *int:
			row[i] = *p
		case *int64:
			row[i] = *p
		case *bool:
			row[i] = *p
		default:
			panic(fmt.Sprintf("store: column %s has the type %T", c.name, p))
		}
	}
	return row
}

// separator joins the short texts of a record. No such text may contain it:
// batch.add rejects it.
const separator = "\x1f"

// isLong reports whether a column holds a text that may contain the separator.
func isLong(column string) bool { return column == "body" || column == "note" }

// records reads all rows of a table, about capacity of them.
//
// The short texts of a record are read as one column and split here. A tool has
// more than twenty of them; each column costs a few locks in the SQLite driver and a string
// for the garbage collector, so that this halves the time to load a large catalogue.
func records[T any](ctx context.Context, tx *sql.Tx, capacity int, t table, columns []column[T]) ([]T, error) {
	return recordsWhere(ctx, tx, capacity, t, columns, nil, "")
}

// recordsWhere is records for the rows that meet a condition, whose arguments are those
// from $2; "" for none. Only those records are returned for which keep reports true; it may
// be nil.
func recordsWhere[T any](ctx context.Context, tx *sql.Tx, capacity int, t table, columns []column[T], keep func(*T) bool, where string, args ...any) ([]T, error) {
	query, read := selection(t, columns, where)
	return rows(ctx, tx, capacity, query, func(scan scanner, to *T) error {
		err := read(scan, to)
		if err == nil && keep != nil && !keep(to) {
			err = errSkip
		}
		return err
	}, append([]any{separator}, args...)...)
}

// blockTools is how many tools are allocated together: fewer objects for the garbage
// collector, and little that stays because one of them does. They fill 16 KiB.
const blockTools = 31

// toolsWhere is recordsWhere for tools.
func toolsWhere(ctx context.Context, tx *sql.Tx, columns []column[catalog.Tool], keep func(*catalog.Tool) bool, where string, args ...any) ([]*catalog.Tool, error) {
	query, read := selection(toolTable, columns, where)
	var block []catalog.Tool
	return rows(ctx, tx, 0, query, func(scan scanner, to **catalog.Tool) error {
		if len(block) == cap(block) {
			block = make([]catalog.Tool, 0, blockTools)
		}
		block = append(block, catalog.Tool{})
		last := len(block) - 1
		*to = &block[last]
		err := read(scan, *to)
		if err == nil && keep != nil && !keep(*to) {
			block, err = block[:last], errSkip
		}
		return err
	}, append([]any{separator}, args...)...)
}

// selection returns the query for the rows of a table that meet a condition, whose first
// argument is the separator, and what reads a row.
func selection[T any](t table, columns []column[T], where string) (query string, read func(scanner, *T) error) {
	var short, other []column[T]
	for _, c := range columns {
		switch c.field(new(T)).(type) {
		case *string, *[]string, *[]catalog.PlanRow, *[]catalog.Variant, *[]record.Image:
			if !isLong(c.name) {
				short = append(short, c)
				continue
			}
		}
		other = append(other, c)
	}
	selected := append([]string{strings.Join(columnNames(short), " || $1 || ")}, columnNames(other)...)
	var texts string
	dest := make([]any, 1+len(other))
	dest[0] = &texts
	query = "SELECT " + strings.Join(selected, ", ") + " FROM " + t.name
	if where != "" {
		query += " WHERE " + where
	}
	return query, func(scan scanner, to *T) error {
		for i, c := range other {
			dest[i+1] = c.field(to)
		}
		if err := scan(dest...); err != nil {
			return err
		}
		if err := setTexts(to, short, texts); err != nil {
			key, _, _ := strings.Cut(texts, separator)
			return fmt.Errorf("the record of %s is damaged: restore the database from a backup (%w)", key, err)
		}
		return nil
	}
}

// setTexts sets the fields of columns to the parts of texts.
func setTexts[T any](to *T, columns []column[T], texts string) (err error) {
	for i, c := range columns {
		text, rest, more := strings.Cut(texts, separator)
		if more != (i < len(columns)-1) {
			return fmt.Errorf("%s is not followed by the expected column", c.name)
		}
		switch p := c.field(to).(type) {
		case *string:
			*p = text
		case *[]string:
			*p, err = splitList(text)
		case *[]catalog.PlanRow:
			*p, err = parseList[catalog.PlanRow](text)
		case *[]catalog.Variant:
			*p, err = parseList[catalog.Variant](text)
		case *[]record.Image:
			*p, err = parseList[record.Image](text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		texts = rest
	}
	return nil
}
