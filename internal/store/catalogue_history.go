package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"

	"palmares/internal/catalog"
)

// An entry is one row of a history of a tool.
type entry[E any] struct {
	slug     string
	position int // 0 is the newest
	change   E
}

// A historyTable keeps one of the two histories of a tool.
type historyTable[E any] struct {
	stage   string
	table   table
	columns []column[entry[E]]
	of      func(*catalog.Tool) *[]E
	ofPast  func(*catalog.PastTool) *[]E
	equal   func(a, b E) bool
}

var priceHistory = historyTable[catalog.PriceChange]{
	"prices", priceTable, priceColumns,
	func(t *catalog.Tool) *[]catalog.PriceChange { return &t.PriceHistory },
	func(t *catalog.PastTool) *[]catalog.PriceChange { return &t.PriceHistory },
	func(a, b catalog.PriceChange) bool { return a == b },
}

var scoreHistory = historyTable[catalog.ScoreChange]{
	"scores", scoreTable, scoreColumns,
	func(t *catalog.Tool) *[]catalog.ScoreChange { return &t.ScoreHistory },
	func(t *catalog.PastTool) *[]catalog.ScoreChange { return &t.ScoreHistory },
	func(a, b catalog.ScoreChange) bool { return a.Same(b) && a.Automatic == b.Automatic },
}

// load returns the histories by slug.
func (h historyTable[E]) load(ctx context.Context, tx *sql.Tx) (map[string][]E, error) {
	all := map[string][]E{}
	_, err := recordsWhere(ctx, tx, 0, h.table, h.columns, func(e *entry[E]) bool {
		history := all[e.slug]
		for len(history) <= e.position {
			history = append(history, *new(E))
		}
		history[e.position] = e.change
		all[e.slug] = history
		return false
	}, "")
	return all, err
}

// set sets the histories of the given entries, all those of their tools.
func (h historyTable[E]) set(c *catalog.Catalog, entries []entry[E]) {
	slices.SortFunc(entries, func(a, b entry[E]) int {
		return cmp.Or(cmp.Compare(a.slug, b.slug), cmp.Compare(a.position, b.position))
	})
	for len(entries) > 0 {
		slug, n := entries[0].slug, 1
		for n < len(entries) && entries[n].slug == slug {
			n++
		}
		changes := make([]E, n)
		for i := range changes {
			changes[i] = entries[i].change
		}
		if t := c.Tool(slug); t != nil {
			*h.of(t) = changes
		} else {
			past := c.Past[slug]
			*h.ofPast(&past) = changes
			c.Past[slug] = past
		}
		entries = entries[n:]
	}
}

// write replaces the histories that differ, of active and of other tools.
func (h historyTable[E]) write(ctx context.Context, p *publication) error {
	changes := func(c *catalog.Catalog, slug string) []E {
		if t := c.Tool(slug); t != nil {
			return *h.of(t)
		}
		past := c.Past[slug]
		return *h.ofPast(&past)
	}
	old, next := p.old.Catalog, p.next
	slugs := slices.Concat(p.diff.Tools.Added, p.diff.Tools.Changed, p.diff.Tools.Removed, p.diff.Listed,
		slices.Collect(maps.Keys(old.Past)), slices.Collect(maps.Keys(next.Past)))
	slices.Sort(slugs)

	var dropped []string
	n := 0 // rows
	slugs = slices.DeleteFunc(slices.Compact(slugs), func(slug string) bool {
		before, after := changes(old, slug), changes(next, slug)
		if slices.EqualFunc(before, after, h.equal) {
			return true
		}
		if len(before) > 0 {
			dropped = append(dropped, slug)
		}
		n += len(after)
		return len(after) == 0
	})
	if err := p.remove(ctx, h.table, dropped); err != nil {
		return err
	}
	position := 0
	return p.writeRows(ctx, h.stage, h.table, n, func(int) []any {
		history := changes(next, slugs[0])
		row := rowOf(h.columns, &entry[E]{slugs[0], position, history[position]})
		if position++; position == len(history) {
			slugs, position = slugs[1:], 0
		}
		return row
	})
}

// A pastTool is a tool that is no longer active.
type pastTool struct {
	slug string
	catalog.PastTool
}

func loadPast(ctx context.Context, tx *sql.Tx, c *catalog.Catalog) error {
	all, err := records(ctx, tx, 0, pastTable, pastColumns)
	if err != nil {
		return err
	}
	c.Past = make(map[string]catalog.PastTool, len(all))
	for _, t := range all {
		c.Past[t.slug] = t.PastTool
	}
	return nil
}

// writePast replaces all of them if any changed: they are few.
func (p *publication) writePast(ctx context.Context) error {
	if !p.diff.Past {
		return nil
	}
	if _, err := p.tx.ExecContext(ctx, `DELETE FROM past_tools`); err != nil {
		return err
	}
	var all []*pastTool
	for _, slug := range slices.Sorted(maps.Keys(p.next.Past)) {
		if t := p.next.Past[slug]; t.Price != "" { // otherwise only its history is known
			all = append(all, &pastTool{slug, t})
		}
	}
	return writeRecords(ctx, p, "past tools", pastTable, pastColumns, all)
}
