package site_test

import (
	"fmt"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/synthetic"
)

func (v *server) trends() *reply {
	v.t.Helper()
	return v.get("/tendances").ok().saysNot("NaN", "Inf", "%!")
}

// moving is a catalogue with enough changes of prices for a line.
func moving() *catalog.Catalog {
	c := small()
	for i := range 6 {
		t := *c.Tools[3]
		t.Slug, t.Name, t.Price, t.Score = fmt.Sprintf("mouche-%d", i), fmt.Sprintf("Mouche %d", i), fmt.Sprintf("%d €/mois", 20+i), number(5)
		t.PriceHistory = []catalog.PriceChange{{ChangedAt: fmt.Sprintf("2026-0%d-10", 1+i), OldPricing: "payant", OldPrice: fmt.Sprintf("%d €/mois", 10+i), NewPricing: "payant", NewPrice: t.Price}}
		t.TestedAt = "2024-01-01"
		c.Tools = append(c.Tools, &t)
	}
	c.Tools[0].PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-03-10", OldPricing: "payant", OldPrice: "20 €/mois", NewPricing: "payant", NewPrice: "10 €/mois"}}
	c.Tools[0].ScoreHistory = []catalog.ScoreChange{{ChangedAt: "2026-04-10", OldScore: number(7), NewScore: number(8.5), Note: "Elle a appris."}}
	c.Tools[1].TestedAt, c.Tools[3].PriceCheckedAt = "2026-10-01", "2025-10-01"
	c.Retired[0].RetiredAt = "2026-02-03"
	return c
}

func TestTrendsSayTheirFigures(t *testing.T) {
	page := open(t, moving()).trends()
	page.says("<dt>hausses</dt><dd>6</dd>", "<dt>baisse</dt><dd>1</dd>", "<dt>dont devenu payant</dt><dd>0</dd>", "<dt>dont devenu gratuit</dt><dd>0</dd>", ">Outils avec un prix<", ">&#43;100\u00a0%</span>", ">−50\u00a0%</span>",
		"10 → 20\u00a0€/mois", ">mars\u00a02026</th><td>1</td><td>1</td></tr>",
		// The median of code: 10 to 15 and 100 € before, 20 to 25 and 100 € now.
		">Développement</a></th><td>7</td><td>13\u00a0€</td><td>23\u00a0€</td></tr>",
		"Développement\u00a0: prix médian de 13\u00a0€ il y a un an, 23\u00a0€ aujourd’hui.",
		`<td><span class="none">trop peu de données</span></td>`,
		"1\u00a0note en hausse, 0\u00a0note en baisse", "7,0\u00a0→\u00a08,5", "Elle a appris.")
	page.says(`href="/outils/bourdon"`, `Discussion<time datetime="2026-10-01">depuis le`)
	// One in February 2026, 27 in December and 26 since the 3rd of November 2025: ten are listed.
	page.says("Fantôme 0", "44\u00a0autres")
}

func TestTooLittleDataIsSaidNotDrawn(t *testing.T) {
	open(t, small()).trends().says("Nous n’avons relevé aucun changement de prix en douze mois.", "trop peu de données", "Une courbe demande au moins cinq prix", "Aucune note n’a été revue").saysNot(`class="chart"`, "plot-bars")
	c := small()
	c.Tools[0].PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-03-10", OldPricing: "payant", OldPrice: "20 €/mois", NewPricing: "payant", NewPrice: "10 €/mois"}}
	open(t, c).get("/tendances").ok().says("Trop peu de prix ont bougé pour en faire un dessin.", "−50\u00a0%").saysNot("plot-bars")
	for i := range c.Tools {
		c.Tools[i].TestedAt = "2026-10-01"
	}
	open(t, c).get("/tendances").ok().says("Trop peu de fiches remontent à plus d’un an")
	one := small()
	one.Tools, one.Comparisons, one.Retired = one.Tools[:1], nil, nil
	open(t, one).get("/tendances").ok().says("Nous n’avons relevé aucune disparition en douze mois.")
}

func TestAFallThatIsNotWholeIsNotSaidToBe(t *testing.T) {
	c := moving()
	c.Tools[0].PriceHistory[0].OldPrice = "10 000 €/mois" // now 10
	open(t, c).get("/tendances").ok().says(">−99,9\u00a0%</span>").saysNot("−100\u00a0%")
}

func TestLargeMediansHaveNoCents(t *testing.T) {
	c := moving()
	for i := range c.Tools {
		c.Tools[i].Price, c.Tools[i].PriceHistory = "12 345,67 €/mois", nil
	}
	open(t, c).get("/tendances").ok().says("<td>12\u202f346\u00a0€</td>").saysNot("12\u202f345,67")
}

func TestTrendsOfManyToolsStaySmall(t *testing.T) {
	v := open(t, synthetic.Catalog(2000, 1))
	for _, path := range []string{"/tendances", "/tendances.md"} {
		if r := v.get(path, "Accept-Encoding: gzip").ok(); r.wire > 20_000 {
			t.Errorf("%s has %d bytes", path, r.wire)
		}
	}
	v.trends()
}

func TestTrendsAreIndexed(t *testing.T) {
	v := open(t, small())
	v.get("/tendances").ok().says(`<link rel="canonical" href="https://essai.example/tendances">`).saysNot("noindex")
	v.get("/sitemap.xml").ok().says("<loc>https://essai.example/tendances</loc>")
	v.get("/llms.txt").ok().says("/tendances.md)")
}
