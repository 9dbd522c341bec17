package search

import (
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
			one.Pricing = rapid.SampledFrom(catalog.Pricings).Draw(t, "pricing")
			one.Price = rapid.SampledFrom([]string{"", "0 €/mois", "5 €/mois", "300 €/an", "0,05 €/minute"}).Draw(t, "price")
			c.Tools = append(c.Tools, one)
		}
		c.Sort()
		x, err := Build(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		condition := rapid.SampledFrom([]string{"gratuit", "payant", "freemium", "moins de 20 €", "max 5 €", "gratuit à moins de 9 €", ""})
		query := strings.Join([]string{text.Draw(t, "before"), condition.Draw(t, "condition"), text.Draw(t, "after")}, " ")

		r := x.ReadRequest(query, nil)
		q := Query{Text: r.Text, Constraints: r.Constraints, Limit: len(c.Tools)}
		set, _ := x.Matches(q)
		for _, hit := range x.Search(q).Hits {
			if one := c.Tools[hit.Tool]; !x.meetsAll(hit.Tool, r.Constraints) || set[0]&(1<<hit.Tool) == 0 {
				t.Fatalf("%q, read as %+v, finds %s, %s, %s", query, r, one.Name, one.Pricing, one.Price)
			}
			set[0] &^= 1 << hit.Tool
		}
		if set[0] != 0 {
			t.Fatalf("%q also matches %b", query, set[0])
		}
	})
}
