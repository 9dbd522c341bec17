package content

import (
	"maps"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// WarningKinds are the kinds of warnings that catalogue.yaml can silence. What has no other kind is
// other.
var WarningKinds = append(slices.Sorted(maps.Keys(kindCodes)), "other")

// kindCodes are the codes of the warnings of a kind.
var kindCodes = map[string][]string{
	"amount": {"price-large"},
	"calendar": {
		"has-ended", "next-has-passed", "draft-with-hours", "retired-since", "retirement-not-scheduled", "obituary-too-early",
		"announced-price-passed",
	},
	"duplicate":  {"domain-twice", "pair-twice"},
	"future":     {"in-future", "text-in-future"},
	"incomplete": {"score-without-summary", "score-without-access", "score-without-day"},
	"jump":       {"price-jump", "score-jump", "many-changes"},
	"link":       {"link-leads-nowhere"},
	"old":        {"test-too-old", "price-too-old"},
	"picture":    {"picture-without-alt", "caption-hidden"},
	"price": {
		"free-but-priced", "announced-free-priced", "display-contradicts", "display-changed-alone", "history-ends-elsewhere",
		"checked-before-price", "quote-without-amount", "plan-with-old-price",
	},
	"protocol": {"other-protocol"},
	"undated":  {"undated"},
	"winner":   {"winner-scores-less"},
}

func (w Warning) kind() string {
	if strings.HasPrefix(w.File, imageFolder+"/") {
		return "picture"
	}
	for kind, codes := range kindCodes {
		if slices.Contains(codes, w.Text.Code) {
			return kind
		}
	}
	return "other"
}

// ignoredBy returns the kinds of warnings that a catalogue silences.
func ignoredBy(c *catalog.Catalog) []string {
	if len(c.Settings.Warnings) == 0 {
		return nil
	}
	return c.Settings.Warnings[0].Ignore
}

// addWarning adds a warning, unless its kind is silenced.
func addWarning(to *[]Warning, ignored []string, w Warning) {
	if len(ignored) == 0 || !slices.Contains(ignored, w.kind()) {
		keep(to, w)
	}
}

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
	var found []Warning
	warn := func(file string, line int32, code string, args ...any) {
		addWarning(&found, ignoredBy(r.Catalog), Warning{file, max(int(line), 1), problem.New(code, args...)})
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
	return finish(found, moreWarnings)
}
