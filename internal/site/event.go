package site

import (
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// eventChanges returns the changes that the events of the snapshot describe, newest
// first. Events that change nothing visitors see have none.
func (v *view) eventChanges() []change {
	var list []change
	for i := range v.snap.Events {
		e := &v.snap.Events[i]
		ch := change{Date: catalog.Day(e.At), time: e.At.UTC().Format(time.RFC3339), id: "urn:palmares:" + e.ID}
		shown := false
		if strings.HasPrefix(e.Type, "comparatif.") {
			shown = v.describeComparison(e, &ch)
		} else {
			shown = v.describeTool(e, &ch)
		}
		if shown {
			list = append(list, ch)
		}
	}
	return list
}

// describeTool describes an event of a tool or its price, and reports whether visitors
// see any of it.
func (v *view) describeTool(e *catalog.Event, ch *change) bool {
	name, _ := e.Object["name"].(string)
	name, ch.Path, ch.in, ch.authors = v.subject(e.Slug, name)
	switch e.Type {
	case catalog.ToolCreated, catalog.ToolRestored:
		ch.Kind = kindNew
		if e.Type == catalog.ToolRestored {
			ch.Kind = kindReturned
		}
		ch.Title = name + "\u00a0: " + strings.ToLower(ch.Kind)
		tagline, _ := e.Object["tagline"].(string)
		ch.summary = markdown.NoBreak(tagline)
		if score, ok := e.Object["score"].(float64); ok {
			ch.Title += ", " + french.Figure(score) + "/10"
		}
	case catalog.ToolRetired, catalog.ToolRemoved:
		ch.Kind, ch.Title = kindRetired, name+"\u00a0: retiré"
		if reason, ok := e.Object["reason"].(string); ok && reasonNames[catalog.Reason(reason)] != "" {
			ch.Title += ", " + reasonNames[catalog.Reason(reason)]
		}
		note, _ := e.Object["note"].(string)
		ch.summary = markdown.NoBreak(note)
	case catalog.PricingUpdated:
		p := priceChangeOf(e)
		if !v.isKept(e, p) {
			return false
		}
		ch.Kind, ch.summary = kindPrice, describePriceChange(p)
		ch.Title = name + "\u00a0: prix, " + ch.summary
	case catalog.ToolUpdated:
		return describeUpdate(e, name, ch)
	default:
		return false
	}
	return true
}

// subject returns the present name of a tool, where to read about it, its category
// and who wrote about it.
func (v *view) subject(slug, name string) (present, path string, in, authors []string) {
	if current, ok := v.snap.Alias(slug); ok && v.snap.Catalog.Tool(slug) == nil {
		slug = current
	}
	if t := v.snap.Catalog.Tool(slug); t != nil {
		return t.Name, "/outils/" + slug, []string{t.Category}, t.Authors
	}
	if t := v.snap.RetiredTool(slug); t != nil {
		return t.Name, v.retiredHref(slug), []string{t.Category}, nil
	}
	if name == "" { // it was removed without a trace
		name = slug
	}
	return name, "/outils", nil, nil
}

// isKept reports whether a price change is still in the history of its tool. A typo is
// not, once it was corrected on the same day or withdrawn.
func (v *view) isKept(e *catalog.Event, p catalog.PriceChange) bool {
	slug := e.Slug
	if current, ok := v.snap.Alias(slug); ok {
		slug = current
	}
	t := v.snap.Catalog.Tool(slug)
	return t == nil || slices.ContainsFunc(t.PriceHistory, func(h catalog.PriceChange) bool {
		p.ChangedAt, p.Automatic = h.ChangedAt, h.Automatic
		return h == p || h.ChangedAt == catalog.Day(e.At)
	})
}

// priceChangeOf returns the price change that an event announces.
func priceChangeOf(e *catalog.Event) catalog.PriceChange {
	text := func(from map[string]any, field string) string { s, _ := from[field].(string); return s }
	p := catalog.PriceChange{NewPrice: text(e.Object, "price"), NewPricing: catalog.Pricing(text(e.Object, "pricing"))}
	p.OldPrice, p.OldPricing = p.NewPrice, p.NewPricing
	if slices.Contains(e.Changed, "price") {
		p.OldPrice = text(e.Previous, "price")
	}
	if slices.Contains(e.Changed, "pricing") {
		p.OldPricing = catalog.Pricing(text(e.Previous, "pricing"))
	}
	return p
}

// updates are the fields of a tool whose change is shown, with their names. Prices
// have events of their own.
var updates = []struct{ field, label string }{
	{"score", "note"}, {"verifiability", "vérifiabilité"}, {"name", "nom"}, {"tagline", "présentation"}, {"domain", "site"}, {"category", "catégorie"}, {"icp", "pour qui"},
}

// describeUpdate describes what changed in a tool, old → new.
func describeUpdate(e *catalog.Event, name string, ch *change) bool {
	var changes []string
	for _, u := range updates {
		if slices.Contains(e.Changed, u.field) {
			changes = append(changes, u.label+" "+fieldText(e.Previous[u.field])+" → "+fieldText(e.Object[u.field]))
		}
	}
	ch.summary = strings.Join(changes, "\u00a0; ")
	switch {
	case slices.Contains(e.Changed, "score"):
		ch.Kind, ch.Title = kindScore, name+"\u00a0: "+changes[0]
	case len(changes) > 0:
		ch.Kind, ch.Title = kindTool, name+"\u00a0: fiche modifiée"
	case slices.Contains(e.Changed, "price") || slices.Contains(e.Changed, "pricing"):
		return false // the price has an event of its own
	default:
		ch.Kind, ch.Title = kindTool, name+"\u00a0: fiche mise à jour"
	}
	return true
}

// fieldText formats the value of a field.
func fieldText(value any) string {
	switch x := value.(type) {
	case float64:
		return french.Figure(x)
	case string:
		return "«\u00a0" + markdown.NoBreak(x) + "\u00a0»"
	}
	return "—"
}

// describeComparison describes an event of a comparison that is still published.
func (v *view) describeComparison(e *catalog.Event, ch *change) bool {
	slug := e.Slug
	if current, ok := v.comparisonAliases[slug]; ok {
		slug = current
	}
	x := v.comparison(slug)
	if x == nil {
		return false
	}
	ch.Kind, ch.Title, ch.Path = kindComparison, markdown.NoBreak(x.Title), "/comparatifs/"+x.Slug
	ch.in, ch.authors = v.categoriesOf(x), x.Authors
	switch e.Type {
	case catalog.ComparisonPublished:
		ch.summary = "Nouveau comparatif. Vainqueur\u00a0: " + v.snap.Catalog.Tool(x.Winner).Name + "."
	case catalog.ComparisonUpdated:
		ch.summary = "Comparatif mis à jour."
		if before, ok := e.Previous["winner"].(string); ok {
			after, _ := e.Object["winner"].(string)
			ch.summary = "Vainqueur\u00a0: " + before + " → " + after + "."
		}
	default:
		return false
	}
	return true
}
