package synthetic

import (
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A census counts the values of a catalogue, and how often each optional feature is
// absent and present.
type census struct {
	seen     map[string]int
	features map[string][2]int
}

func (c *census) note(feature string, present bool) {
	n := c.features[feature]
	if present {
		n[1]++
	} else {
		n[0]++
	}
	c.features[feature] = n
}

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

func TestTwoThousandToolsHaveEveryValueAndFeature(t *testing.T) {
	c := Catalog(2000, 1)
	got := census{map[string]int{}, map[string][2]int{}}
	got.read(c)
	for feature, n := range got.features {
		if n[0] == 0 || n[1] == 0 {
			t.Errorf("%s: absent %d times, present %d times; want both", feature, n[0], n[1])
		}
	}
	want := []string{"tier 1", "tier 2", "tier 3"}
	for _, v := range c.Categories {
		want = append(want, "category "+v.Slug)
	}
	for _, v := range catalog.ICPs {
		want = append(want, "icp "+string(v))
	}
	for _, v := range catalog.Pricings {
		want = append(want, "pricing "+string(v))
	}
	for _, v := range catalog.Reasons {
		want = append(want, "reason "+string(v))
	}
	for _, v := range want {
		if got.seen[v] == 0 {
			t.Errorf("no record has %s", v)
		}
	}
}

func (s *census) read(c *catalog.Catalog) {
	seen, note := s.seen, s.note
	for i := range c.Tools {
		x := c.Tools[i]
		seen["category "+x.Category]++
		seen["icp "+string(x.ICP)]++
		seen["pricing "+string(x.Pricing)]++
		note("icp", x.ICP != "")
		seen["tier "+string(rune('0'+x.Tier))]++

		note("verifiability of a tested tool", x.Score == nil || x.Verifiability != nil)
		note("avis_url of a tool without review", x.Body != "" || x.ReviewURL != "")
		note("third price change", len(x.PriceHistory) == 3)
		note("review of an untested tool", x.Score != nil || x.Body != "")
		note("text before the first heading", x.Body != "" && !strings.HasPrefix(x.Body, "## "))
		note("explicit anchor", strings.Contains(x.Body, " {#"))
		note("bullets", strings.Contains(x.Body, "\n- "))
		note("numbered list", strings.Contains(x.Body, "\n1. "))
		note("table", strings.Contains(x.Body, "\n|---|"))
		note("link", strings.Contains(x.Body, "]("))
		note("code", strings.Contains(x.Body, "`"))
	}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		note("first tool wins", x.Winner == x.ToolA)
	}
	for i := range c.Retired {
		x := &c.Retired[i]
		seen["reason "+string(x.Reason)]++
		note("second paragraph of a note", strings.Contains(x.Note, "\n\n"))
	}
}

func TestSharesAreRealistic(t *testing.T) {
	c := Catalog(20_000, 1)
	count := map[string]float64{}
	var sum float64
	for i := range c.Tools {
		x := c.Tools[i]
		if x.Score != nil {
			count["tested"]++
			sum += *x.Score
			if *x.Score >= 8 {
				count["score of 8 or more"]++
			}
		}
		if x.Body != "" {
			count["reviewed"]++
		}
		if x.Tier == 1 {
			count["tier 1"]++
		}
		if len(x.Aliases) > 0 {
			count["renamed"]++
		}
		if len(x.PriceHistory) > 0 {
			count["price changed"]++
		}
	}
	count["compared"] = float64(len(c.Comparisons))
	for _, share := range []struct {
		what      string
		low, high float64 // percent
	}{
		{"tested", 83, 87},
		{"score of 8 or more", 5, 15},
		{"reviewed", 57, 63},
		{"tier 1", 0.7, 1.3},
		{"renamed", 1.5, 2.5},
		{"price changed", 28, 32},
		{"compared", 4.5, 5},
	} {
		if got := 100 * count[share.what] / float64(len(c.Tools)); got < share.low || got > share.high {
			t.Errorf("%s: %.2f %%, want %v to %v", share.what, got, share.low, share.high)
		}
	}
	if mean := sum / count["tested"]; mean < 6.1 || mean > 6.5 {
		t.Errorf("the mean score is %.2f, want about 6.3", mean)
	}
}

func TestPricesHaveEveryAllowedForm(t *testing.T) {
	c := Catalog(2000, 1)
	for _, shape := range []string{
		`^0 €/mois$`, `^\d+ €/mois$`, `^\d+,99 €/mois$`, `^\d+,5 €/`, `^\d \d{3} €/an$`, `^\d\x{a0}\d{3} €/an$`,
		`^\d\x{202f}\d{3} €/an$`, `^\d{4} €/an$`, `^\d+\D\d{3}\D\d{3} €/an$`, `€/utilisateur/mois$`,
	} {
		pattern, found := regexp.MustCompile(shape), false
		for i := range c.Tools {
			found = found || pattern.MatchString(c.Tools[i].Price)
		}
		if !found {
			t.Errorf("no price matches %s", shape)
		}
	}
}

func TestNamesExerciseFrenchCollation(t *testing.T) {
	c := Catalog(20_000, 1)
	byName := map[string]int{}
	var accented, lower, upper, noBreak int
	for i := range c.Tools {
		name := c.Tools[i].Name
		byName[name]++
		if strings.ContainsAny(name, "éèêëàâîïôöûùüçœ") {
			accented++
		}
		if name == strings.ToLower(name) {
			lower++
		}
		if name == strings.ToUpper(name) {
			upper++
		}
		if strings.Contains(name, "\u00a0") {
			noBreak++
		}
	}
	var duplicates int
	for _, n := range byName {
		duplicates += n - 1
	}
	if duplicates < 20 || duplicates > 1000 {
		t.Errorf("%d tools of %d have the name of another, want a few", duplicates, len(c.Tools))
	}
	if accented == 0 || lower == 0 || upper == 0 || noBreak == 0 {
		t.Errorf("names: %d accented, %d in lower case, %d in upper case, %d with a no-break space; want some of each", accented, lower, upper, noBreak)
	}
}

func TestReviewsHaveARealisticLengthAndStructure(t *testing.T) {
	c := Catalog(2000, 1)
	for i := range c.Tools {
		x := c.Tools[i]
		if x.Body == "" {
			continue
		}
		if len(x.Body) < 1500 || len(x.Body) > 4096 {
			t.Errorf("the review of %s is %d bytes long", x.Slug, len(x.Body))
		}
		sections := markdown.Sections(x.Body)
		if sections[0].ID == "introduction" {
			sections = sections[1:]
		}
		if n := len(sections); n < 3 || n > 6 {
			t.Errorf("the review of %s has %d sections", x.Slug, n)
		}
		for _, p := range markdown.CheckSections(x.Body).Problems {
			t.Errorf("the review of %s, line %d: %s", x.Slug, p.Line, p.Text)
		}
		if x.Body != strings.TrimSpace(x.Body) || strings.Contains(x.Body, "\n\n\n") || strings.Contains(x.Body, " \n") {
			t.Errorf("the review of %s has stray white space: %q", x.Slug, x.Body)
		}
	}
}

func TestNoTextKeepsAPlaceholderOrATypewriterApostrophe(t *testing.T) {
	c := Catalog(5000, 1)
	check := func(slug string, texts ...string) {
		for _, text := range texts {
			if strings.Contains(strings.ReplaceAll(text, " {#", ""), "{") || strings.Contains(text, "'") {
				t.Errorf("%s says %q", slug, text)
			}
		}
	}
	for i := range c.Tools {
		check(c.Tools[i].Slug, c.Tools[i].Tagline, c.Tools[i].Body)
	}
	for i := range c.Comparisons {
		check(c.Comparisons[i].Slug, c.Comparisons[i].Title, c.Comparisons[i].WinnerNote, c.Comparisons[i].Body)
	}
	for i := range c.Retired {
		check(c.Retired[i].Slug, c.Retired[i].Note)
	}
}
