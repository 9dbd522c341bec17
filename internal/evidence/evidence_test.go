package evidence

import (
	"slices"
	"testing"
	"unicode/utf8"

	"palmares/internal/catalog"
)

func TestTextsAreComparedAsDocumented(t *testing.T) {
	for _, test := range []struct{ page, quote, want string }{
		{"19 €/mois", "9 €/mois", "changed 19 €/mois"},
		{"19,99 €/mois", "99 €/mois", "changed 19,99 €/mois"},
		{"1 9 €/mois", "9 €/mois", "changed 1 9 €/mois"},
		{"<td>1<td>9 €/mois", "9 €/mois", "changed 1\n9 €/mois"},
		{"Pro $19.50", "Pro $19", "changed Pro $19.50"},
		{"Pro $19 000", "Pro $19", "changed Pro $19 000"},
		{"Pro $19. Puis $20", "Pro $19", "confirmed "},
		{"US$19/mo", "$19/mo", "confirmed "},
		{"APro 19 €", "Pro 19 €", "unreadable APro 19 €"},
		{"Pro 19 €uros", "Pro 19 €", "confirmed "},
		{"Pro 19k", "Pro 19", "unreadable Pro 19k"},
		{"19<sup>99</sup> €", "19,99 €", "confirmed "},
		{"19<sup>9<b>9</b></sup> €", "19.99 €", "confirmed "},
		{"19<sup>995</sup> €", "19,995 €", "changed 19995 €"},
		{"19 €<sup>99</sup>", "19 €99", "confirmed "},
		{"Pro <s>29 €</s>19 €", "Pro 19 €", "confirmed "},
		{"Pro<br>19 €<hr>par mois", "Pro 19 € par mois", "confirmed Pro\n19 €\npar mois"},
		{"P<b>r</b>o<x-y>19</x-y> €", "Pro19 €", "confirmed "},
		{"« L’offre » – 1\u202f200\u00a0€ / mois", `"L'offre" - 1 200€/mois`, "confirmed "},
		{"ﬁn ① Pro", "fin 1 Pro", "confirmed "},
		{"pro 19 €", "Pro 19 €", "unreadable pro 19 €"},
		{"<details><summary>Prix</summary>Pro 19 €</details>", "Prix Pro 19 €", "confirmed Prix\nPro 19 €"},
		{"<button>Pro</button>19 €", "Pro 19 €", "confirmed Pro\n19 €"},
		{"Team 5 : 29 € par mois<p>Team 10 : 49 € par mois", "Team 5 : 19 € par mois", "unreadable Team 5 : 29 € par mois"},
		{"Gratuit pour tous", "Gratuit pour toujours", "unreadable Gratuit pour tous"},
	} {
		if result, found := compareWith(t, test.page, test.quote); result+" "+found != test.want {
			t.Errorf("%q in %q: %s %q, want %q", test.quote, test.page, result, found, test.want)
		}
	}
}

func TestPassagesAreQuotationsNearestToThePriceFirst(t *testing.T) {
	p, err := parsePage(t.Context(), []byte("<p>Depuis 2019<h2>Solo</h2><p>9\u00a0€<p>par mois<h2><div>Pro</div></h2><div><b>19 €</b> HT / mois, 5 projets</div><div>7 jours"+
		"<p>CHF 1'200.50 par an<p>HTML 5<p>Essai de 19 jours"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Passage{
		{"Pro 19 € HT / mois, 5 projets", "19", "19 €/mois", true},
		{"Pro 19 € HT / mois, 5 projets 7 jours CHF 1'200.50 par an HTML 5 Essai de 19 jours", "19", "19 €/mois", true},
		{"Solo 9 € par mois", "9", "9 €/mois", false},
		{"Pro 19 € HT / mois, 5 projets 7 jours CHF 1'200.50 par an", "1'200,50", "1 200,50 €/mois", false},
	}
	if got := p.passages("19 €/mois"); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSourcesAreListedWithTheirStates(t *testing.T) {
	const page = "https://plume.example/tarifs"
	tool := func(change func(*catalog.Tool)) *catalog.Tool {
		t := &catalog.Tool{Slug: "plume", Pricing: "payant", Price: "19 €/mois", PriceSource: page, PriceQuote: goodQuote, PriceCheckedAt: "2026-11-01"}
		change(t)
		return t
	}
	seen := func(result, found string) []catalog.Proof {
		return []catalog.Proof{{Slug: "plume", URL: page, Quote: goodQuote, Result: result, Found: found, CheckedAt: "2026-11-10T03:00:00Z"}}
	}
	for name, test := range map[string]struct {
		tool   *catalog.Tool
		proofs []catalog.Proof
		want   string // number of sources, state, new price
	}{
		"not looked at":   {tool(func(*catalog.Tool) {}), nil, "1  "},
		"long ago":        {tool(func(t *catalog.Tool) { t.PriceCheckedAt = "2026-01-01" }), nil, "1 stale "},
		"changed":         {tool(func(*catalog.Tool) {}), seen(catalog.Changed, "Pro\n1 250,5 €/mois"), "1 changed 1 250,50 €/mois"},
		"a range":         {tool(func(t *catalog.Tool) { t.PriceQuote = "" }), nil, "0"},
		"a draft":         {tool(func(t *catalog.Tool) { t.Draft = true }), nil, "0"},
		"other words":     {tool(func(t *catalog.Tool) { t.PriceQuote = "Pro 19 €" }), seen(catalog.Changed, "Pro 25 €"), "1  "},
		"read since":      {tool(func(t *catalog.Tool) { t.PriceCheckedAt = "2026-11-11" }), seen(catalog.Changed, "Pro 25 €/mois"), "1 changed "},
		"shown otherwise": {tool(func(t *catalog.Tool) { t.PriceDisplay = "Dès 19 €" }), seen(catalog.Changed, "Pro 25 €/mois"), "1 changed "},
		"on request":      {tool(func(t *catalog.Tool) { t.Price, t.PriceQuote = catalog.NoPrice, "" }), nil, "1  "},
		"announced": {tool(func(t *catalog.Tool) {
			t.Announced = []catalog.Announcement{{PriceSource: page + "/2027", PriceQuote: "25 €"}}
		}), nil, "2  "},
		"announced, twice": {tool(func(t *catalog.Tool) { t.Announced = []catalog.Announcement{{Source: page, PriceQuote: goodQuote}} }), nil, "1  "},
	} {
		list := List(&catalog.Catalog{Tools: []*catalog.Tool{test.tool}}, test.proofs, "2026-11-12")
		got := string(rune('0' + len(list)))
		if len(list) > 0 {
			got += " " + list[0].State + " " + list[0].NewPrice()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func FuzzPage(f *testing.F) {
	for seed := range uint64(6) {
		m := newModel(seed)
		f.Add(m.write(same), m.quote())
	}
	f.Fuzz(func(t *testing.T, document, quote string) {
		p, err := parsePage(t.Context(), []byte(document))
		if err != nil {
			return
		}
		result, found := p.compare(quote)
		if !utf8.ValidString(found) || result == catalog.Changed && found == "" {
			t.Errorf("%s %q", result, found)
		}
		for _, one := range p.passages("19 €/mois") {
			if result, _ := p.compare(one.Quote); result != catalog.Confirmed {
				t.Errorf("%+v is %s", one, result)
			}
		}
	})
}
