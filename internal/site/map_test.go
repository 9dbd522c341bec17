package site_test

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/market"
	"palmares/internal/synthetic"
)

var (
	markPattern   = regexp.MustCompile(`<a( class="best")? href="/outils/([^"]+)" aria-label="[^"]+"(?: data-tools="[^"]+")?(?: transform="[^"]+")?><circle cx="([^"]+)%" cy="([^"]+)%" r="([^"]+)"/>`)
	cellPattern   = regexp.MustCompile(`<tr(?: class="best")?><th scope="row"><a href="/outils/([^"]+)">[^<]*</a>(?: et [^<]*)?(?: <span class="hint">imbattu</span>)?</th><td>([^<]*)</td><td>([^<]*?)(?: <span class="hint">par [^<]*</span>)?</td>`)
	othersPattern = regexp.MustCompile(`aria-label="[^"]*, (?:et|à égalité avec) ([0-9\x{202f}]+)\x{a0}autres? outils?(?: tout près)?"`)
)

// drawing returns the picture of a map for wide or narrow screens.
func (r *reply) drawing(width string) string {
	_, picture, _ := strings.Cut(r.body, `<svg class="plot-`+width+`"`)
	picture, _, _ = strings.Cut(picture, "</svg>")
	return picture
}

// shown returns how many tools the marks of a drawing stand for.
func (r *reply) shown(width string) int {
	n := len(markPattern.FindAllString(r.drawing(width), -1))
	for _, m := range othersPattern.FindAllStringSubmatch(r.drawing(width), -1) {
		others, err := strconv.Atoi(strings.ReplaceAll(m[1], "\u202f", ""))
		if err != nil {
			r.t.Fatal(err)
		}
		n += others
	}
	return n
}

// marks returns the marks of a map on a wide screen by slug, and checks that they are inside
// the drawing.
func (r *reply) marks() (all, best map[string]bool) {
	r.t.Helper()
	all, best = map[string]bool{}, map[string]bool{}
	for _, m := range markPattern.FindAllStringSubmatch(r.drawing("wide"), -1) {
		all[m[2]] = true
		if m[1] != "" {
			best[m[2]] = true
		}
		for _, number := range m[3:] {
			if x, err := strconv.ParseFloat(number, 64); err != nil || !(x > 0) || x > 100 || math.IsNaN(x) {
				r.t.Errorf("%s: the mark of %s is at %v", r.what, m[2], m[3:])
			}
		}
	}
	r.saysNot("NaN", "Inf", "%!")
	return all, best
}

func TestTheMapAndItsTableHaveTheToolsOfTheirFilters(t *testing.T) {
	v := openDemo(t)
	maps := market.NewMaps(v.live.Load().Catalog)
	for query, want := range map[string]*market.Map{
		"": maps.Of("", ""), "?category=code": maps.Of("code", ""), "?pricing=gratuit": maps.Of("", "gratuit"),
		"?category=image&pricing=freemium": maps.Of("image", "freemium"),
	} {
		page := v.get("/carte" + query).ok()
		all, best := page.marks()
		rows := map[string][]string{}
		for _, m := range cellPattern.FindAllStringSubmatch(page.body, -1) {
			rows[m[1]] = m[2:]
		}
		if wide, narrow := page.shown("wide"), page.shown("narrow"); wide == 0 || wide != len(want.Points) || narrow != wide || len(rows) != wide {
			t.Errorf("%q: %d tools on a wide screen, %d on a narrow one, %d rows for %d points", query, wide, narrow, len(rows), len(want.Points))
		}
		at := map[string]string{} // the first tool with a score and a price has the mark
		for _, p := range want.Points {
			slug, place := p.Tool.Slug, fmt.Sprint(p.Score, p.Euros)
			if p.Euros == 0 && !p.Frontier {
				place += slug // free tools have a mark each
			}
			if at[place] == "" {
				at[place] = slug
			}
			if marked := at[place] == slug; all[slug] != marked || best[slug] != (p.Frontier && marked) || rows[slug] == nil {
				t.Fatalf("%q: the page and the map disagree about %s", query, slug)
			}
			score := strings.Replace(strconv.FormatFloat(p.Score, 'f', -1, 64), ".", ",", 1)
			if !strings.HasPrefix(rows[slug][0], score) || (p.Euros == 0) != (rows[slug][1] == "gratuit") {
				t.Errorf("%q: %s is %v in the table, %g and %g on the map", query, slug, rows[slug], p.Score, p.Euros)
			}
		}
		for _, tool := range want.Apart {
			page.says(`<a href="/outils/` + tool.Slug + `">`)
		}
	}
}

func TestTheMapOfFewToolsMakesSense(t *testing.T) {
	v := open(t, small())
	page := v.get("/carte").ok().says("3\u00a0outils sur la carte, 4 en tout", "Un outil n’a pas encore de note", "8,5", "10\u00a0€", ">100\u00a0€<")
	if all, best := page.marks(); len(all) != 3 || len(best) != 1 || !best["abeille"] {
		t.Errorf("%v, %v", all, best)
	}
	tools := func(change func(i int, t *catalog.Tool)) *server {
		c := small()
		for i := range c.Tools {
			change(i, c.Tools[i])
		}
		return open(t, c)
	}
	free := tools(func(_ int, t *catalog.Tool) { t.Pricing, t.Price, t.Score = "gratuit", "0 €/mois", number(7) }).get("/carte").ok().says("Gratuit").saysNot("logarithmique", "plot-step")
	free.says("Le rond plein réunit les outils qu’aucun autre ne bat", "Abeille, 7,0 sur 10, gratuit, à égalité avec 3\u00a0autres outils", "Ceux qu’aucun autre ne bat", ">Drosophile</a>")
	if all, best := free.marks(); len(all) != 1 || len(best) != 1 || free.shown("wide") != 4 {
		t.Errorf("all free: %v, %v", all, best)
	}
	unscored := tools(func(_ int, t *catalog.Tool) { t.Score = nil })
	unscored.get("/carte").ok().says("Rien à placer pour l’instant", "4 outils n’ont pas encore de note").saysNot("<svg role")
	unscored.get("/carte.md").ok().says("Aucun outil n’a une note et un prix par mois.")
	dear := tools(func(i int, t *catalog.Tool) {
		if i == 0 {
			t.Price = "100 000 €/mois"
		}
	}).get("/carte").ok()
	for _, width := range []string{"wide", "narrow"} { // at the mark, and not only in the list
		if !strings.Contains(dear.drawing(width), `dx="12" dy="18">100`+"\u202f000\u00a0€</text>") {
			t.Errorf("the %s axis does not name its end", width)
		}
	}
	if all, _ := dear.marks(); len(all) != 3 {
		t.Errorf("one price of 100,000 €: %v", all)
	}
	absurd := tools(func(i int, t *catalog.Tool) {
		t.Price, t.Score = strings.Repeat("9", 1+300*(i%2))+" €/mois", number(10)
	}).get("/carte").ok()
	if absurd.marks(); absurd.shown("wide") != 4 {
		t.Errorf("absurd prices: %d tools", absurd.shown("wide"))
	}
	tiny := tools(func(i int, t *catalog.Tool) { t.Price, t.Score = "0,0001 €/an", number(0) }).get("/carte").ok().says("&lt;\u00a00,01\u00a0€")
	tiny.marks()
	one := small()
	one.Tools = one.Tools[:1]
	one.Comparisons = nil
	open(t, one).get("/carte").ok().says("1\u00a0outil sur la carte", "Celui qu’aucun autre ne bat").saysNot("plot-step")
	perUse := tools(func(_ int, t *catalog.Tool) { t.Price, t.Score = "2 €/minute", number(5) })
	perUse.get("/carte").ok().says("À côté de la carte", "2\u00a0€/minute", "Rien à placer", "Ces prix ne sont pas publics, ou ne se ramènent pas au mois.").saysNot("<svg role")
	tools(func(i int, t *catalog.Tool) {
		if i > 1 {
			t.Price, t.Score = "2 €/minute", nil
		}
	}).get("/carte").ok().says("2 outils n’ont pas encore de note, et ne sont pas sur la carte. Les prix par mois de 2 d’entre eux ne sont pas connus non plus.")
}

func TestEveryToolOnAMapIsNamedByItsMark(t *testing.T) {
	names := regexp.MustCompile(`aria-label="([^"]+?), \d+,\d sur 10[^"]*"(?: data-tools="([^"]+)")?`)
	r := openDemo(t).get("/carte").ok().says("data-find")
	for _, width := range []string{"wide", "narrow"} {
		named := map[string]bool{}
		for _, m := range names.FindAllStringSubmatch(r.drawing(width), -1) {
			for name := range strings.SplitSeq(cmp.Or(m[2], m[1]), "\n") {
				named[name] = true
			}
		}
		if len(named) < 50 || len(named) != r.shown(width) {
			t.Errorf("the %s map of %d tools names %d", width, r.shown(width), len(named))
		}
	}
	open(t, synthetic.Catalog(2000, 1)).get("/carte?category=_toutes").ok().saysNot("data-find", "data-tools")
}

func TestTheMapOfManyToolsIsThinnedAndSaysSo(t *testing.T) {
	c := synthetic.Catalog(2000, 1)
	v := open(t, c)
	begins := c.Categories[slices.IndexFunc(c.Categories, func(k catalog.Category) bool { return k.Position == 0 })]
	v.get("/carte").ok().says(`<option value="`+begins.Slug+`" selected>`, "Elle commence par la catégorie «\u00a0"+begins.Label+"\u00a0»").
		saysNot(`name="robots"`)
	for _, path := range []string{"/carte", "/carte?category=_toutes", "/carte?category=" + c.Categories[0].Slug, "/carte.md", "/carte?pricing=gratuit"} {
		r := v.get(path, "Accept-Encoding: gzip").ok()
		if r.wire > 40_000 {
			t.Errorf("%s has %d bytes", path, r.wire)
		}
	}
	page := v.get("/carte?category=_toutes").ok().says(`<option value="_toutes" selected>`, " Un grand rond réunit plusieurs outils proches, sous le nom du mieux noté.", "autres outils tout près")
	all, best := page.marks()
	points := market.NewMaps(v.live.Load().Catalog).Of("", "").Points
	if len(all) < 100 || len(all) > 250 || len(points) < 1500 {
		t.Errorf("%d marks for %d tools", len(all), len(points))
	}
	for _, width := range []string{"wide", "narrow"} {
		if n := page.shown(width); n != len(points) {
			t.Errorf("the marks of the %s drawing stand for %d tools, not %d", width, n, len(points))
		}
	}
	if n := len(markPattern.FindAllString(page.drawing("narrow"), -1)); n < 30 || n >= len(all) {
		t.Errorf("%d marks on a narrow screen, %d on a wide one", n, len(all))
	}
	for _, p := range points {
		if p.Frontier && !best[p.Tool.Slug] {
			t.Errorf("%s is on the frontier and has no mark of its own", p.Tool.Slug)
		}
	}
}

func TestACategoryBeginsWithThreeAnswers(t *testing.T) {
	answers := func(change func(c *catalog.Catalog)) *reply {
		c := small()
		change(c)
		return open(t, c).get("/categories/chat").ok()
	}
	for _, test := range []struct {
		what   string
		change func(c *catalog.Catalog)
		says   []string
	}{
		{"as it is", func(*catalog.Catalog) {}, []string{
			"2,5\u00a0points de plus que Bourdon, le deuxième, pour 10\u00a0€ par mois.",
		}},
		{"a free tool that is nearly as good", func(c *catalog.Catalog) { c.Tools[2].Score = number(7.5) }, []string{
			"1,0\u00a0point de plus que Cigale", "Gratuit, pour 1,0\u00a0point de moins qu’Abeille, qui coûte 10\u00a0€ par mois.", "1,0\u00a0point de moins qu’Abeille, sans rien payer.",
		}},
		{"a cheaper tool that is nearly as good", func(c *catalog.Catalog) { c.Tools[1].Score, c.Tools[1].Price = number(8), "60 €/an" }, []string{
			"5\u00a0€ par mois au lieu de 10\u00a0€\u00a0: le moins cher à un point au plus du mieux noté (0,5\u00a0point de moins qu’Abeille).",
		}},
		{"a converted price", func(c *catalog.Catalog) {
			c.Tools[0].PriceDisplay, c.Tools[1].Score, c.Tools[1].Price = "11 $/mois", number(8), "60 €/an"
		}, []string{"5\u00a0€ par mois au lieu d’environ 10\u00a0€\u00a0:"}},
		{"a free winner", func(c *catalog.Catalog) { c.Tools[2].Score = number(9) }, []string{
			"0,5\u00a0point de plus qu’Abeille, le deuxième, et gratuit.", "Rien n’est mieux noté dans la catégorie, même en payant.",
		}},
		{"equal scores", func(c *catalog.Catalog) { c.Tools[1].Score = number(8.5) }, []string{"À égalité avec Bourdon, pour 10\u00a0€ par mois."}},
		{"many equal scores", func(c *catalog.Catalog) {
			c.Tools[1].Score, c.Tools[2].Score, c.Tools[2].Price = number(8.5), number(8.5), "20 €/mois"
		}, []string{"À égalité avec Bourdon et 1\u00a0autre, pour 10\u00a0€ par mois."}},
		{"prices per user", func(c *catalog.Catalog) {
			c.Tools[0].Price, c.Tools[1].Price, c.Tools[1].Score = "29 €/utilisateur/mois", "60 €/an", number(8)
		}, []string{
			"le deuxième, pour 29\u00a0€ par mois et par utilisateur.", "5\u00a0€ par mois au lieu de 29\u00a0€ par mois et par utilisateur\u00a0:",
			`aria-label="Abeille, 8,5 sur 10, 29` + "\u00a0€ par mois et par utilisateur\"", "8,5 · 29\u00a0€/utilisateur</tspan>",
		}},
		{"the only score", func(c *catalog.Catalog) { c.Tools[1].Score, c.Comparisons = nil, nil }, []string{"Le seul outil noté de la catégorie, pour 10\u00a0€ par mois."}},
		{"prices that depend on use", func(c *catalog.Catalog) { c.Tools[0].Price, c.Tools[1].Price = "1 €/minute", "2 €/minute" }, []string{
			"2,5\u00a0points de plus que Bourdon, le deuxième, pour 1\u00a0€/minute.",
		}},
		{"no score", func(c *catalog.Catalog) { c.Tools[0].Score, c.Tools[1].Score, c.Comparisons = nil, nil, nil }, []string{"Le classement"}},
		{"no tool", func(c *catalog.Catalog) { c.Tools, c.Comparisons = c.Tools[3:], nil }, []string{"Aucun outil pour l’instant."}},
	} {
		r := answers(test.change).says(test.says...)
		if t.Failed() {
			t.Fatalf("%s:\n%s", test.what, r.body)
		}
		r.marks()
	}
	v := open(t, small())
	v.get("/categories/chat").ok().says(`href="/carte?category=chat"`)
	v.get("/categories/chat.md").ok().says("- La meilleure note\u00a0: [Abeille](/outils/abeille.md), 8,5/10. 2,5\u00a0points de plus que Bourdon", "(/carte.md?category=chat)")
}

func TestOneMapIsIndexed(t *testing.T) {
	v := open(t, small())
	v.get("/carte").ok().says(`<link rel="canonical" href="https://essai.example/carte">`, `href="/carte.md"`).saysNot("noindex")
	v.get("/carte?inconnu=1").ok().saysNot("noindex")
	filtered := v.get("/carte?category=chat&x=%3Cintrus%3E&pricing=").ok().says(`content="noindex"`, `<link rel="canonical" href="https://essai.example/carte">`, `href="/carte.md?category=chat"`)
	// The page is kept for everybody who asks for this category.
	filtered.saysNot("intrus")
	if again := v.get("/carte?category=chat").ok(); again.body != filtered.body {
		t.Error("the same map has two pages")
	}
	v.get("/carte?pricing=cher").answers(400).is("Cache-Control", "no-store").says("«\u00a0Modèle\u00a0»\u00a0: cette valeur n’existe pas.", `content="noindex"`)
	v.get("/carte?category=inconnue").ok().says("Aucun outil ne correspond.", `<option value="inconnue" selected>`)
	v.get("/carte%3Fcategory=chat").answers(404)
	v.get("/carte.csv").answers(404).says("/donnees")
	v.get("/sitemap.xml").ok().says("<loc>https://essai.example/carte</loc>")
	v.get("/llms.txt").ok().says("/carte.md)")
	v.get("/carte/").movesTo("/carte")
	c := small()
	c.Categories[0].Aliases = []string{"bavardage"}
	if c.Categories[0].Slug != "chat" {
		t.Fatal(c.Categories)
	}
	v = open(t, c)
	v.get("/carte?category=bavardage&pricing=payant").movesTo("/carte?category=chat&pricing=payant")
	v.get("/carte.md?category=bavardage").movesTo("/carte.md?category=chat")
}

var namePattern = regexp.MustCompile(`<a( class="best")? href="/outils/([^"]+)" aria-label="[^"]+"(?: data-tools="[^"]+")?><circle cx="([^"]+)%" cy="([^"]+)%" r="([^"]+)"/><circle class="hit"[^>]*><text class="([^"]*)" x="[^"]+" y="[^"]+" dx="([^"]+)" dy="([^"]+)">([^<]+)<`)

// A box is a rectangle of a drawing.
type box struct{ left, top, right, bottom float64 }

func (b box) touches(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// A plotted mark of the frontier is a circle, with a name if that is always shown.
type plotted struct {
	slug         string
	circle, name box
}

// frontier reads the frontier of a drawing of a size in pixels; no other mark has a name that is always shown.
func (r *reply) frontier(of string, width, height float64) (marks []plotted) {
	r.t.Helper()
	for _, m := range namePattern.FindAllStringSubmatch(r.drawing(of), -1) {
		var number [9]float64
		for _, i := range []int{3, 4, 5, 7, 8} {
			number[i], _ = strconv.ParseFloat(m[i], 64)
		}
		x, y, radius, class := number[3]/100*width, number[4]/100*height, number[5], strings.Fields(m[6])
		p := plotted{slug: m[2], circle: box{x - radius, y - radius, x + radius, y + radius}}
		if slices.Contains(class, "named") {
			left, long := x+number[7], chart.TextWidth(html.UnescapeString(m[9]))
			if slices.Contains(class, "end") {
				left -= long
			}
			p.name = box{left, y + number[8] - 10, left + long, y + number[8] + 3}
		}
		if m[1] != "" {
			marks = append(marks, p)
		} else if p.name != (box{}) {
			r.t.Errorf("%s, %s: %s is named, and not on the frontier", r.what, of, p.slug)
		}
	}
	return marks
}

func TestANameOfTheMapTouchesNoOtherAndNoMarkOfTheFrontier(t *testing.T) {
	c := synthetic.Catalog(2000, 1)
	many, few := open(t, c), openDemo(t)
	pages := []*reply{many.get("/carte?category=_toutes").ok(), few.get("/carte").ok()}
	for i := range c.Categories {
		pages = append(pages, many.get("/categories/"+c.Categories[i].Slug).ok())
	}
	names := 0
	for _, page := range pages {
		heights := map[string]float64{"narrow": 416, "wide": 512}
		if strings.Contains(page.what, "categories") {
			heights = map[string]float64{"narrow": 272, "wide": 296}
		}
		for of, widths := range map[string][]float64{"narrow": {240, 300, 400, 670}, "wide": {660, 900, 1068}} {
			for _, width := range widths {
				marks := page.frontier(of, width, heights[of])
				if len(marks) == 0 {
					t.Fatalf("%s has no frontier", page.what)
				}
				for i, m := range marks {
					if !strings.Contains(page.body, `<a href="/outils/`+m.slug+`">`) {
						t.Errorf("%s: %s is on the frontier, and not named beside the picture", page.what, m.slug)
					}
					if m.name == (box{}) {
						continue
					}
					names++
					where := fmt.Sprintf("%s, %s, %g pixels: the name of %s", page.what, of, width, m.slug)
					if m.name.left < -4 || m.name.right > width+8 {
						t.Errorf("%s leaves the picture", where)
					}
					for k, o := range marks {
						if k != i && (m.name.touches(o.circle) || m.name.touches(o.name)) {
							t.Errorf("%s touches %s", where, o.slug)
						}
					}
				}
			}
		}
	}
	if names < 60 {
		t.Errorf("only %d names were seen", names)
	}
}
