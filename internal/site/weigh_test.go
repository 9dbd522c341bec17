package site_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/dataset"
	"palmares/internal/synthetic"
)

// tabledPattern finds the tools of the table of a category with their first figure.
var tabledPattern = regexp.MustCompile(`<tr><th scope="row">.*?<a href="/outils/([^"]+)">.*?</th><td>(?:<[^>]*>)*([0-9,]*)`)

// tabled returns the tools of the table of a category, in order.
func (r *reply) tabled() (list []string) {
	for _, m := range tabledPattern.FindAllStringSubmatch(r.body, -1) {
		list = append(list, m[1])
	}
	return list
}

// ranked returns the same with what they are worth by weights; nothing if there are none.
func (r *reply) ranked() (list []string) {
	if !strings.Contains(r.body, ">Selon vos poids</a>") {
		return nil
	}
	for _, m := range tabledPattern.FindAllStringSubmatch(r.body, -1) {
		list = append(list, m[1]+" "+m[2])
	}
	return list
}

// An exported catalogue is read from its files alone.
type exported struct {
	Categories []struct {
		Slug     string
		Criteria []struct {
			Slug, Kind  string
			Worst, Best *float64
		}
	}
	tools []map[string]string
}

func readExport(t *testing.T, x *dataset.Export) (e exported) {
	t.Helper()
	read := func(name string) io.Reader {
		f, err := x.Open(x.File(name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	if err := json.NewDecoder(read("catalogue.json")).Decode(&e); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(read("outils.csv")).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		tool := map[string]string{}
		for i, name := range lines[0] {
			tool[name] = line[i]
		}
		e.tools = append(e.tools, tool)
	}
	return e
}

// TestAReadersWeightsRankWhatTheExportSays computes rankings from the files of the export, for random
// weights, and compares them with the pages.
func TestAReadersWeightsRankWhatTheExportSays(t *testing.T) {
	c := synthetic.Catalog(250, 7)
	for i, tool := range c.Tools { // what is rare otherwise: ties, and tools of which nothing is known
		switch i % 9 {
		case 0:
			tool.Criteria = nil
		case 1, 2:
			tool.Criteria = slices.DeleteFunc(slices.Clone(tool.Criteria), func(v catalog.Value) bool { return !v.IsFlag })
		}
	}
	v, exports := openExports(t, c)
	x, err := exports.Get(t.Context(), v.live.Load())
	if err != nil {
		t.Fatal(err)
	}
	e := readExport(t, x)
	random := rand.New(rand.NewPCG(2026, 11))
	compared := 0
	for _, category := range e.Categories {
		for range 6 {
			weights, parameter := map[string]float64{}, []string(nil)
			for _, k := range category.Criteria {
				if random.IntN(3) > 0 {
					weights[k.Slug] = float64(1+random.IntN(40)) / 4
					parameter = append(parameter, k.Slug+":"+strconv.FormatFloat(weights[k.Slug], 'f', -1, 64))
				}
			}
			if len(parameter) == 0 {
				continue
			}
			type entry struct {
				slug         string
				worth, score float64
			}
			var want []entry
			for _, tool := range e.tools {
				if tool["category"] != category.Slug {
					continue
				}
				one := entry{tool["slug"], -1, -1}
				if tool["score"] != "" {
					one.score, _ = strconv.ParseFloat(tool["score"], 64)
				}
				sum, total := 0.0, 0.0
				for _, k := range category.Criteria {
					text := tool["criteria/"+k.Slug]
					if text == "" || weights[k.Slug] == 0 {
						continue
					}
					n, err := strconv.ParseFloat(text, 64)
					switch {
					case text == "true":
						n = 1
					case text == "false":
						n = 0
					case err != nil:
						t.Fatal(err)
					case k.Worst != nil:
						n = min(max((n-*k.Worst)/(*k.Best-*k.Worst), 0), 1)
					default:
						n /= 10
					}
					sum, total = sum+weights[k.Slug]*n, total+weights[k.Slug]
				}
				if total > 0 {
					one.worth = sum / total
				}
				want = append(want, one)
			}
			slices.SortFunc(want, func(a, b entry) int {
				switch {
				case math.Abs(a.worth-b.worth) > 1e-7:
					return int(math.Copysign(1, b.worth-a.worth))
				case a.score != b.score:
					return int(math.Copysign(1, b.score-a.score))
				}
				return strings.Compare(a.slug, b.slug)
			})
			var slugs []string
			for _, one := range want[:min(len(want), 50)] {
				slugs = append(slugs, one.slug)
			}
			path := "/categories/" + category.Slug + "?poids=" + strings.Join(parameter, ",")
			var got []string
			for _, one := range v.get(path).ok().ranked() {
				slug, worth, _ := strings.Cut(one, " ")
				at := slices.IndexFunc(want, func(e entry) bool { return e.slug == slug })
				figure, err := strconv.ParseFloat(strings.Replace(worth, ",", ".", 1), 64)
				if at < 0 || (err == nil) != (want[at].worth >= 0) || err == nil && math.Abs(figure-10*want[at].worth) > 0.0051 {
					t.Errorf("%s says %q", path, one)
				}
				got = append(got, slug)
			}
			equal(t, path, got, slugs)
			compared++
		}
	}
	if compared < 10 {
		t.Errorf("only %d rankings were compared", compared)
	}
}

func TestWeightsHaveOneAddress(t *testing.T) {
	v := open(t, tested())
	const path = "/categories/voix"
	for query, address := range map[string]string{
		"poids-exactitude=3&poids-latence=1&poids-hors-ligne=": "?poids=exactitude:3,latence:1", // as a form sends it
		"poids-exactitude=2,5&poids-latence=0":                 "?poids=exactitude:2.5",
		"poids=latence:1,exactitude:3":                         "?poids=exactitude:3,latence:1",
		"poids=latence:01.0":                                   "?poids=latence:1",
		"poids=latence:1&poids=exactitude:3&tri=latence":       "?poids=exactitude:3,latence:1&tri=latence",
		"poids=latence:0":                                      "",
		"poids-exactitude=0":                                   "",
	} {
		v.get(path + "?" + query).movesTo(path + address)
		v.get(path + ".md?" + query).movesTo(path + ".md" + address)
	}
	r := v.get(path+"?poids=exactitude:3,latence%3A1").ok().says(
		`<link rel="canonical" href="https://essai.example/categories/voix">`, `<meta name="robots" content="noindex">`,
		`name="poids-exactitude" value="3"`, `name="poids-latence" value="1"`, `name="poids-hors-ligne" value="0"`)
	equal(t, "the ranking", r.ranked(), []string{"aube 7,88", "brume 6,88", "cime 5,88"})
	v.get(path+".md?poids=exactitude:3,latence:1").ok().says("Selon vos poids\u00a0: Exactitude\u00a0×\u00a03, Latence\u00a0×\u00a01.", "[aube](/outils/aube.md), x | 7,88 | 9,0 |")
	equal(t, "tools without a value", v.get(path+"?poids=hors-ligne:1").ok().says(`<td><span class="none">non mesuré</span></td>`).ranked(),
		[]string{"aube 10,00", "brume ", "cime "})
	if plain := v.get(path).ok(); len(plain.ranked()) > 0 {
		t.Error("without weights, there is a ranking by weights")
	}
}

func TestWeightsThatCannotBeUsedAreRefusedInASentence(t *testing.T) {
	c := tested()
	c.Categories = append(c.Categories, catalog.Category{Slug: "texte", Label: "Texte"})
	v := open(t, c)
	for query, words := range map[string]string{
		"voix?poids=exactitude:abc":                          "Le poids de «\u00a0Exactitude\u00a0» doit être un nombre de 0 à 100, pas «\u00a0abc\u00a0».",
		"voix?poids=exactitude":                              "doit être un nombre de 0 à 100",
		"voix?poids=exactitude:-1":                           "pas «\u00a0-1\u00a0»",
		"voix?poids=exactitude:1e300":                        "pas «\u00a01e300\u00a0»",
		"voix?poids=exactitude:NaN":                          "pas «\u00a0NaN\u00a0»",
		"voix?poids-exactitude=beaucoup":                     "pas «\u00a0beaucoup\u00a0»",
		"voix?poids=vitesse:3":                               "«\u00a0vitesse\u00a0» n’est pas un critère de cette catégorie, qui a exactitude, latence et hors-ligne.",
		"voix?poids-vitesse=3":                               "«\u00a0vitesse\u00a0» n’est pas un critère",
		"voix?poids=exactitude:1,exactitude:2":               "est donné deux fois",
		"voix?poids=%zz":                                     "Cette adresse est mal écrite",
		"voix?poids=%3Cscript%3E:1,%ff:%00":                  "&lt;script&gt;",
		"voix?poids=" + strings.Repeat("exactitude:1,", 900): "trop longue",
		"voix?tri=vitesse":                                   "Ce tri n’existe pas",
		"texte?poids=exactitude:3":                           "Cette catégorie n’a pas de critères",
	} {
		r := v.get("/categories/"+query).answers(400).is("Cache-Control", "no-store").says(words).saysNot("<script>")
		if len(r.ranked()) > 0 {
			t.Errorf("%s ranks all the same", query)
		}
		path, parameters, _ := strings.Cut(query, "?")
		v.get("/categories/"+path+".md?"+parameters).answers(400).is("Content-Type", "text/markdown; charset=utf-8")
	}
}

func TestTheTableOfCriteriaSortsByAnyColumn(t *testing.T) {
	c := tested()
	c.Tools[1].Price, c.Tools[2].Price = "5 €/mois", "sur devis"
	c.Tools[2].Criteria = c.Tools[2].Criteria[:1]
	v := open(t, c)
	for sort, want := range map[string]string{
		"": "aube brume cime", "_note": "aube brume cime", "_nom": "aube brume cime", "_prix": "brume aube cime",
		"exactitude": "aube brume cime", "latence": "aube brume cime", "hors-ligne": "aube brume cime",
	} {
		equal(t, "tri="+sort, v.get("/categories/voix?tri="+sort).ok().tabled(), strings.Fields(want))
	}
	v.get("/categories/voix?tri=latence").ok().says(`aria-sort="ascending"><a href="/categories/voix?tri=latence#page.outils"`, "non mesuré")
	v.get("/categories/voix?tri=exactitude&poids=latence:1").ok().says(
		`aria-sort="descending"><a href="/categories/voix?poids=latence:1&amp;tri=exactitude#page.outils"`)
	v.get("/categories/voix?tri=-latence").answers(400)
}

// Anybody can invent weights: no ranking is kept, and none costs more than other pages, whatever the
// size of the category. There are few orders of a table: each is made once.
func TestRankingsAreNotKeptAndCostWhatOtherPagesCost(t *testing.T) {
	c := tested()
	for i := range 20_000 {
		tool := *c.Tools[i%3]
		tool.Slug = fmt.Sprintf("outil-%d", i)
		c.Tools = append(c.Tools, &tool)
	}
	v := open(t, c)
	list := v.cost("/outils?limit=50&x=%d", "identity", 200)
	if took := v.cost("/categories/voix?poids=exactitude:1.%d1,latence:2", "identity", 200); took > 2*list {
		t.Errorf("a ranking takes %d kB, a list of tools %d kB", took/1000, list/1000)
	}
	before := v.site.CachedPages()
	for i := range 50 {
		v.get(fmt.Sprintf("/categories/voix?poids=exactitude:1.%d1", i)).ok()
		v.get(fmt.Sprintf("/categories/voix?poids=invention-%d:1", i)).answers(400)
		v.get(fmt.Sprintf("/categories/voix?poids-latence=1.%d", i)).answers(301)
	}
	if after := v.site.CachedPages(); after != before {
		t.Errorf("%d bytes of pages are cached, %d before", after, before)
	}
	for _, path := range []string{"/categories/voix?%d", "/categories/voix?tri=latence&%d", "/categories/voix.atom?%d"} {
		if took := v.cost(path, "identity", 200); took > 20_000 {
			t.Errorf("%s takes %d kB each time", path, took/1000)
		}
	}
}

func TestACategoryNamesTheBestToolForEachUsage(t *testing.T) {
	c := tested()
	c.Categories[0].Usages = []catalog.Usage{{Slug: "dicter", Label: "Dicter"}, {Slug: "traduire", Label: "Traduire"}, {Slug: "chanter", Label: "Chanter"}}
	c.Tools[0].Usages = []string{"dicter"}
	c.Tools[1].Usages, c.Tools[2].Usages = []string{"dicter", "traduire"}, []string{"traduire"}
	body := plain(open(t, c).get("/categories/voix").ok().body)
	for _, want := range []string{"Dicter9,0 sur 10 aubeÀ prendre : sûre.", "Traduire7,0 sur 10 brume2,0 points de plus que cime"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in %s", want, body)
		}
	}
	if strings.Contains(body, "Chanter") {
		t.Error("a usage without a tool is shown")
	}
}
