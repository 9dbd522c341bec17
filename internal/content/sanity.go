package content

import (
	"palmares/internal/catalog"
)

const (
	largePrice = 100_000 // euros; more is probably a mistake
	priceJump  = 3       // a factor
	scoreJump  = 3.0     // points
	leastMass  = 10      // records; fewer often change together
)

// WarnJumps returns the warnings about changes of a publication that are rarely meant: of a price by
// more than a factor, of a score by several points, of half of all records at once, of a price after the
// day on which it was checked. It is called before WarnUndated.
func (r *Result) WarnJumps(old *catalog.Catalog, d *catalog.Diff) []Warning {
	found := findings{silenced: silencedBy(r.Catalog)}
	warn := func(file string, line int32, code string, args ...any) {
		found.warn(file, max(int(line), 1), code, args...)
	}
	r.eachOf("outils", d.Of(catalog.ToolKind).Changed, func(file string, at recordLines) {
		slug := at.slug
		was, is := old.Tool(slug), r.Catalog.Tool(slug)
		if was == nil || is == nil {
			return
		}
		before, known := catalog.Monthly(was.Pricing, was.Price)
		after, comparable := catalog.Monthly(is.Pricing, is.Price)
		isJump := before > priceJump*after || after > priceJump*before
		if known && comparable && before > 0 && after > 0 && catalog.Each(was.Price) == catalog.Each(is.Price) && isJump {
			warn(file, at.price, "price-jump", slug, was.Price, is.Price)
		}
		shown := catalog.PriceChange{OldPrice: was.Price, NewPrice: is.Price, OldDisplay: was.PriceDisplay, NewDisplay: is.PriceDisplay}
		asked, asks, comparable := shown.Asked()
		if comparable && asked != asks && was.Price == is.Price {
			warn(file, at.price, "display-changed-alone", is.PriceDisplay, was.PriceDisplay, is.Price)
		}
		if was.Score != nil && is.Score != nil && (*was.Score-*is.Score > scoreJump || *is.Score-*was.Score > scoreJump) {
			warn(file, at.score, "score-jump", slug, figure(*was.Score), figure(*is.Score))
		}
		if is.PriceCheckedAt != "" && is.CheckedAt() == "" && was.Price != is.Price && catalog.IsPublic(is.Pricing, is.Price) {
			warn(file, at.checked, "checked-before-price", is.PriceCheckedAt, is.PriceHistory[0].ChangedAt)
		}
	})
	c := r.Catalog
	changed, all := 0, 0
	for _, k := range catalog.WrittenKinds {
		of := d.Of(k)
		changed += len(of.Changed) + len(of.Removed)
		all += k.Len(c) + len(of.Removed) - len(of.Added)
	}
	if changed >= leastMass && 2*changed > all {
		warn(catalog.SettingsFile, 1, "many-changes", changed, all)
	}
	return finish(found.warnings, moreWarnings)
}

// eachOf calls do with the file of each of some records, and where in it their fields are.
func (r *Result) eachOf(folder string, slugs []string, do func(file string, p recordLines)) {
	if len(slugs) == 0 {
		return
	}
	wanted := map[string]bool{}
	for _, slug := range slugs {
		wanted[slug] = true
	}
	for _, p := range r.lines[folder] {
		switch {
		case !wanted[p.slug]:
		case p.inBulk:
			do(folder+".jsonl", p)
		default:
			do(folder+"/"+p.slug+".md", p)
		}
	}
}

// WarnUndated returns the warnings about records that changed while the updated_at
// in their file did not. Only a comparison with the published catalogue finds them:
// see catalog.Diff.Undated. It is called once: what it needs is released then.
func (r *Result) WarnUndated(tools, comparisons []string) []Warning {
	defer func() { r.lines = nil }()
	found := findings{silenced: silencedBy(r.Catalog)}
	warn := func(file string, p recordLines) {
		if p.updated > 0 {
			found.warn(file, int(p.updated), "undated", p.slug)
		}
	}
	r.eachOf("outils", tools, warn)
	r.eachOf("comparatifs", comparisons, warn)
	return finish(found.warnings, moreWarnings)
}
