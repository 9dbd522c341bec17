package record

import (
	"cmp"
	"slices"

	"palmares/internal/catalog"
)

// A Field is a field of a record: a string, a number, a boolean, a list of strings or a
// list of objects. The lists below are the only ones of fields that are written, and
// their order is that of the canonical form; content writes Markdown files from them,
// too.
type Field struct {
	Name  string
	Value any // string, float64, int, bool, []string or [][]Field
}

// CatalogueFields returns the fields of catalogue.yaml.
func CatalogueFields(c *catalog.Catalog) []Field { return nonEmpty(catalogueFields(c)...) }

func catalogueFields(c *catalog.Catalog) []Field {
	ordered := slices.Clone(c.Categories)
	slices.SortStableFunc(ordered, func(a, b catalog.Category) int { return cmp.Compare(a.Position, b.Position) })
	categories := make([][]Field, len(ordered))
	for i, category := range ordered {
		categories[i] = nonEmpty(
			Field{"slug", category.Slug},
			Field{"label", category.Label},
			Field{"description", category.Description},
			Field{"aliases", category.Aliases},
		)
	}
	return []Field{
		{"name", c.Name},
		{"url", c.URL},
		{"headline", c.Settings.Headline},
		{"introduction", c.Settings.Introduction},
		{"description", c.Settings.Description},
		{"contact", c.Settings.Contact},
		{"publisher", c.Settings.Publisher},
		{"logo", c.Settings.Logo},
		{"pro", c.Settings.Pro},
		{"dataset", c.Settings.Dataset},
		{"categories", categories},
	}
}

// ToolFields returns the fields of a tool as its editors wrote them, and its histories.
func ToolFields(t *catalog.Tool) []Field { return nonEmpty(toolFields(t)...) }

func toolFields(t *catalog.Tool) []Field {
	return []Field{
		{"name", t.Name},
		{"domain", t.Domain},
		{"category", t.Category},
		{"icp", string(t.ICP)},
		{"pricing", string(t.Pricing)},
		{"price", t.Price},
		{"price_display", t.PriceDisplay},
		{"plans", planFields(t.Plans)},
		{"tagline", t.Tagline},
		{"author", t.Authors},
		{"logo", t.Logo},
		{"image", t.Image},
		{"score", t.Score},
		{"verifiability", t.Verifiability},
		{"obsolescence", t.Obsolescence},
		{"tier", t.Tier},
		{"mainstream", t.Mainstream},
		{"updated_at", t.UpdatedAt},
		{"canonical_url", t.CanonicalURL},
		{"avis_url", t.ReviewURL},
		{"alternatives_url", t.AlternativesURL},
		{"tested_at", t.TestedAt},
		{"price_checked_at", t.PriceCheckedAt},
		{"sources", t.Sources},
		{"aliases", t.Aliases},
		{"price_history_mode", string(t.PriceHistoryMode)},
		{"price_history", priceFields(t.PriceHistory)},
		{"score_note", t.ScoreNote},
		{"score_history", scoreFields(t.ScoreHistory)},
		{"draft", t.Draft},
	}
}

func planFields(plans []catalog.PlanRow) [][]Field {
	list := make([][]Field, len(plans))
	for i, p := range plans {
		list[i] = nonEmpty(Field{"name", p.Name}, Field{"price", p.Price}, Field{"note", p.Note})
	}
	return list
}

func priceFields(history []catalog.PriceChange) [][]Field {
	list := make([][]Field, len(history))
	for i, e := range history {
		list[i] = []Field{
			{"changed_at", e.ChangedAt},
			{"old_pricing", string(e.OldPricing)},
			{"old_price", e.OldPrice},
			{"new_pricing", string(e.NewPricing)},
			{"new_price", e.NewPrice},
		}
	}
	return list
}

func scoreFields(history []catalog.ScoreChange) [][]Field {
	list := make([][]Field, len(history))
	for i, e := range history {
		list[i] = nonEmpty(
			Field{"changed_at", e.ChangedAt},
			Field{"old_score", e.OldScore},
			Field{"new_score", e.NewScore},
			Field{"old_verifiability", e.OldVerifiability},
			Field{"new_verifiability", e.NewVerifiability},
			Field{"old_obsolescence", e.OldObsolescence},
			Field{"new_obsolescence", e.NewObsolescence},
			Field{"note", e.Note},
		)
	}
	return list
}

// ComparisonFields returns the fields of a comparison.
func ComparisonFields(x *catalog.Comparison) []Field { return nonEmpty(comparisonFields(x)...) }

func comparisonFields(x *catalog.Comparison) []Field {
	var published *bool
	if !x.Published {
		published = new(bool)
	}
	return []Field{
		{"title", x.Title},
		{"tool_a", x.ToolA},
		{"tool_b", x.ToolB},
		{"winner", x.Winner},
		{"winner_note", x.WinnerNote},
		{"updated_at", x.UpdatedAt},
		{"author", x.Authors},
		{"aliases", x.Aliases},
		{"image", x.Image},
		{"draft", x.Draft},
		{"published", published},
	}
}

// RetiredFields returns the fields of a retired tool.
func RetiredFields(r *catalog.Retired) []Field { return nonEmpty(retiredFields(r)...) }

func retiredFields(r *catalog.Retired) []Field {
	return []Field{
		{"name", r.Name},
		{"category", r.Category},
		{"reason", string(r.Reason)},
		{"retired_at", r.RetiredAt},
		{"successor", r.Successor},
		{"draft", r.Draft},
	}
}

// PageFields returns the fields of a page.
func PageFields(p *catalog.Page) []Field { return nonEmpty(pageFields(p)...) }

func pageFields(p *catalog.Page) []Field {
	return []Field{
		{"title", p.Title},
		{"menu", string(p.Menu)},
		{"description", p.Description},
		{"image", p.Image},
		{"draft", p.Draft},
	}
}

// Names returns the names of all fields that a record of a kind may have, in their order.
func Names(kind Kind) []string {
	var fields []Field
	switch kind {
	case Tool:
		fields = toolFields(&catalog.Tool{})
	case Comparison:
		fields = comparisonFields(&catalog.Comparison{})
	case Retired:
		fields = retiredFields(&catalog.Retired{})
	case Page:
		fields = pageFields(&catalog.Page{})
	case Catalogue:
		fields = catalogueFields(&catalog.Catalog{})
	}
	names := []string{"slug"}
	for _, f := range fields {
		names = append(names, f.Name)
	}
	if kind != Catalogue {
		names = append(names, "body")
	}
	return append(names, "images")
}

// nonEmpty drops the fields that a record does not have.
func nonEmpty(fields ...Field) []Field {
	kept := fields[:0]
	for _, f := range fields {
		switch v := f.Value.(type) {
		case string:
			if v == "" {
				continue
			}
		case bool:
			if !v {
				continue
			}
		case *bool:
			if v == nil {
				continue
			}
			f.Value = *v
		case *float64:
			if v == nil {
				continue
			}
			f.Value = *v
		case []string:
			if len(v) == 0 {
				continue
			}
		case [][]Field:
			if len(v) == 0 {
				continue
			}
		}
		kept = append(kept, f)
	}
	return kept
}
