package search

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"palmares/internal/catalog"
)

func TestAMisspeltWordFindsAllThatTheRightOneFinds(t *testing.T) {
	x := among(t,
		tool("Scribe", "La transcription de réunions", ""), tool("Greffier", "Transcrit vos réunions", ""), tool("Sténo", "Retranscrire la voix", ""),
		tool("ChatGPT", "Le plus connu", ""), tool("Peintre", "Un générateur d’images", ""), tool("Détoureur", "L’arrière-plan d’une photo disparaît", ""),
		tool("Plan", "Le plan d’une ville", ""), tool("Interprète", "Il traduit des sites", ""),
	)
	for typed, meant := range map[string]string{
		"transcripton ": "transcription ", "retranscrptions": "retranscriptions", "chat gtp": "chat gpt", "generateur dimages": "generateur images",
		"limage": "image", "ariere plan foto": "arrière plan photo", "fotografie": "photographie", "traducton ": "traduction ",
	} {
		want := find(x, meant)
		for _, name := range want {
			if got := find(x, typed); len(want) == 0 || !slices.Contains(got, name) || got[0] != want[0] {
				t.Errorf("%q finds %q; want %q", typed, got, want)
			}
		}
		if len(want) == 0 {
			t.Errorf("%q finds nothing", meant)
		}
	}
	if r := x.Search(Query{Text: "ariere plan foto", Limit: 9}); r.Suggestion != "arrière plan photo" {
		t.Errorf("the suggestion is %q", r.Suggestion)
	}
}

func TestAnyTypoFindsWhatTheSuggestionFinds(t *testing.T) {
	c, words := richCatalog(300, 2_000, 7)
	x, err := Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r, suggestions := rand.New(rand.NewPCG(7, 7)), 0
	for range 300 {
		query := Query{Text: mistype(r, words[r.IntN(200)]) + " ", Limit: len(c.Tools)}
		if !utf8.ValidString(query.Text) {
			continue
		}
		got := x.Search(query)
		if got.Suggestion == "" {
			continue
		}
		suggestions++
		typed := query.Text
		query.Text = got.Suggestion
		want := x.Search(query).Hits
		if same := func(a, b Hit) bool { return a.Tool == b.Tool }; !slices.EqualFunc(got.Hits, want, same) {
			t.Errorf("%q finds %v, %q finds %v", typed, got.Hits, query.Text, want)
		}
	}
	if suggestions < 50 {
		t.Errorf("only %d suggestions", suggestions)
	}
}

func TestWordsThatAreMeantAsTypedAreNotCorrected(t *testing.T) {
	x := among(t, tool("Tales", "Des contes", "Une lettre : il faut que le code revienne, parce que la brune le veut."))
	for _, query := range []string{"sales", "code review", "landing", "workflow ", "brume le soir", "photo floue", "cover letter"} {
		if r := x.Search(Query{Text: query, Limit: 5, Known: []string{"Perce-Brume"}}); r.Suggestion != "" {
			t.Errorf("%q is taken for %q", query, r.Suggestion)
		}
	}
	if r := x.Search(Query{Text: "perce-brume", Limit: 5}); r.Suggestion != "parce-brune" {
		t.Errorf("without the name it is taken for %q", r.Suggestion)
	}
}

func TestEnglishIsTranslatedAndNeverCorrected(t *testing.T) {
	x := among(t,
		tool("Scribe", "La transcription de réunions", ""), tool("Tableau", "Des formules de tableur", ""), tool("Détoureur", "Supprime le fond d’une photo", ""),
		tool("Légende", "Le mythe et la forme", "Il a son for intérieur, my et the compris."), tool("Écoute", "Whisper dans un navigateur", ""),
	)
	for query, want := range map[string]string{
		"transcribe my meetings": "Scribe", "speech to text": "Scribe", "transcibe meetings": "Scribe", "spreadsheet formulas": "Tableau",
		"removing the backgrounds of photos": "Détoureur", "outil de background removal": "Détoureur", "whisper in a browser": "Écoute",
	} {
		if r := x.Search(Query{Text: query, Limit: 5}); r.Total == 0 || x.tools[r.Hits[0].Tool].Name != want || r.Suggestion != "" {
			t.Errorf("%q finds %q, for %q", query, find(x, query), r.Suggestion)
		}
	}
	for _, query := range []string{"my the for with", "the best of my own", "grandmother knitting with my cat"} {
		if got := find(x, query); len(got) > 0 {
			t.Errorf("%q finds %q", query, got)
		}
	}
}

func TestATrackingLinkIsNoSnippet(t *testing.T) {
	x := among(t, tool("Dictaphrase", "La dictée au bureau", "Un début.\n\n## Essayer\n\n"+
		"Dictaphrase est sur https://www.dictaphrase.example/essai?utm_source=palmares&ref=12, avec la dictée.\n"))
	best := func(query string) Passage {
		return x.Passages(query).Best(slices.IndexFunc(x.tools, func(t *catalog.Tool) bool { return t.Name == "Dictaphrase" }))
	}
	if got := best("dictaphrase"); got != (Passage{Snippet: "La dictée au bureau"}) {
		t.Errorf("by its name: %+v", got)
	}
	if got := best("dictaphrase dictée "); got.Section != "essayer" || got.Snippet != "Dictaphrase est sur dictaphrase.example, avec la dictée." {
		t.Errorf("with another word: %+v", got)
	}
}
