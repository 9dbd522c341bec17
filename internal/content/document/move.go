package document

import (
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/content"
)

// What makes one record of another.

// Rename returns the record with another slug. The former one becomes an alias, if its kind has them;
// what refers to a tool must then be changed, too: see ReplaceTool.
func (d *Document) Rename(slug string) (*Document, error) {
	next, old := *d, d.Slug()
	next.path = content.PathOf(d.kind, slug)
	if _, isNext := content.SlugOf(d.path); isNext {
		next.path = content.NextPath(next.path)
	}
	if d.field("aliases") == nil || old == "" || old == slug {
		return &next, nil
	}
	aliases := slices.DeleteFunc(d.Value("aliases").Items, func(alias string) bool { return alias == slug || alias == old })
	return &next, next.Set("aliases", Value{Items: append(aliases, old)})
}

// ReplaceTool replaces the slug of a tool wherever the fields of a record name it, and reports whether
// they do.
func (d *Document) ReplaceTool(old, slug string) (isChanged bool, err error) {
	table, changed := d.kind.Fields, map[string]Value{}
	for i := range table {
		f, v := &table[i], d.Value(table[i].Name)
		isNamed := f.Form == catalog.ToolSlug && v.Text == old
		if isNamed {
			v.Text = slug
		}
		for i, item := range v.Items {
			if item == old && f.Form == catalog.ToolSlugs {
				v.Items[i], isNamed = slug, true
			}
		}
		for _, row := range v.Rows {
			for name, cell := range row {
				if cell.Text == old && column(f, name).Form == catalog.ToolSlug {
					row[name], isNamed = Value{Text: slug}, true
				}
			}
		}
		if isNamed {
			changed[f.Name] = v
		}
	}
	return len(changed) > 0, d.SetAll(changed)
}

// ownFields are those that a copy of a record does not have: they say what happened to this one.
var ownFields = []string{
	"updated_at", "canonical_url", "avis_url", "alternatives_url", "aliases", "first_slug", "price_history", "price_history_mode", "score_note",
	"score_history", "score_history_mode", "criteria_history", "announced", "publish_at", "unpublish_at",
}

// Duplicate returns a copy of a record with another slug, without what happened to the record.
func (d *Document) Duplicate(slug string) (*Document, error) {
	next := *d
	next.path = content.PathOf(d.kind, slug)
	none := map[string]Value{}
	for _, name := range ownFields {
		if next.index(name) >= 0 && next.field(name) != nil {
			none[name] = Value{}
		}
	}
	err := next.SetAll(none)
	return &next, err
}

// Retire returns the obituary of a tool, with what belongs to it: its name, category, usages and
// histories, its last score and price.
func Retire(tool *Document, reason, day, successor, text string) (*Document, error) {
	d := New(catalog.RetiredKind)
	d.path = content.PathOf(catalog.RetiredKind, tool.Slug())
	values := map[string]Value{
		"reason": {Text: reason}, "retired_at": {Text: day}, "successor": {Text: successor}, "body": {Text: text},
		"last_score": tool.Value("score"), "last_price": tool.Value("price"),
	}
	for _, name := range []string{"name", "category", "usages", "price_history", "score_history"} {
		values[name] = tool.Value(name)
	}
	err := d.SetAll(values)
	return d, err
}
