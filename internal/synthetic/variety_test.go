package synthetic

import (
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

func TestTwoThousandToolsShowEveryValueAndEveryOptionalFieldPresentAndAbsent(t *testing.T) {
	c := Catalog(2000, 1)
	seen := map[string]int{}
	optional := map[string][2]int{} // absent, present
	note := func(field string, present bool) {
		n := optional[field]
		if present {
			n[1]++
		} else {
			n[0]++
		}
		optional[field] = n
	}
	for i := range c.Tools {
		x := &c.Tools[i]
		seen["category "+x.Category]++
		seen["icp "+string(x.ICP)]++
		seen["pricing "+string(x.Pricing)]++
		seen["tier "+string(rune('0'+x.Tier))]++
		note("score", x.Score != nil)
		note("verifiability", x.Verifiability != nil)
		note("verifiability of a tested tool", x.Score == nil || x.Verifiability != nil)
		note("obsolescence", x.Obsolescence != nil)
		note("mainstream", x.Mainstream)
		note("updated_at", x.UpdatedAt != "")
		note("canonical_url", x.CanonicalURL != "")
		note("avis_url", x.ReviewURL != "")
		note("avis_url of a tool without review", x.Body != "" || x.ReviewURL != "")
		note("alternatives_url", x.AlternativesURL != "")
		note("tested_at", x.TestedAt != "")
		note("price_checked_at", x.PriceCheckedAt != "")
		note("sources", len(x.Sources) > 0)
		note("aliases", len(x.Aliases) > 0)
		note("price_history", len(x.PriceHistory) > 0)
		note("third price change", len(x.PriceHistory) == 3)
		note("review", x.Body != "")
		note("review of a tool that is not tested", x.Score != nil || x.Body != "")
		note("text before the first heading", x.Body != "" && !strings.HasPrefix(x.Body, "## "))
		note("chosen anchor", strings.Contains(x.Body, " {#"))
		note("bullets", strings.Contains(x.Body, "\n- "))
		note("numbered list", strings.Contains(x.Body, "\n1. "))
		note("table", strings.Contains(x.Body, "\n|---|"))
		note("link", strings.Contains(x.Body, "]("))
		note("code", strings.Contains(x.Body, "`"))
	}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		note("published", x.Published)
		note("updated_at of a comparison", x.UpdatedAt != "")
		note("body of a comparison", x.Body != "")
		note("first tool wins", x.Winner == x.ToolA)
		note("better mark wins", *c.Tool(x.Winner).Score >= max(*c.Tool(x.ToolA).Score, *c.Tool(x.ToolB).Score))
	}
	for i := range c.Retired {
		x := &c.Retired[i]
		seen["reason "+string(x.Reason)]++
		note("successor", x.Successor != "")
		note("second paragraph of a note", strings.Contains(x.Note, "\n\n"))
	}

	for field, n := range optional {
		if n[0] == 0 || n[1] == 0 {
			t.Errorf("%s: absent %d times, present %d times; want both", field, n[0], n[1])
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
		if seen[v] == 0 {
			t.Errorf("no record has %s", v)
		}
	}
}

func TestSharesAreThoseOfALivingCatalogue(t *testing.T) {
	c := Catalog(20_000, 1)
	count := map[string]float64{}
	var sum float64
	for i := range c.Tools {
		x := &c.Tools[i]
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

func TestPricesTakeEveryShapeTheContractAllows(t *testing.T) {
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

func TestNamesExerciseFrenchOrder(t *testing.T) {
	c := Catalog(20_000, 1)
	bearers := map[string]int{}
	var accented, lower, upper, noBreak int
	for i := range c.Tools {
		name := c.Tools[i].Name
		bearers[name]++
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
	var namesakes int
	for _, n := range bearers {
		namesakes += n - 1
	}
	if namesakes < 20 || namesakes > 1000 {
		t.Errorf("%d tools of %d bear the name of another, want a few", namesakes, len(c.Tools))
	}
	if accented == 0 || lower == 0 || upper == 0 || noBreak == 0 {
		t.Errorf("names: %d accented, %d in lower case, %d in upper case, %d with a no-break space; want some of each", accented, lower, upper, noBreak)
	}
}

func TestReviewsHaveTheLengthAndTheSectionsOfAReview(t *testing.T) {
	c := Catalog(2000, 1)
	for i := range c.Tools {
		x := &c.Tools[i]
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
		for _, p := range markdown.CheckSections(x.Body) {
			t.Errorf("the review of %s, line %d: %s", x.Slug, p.Line, p.Text)
		}
		if x.Body != strings.TrimSpace(x.Body) || strings.Contains(x.Body, "\n\n\n") || strings.Contains(x.Body, " \n") {
			t.Errorf("the review of %s has stray blanks: %q", x.Slug, x.Body)
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
