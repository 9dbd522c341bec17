package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"palmares/internal/catalog"
)

func TestAConditionThatIsReadHoldsForEveryResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom(strings.Fields("logo rank gratuit payant carnet photo code hublot outil freemium 20 €"))
		text := rapid.Map(rapid.SliceOfN(word, 1, 4), func(words []string) string { return strings.Join(words, " ") })
		c := &catalog.Catalog{}
		for _, name := range rapid.SliceOfNDistinct(text, 1, 8, rapid.ID).Draw(t, "names") {
			one := tool(name, text.Draw(t, "tagline"), text.Draw(t, "review"))
			if rapid.Bool().Draw(t, "scored") {
				score := float64(rapid.IntRange(0, 10).Draw(t, "score"))
				one.Score = &score
			}
			one.Pricing = rapid.SampledFrom(catalog.Pricings).Draw(t, "pricing")
			one.Price = rapid.SampledFrom([]string{"", "0 €/mois", "5 €/mois", "300 €/an", "0,05 €/minute"}).Draw(t, "price")
			c.Tools = append(c.Tools, one)
		}
		c.Sort()
		x, err := Build(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		condition := rapid.SampledFrom([]string{
			"gratuit", "payant", "freemium", "moins de 20 €", "max 5 €", "gratuit à moins de 9 €", "", "plus de 10 €",
			"mais pas carnet", "sauf photo", "autre que logo rank", "alternative à carnet", "alternative moins chère à logo", "note supérieure à 8", "free", "under $20", "not photo",
		})
		query := strings.Join([]string{text.Draw(t, "before"), condition.Draw(t, "condition"), text.Draw(t, "after")}, " ")

		r := x.ReadRequest(query, nil)
		q := Query{Text: r.Text, Constraints: r.Constraints, Limit: len(c.Tools)}
		set, _ := x.Matches(q)
		for _, hit := range x.Search(q).Hits {
			if one := c.Tools[hit.Tool]; !isMet(one, r.Constraints) || set[0]&(1<<hit.Tool) == 0 {
				t.Fatalf("%q, read as %+v, finds %s, %s, %s", query, r, one.Name, one.Pricing, one.Price)
			}
			set[0] &^= 1 << hit.Tool
		}
		if set[0] != 0 {
			t.Fatalf("%q also matches %b", query, set[0])
		}
	})
}

// isMet reports whether a tool meets constraints, as its record says.
func isMet(t *catalog.Tool, constraints []Constraint) bool {
	euros, known := catalog.Monthly(t.Pricing, t.Price)
	for _, c := range constraints {
		broken := c.Pricing == "gratuit" && t.Pricing != "gratuit" && t.Pricing != "freemium" ||
			c.Pricing != "" && c.Pricing != "gratuit" && t.Pricing != c.Pricing ||
			c.limitsPrice() && (!known || euros > c.PriceMax+0.005) || c.PriceMin > 0 && (!known || euros < c.PriceMin-0.005) ||
			c.ScoreMin > 0 && (t.Score == nil || *t.Score < c.ScoreMin) ||
			c.TestedFrom > t.TestedAt || c.TestedTo != "" && (t.TestedAt == "" || t.TestedAt > c.TestedTo) ||
			c.Without != "" && slices.Contains(Words(t.Name), c.Without) ||
			c.About && slices.Contains(Words(t.Tagline), c.Without)
		if broken {
			return false
		}
	}
	return true
}

func TestNoConditionIsBrokenInTwoHundredQueries(t *testing.T) {
	for _, collection := range []collection{demoCollection(t), generatedCollection(t)} {
		x, err := Build(t.Context(), collection.catalog)
		if err != nil {
			t.Fatal(err)
		}
		subjects := []string{"images", "montage vidéo", "transcrire une réunion", "chatbot", "code", "automatiser des tâches", "voix", "traduire", "logo", "meeting notes"}
		for _, condition := range []string{
			"%s gratuit", "%s payant", "free %s", "%s à moins de 20 €", "%s entre 5 et 15 €", "%s à plus de 15 €", "%s under $12 a month",
			"%s avec une note supérieure à 7", "%s testé en 2026", "%s mais pas studio", "%s sauf note",
		} {
			for _, subject := range subjects {
				query := fmt.Sprintf(condition, subject)
				r := x.ReadRequest(query, nil)
				if len(r.Constraints) != 1 {
					t.Errorf("%q is read as %q", query, describe(x, &r))
				}
				for _, hit := range x.Search(Query{Text: r.Text, Constraints: r.Constraints, Limit: 100}).Hits {
					if one := collection.catalog.Tools[hit.Tool]; !isMet(one, r.Constraints) {
						t.Errorf("%q finds %s, %s, %s", query, one.Name, one.Pricing, one.Price)
					}
				}
			}
		}
	}
}
