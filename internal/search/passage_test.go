package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"palmares/internal/catalog"
)

func TestThePassageIsTheSectionThatAnswers(t *testing.T) {
	long := strings.Repeat("Une phrase qui ne dit rien de ce que l’on cherche. ", 20)
	x, c := index(t,
		tool("Carnet", "Un carnet", "Un début sans rien.\n\n## Prise en main\n\n"+long+"\n\n## Export {#sortie}\n\n"+long+
			"La *transcription* d’une réunion s’exporte à 20\u00a0€. "+long+"\n\n## Verdict\n\nUne réunion."),
		tool("Muet", "Sans avis", ""),
		tool("Roman", "Un long avis", strings.Repeat(long, 100)+"\n\n## Fin\n\nIl sait transcrire."),
	)
	p := x.Passages("transcrire une réunion ")
	got := p.Best(slices.IndexFunc(c.Tools, func(t *catalog.Tool) bool { return t.Name == "Carnet" }))
	if got.Section != "sortie" || got.Heading != "Export" || !strings.HasPrefix(got.Snippet, "La transcription d’une réunion s’exporte à 20\u00a0€. ") || !strings.HasSuffix(got.Snippet, "…") {
		t.Errorf("got %+v", got)
	}
	if got := p.Best(slices.IndexFunc(c.Tools, func(t *catalog.Tool) bool { return t.Name == "Roman" })); got.Section != "" {
		t.Errorf("at the end of a very long review: %+v", got)
	}
	if got := p.Best(slices.IndexFunc(c.Tools, func(t *catalog.Tool) bool { return t.Name == "Muet" })); got != (Passage{Snippet: "Sans avis"}) {
		t.Errorf("without a review: %+v", got)
	}
}

func TestThePassageIsAboutTheRareWordNotWhereACommonOneIsNear(t *testing.T) {
	tools := reviews(60)
	for i := range tools[:30] {
		tools[i].Body = "Tout se vérifie."
	}
	x, c := index(t, append(tools, tool("Limier", "Rien", "## Le banc\n\nDes citations exactes, des citations fausses, et une citation inventée.\n\n"+
		"## Qui paie\n\nUne association, c’est vérifiable. La limite est de cent citations."))...)
	at := slices.IndexFunc(c.Tools, func(t *catalog.Tool) bool { return t.Name == "Limier" })
	if got := x.Passages("vérifier une citation").Best(at); got.Section != "le-banc" {
		t.Errorf("got %+v", got)
	}
}

func FuzzPassagesAndRequests(f *testing.F) {
	f.Add("a", "## É\n\nà\u00a0b.c")
	f.Add("moins de 5 € gratuit", strings.Repeat("é. ", 300)+"gratuit "+strings.Repeat("è", 300))
	f.Add("mot", strings.Repeat("x", 500)+" mot "+strings.Repeat("\u00e9 ", 200))
	f.Add("pas plus de 1\u202f000,50 € par an, sans version gratuite", "")
	f.Add("entre €5 et vingt euros/mois < 3 € l’heure", "")
	f.Add("alternative gratuite à Un, pas Un ni un, testé en mars 2026, le moins cher, 8/10 et plus, mais pas pour\u00a0adultes", "")
	f.Add("free tools like Un under $5 a month, not for kids, rated above 8, cheapest", "")
	f.Fuzz(func(t *testing.T, query, body string) {
		x, _ := index(t, tool("Un", "mot "+body, body))
		r := x.ReadRequest(query, nil)
		for i, c := range r.Constraints {
			if c.start >= c.end || c.end > len(query) || c.PriceMax < 0 || c.PriceMax > 1e12 || c.PriceMax != toCents(c.PriceMax) {
				t.Errorf("%q: constraint %+v", query, c)
			}
			if again := x.ReadRequest(r.Without(i), nil); len(again.Text) > len(query) {
				t.Errorf("%q without constraint %d is longer: %q", query, i, again.Text)
			}
		}
		got := x.Passages(r.Text).Best(0)
		if n := utf8.RuneCountInString(got.Snippet); n > MaxSnippet || utf8.ValidString(body) && !utf8.ValidString(got.Snippet) {
			t.Errorf("the snippet has %d characters: %q", n, got.Snippet)
		}
	})
}
