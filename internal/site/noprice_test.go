package site_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

var (
	blocks     = regexp.MustCompile(`(?i)</?(?:p|li|tr|dt|dd|div|h[1-6]|title|summary|content|figcaption|option|script|text|g)\b[^>]*>|\n`)
	inlineTags = regexp.MustCompile(`<[^>]*>`)
	falsePrice = regexp.MustCompile(`(?i)gratuit|rien payer|coûte rien|[0-9][\s\x{a0}\x{202f}]*€|"offers"|"price":\s*"?[0-9]`)
)

// Of Cambouis, whose price is not public, no page, feed, file or structured data says that it is free
// or what it costs. What is said about several tools at once is not looked at.
func TestWhatHasNoPublicPriceIsNeitherFreeNorPriced(t *testing.T) {
	v := openDemo(t)
	var others []string
	for _, tool := range v.live.Load().Catalog.Tools {
		if tool.Name != "Cambouis" {
			others = append(others, tool.Name)
		}
	}
	mentions := 0
	for path, r := range crawl(t, v, "/comparer?outils=varlope,cambouis", "/categories/code.md", "/prix.md?page=1", "/llms.txt", "/flux.atom") {
		if strings.HasPrefix(path, "/api/") || strings.HasPrefix(r.header.Get("Content-Type"), "image/") {
			continue
		}
	blocks:
		for _, block := range blocks.Split(r.body, -1) {
			block = html.UnescapeString(inlineTags.ReplaceAllString(block, ""))
			if !strings.Contains(strings.ToLower(block), "cambouis") {
				continue
			}
			for _, other := range others {
				if strings.Contains(block, other) {
					continue blocks
				}
			}
			mentions++
			if found := falsePrice.FindString(block); found != "" {
				t.Errorf("%s says %q: %.300s", path, found, block)
			}
		}
	}
	if mentions < 60 {
		t.Errorf("it is mentioned only %d times", mentions)
	}
	for _, path := range []string{"/outils?q=outil+gratuit+pour+reprendre+de+vieux+programmes", "/outils?price_max=100000&limit=100", "/outils?q=cobol+moins+de+20+%E2%82%AC", "/outils?pricing=gratuit", "/outils?sort=price_asc"} {
		v.get(path).ok().saysNot(`<a href="/outils/cambouis">`)
	}
	v.get("/comparer?outils=varlope,cambouis").ok().says("Sur devis")
	v.get("/outils/cambouis").ok().says("<strong>Sur devis</strong>").saysNot(`"offers"`)
	for _, path := range []string{"/docs/prix", "/docs/outils.md", "/api/v1/openapi.json"} {
		v.get(path).ok().says("veut dire qu’aucun prix public n’est connu")
	}
	v.get("/api/v1/pricing/cambouis").ok().says(`"current_pricing":"payant","current_price":"0 €/mois"`)
}

func TestAPriceThatIsNotPublicIsNoneInHistoriesEither(t *testing.T) {
	c := small()
	tool := c.Tools[0]
	c.Tools[2].Price = "5 €/mois" // the only one that is free
	tool.Pricing, tool.Price, tool.PriceDisplay = catalog.Paid, catalog.NoPrice, "Sur devis, dès 400 $/mois"
	tool.PriceHistory = []catalog.PriceChange{
		{ChangedAt: "2026-10-10", OldPricing: catalog.Paid, OldPrice: "120 €/mois", NewPricing: catalog.Paid, NewPrice: catalog.NoPrice, NewDisplay: tool.PriceDisplay},
		{ChangedAt: "2026-10-01", OldPricing: catalog.Paid, OldPrice: catalog.NoPrice, NewPricing: catalog.Paid, NewPrice: "120 €/mois", OldDisplay: tool.PriceDisplay},
	}
	v := open(t, c)
	for _, path := range []string{"/outils/" + tool.Slug + ".md", "/outils/" + tool.Slug + ".atom", "/prix.md", "/carte.md"} {
		if found := regexp.MustCompile(`.{0,60}\b0[\s\x{a0}]€`).FindString(v.get(path).ok().body); found != "" {
			t.Errorf("%s says %q", path, found)
		}
	}
}

func TestAPriceInAnotherCurrencyIsShownWithItsAmountInEuros(t *testing.T) {
	v, dollars := openDemo(t), regexp.MustCompile(`97 \$/(?:<wbr>)?mois, environ\x{a0}89\x{a0}€`)
	for _, path := range []string{"/outils/ouistiti-ops", "/prix?category=agents", "/categories/agents", "/avis/ouistiti-ops"} {
		if r := v.get(path).ok(); !dollars.MatchString(r.body) {
			t.Errorf("%s does not say it", path)
		}
	}
	v.get("/api/v1/pricing/ouistiti-ops").ok().says(`"current_price":"89 €/mois"`)
}

// Of a tool whose price is in dollars, what it costs, cost and will cost in euros is said to be about that.
func TestAConvertedPriceIsSaidToBeSoWhereItChanges(t *testing.T) {
	for _, display := range []string{"20 $/mois", "20 $/mois, environ 18,37 €"} {
		t.Run(display, func(t *testing.T) { testConvertedPrice(t, display) })
	}
}

func testConvertedPrice(t *testing.T, display string) {
	t.Helper()
	c := small() // the medians are others
	tool := c.Tools[0]
	tool.PriceDisplay, tool.Price = display, "18,37 €/mois"
	tool.PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-10-10", OldPricing: tool.Pricing, OldPrice: "27,37 €/mois", NewPricing: tool.Pricing, NewPrice: tool.Price}}
	tool.Announced = []catalog.Announcement{{From: "2027-01-01", Price: "36,37 €/mois", PriceDisplay: "40 $/mois"}}
	v := open(t, c)
	plainEuros, found := regexp.MustCompile(`(.{0,14})[0-9]{2},37[\s\x{a0}]€`), 0
	for _, path := range []string{"/", "/flux.atom", "/prix", "/prix.md", "/outils/" + tool.Slug, "/outils/" + tool.Slug + ".md", "/a-venir", "/a-venir.md", "/calendrier.ics", "/carte", "/carte.md", "/categories/" + tool.Category, "/comparer.md?outils=" + tool.Slug + "," + c.Tools[1].Slug} {
		body := strings.NewReplacer("\r\n ", "", `\,`, ",").Replace(v.get(path).ok().body)
		body = blocks.ReplaceAllString(body, "\n")
		said := plainEuros.FindAllStringSubmatch(inlineTags.ReplaceAllString(body, ""), -1)
		for _, one := range said {
			if isAxis := one[1] == ""; !isAxis && !strings.Contains(strings.ReplaceAll(one[1], "\u00a0", " "), "environ ") {
				t.Errorf("%s says %q", path, one[0])
			}
		}
		found += min(len(said), 1)
	}
	if found < 10 { // an announced price is told in its own currency
		t.Errorf("only %d pages say what it costs in euros", found)
	}
	v.get("/outils/" + tool.Slug).ok().says(`"price":20,"priceCurrency":"USD","unitText":"mois"`).saysNot(`"EUR"`)
	v.get("/calendrier.ics").ok().says("→ 40 $/mois")
}

// What costs 25 $ as before did not change its price when its amount in euros followed a rate.
func TestAConversionIsNoChangeOfPrice(t *testing.T) {
	c := small()
	tool := c.Tools[0]
	tool.PriceDisplay, tool.Price = "25 $/mois", "23 €/mois"
	tool.PriceHistory = []catalog.PriceChange{
		{ChangedAt: "2026-10-20", OldPricing: tool.Pricing, OldPrice: "21 €/mois", NewPricing: tool.Pricing, NewPrice: tool.Price, OldDisplay: "25 $/mois", NewDisplay: "25 $/mois"},
		{ChangedAt: "2026-10-10", OldPricing: tool.Pricing, OldPrice: "19 €/mois", NewPricing: tool.Pricing, NewPrice: "21 €/mois", OldDisplay: "20 $/mois", NewDisplay: "25 $/mois"},
	}
	v := open(t, c)
	for _, path := range []string{"/", "/flux.atom", "/outils/" + tool.Slug + ".atom", "/prix.md"} {
		v.get(path).ok().says("20 $/mois → 25 $/mois").saysNot("environ 21", "2026-10-20")
	}
	v.get("/outils/"+tool.Slug+".md").ok().says("| 20\u00a0octobre 2026 | 25 $/mois, environ 21\u00a0€/mois (payant) | 25 $/mois, environ 23\u00a0€/mois (payant) |",
		"| 10\u00a0octobre 2026 | 20 $/mois (payant) | 25 $/mois (payant) |")
	v.get("/outils/" + tool.Slug).ok().says("20 $/mois jusqu’au 10\u00a0octobre 2026, 25 $/mois aujourd’hui, 1\u00a0changement. La courbe montre des montants convertis en euros.")
}

func TestEqualWordsOfPricesAreNotCompared(t *testing.T) {
	c := small()
	for _, tool := range c.Tools {
		tool.Pricing, tool.Price, tool.PriceDisplay = catalog.Paid, catalog.NoPrice, "Sur devis, dès 400 €/mois"
	}
	open(t, c).get("/outils/bourdon.md").ok().says("(/outils/abeille.md)").saysNot("contre sur devis")
}

func TestWithoutAnICPNoPageSaysWhoAToolIsFor(t *testing.T) {
	v := openDemo(t)
	v.get("/outils/calepin-bavard").ok().saysNot("Pour qui", "profil")
	v.get("/outils/calepin-bavard.md").ok().saysNot("Pour qui", "profil")
	v.get("/comparer.md?outils=calepin-bavard,castafiole").ok().says("| Pour qui | — | Vibe coders")
	v.get("/outils?icp=mixte&category=voix").ok().saysNot("calepin-bavard")
	v.get("/api/v1/tools/calepin-bavard").ok().says(`"icp":"mixte"`)
}
