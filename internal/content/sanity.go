package content

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// WarningKinds are the kinds of warnings that catalogue.yaml can silence. What has no other kind is
// other.
var WarningKinds = []string{
	"amount", "calendar", "duplicate", "future", "incomplete", "jump", "link", "old", "picture", "price", "protocol", "undated", "winner", "other",
}

// kindParts are what the sentences of a kind have, and no others.
var kindParts = map[string]*regexp.Regexp{
	"amount":     regexp.MustCompile(`more than 100 000 €`),
	"calendar":   regexp.MustCompile(`publish_at is|(?:so|without) publish_at|retired since|will not happen|was announced for`),
	"duplicate":  regexp.MustCompile(`is also that of|are already compared`),
	"future":     regexp.MustCompile(`is in the future`),
	"incomplete": regexp.MustCompile(`score is given without`),
	"jump":       regexp.MustCompile(`see that this is meant`),
	"link":       regexp.MustCompile(`the link `),
	"old":        regexp.MustCompile(`days? old; `),
	"picture":    regexp.MustCompile(`the picture `),
	"price":      regexp.MustCompile(`pricing is gratuit|price_display is|the latest entry of price_history|older than the price|the amount of the price`),
	"protocol":   regexp.MustCompile(`is now tested under`),
	"undated":    regexp.MustCompile(`but its updated_at did not`),
	"winner":     regexp.MustCompile(`correct the winner`),
}

func (w Warning) kind() string {
	if strings.HasPrefix(w.File, imageFolder+"/") {
		return "picture"
	}
	for kind, parts := range kindParts {
		if parts.MatchString(w.Text) {
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
	warn := func(file string, line int32, format string, args ...any) {
		addWarning(&found, ignoredBy(r.Catalog), Warning{file, max(int(line), 1), fmt.Sprintf(format, args...)})
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
			warn(file, at.price, "the price of %q goes from %s to %s; see that this is meant", slug, was.Price, is.Price)
		}
		shown := catalog.PriceChange{OldPrice: was.Price, NewPrice: is.Price, OldDisplay: was.PriceDisplay, NewDisplay: is.PriceDisplay}
		asked, asks, comparable := shown.Asked()
		if comparable && asked != asks && was.Price == is.Price {
			warn(file, at.price, "price_display is %s, no longer %s, but price is still %s; convert it again: histories, feeds and mails follow price",
				is.PriceDisplay, was.PriceDisplay, is.Price)
		}
		if was.Score != nil && is.Score != nil && (*was.Score-*is.Score > scoreJump || *is.Score-*was.Score > scoreJump) {
			warn(file, at.score, "the score of %q goes from %s to %s; see that this is meant", slug, figure(*was.Score), figure(*is.Score))
		}
		if is.PriceCheckedAt != "" && is.CheckedAt() == "" && was.Price != is.Price && catalog.IsPublic(is.Pricing, is.Price) {
			warn(file, at.checked, "price_checked_at is %s, older than the price, which is that of %s; check the price again and set it, "+
				"or date the change in price_history", is.PriceCheckedAt, is.PriceHistory[0].ChangedAt)
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
		warn(catalogueFile, 1, "%d of %d published records change at once; see that this is meant", changed, all)
	}
	return finish(found, moreWarnings)
}
