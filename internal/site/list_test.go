package site_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

func TestFiltersAgreeWithTheAPI(t *testing.T) {
	v := openDemo(t)
	for _, query := range []string{
		"", "category=agents", "category=inconnue", "score_min=8", "score_min=7.5&category=code", "obsolescence_max=4", "obsolescence_max=4&score_min=7",
		"sort=score_asc", "sort=name_asc", "sort=name_desc", "sort=score_desc", "sort=name_desc&category=image&score_min=5", "page=2", "limit=7", "limit=7&page=3",
		"limit=200&sort=name_asc", "page=99", "score_min=11", "limit=5&page=2&category=chat&sort=name_asc&score_min=1&obsolescence_max=9",
	} {
		r := v.get("/outils?" + query).ok()
		var list struct {
			Data []catalog.ToolItem
			Meta struct{ Total int }
		}
		into(t, v.get("/api/v1/tools?"+query), &list)
		want := []string{}
		for _, tool := range list.Data {
			want = append(want, tool.Slug)
		}
		equal(t, "/outils?"+query, r.lists(), want)
		if list.Meta.Total == 0 {
			r.says("Aucun outil")
		} else {
			r.says(">" + plural(list.Meta.Total, "outil"))
		}
	}
	for _, query := range []string{"", "category=agents", "category=inconnue", "limit=3&page=2"} {
		for site, api := range map[string]string{"comparatifs": "comparatifs", "prix": "pricing", "cimetiere": "cimetiere"} {
			agrees(t, v, "/"+site+"?"+query, "/api/v1/"+api+"?"+query)
		}
	}
	for _, query := range []string{"reason=mort", "reason=absorbe&category=chat", "reason=pivot&limit=1&page=2"} {
		agrees(t, v, "/cimetiere?"+query, "/api/v1/cimetiere?"+query)
	}
}

// agrees requires that a page shows exactly the records of a response of the API, in
// the same order.
func agrees(t *testing.T, v *server, page, api string) {
	t.Helper()
	var list struct{ Data []struct{ Slug string } }
	into(t, v.get(api), &list)
	body := v.get(page).ok().body
	_, body, _ = strings.Cut(body, "data-results")
	at := 0
	for _, item := range list.Data {
		next := -1
		for _, mark := range []string{`<h3><a href="/comparatifs/` + item.Slug + `"`, `scope="row"><a href="/outils/` + item.Slug + `"`, `<article class="grave" id="` + item.Slug + `"`} {
			next = max(next, strings.Index(body[at:], mark))
		}
		if next < 0 {
			t.Errorf("%s does not show %s where %s does", page, item.Slug, api)
			return
		}
		at += next + 1
	}
	if marks := strings.Count(body, `class="match"`) + strings.Count(body, `scope="row"`) + strings.Count(body, `class="grave"`); marks != len(list.Data) {
		t.Errorf("%s shows %d, %s returns %d", page, marks, api, len(list.Data))
	}
}

func plural(n int, noun string) string {
	b, _ := json.Marshal(n)
	if n > 1 {
		noun += "s"
	}
	return string(b) + "\u00a0" + noun
}

func TestEmptyFormFieldsDoNotFilter(t *testing.T) {
	v := openDemo(t)
	all := v.get("/outils").ok().lists()
	equal(t, "an empty form", v.get("/outils?q=&category=&score_min=&obsolescence_max=&sort=").ok().lists(), all)
	equal(t, "a decimal comma", v.get("/outils?score_min=7%2C5").ok().lists(), v.get("/outils?score_min=7.5").ok().lists())
}

func TestInvalidFiltersAreReported(t *testing.T) {
	v := open(t, small())
	for query, words := range map[string]string{
		"score_min=beaucoup":   "«\u00a0Note min.\u00a0» attend un nombre",
		"score_min=0x1p3":      "«\u00a0Note min.\u00a0» attend un nombre",
		"obsolescence_max=NaN": "«\u00a0Obsolescence max.\u00a0» attend un nombre",
		"sort=au-hasard":       "«\u00a0Trier par\u00a0»",
		"page=0":               "Le numéro de page doit être un entier, 1 ou plus.",
		"pricing=cher":         "«\u00a0Modèle\u00a0»\u00a0: cette valeur n’existe pas.",
		"price_max=beaucoup":   "«\u00a0Prix max.\u00a0» attend un nombre d’euros",
		"price_max=-1":         "«\u00a0Prix max.\u00a0» attend un nombre d’euros",
		"usage=voler":          "«\u00a0Usage\u00a0»\u00a0: cette valeur n’existe pas.",
		"criterion=beau":       "«\u00a0Critère\u00a0»\u00a0: cette valeur n’existe pas.",
		"icp=moi":              "«\u00a0Pour qui\u00a0»\u00a0: cette valeur n’existe pas.",
		"tested_since=hier":    "«\u00a0Testé depuis\u00a0» attend une date",
		"limit=201":            "Le nombre par page doit être un entier de 1 à 200",
	} {
		r := v.get("/outils?"+query).answers(400).is("Cache-Control", "no-store").says(`role="alert"`, words)
		equal(t, query, r.lists(), []string{"abeille", "bourdon", "drosophile", "cigale"})
	}
	v.get("/cimetiere?reason=ennui").answers(400).says("«\u00a0Raison\u00a0»")
}

var (
	selects = regexp.MustCompile(`(?s)<select id="page\.(\w+)" name="\w+">(.*?)</select>`)
	counted = regexp.MustCompile(`<option value="([^"]+)"[^>]*>[^<]*\((\d+)\)</option>`)
)

func TestAFacetSaysHowManyToolsItShows(t *testing.T) {
	v := openDemo(t)
	seen := map[string]bool{}
	for _, query := range []string{"", "category=image", "pricing=freemium&price_max=20", "q=image", "q=image+gratuit&usage=creer", "category=chat&criterion=hors-ligne", "score_min=7&sort=price_asc"} {
		for _, choice := range selects.FindAllStringSubmatch(v.get("/outils?"+query).ok().body, -1) {
			for _, o := range counted.FindAllStringSubmatch(choice[2], -1) {
				seen[choice[1]] = true
				values, _ := url.ParseQuery(query)
				values.Set(choice[1], o[1])
				n, _ := strconv.Atoi(o[2])
				v.get("/outils?" + values.Encode()).ok().says(">" + plural(n, "outil"))
			}
		}
	}
	for _, name := range []string{"pricing", "price_max", "usage", "tested_since", "icp", "criterion"} {
		if !seen[name] {
			t.Errorf("no value of %s is counted", name)
		}
	}
}

// The same slug may mean something else in another category: a filter shows only the tools of which
// what it is called is true.
func TestAFacetMeansOneThing(t *testing.T) {
	v := openDemo(t)
	for _, c := range []struct{ query, value, label, shows, hides string }{
		{"", "usage=voix.nettoyer", "Nettoyer un enregistr", "souffle-coupe", "chiffonnier"},
		{"", "usage=donnees.nettoyer", "Nettoyer un fichier", "chiffonnier", "souffle-coupe"},
		{"", "criterion=code.hors-ligne", "Peut rester sur la mac", "bigorneau", "dictaphrase"},
		{"", "criterion=hors-ligne", "Fonctionne hors ligne", "dictaphrase", "bigorneau"},
		{"category=code&", "criterion=hors-ligne", "Peut rester sur la mac", "bigorneau", "dictaphrase"},
		{"", "usage=transcrire", "Dicter ou transcrire", "dictaphrase", "souffle-coupe"},
	} {
		r := v.get("/outils?" + c.query + c.value).ok()
		if list := r.lists(); !slices.Contains(list, c.shows) || slices.Contains(list, c.hides) {
			t.Errorf("%s%s shows %q", c.query, c.value, list)
		}
		if !regexp.MustCompile(` selected>` + c.label + `[^<]*\(\d+\)`).MatchString(r.body) {
			t.Errorf("%s%s is not shown as « %s »", c.query, c.value, c.label)
		}
	}
	v.get("/outils?usage=voix.transcrire.zzz").says("«\u00a0Usage\u00a0»\u00a0: cette valeur n’existe pas.")
}

func TestTheListIsSortedByPriceTestAndChange(t *testing.T) {
	v := openDemo(t)
	c := v.live.Load().Catalog
	for sort, figure := range map[string]func(t *catalog.Tool) string{
		"price_asc": func(t *catalog.Tool) string {
			euros, ok := catalog.Monthly(t.Pricing, t.Price)
			if !ok {
				return "last"
			}
			return fmt.Sprintf("%09.2f", euros)
		},
		"tested_desc":  func(t *catalog.Tool) string { return t.TestedAt },
		"updated_desc": func(t *catalog.Tool) string { return t.UpdatedAt },
	} {
		var figures []string
		for _, slug := range v.get("/outils?limit=200&sort=" + sort).ok().lists() {
			figures = append(figures, figure(c.Tool(slug)))
		}
		if strings.HasSuffix(sort, "_desc") {
			slices.Reverse(figures)
		}
		if len(figures) != len(c.Tools) || !slices.IsSorted(figures) {
			t.Errorf("%s: %d tools, %q", sort, len(figures), figures)
		}
	}
}

func TestASearchAlsoFindsComparisonsCategoriesAndPages(t *testing.T) {
	v := openDemo(t)
	v.get("/outils?q=Ocrelune+ou+Mirabelle+Pixel").ok().says("Face à face", `<a href="/comparatifs/ocrelune-vs-mirabelle-pixel">`, "Vainqueur\u00a0: Ocrelune. ")
	v.get("/outils?q=ocrelune+vs+babilune").ok().says(`<a href="/comparer?outils=ocrelune,babilune">Comparer Ocrelune et Babilune</a>. Babilune face à Ocrelune`).saysNot("ne réunit")
	v.get("/outils?q=image").ok().says(">Catégories</h2>", `<a href="/categories/image">`, ">Comparatifs</h2>")
	v.get("/outils?q=m%C3%A9thode").ok().says(">Pages</h2>", `<a href="/methode">`)
	v.get("/outils?q=mandi+zzzz&exact=1").ok().says("Aucun outil", ">Noms proches</h2>", `<a href="/outils/mandibule">Mandibule</a>`, "proposez-le-nous", ">Catégories</h2>")
	v.get("/outils.md?q=image").ok().says("## Catégories")
}

func TestEveryPageHasASearch(t *testing.T) {
	v := openDemo(t)
	for _, path := range []string{"/", "/outils", "/outils/ocrelune", "/avis/ocrelune", "/comparatifs", "/carte", "/methode", "/docs", "/nulle-part"} {
		_, header, _ := strings.Cut(v.get(path).body, "<header")
		header, _, _ = strings.Cut(header, "</header>")
		if !strings.Contains(header, `action="/outils" method="get"><input type="search" name="q"`) {
			t.Errorf("%s has no search in its header", path)
		}
	}
}

func TestPageLinksKeepTheFilters(t *testing.T) {
	v := openDemo(t)
	seen := []string{}
	next := "/outils?limit=20&score_min=5&sort=name_asc"
	for next != "" {
		r := v.get(next).ok()
		seen = append(seen, r.lists()...)
		next = ""
		for _, one := range r.tags() {
			if one.attributes["rel"] == "next" {
				next = one.attributes["href"]
			}
		}
	}
	equal(t, "all pages together", seen, v.get("/outils?limit=200&score_min=5&sort=name_asc").ok().lists())
}

func TestSearchFindsNamesAndTextsAsSoonAsAVersionIsShown(t *testing.T) {
	v := openDemo(t)
	for q, want := range map[string]string{
		"babilune": "babilune", "BABIL": "babilune", "babilunne": "babilune", "zzzzqqqq": "", "!!!": "",
		"idempotents rejouable": "mandibule", // words of a review and a tagline
	} {
		first := ""
		if list := v.get("/outils?q=" + url.QueryEscape(q)).ok().lists(); len(list) > 0 {
			first = list[0]
		}
		if first != want {
			t.Errorf("%q finds %q first", q, first)
		}
	}
}

func TestASearchCanBeFilteredAndSorted(t *testing.T) {
	v := open(t, small())
	equal(t, "relevance", v.get("/outils?q=abeille").ok().lists(), []string{"abeille"})
	equal(t, "a filter it fails", v.get("/outils?q=abeille&score_min=9").ok().lists(), []string{})
	equal(t, "another category", v.get("/outils?q=abeille&category=code").ok().lists(), []string{})
	equal(t, "a sort", v.get("/outils?q=abeille&sort=name_desc").ok().lists(), []string{"abeille"})
	equal(t, "past the end", v.get("/outils?q=abeille&page=900719925474099").ok().lists(), []string{})
	equal(t, "past the end, sorted", v.get("/outils?q=abeille&sort=name_asc&page=900719925474099").ok().lists(), []string{})
	v.get("/outils?q=abeille").says(`value="abeille"`, "pour «\u00a0abeille\u00a0»", `content="noindex"`)
}

func FuzzListsAnswerAnyQuery(f *testing.F) {
	v := open(f, small())
	for _, seed := range []string{"", "q=a&sort=name_asc&page=2", "score_min=1e400&limit=200&category=chat", "page=9007199254740991&limit=200&q=ab", "%ff=%00&q=%ff&&;", "q=\x00", "category=chat&pricing=payant", "pricing=%ff&pricing=gratuit", "usage=%00&criterion=a&tested_since=2026-13-45&icp=x&price_max=1e309", "q=pas+abeille+ni+bourdon+ou+cigale"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range []string{"/outils", "/comparatifs", "/prix", "/cimetiere", "/carte"} {
			// Skip what no HTTP client would send.
			u, err := url.Parse("http://x" + path + "?" + query)
			if err != nil || strings.ContainsAny(query, " #") {
				return
			}
			if r := (&server{t: t, url: v.url}).get(path + "?" + u.Query().Encode()); r.status != 200 && r.status != 400 {
				t.Errorf("%s?%s: %d", path, query, r.status)
			}
		}
	})
}

func TestASearchSaysWhenNoToolMatchesAllWordsInAnyOrder(t *testing.T) {
	v := open(t, small())
	const remark = "Aucun outil ne réunit tous ces mots\u202f; voici celui qui en a le plus."
	for _, sort := range []string{"", "&sort=name_asc", "&sort=score_desc"} {
		v.get("/outils?q=abeille+zzzqqq" + sort).ok().says(remark)
		v.get("/outils?q=abeille" + sort).ok().saysNot("ne réunit")
		v.get("/outils?q=abeille+zzzqqq&category=code" + sort).ok().saysNot("ne réunit")
		v.get("/outils.md?q=abeille+zzzqqq" + sort).ok().says("1\u00a0outil, qui n’a pas tous les mots cherchés.")
	}
}

func TestConditionsOfASearchAreFiltersThatCanBeRemoved(t *testing.T) {
	v := open(t, small())
	for _, sort := range []string{"", "&sort=name_asc"} {
		equal(t, "free", v.get("/outils?q=outil+gratuit&sort=name_asc").ok().lists(), []string{"bourdon", "cigale"})
		equal(t, "a price per month", v.get("/outils?q=outil+%C3%A0+moins+de+10+%E2%82%AC"+sort).ok().lists(), []string{"abeille", "cigale"})
		equal(t, "only a condition", v.get("/outils?q=payant"+sort+"&category=code").ok().lists(), []string{"drosophile"})
		equal(t, "a named tool", v.get("/outils?q=abeille+gratuit"+sort).ok().lists(), []string{"abeille"})
	}
	r := v.get("/outils?q=outil+gratuit+%C3%A0+moins+de+20%C2%A0%E2%82%AC&category=chat&page=1").ok()
	r.says(
		"Filtres lus dans votre recherche", "Gratuit ou avec une formule gratuite", "20\u00a0€ par mois au plus",
		`<a href="/outils?category=chat&amp;q=outil&#43;%C3%A0&#43;moins&#43;de&#43;20&#43;%E2%82%AC" rel="nofollow"><span class="sr">Retirer le filtre «`,
		`<a href="/outils?category=chat&amp;q=outil&#43;gratuit" rel="nofollow">`, `value="outil gratuit à moins de 20`,
	)
	r = v.get("/outils?q=alternative+%C3%A0+bourdon+moins+cher").ok().says("Alternatives moins chères que Bourdon", "Les moins chers d’abord")
	equal(t, "cheaper ones", r.lists(), []string{"cigale", "abeille"})
	equal(t, "cheaper than a free one", v.get("/outils?q=alternative+%C3%A0+cigale+moins+cher").ok().says("Alternatives à Cigale avec une formule gratuite").lists(), []string{"bourdon"})
	v.get("/outils?q=gratuit").ok().says(`<a href="/outils" rel="nofollow"><span class="sr">Retirer`)
	v.get("/outils?q=abeille").ok().saysNot("dans votre recherche")
	v.get("/outils.md?q=outil+gratuit").ok().says("Filtre lu dans la recherche\u00a0: Gratuit ou avec une formule gratuite.", "- [Bourdon](/outils/bourdon.md)")
}

func TestASearchWithATypoSaysWhatItFoundAndLinksToWhatWasTyped(t *testing.T) {
	v := open(t, small())
	for _, sort := range []string{"", "&sort=name_asc"} {
		v.get("/outils?q=abielle"+sort).ok().says("Résultats pour «\u00a0<strong>Abeille</strong>\u00a0».", "Chercher «\u00a0abielle\u00a0» tel quel")
		equal(t, "as typed", v.get("/outils?q=abielle&exact=1"+sort).ok().lists(), []string{})
		v.get("/outils?q=abielle&exact=1" + sort).ok().saysNot("Résultats pour")
	}
	v.get("/outils?q=abielle&category=chat").ok().says(`<a href="/outils?category=chat&amp;exact=1&amp;q=abielle" rel="nofollow">`)
	v.get("/outils?q=abeille").ok().saysNot("Résultats pour")
	v.get("/outils.md?q=abielle").ok().says("Résultats pour «\u00a0Abeille\u00a0».", "- [Abeille](/outils/abeille.md)")
}

func TestASearchShowsThePassageThatMatched(t *testing.T) {
	c := small()
	abeille := c.Tool("abeille")
	abeille.Body = "Un début.\n\n## La cire & le miel {#miel}\n\nElle récolte le safran & la cire.\n"
	v := open(t, c)
	for _, sort := range []string{"", "&sort=name_asc"} {
		v.get("/outils?q=safran" + sort).ok().says("<a href=\"/avis/abeille#miel\">La cire &amp; le miel</a>\u00a0: Elle récolte le safran &amp; la cire.</p>")
	}
	v.get("/outils.md?q=safran").ok().says("\n  > La cire & le miel\u00a0: Elle récolte le safran")
	v.get("/outils?q=abeille").ok().saysNot("row-passage") // its name is no passage
	v.get("/outils").ok().saysNot("row-passage")
}

func TestOnlyASearchCanBeSortedByRelevance(t *testing.T) {
	v := open(t, small())
	v.get("/outils?q=abeille").ok().says(">Pertinence<")
	v.get("/outils").ok().saysNot("Pertinence")
	v.get("/outils?sort=score_desc").ok().saysNot("Pertinence").says(`<option value="" selected>Meilleure note</option>`)
}

func TestASearchForARetiredOrRenamedToolShowsANotice(t *testing.T) {
	c := small()
	c.Retired[59].Name = "Hélice Flux" // its slug differs
	v := open(t, c)
	const notice = "Hélice Flux a quitté le catalogue\u00a0: <a href=\"/cimetiere/fantome-59\">sa notice</a>"
	for _, q := range []string{"helice flux", "HÉLICE-FLUX", "avis sur Hélice Flux", "fantome-59"} {
		v.get("/outils?q=" + url.QueryEscape(q)).ok().says(notice).saysNot("Rien ne correspond")
	}
	v.get("/outils.md?q=helice+flux").ok().says("Hélice Flux a quitté le catalogue\u00a0: [sa notice](/cimetiere/fantome-59.md).")
	for _, q := range []string{"flux", "hélice", "", "!!!", strings.Repeat("a ", 100)} {
		v.get("/outils?q=" + url.QueryEscape(q)).ok().saysNot("a quitté")
	}
	v.get("/outils?q=ancienne+abeille").ok().says("est devenu <a href=\"/outils/abeille\">Abeille</a>")
	v.get("/outils.md?q=ancienne-abeille").ok().says("Ce nom est devenu [Abeille](/outils/abeille.md).")
}

func TestAPagePastTheEndSaysSoAndIsNotIndexed(t *testing.T) {
	v := open(t, small())
	for path, pages := range map[string]string{"/outils": "1", "/comparatifs": "1", "/prix": "1", "/cimetiere": "2"} {
		v.get(path+"?page=9").ok().says("Cette page n’existe pas\u00a0: la liste en compte "+pages+".", `content="noindex"`).saysNot("page 9 sur")
		v.get(path + ".md?page=9").ok().says("Cette page n’existe pas\u00a0: la liste en compte " + pages + ".")
		v.get(path).ok().saysNot("noindex", "n’existe pas")
	}
	v.get("/outils?page=" + strings.Repeat("9", 40)).ok().says("Cette page n’existe pas\u00a0: la liste en compte 1.")
	v.get("/cimetiere?page=2").ok().saysNot("noindex")
}
