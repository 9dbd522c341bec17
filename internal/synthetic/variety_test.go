package synthetic

import (
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A new field of a record fails this test until it is generated, sometimes present
// and sometimes absent.
func TestTwoThousandToolsHaveEveryFieldPresentAndAbsent(t *testing.T) {
	c := Catalog(2000, 1)
	tools := make([]any, len(c.Tools))
	for i := range c.Tools {
		tools[i] = c.Tools[i]
	}
	comparisons := make([]any, len(c.Comparisons))
	for i := range c.Comparisons {
		comparisons[i] = &c.Comparisons[i]
	}
	retired := make([]any, len(c.Retired))
	for i := range c.Retired {
		retired[i] = &c.Retired[i]
	}
	checkFields(t, catalog.ToolFields, tools)
	checkFields(t, catalog.ComparisonFields, comparisons)
	checkFields(t, catalog.RetiredFields, retired)
}

// checkFields checks that each field is empty in some of the records and not in others, except
// those that records always have. Drafts, scheduled records and pictures, which are files, are
// not generated.
func checkFields(t *testing.T, fields []catalog.Field, records []any) {
	t.Helper()
	for i := range fields {
		f := &fields[i]
		if f.Form == catalog.Draft || f.Form == catalog.PublishAt || f.Form == catalog.Image {
			continue
		}
		empty := 0
		for _, r := range records {
			if f.IsEmpty(r) {
				empty++
			}
		}
		_, isRetired := records[0].(*catalog.Retired)
		isAlwaysThere := f.Use.Has(catalog.Required) || f.Default != "" || f.Form == catalog.Tier ||
			f.Form == catalog.Body && isRetired
		if isAlwaysThere && empty > 0 || !isAlwaysThere && (empty == 0 || empty == len(records)) {
			t.Errorf("%T: %s is empty in %d of %d records", records[0], f.Name, empty, len(records))
		}
	}
}

func TestACatalogueHasTheSharesThatMeasurementsCountOn(t *testing.T) {
	const tools = 20_000
	c := Catalog(tools, 1)
	count := map[string]int{"comparisons": len(c.Comparisons), "retired tools": len(c.Retired)}
	names := map[string]bool{}
	note := func(what string, is bool) {
		if is {
			count[what]++
		}
	}
	for _, x := range c.Tools {
		note("tested", x.Score != nil)
		note("score of 8 or more", x.Score != nil && *x.Score >= 8)
		note("reviewed", x.Body != "")
		note("tier 1", x.Tier == 1)
		note("renamed", len(x.Aliases) > 0)
		note("price changed", len(x.PriceHistory) > 0)
		note("accented", strings.ContainsAny(x.Name, "éèêëàâîïôöûùüçœ"))
		note("named as another", names[x.Name])
		names[x.Name] = true
		note("pricing "+string(x.Pricing), true)
		note("category "+x.Category, true)
		note("list", strings.Contains(x.Body, "\n- "))
		note("table", strings.Contains(x.Body, "\n|---|"))
		note("link", strings.Contains(x.Body, "]("))
	}
	shares := map[string][2]float64{ // percent
		"comparisons": {4.5, 5}, "retired tools": {4, 4}, "tested": {83, 87}, "score of 8 or more": {5, 15}, "reviewed": {57, 63},
		"tier 1": {0.5, 1.3}, "renamed": {1.5, 2.5}, "price changed": {28, 32}, "accented": {30, 90}, "named as another": {0.1, 5},
		"list": {10, 60}, "table": {10, 60}, "link": {1, 50},
	}
	for _, pricing := range catalog.Pricings {
		shares["pricing "+string(pricing)] = [2]float64{15, 50}
	}
	for _, k := range c.Categories {
		shares["category "+k.Slug] = [2]float64{15, 18}
	}
	for what, share := range shares {
		if got := 100 * float64(count[what]) / tools; got < share[0] || got > share[1] {
			t.Errorf("%s: %.2f %%, want %v to %v", what, got, share[0], share[1])
		}
	}
}

func TestReviewsAreAsLongAsInAMagazine(t *testing.T) {
	for _, x := range Catalog(2000, 1).Tools {
		sections := len(markdown.Sections(x.Body))
		if x.Body != "" && (len(x.Body) < 1500 || len(x.Body) > 4096 || sections < 3 || sections > 7) {
			t.Errorf("the review of %s is %d bytes long, in %d sections", x.Slug, len(x.Body), sections)
		}
		if strings.Contains(strings.ReplaceAll(x.Tagline+x.Body, " {#", ""), "{") {
			t.Errorf("a text of %s has a placeholder:\n%s\n%s", x.Slug, x.Tagline, x.Body)
		}
	}
}
