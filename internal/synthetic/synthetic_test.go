package synthetic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

func TestTheSameSizeAndSeedGiveTheSameCatalogue(t *testing.T) {
	if diff := cmp.Diff(Catalog(500, 7), Catalog(500, 7)); diff != "" {
		t.Errorf("two calls differ (-first +second):\n%s", diff)
	}
}

func TestAnotherSeedGivesAnotherCatalogue(t *testing.T) {
	if a, b := digest(t, Catalog(50, 1)), digest(t, Catalog(50, 2)); a == b {
		t.Errorf("seeds 1 and 2 give the same catalogue, %s", a)
	}
}

// Users who keep a seed rely on this: change the digest only if catalogues are meant
// to change, and say so in the changelog. The digest also changes when a Go field of
// a record is renamed or added.
func TestTheCatalogueOfAKnownSeedDoesNotChangeByAccident(t *testing.T) {
	const want = "211c09f7ab1e48a487a613e46eda786f175adae44426e89207be9718f3a23e28"
	if got := digest(t, Catalog(50, 1)); got != want {
		t.Errorf("Catalog(50, 1) has the digest %s, want %s", got, want)
	}
}

func digest(t *testing.T, c *catalog.Catalog) string {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestEveryCatalogueFollowsTheRulesOfContent(t *testing.T) {
	for _, n := range []int{0, 1, 2, 19, 20, 24, 25, 40, 5000} {
		checkRules(t, Catalog(n, 3), n)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "tools")
		checkRules(t, Catalog(n, rapid.Uint64().Draw(t, "seed")), n)
	})
}

// checkRules checks a catalogue of n tools against the rules for content folders.
func checkRules(t rapid.TB, c *catalog.Catalog, n int) {
	t.Helper()
	if c.Name != "Palmarès synthétique" || c.URL != "https://synthetique.example" {
		t.Errorf("catalogue is %q at %q", c.Name, c.URL)
	}
	var categories []string
	for _, k := range c.Categories {
		categories = append(categories, k.Slug)
		if k.Label == "" {
			t.Errorf("category %s has no label", k.Slug)
		}
	}
	if diff := cmp.Diff([]string{"agents", "chat", "code", "image", "video", "voix"}, categories); diff != "" {
		t.Errorf("categories (-want +got):\n%s", diff)
	}
	if len(c.Tools) != n || len(c.Retired) != n/25 || len(c.Comparisons) > n/20 {
		t.Errorf("%d tools came with %d tools, %d comparisons and %d retired", n, len(c.Tools), len(c.Comparisons), len(c.Retired))
	}

	slugs := slugSet{}
	checkTools(t, c, categories, slugs)
	checkComparisons(t, c)
	checkRetired(t, c, categories, slugs)
}

type slugSet map[string]bool

func (s slugSet) add(t rapid.TB, slug string) {
	t.Helper()
	if !catalog.IsSlug(slug) || s[slug] {
		t.Errorf("slug %q is malformed or taken", slug)
	}
	s[slug] = true
}

func checkDate(t rapid.TB, slug, date string, optional bool) {
	t.Helper()
	if !catalog.IsDate(date) && (date != "" || !optional) {
		t.Errorf("%s has the date %q", slug, date)
	}
}

func checkTools(t rapid.TB, c *catalog.Catalog, categories []string, slugs slugSet) {
	t.Helper()
	for i := range c.Tools {
		x := c.Tools[i]
		slugs.add(t, x.Slug)
		for _, alias := range x.Aliases {
			slugs.add(t, alias)
		}
		if len(x.Slug) > 48 {
			t.Errorf("slug %q is too long for the slug of a comparison", x.Slug)
		}
		if i > 0 && c.Tools[i-1].Slug >= x.Slug || !slices.IsSorted(x.Aliases) {
			t.Errorf("%s is not in order, or its aliases %q are not", x.Slug, x.Aliases)
		}
		if strings.TrimSpace(x.Name) == "" || x.Tagline == "" || x.Domain != x.Slug+".example" {
			t.Errorf("%s lacks a field: %+v", x.Slug, x)
		}
		if !slices.Contains(categories, x.Category) || x.ICP != "" && !slices.Contains(catalog.ICPs, x.ICP) || x.Tier < 1 || x.Tier > 3 {
			t.Errorf("%s has a value out of its list: %+v", x.Slug, x)
		}
		for _, mark := range []*float64{x.Score, x.Verifiability, x.Obsolescence} {
			if mark != nil && (*mark < 0 || *mark > 10 || *mark != float64(int(*mark*10+0.5))/10) {
				t.Errorf("%s has the mark %v", x.Slug, *mark)
			}
		}
		checkDate(t, x.Slug, x.UpdatedAt, true)
		checkDate(t, x.Slug, x.TestedAt, true)
		checkDate(t, x.Slug, x.PriceCheckedAt, true)
		checkPrices(t, x)
	}
}

func checkComparisons(t rapid.TB, c *catalog.Catalog) {
	t.Helper()
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		if !catalog.IsSlug(x.Slug) || i > 0 && c.Comparisons[i-1].Slug >= x.Slug {
			t.Errorf("comparison %q is malformed, taken or not in order", x.Slug)
		}
		a, b := c.Tool(x.ToolA), c.Tool(x.ToolB)
		if a == nil || b == nil || a == b || a.Score == nil || b.Score == nil || x.Winner != x.ToolA && x.Winner != x.ToolB {
			t.Errorf("comparison %s is not between two tested tools: %+v", x.Slug, x)
		}
		if x.Title == "" || x.WinnerNote == "" {
			t.Errorf("comparison %s lacks a field: %+v", x.Slug, x)
		}
		checkDate(t, x.Slug, x.UpdatedAt, true)
	}
}

func checkRetired(t rapid.TB, c *catalog.Catalog, categories []string, slugs slugSet) {
	t.Helper()
	for i := range c.Retired {
		x := &c.Retired[i]
		slugs.add(t, x.Slug)
		if i > 0 && c.Retired[i-1].Slug >= x.Slug {
			t.Errorf("retired %s is not in order", x.Slug)
		}
		if x.Name == "" || !slices.Contains(categories, x.Category) || !slices.Contains(catalog.Reasons, x.Reason) {
			t.Errorf("retired %s lacks a field: %+v", x.Slug, x)
		}
		if x.Successor != "" && c.Tool(x.Successor) == nil {
			t.Errorf("retired %s has the unknown successor %q", x.Slug, x.Successor)
		}
		if x.Note == "" || markdown.Plain(x.Body) != x.Note {
			t.Errorf("retired %s: body %q does not read as note %q", x.Slug, x.Body, x.Note)
		}
		checkDate(t, x.Slug, x.RetiredAt, false)
	}
}

// checkPrices follows the history of a tool back from its current price.
func checkPrices(t rapid.TB, x *catalog.Tool) {
	t.Helper()
	now := catalog.PriceChange{ChangedAt: "9999-12-31", OldPricing: x.Pricing, OldPrice: x.Price}
	if x.UpdatedAt != "" {
		now.ChangedAt = x.UpdatedAt
	}
	for _, e := range append([]catalog.PriceChange{now}, x.PriceHistory...) {
		if !catalog.IsPrice(e.OldPrice) || !slices.Contains(catalog.Pricings, e.OldPricing) {
			t.Errorf("%s has the offer %q %q", x.Slug, e.OldPricing, e.OldPrice)
		}
	}
	for _, e := range x.PriceHistory {
		if e.NewPricing != now.OldPricing || e.NewPrice != now.OldPrice {
			t.Errorf("%s came to %q %q, then left %q %q", x.Slug, e.NewPricing, e.NewPrice, now.OldPricing, now.OldPrice)
		}
		if e.NewPricing == e.OldPricing && e.NewPrice == e.OldPrice {
			t.Errorf("%s has a change that changes nothing: %+v", x.Slug, e)
		}
		if !catalog.IsDate(e.ChangedAt) || e.ChangedAt >= now.ChangedAt || x.PriceCheckedAt != "" && e.ChangedAt > x.PriceCheckedAt {
			t.Errorf("%s changed its price on %q, after what it must precede", x.Slug, e.ChangedAt)
		}
		now = e
	}
}
