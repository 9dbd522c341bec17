package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/synthetic"
)

func small(t testing.TB) *Index {
	x, _ := index(t,
		tool("Claude Code", "Un agent qui écrit du code dans le terminal", "## Prise en main\n\nL’installation prend une minute."),
		tool("Claude", "Un assistant généraliste", "## Notre essai\n\nIl résume bien les longs documents."),
		tool("Claudette", "Une voix de synthèse", ""),
		tool("Chat GPT", "Le plus connu des assistants", "## Notre essai\n\nLe modèle GPT-4 répond vite."),
		tool("Midjourney", "Génère des images à partir d’un texte", "## Points forts\n\nLes générations sont belles ; les vidéos, plus rares."),
		tool("Œuvrelle", "Montage de vidéos", "## Verdict\n\nLes logos animés et les sous-titres sont générés d’un clic. Travail d’atelier, jusqu’à l’export."),
		tool("C++", "Un langage", ""),
		tool("L’Atelier d’été", "Pour les œuvres d’art", ""),
		tool("!!!", "Un nom sans lettre", ""),
	)
	return x
}

func TestQueriesFindTheseTools(t *testing.T) {
	x := small(t)
	for _, test := range []struct {
		promise, query string
		want           []string
	}{
		{"case does not matter", "MIDJOURNEY", []string{"Midjourney"}},
		{"accents need not be typed", "genere", []string{"Midjourney", "Œuvrelle"}},
		{"accents may be typed where there are none", "mïdjôurnéy", []string{"Midjourney"}},
		{"combining accents are accents", "ge\u0301ne\u0301re", []string{"Midjourney", "Œuvrelle"}},
		{"ligatures are two letters", "oeuvrelle", []string{"Œuvrelle"}},
		{"two letters are a ligature", "œuvrelle", []string{"Œuvrelle"}},
		{"a singular finds the plural", "logo ", []string{"Œuvrelle"}},
		{"a plural finds the singular", "langages ", []string{"C++"}},
		{"a plural that the stemmer leaves", "vidéo ", []string{"Œuvrelle", "Midjourney"}},
		{"forms of a verb are one word", "générées images ", []string{"Midjourney"}},
		{"and without accents too", "generees images ", []string{"Midjourney"}},
		{"elided articles are not part of a word", "l’export ", []string{"Œuvrelle"}},
		{"with a typewriter's apostrophe", "d'atelier ", []string{"L’Atelier d’été", "Œuvrelle"}},
		{"longer elisions", "jusqu'export ", []string{"Œuvrelle"}},
		{"articles and prepositions are ignored", "une voix de la synthèse", []string{"Claudette"}},
		{"a no-break space is a space", "montage\u00a0vidéos\u202f", []string{"Œuvrelle"}},
		{"a letter is missing", "midjurney ", []string{"Midjourney"}},
		{"a letter too many", "midjourrney ", []string{"Midjourney"}},
		{"another letter", "nidjourney ", []string{"Midjourney"}},
		{"two letters exchanged", "mijdourney ", []string{"Midjourney"}},
		{"two typos in a long word", "mijdourny ", []string{"Midjourney"}},
		{"short words are not replaced", "vpix ", nil},
		{"but two letters of them may be swapped", "voxi ", []string{"Claudette"}},
		{"the last word is unfinished", "un agent qui écrit du co", []string{"Claude Code"}},
		{"an unfinished word with a typo", "midjuo", []string{"Midjourney"}},
		{"only the last word may be unfinished", "ag code", []string{"Claude Code"}}, // by most of the words
		{"hyphens may be left out", "soustitres ", []string{"Œuvrelle"}},
		{"or be spaces", "sous titres ", []string{"Œuvrelle"}},
		{"numbers may be joined to a word", "gpt4", []string{"Chat GPT"}},
		{"or not", "gpt 4", []string{"Chat GPT"}},
		{"a name may be written as one word", "chatgpt", []string{"Chat GPT"}},
		{"all words are required", "assistant essai résume", []string{"Claude"}},
		{"a name of punctuation is found", "!!!", []string{"!!!"}},
		{"punctuation around a word is ignored", "«\u00a0terminal\u00a0» ?", []string{"Claude Code"}},
		{"an unknown word is not found", "hippopotame", nil},
		{"short words are not guessed at", "xyz", nil},
		{"the empty query finds nothing", "", nil},
		{"nor do spaces", " \u00a0\t", nil},
		{"nor signs", "?", nil},
	} {
		t.Run(test.promise, func(t *testing.T) {
			if diff := cmp.Diff(test.want, find(x, test.query)); diff != "" {
				t.Errorf("searching %q (-want +got):\n%s", test.query, diff)
			}
		})
	}
}

func TestTheExactNameComesFirstThenNamesWithThatPrefix(t *testing.T) {
	want := []string{"Claude", "Claude Code", "Claudette"}
	got := find(small(t), "claude")
	if diff := cmp.Diff(want[:2], got[:2]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, find(small(t), "claud")); diff != "" {
		t.Errorf("unfinished: %s", diff)
	}
}

func TestANameAmongOtherWordsComesFirst(t *testing.T) {
	x, _ := index(t,
		tool("Babilune", "Une voix de synthèse", ""),
		tool("Babil", "Une autre voix", ""),
		tool("Lune d’Or", "Un comparateur", ""),
		tool("Dans", "Un nom qui est une préposition", ""),
		tool("Rival", "Le prix de Babilune, en mieux", "## Prix\n\nLe prix, le prix et dans Babilune encore."),
	)
	for query, want := range map[string][]string{
		"Babilune prix":            {"Babilune", "Rival"},
		"quel prix pour babilune ": {"Babilune", "Rival"},
		"lune d'or prix ":          {"Lune d’Or"},
		"le prix dans babilune ":   {"Babilune", "Rival"},
	} {
		if diff := cmp.Diff(want, find(x, query)); diff != "" {
			t.Errorf("searching %q (-want +got):\n%s", query, diff)
		}
	}
	if diff := cmp.Diff([]string{"Claude Code"}, find(small(t), "claude code installation ")); diff != "" {
		t.Errorf("the longest name does not win: %s", diff)
	}
}

func TestAFormerSlugFindsTheToolAfterOneWithThatName(t *testing.T) {
	x, _ := index(t,
		&catalog.Tool{Slug: "astrale", Name: "Astrale", Aliases: []string{"vieille-lanterne"}},
		&catalog.Tool{Slug: "lanterne", Name: "Lanterne"},
		&catalog.Tool{Slug: "phare", Name: "Phare", Tagline: "Une lanterne pour la vieille ville"},
	)
	for query, want := range map[string][]string{
		"vieille lanterne": {"Astrale"},
		"lanterne":         {"Lanterne", "Astrale"},
		"vielle lanterne ": {"Astrale"},
	} {
		if got := find(x, query); len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%q finds %q, first should be %q", query, got, want)
		}
	}
}

func TestPunctuationOfANameBreaksTies(t *testing.T) {
	x, _ := index(t, tool("C", "", ""), tool("c#", "", ""), &catalog.Tool{Slug: "cpp", Name: "C++"})
	for query, want := range map[string]string{"c": "C", "C#": "c#", "c++": "C++"} {
		if got := find(x, query); len(got) != 3 || got[0] != want {
			t.Errorf("%q finds %q, first should be %s", query, got, want)
		}
	}
}

func TestNamesCountMoreThanTaglinesThanHeadingsThanText(t *testing.T) {
	x, _ := index(t,
		tool("Dans le texte", "Rien", "## Titre\n\n"+strings.Repeat("Un parapluie, des parapluies. ", 40)),
		tool("Dans le titre", "Rien", "## Le parapluie\n\nRien."),
		tool("Dans l’accroche", "Un parapluie", ""),
		tool("Le grand parapluie", "Rien", ""),
	)
	want := []string{"Le grand parapluie", "Dans l’accroche", "Dans le titre", "Dans le texte"}
	if diff := cmp.Diff(want, find(x, "parapluie ")); diff != "" {
		t.Error(diff)
	}
}

func TestTheIntroductionHasNoHeading(t *testing.T) {
	x, _ := index(t,
		tool("Introduit", "", "Un parapluie.\n\n## Suite\n\nRien."),
		tool("Intitulé", "", "Rien.\n\n## Parapluie\n\nRien."),
	)
	if diff := cmp.Diff([]string{"Intitulé", "Introduit"}, find(x, "parapluie ")); diff != "" {
		t.Error(diff)
	}
}

func TestTiesAreBrokenByScoreThenSlug(t *testing.T) {
	good, bad := 9.0, 3.0
	x, _ := index(t,
		&catalog.Tool{Slug: "d", Name: "Un", Tagline: "parapluie"},
		&catalog.Tool{Slug: "a", Name: "Deux", Tagline: "parapluie"},
		&catalog.Tool{Slug: "c", Name: "Trois", Tagline: "parapluie", Score: &good},
		&catalog.Tool{Slug: "b", Name: "Quatre", Tagline: "parapluie", Score: &bad},
		// A repeated word outweighs the best score.
		&catalog.Tool{Slug: "e", Name: "Cinq", Tagline: "parapluie parapluie"},
	)
	if diff := cmp.Diff([]string{"Cinq", "Trois", "Quatre", "Deux", "Un"}, find(x, "parapluie ")); diff != "" {
		t.Error(diff)
	}
	y, _ := index(t, &catalog.Tool{Slug: "a", Name: "Zinc"}, &catalog.Tool{Slug: "b", Name: "Zeste", Score: &bad}, &catalog.Tool{Slug: "c", Name: "Zone", Score: &good})
	if diff := cmp.Diff([]string{"Zone", "Zeste", "Zinc"}, find(y, "z")); diff != "" {
		t.Errorf("for names with the same first letter: %s", diff)
	}
}

func TestIfNoToolHasAllWordsTheResultIsPartial(t *testing.T) {
	x := small(t)
	r := x.Search(Query{Text: "assistant généraliste hippopotame ", Limit: 10})
	if !r.Partial || r.Total != 1 || x.tools[r.Hits[0].Tool].Name != "Claude" {
		t.Errorf("got %+v", r)
	}
	if r := x.Search(Query{Text: "assistant généraliste", Limit: 10}); r.Partial || r.Total != 1 {
		t.Errorf("a tool has all words, got %+v", r)
	}
	if r := x.Search(Query{Text: "hippopotame", Limit: 10}); r.Partial || r.Total != 0 {
		t.Errorf("an empty result is partial, got %+v", r)
	}
}

func TestWordsThatAreKnownOrOrdinaryAreNotReplacedBySimilarOnes(t *testing.T) {
	x, _ := index(t, tool("Un", "poisson volant, imports à bord", "Un même frère fait deux bords fictifs."), tool("Deux", "poison violent", ""))
	if r := x.Search(Query{Text: "poison volant ", Limit: 9}); !r.Partial || r.Suggestion != "" {
		t.Errorf("a known word is replaced: %+v", r)
	}
	for _, query := range []string{"impôts", "mère", "je veux poison", "volant free", "word", "fact checking", "papa", "vidéos fictives"} {
		if r := x.Search(Query{Text: query, Limit: 9}); r.Suggestion != "" {
			t.Errorf("%q is taken for %q", query, r.Suggestion)
		}
	}
	for _, query := range []string{"impôts ", "papa ", "mère ", "word "} {
		if got := find(x, query); len(got) > 0 {
			t.Errorf("%q finds %q", query, got)
		}
	}
}

func TestWhatIsSearchedForInsteadOfAnUnknownWordIsShown(t *testing.T) {
	x, _ := index(t, tool("Un", "Transcription de réunions", ""), tool("Deux", "Un chatbot", ""))
	for _, query := range []string{"transcirpt", "chatbto", "trnascriptio"} {
		if r := x.Search(Query{Text: query, Limit: 9}); r.Total != 1 || r.Suggestion == "" {
			t.Errorf("%q: %+v", query, r)
		}
	}
}

func TestAnEmptyCatalogueFindsNothing(t *testing.T) {
	x, _ := index(t)
	if r := x.Search(Query{Text: "claude", Limit: 10}); r.Total != 0 || r.Hits != nil {
		t.Errorf("got %+v", r)
	}
	if set, r := x.Matches(Query{Text: "claude"}); len(set) != 0 || r.Partial {
		t.Errorf("got %v, %+v", set, r)
	}
}

func TestBuildStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if x, err := Build(ctx, synthetic.Catalog(10, 1)); !errors.Is(err, context.Canceled) || x != nil {
		t.Errorf("got %v, %v", x, err)
	}
}

func TestEveryToolIsFoundByItsOwnName(t *testing.T) {
	rich, _ := richCatalog(800, 20_000, 7)
	for name, c := range map[string]*catalog.Catalog{"synthetic": synthetic.Catalog(800, 7), "rich": rich} {
		x, err := Build(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Tools {
			hits := x.Search(Query{Text: c.Tools[i].Name, Limit: 20}).Hits
			if !slices.ContainsFunc(hits, func(h Hit) bool { return h.Tool == i }) {
				t.Errorf("%s: %q is not on the first page of its own name", name, c.Tools[i].Name)
			}
			if first := c.Tools[hits[0].Tool].Name; !strings.EqualFold(first, c.Tools[i].Name) {
				t.Errorf("%s: %q finds %q first", name, c.Tools[i].Name, first)
			}
		}
	}
}

func TestATypoInANameStillFindsTheTool(t *testing.T) {
	c, _ := richCatalog(1_000, 20_000, 3)
	for i := range c.Tools { // names only
		c.Tools[i].Tagline, c.Tools[i].Body = "", ""
	}
	x, err := Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 3))
	tried := 0
	for i := range c.Tools {
		key, _ := nameKey(c.Tools[i].Name)
		word := mistype(r, key)
		if _, known := x.forms.find(word); known || len(key) < 6 || strings.Contains(c.Tools[i].Name, " ") {
			continue
		}
		tried++
		if !slices.Contains(find(x, word+" "), c.Tools[i].Name) {
			t.Errorf("%q does not find %s", word, c.Tools[i].Name)
		}
	}
	if tried < 100 {
		t.Fatalf("only %d names could be mistyped", tried)
	}
}

func TestPagesAddUpAndAgreeWithMatches(t *testing.T) {
	c, words := richCatalog(300, 10_000, 5)
	x, err := Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	odd := func(tool int) bool { return tool%2 == 1 }
	for _, text := range []string{words[0], words[3] + " " + words[1], words[7], "ba", "inconnu " + words[2]} {
		for name, keep := range map[string]func(int) bool{"all": nil, "odd": odd} {
			whole := x.Search(Query{Text: text, Limit: len(c.Tools), Keep: keep})
			var joined []Hit
			for offset := 0; offset < whole.Total; offset += 7 {
				page := x.Search(Query{Text: text, Offset: offset, Limit: 7, Keep: keep})
				if page.Total != whole.Total {
					t.Fatalf("%q, %s: a page has the total %d, want %d", text, name, page.Total, whole.Total)
				}
				joined = append(joined, page.Hits...)
			}
			if diff := cmp.Diff(whole.Hits, joined); diff != "" || len(joined) == 0 {
				t.Errorf("%q, %s: the pages do not add up: %s", text, name, diff)
			}
			set, r := x.Matches(Query{Text: text, Keep: keep})
			if r.Partial != whole.Partial || r.Total != whole.Total {
				t.Errorf("%q, %s: the match is %+v, the search says %+v", text, name, r, whole)
			}
			for i := range c.Tools {
				hit := slices.ContainsFunc(whole.Hits, func(h Hit) bool { return h.Tool == i })
				matches := set[i/64]>>(i%64)&1 == 1
				if hit != matches {
					t.Errorf("%q, %s: tool %d is a hit: %t, matches: %t", text, name, i, hit, matches)
				}
			}
		}
	}
}

func TestConcurrentSearchesAgree(t *testing.T) {
	c, words := richCatalog(200, 10_000, 9)
	x, err := Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var queries []string
	for i := range 40 {
		queries = append(queries, words[i], words[i]+" "+words[200+i], words[1000+i]+"x", truncate(words[i], 3))
	}
	want := make([]Result, len(queries))
	for i, text := range queries {
		want[i] = x.Search(Query{Text: text, Limit: 10})
	}
	var askers sync.WaitGroup
	for asker := range 4 {
		askers.Go(func() {
			for k := range queries {
				i := (k + asker*37) % len(queries)
				if diff := cmp.Diff(want[i], again.Search(Query{Text: queries[i], Limit: 10})); diff != "" {
					t.Errorf("%q: %s", queries[i], diff)
				}
			}
		})
	}
	askers.Wait()
}

func TestLongQueriesAreTruncated(t *testing.T) {
	x := small(t)
	long := "midjourney images " + strings.Repeat("midjourney ", 100_000)
	if got := find(x, long); !slices.Equal(got, []string{"Midjourney"}) {
		t.Errorf("got %q", got)
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "hippopotame%d ", i)
	}
	find(x, many.String())
	w := x.newWorkspace().(*workspace)
	w.query.Text = many.String()
	x.match(w)
	if len(w.words) > maxWords {
		t.Errorf("%d words are looked up", len(w.words))
	}
	name := strings.Repeat("très ", 200) + "long"
	y, _ := index(t, &catalog.Tool{Slug: "long", Name: name})
	if got := find(y, name); !slices.Equal(got, []string{name}) {
		t.Errorf("a long name finds %q", got)
	}
}

func FuzzCaseAndAccentsDoNotMatter(f *testing.F) {
	for _, text := range []string{
		"", " ", "claude", "l’", "d’d’d’", "'''", "---", "a-b-c-d-e-f", "gpt4", "4gpt4", "\xff\xfe", "e\u0301", "\u0301",
		"ﬁn", "ＣＬＡＵＤＥ", "中文搜索", "поиск", "क्षि", "İstanbul", "😀", "a\x00b", "½ ² ™", "le la les", strings.Repeat("é", 600),
		strings.Repeat("a", 5000), strings.Repeat("ab ", 5000), "générées", "premières", "ees", "eux", "sss",
	} {
		f.Add(text)
	}
	x := small(f)
	f.Fuzz(func(t *testing.T, text string) {
		r := x.Search(Query{Text: text, Limit: 5})
		if r.Total < len(r.Hits) || len(r.Hits) > 5 || len(r.Hits) == 0 && r.Total > 0 {
			t.Fatalf("%q: %d hits of %d", text, len(r.Hits), r.Total)
		}
		seen := map[int]bool{}
		for _, hit := range r.Hits {
			if seen[hit.Tool] {
				t.Errorf("%q: tool %d twice", text, hit.Tool)
			}
			seen[hit.Tool] = true
		}
		if len(text) > maxQuery {
			return // folding may change where the query is truncated
		}
		var folds strings.Builder
		for _, r := range text {
			if f := fold(r); f.kind == letter {
				folds.WriteString(f.as)
			} else if f.kind != ignored {
				folds.WriteRune(r)
			}
		}
		if folds.Len() > maxQuery || isOpen(text) != isOpen(folds.String()) {
			return
		}
		if again := x.Search(Query{Text: folds.String(), Limit: 5}); again.Total != r.Total {
			t.Errorf("%q finds %d, %q finds %d", text, r.Total, folds.String(), again.Total)
		}
	})
}

func TestTheIndexIsTheSameOnOneCoreAndOnMany(t *testing.T) {
	c := synthetic.Catalog(5_000, 1)
	build := func(cores int) *Index {
		t.Helper()
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		x, err := Build(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if different := differences(build(1), build(5)); len(different) > 0 {
		t.Errorf("the index built on five cores is not the one built on one: %q differ", different)
	}
}

func TestReviewsAreFoundByTheirWordsAndNotByTheirMarkup(t *testing.T) {
	x := among(t, tool("Seul", "", "Un **essai** avec [le manuel](https://adresse.example/chemin) et ![courbe](../images/fichier.png \"relevée\").\n\n"+
		"## Tarifs {#identifiant}\n\nDu CO<sub>2</sub>, <kbd>Échap</kbd>, et `commande`.\n"))
	for _, word := range []string{"essai", "manuel", "courbe", "relevée", "tarifs", "co2", "échap", "commande"} {
		if len(find(x, word+" ")) != 1 {
			t.Errorf("%s is not found", word)
		}
	}
	for _, word := range []string{"adresse", "chemin", "fichier", "identifiant", "kbd"} {
		if len(find(x, word+" ")) > 0 {
			t.Errorf("%s is found", word)
		}
	}
}
