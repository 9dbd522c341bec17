package site_test

import (
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

func TestThePageOfARetiredToolSaysWhatIsKnownAndWhatReplacesIt(t *testing.T) {
	c := tested()
	c.Categories[0].Usages = []catalog.Usage{{Slug: "dicter", Label: "Dicter"}}
	c.Tools[2].Usages = []string{"dicter"}
	for _, slug := range []string{"dune", "etang"} {
		other := *c.Tools[1]
		other.Slug, other.Name, other.Price = slug, slug, "400 €/mois"
		c.Tools = append(c.Tools, &other)
	}
	c.Retired = []catalog.Retired{
		{Slug: "rien", Name: "Rien", Category: "voix", Reason: "mort", RetiredAt: "2025-01-01", Body: "Fini.", Note: "Fini."},
		{
			Slug: "vieux", Name: "Vieux", Category: "voix", Reason: "acquis", RetiredAt: "2026-02-03", Successor: "aube", LastScore: number(6.5), LastPrice: "10 €/mois",
			Leaving: "L’export est ouvert.", Sources: []string{"https://vieux.example/adieu"}, Usages: []string{"dicter"}, Body: "Parti.\n\n## Les causes\n\nTrois.", Note: "Parti.",
			PriceHistory: []catalog.PriceChange{{ChangedAt: "2025-05-05", OldPricing: "payant", OldPrice: "0 €/mois", NewPricing: "payant", NewPrice: "10 €/mois"}},
			ScoreHistory: []catalog.ScoreChange{{ChangedAt: "2025-06-06", OldScore: number(7), NewScore: number(6.5), Note: "Plus lent."}},
		},
	}
	c.Retired = append(c.Retired, catalog.Retired{
		Slug: "yard", Name: "Yard", Category: "voix", Reason: "mort", RetiredAt: "2026-02-03", LastPrice: "18,50 €/mois", Body: "Fini.", Note: "Fini.",
		PriceHistory: []catalog.PriceChange{{ChangedAt: "2025-05-05", OldPricing: "payant", OldPrice: "17 €/mois", NewPricing: "payant", NewPrice: "18,50 €/mois"}},
	})
	s := open(t, c)
	c.Past = map[string]*catalog.Tool{"yard": {Name: "Yard", Category: "voix", Pricing: "payant", Price: "18,50 €/mois", PriceDisplay: "20 $/mois"}}
	s.show(snapshot.Build(c, 2, "2026-11-02"))
	dollars := plain(s.get("/cimetiere/yard").ok().body)
	for _, want := range []string{"Dernier prix20 $/mois, environ 18,50 €", "Prix : environ 17 €/mois → environ 18,50 €/mois"} {
		if !strings.Contains(dollars, want) {
			t.Errorf("the page of what was sold in dollars lacks %q: %s", want, dollars)
		}
	}
	page := s.get("/cimetiere/vieux").ok()
	body := plain(page.body)
	at := 0
	for _, want := range []string{
		"Outil disparu le 3 février 2026. Une autre société l’a racheté", "Parti.", "Les causes", "Comment en partir", "L’export est ouvert.",
		// The same usage first; then, of two with the same score, the one with the nearer price.
		"Par quoi le remplacer", "À sa place : aube, ou bien :", "cime", "Moins bien noté de 1,5 point · Plus cher de 2 €/mois", "brume", "dune", "Les comparer",
		"3 février 2026Quitte le catalogue : acquis", "6 juin 2025Note : 7,0 → 6,5. Plus lent.", "5 mai 2025Prix : Sur devis → 10 €/mois",
		"Dernière note6,5 sur 10", "Dernier prix10 €/mois", "Sourcesvieux.example/adieu",
	} {
		i := strings.Index(body[at:], want)
		if i < 0 {
			t.Fatalf("%q does not follow in %s", want, body[at:])
		}
		at += i
	}
	page.says(`<link rel="canonical" href="https://essai.example/cimetiere/vieux">`, `"@type":"Article"`, `"availability":"https://schema.org/Discontinued"`,
		`"@type":"BreadcrumbList"`, `href="/signaler?page=%2fcimetiere%2fvieux"`, `href="/comparer?outils=cime,brume,dune"`, `href="/cimetiere/vieux.md"`).saysNot("etang")
	s.get("/cimetiere/vieux.md").ok().says("# Vieux\n", "Dernier prix", "## Les causes", "[aube](/outils/aube.md)", "[cime](/outils/cime.md)", "7,0 → 6,5", "Source\u00a0: https://vieux.example/adieu\n")
	other := plain(s.get("/cimetiere/rien").ok().body)
	for _, said := range []string{"Comment en partir", "Dernière note", "Dernier prix", "À sa place", "noté de"} {
		if strings.Contains(other, said) {
			t.Errorf("a page says %q of a tool of which it is not known", said)
		}
	}
	s.get("/sitemap.xml").ok().says("<loc>https://essai.example/cimetiere/vieux</loc>")
	s.get("/cimetiere").ok().says(`<a href="/cimetiere/vieux">Vieux</a>`)
	s.get("/llms.txt").ok().says("/cimetiere/…")
	s.get("/outils?q=vieux").ok().says(`href="/cimetiere/vieux"`)
}
