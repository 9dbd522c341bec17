package markdown

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"palmares/internal/synthetic"
)

// skimmed returns the headings and the text that Skim finds.
func skimmed(body string) (headings, text string) {
	var h, t strings.Builder
	Skim(body, func(piece string, heading bool) {
		if heading {
			h.WriteString(piece)
		} else {
			t.WriteString(piece)
		}
	})
	return h.String(), t.String()
}

func words(text string) []string {
	set := map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		set[word] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func TestSkimFindsTheWordsOfATextAndNotItsMarkup(t *testing.T) {
	for _, test := range []struct{ body, headings, text string }{
		{"Un **essai** d’une _semaine_, ~~raté~~ réussi.", "", "Un essai d une semaine raté réussi"},
		{"avant\n\n## Les prix {#tarifs}\n\naprès\n\n### Détail {#d}", "Les prix", "avant après Détail"},
		{"[Le site](https://outil.example/page?x=1) et [l’avis][1], [ici][].\n\n[1]: https://autre.example/", "", "Le site et l avis ici"},
		{"![Courbe des prix](../images/courbe.png \"Relevé en mai\")", "", "Courbe des prix Relevé en mai"},
		{"Vu[^1].\n\n[^1]: En 2026.", "", "Vu En 2026"},
		{"H<sub>2</sub>O<br>suite <https://nu.example/>", "", "H2O suite https nu example"},
		{"caf&eacute; R&amp;D &nbsp; a < b & c", "", "café R D a b c"},
		{"`palmares serve` et \\*rien\\*", "", "palmares serve et rien"},
		{"```go\nfunc main() {}\n## commentaire\n```\nfin", "", "func main commentaire fin"},
		{"> citée\n\n- [x] faite\n- [ ] à faire\n\n| a | b |\n|---|---|\n| un | deux |", "", "citée x faite à faire a b un deux"},
		{"[sans fin\n\n](perdu\n\n<perdu\n\n[^perdu", "", "sans fin perdu"},
	} {
		headings, text := skimmed(test.body)
		if got, want := words(headings), words(test.headings); !slices.Equal(got, want) {
			t.Errorf("%q: words of headings %q, want %q", test.body, got, want)
		}
		if got, want := words(text), words(test.text); !slices.Equal(got, want) {
			t.Errorf("%q: words %q, want %q", test.body, got, want)
		}
	}
}

// Of real reviews the two functions must find the same words.
func TestSkimAndSectionsFindTheSameWords(t *testing.T) {
	for _, tool := range synthetic.Catalog(2_000, 1).Tools {
		var parsed strings.Builder
		for _, section := range Sections(tool.Body) {
			parsed.WriteString(section.Text + "\n")
		}
		headings, text := skimmed(tool.Body)
		if got, want := words(headings+text), words(parsed.String()); !slices.Equal(got, want) {
			t.Fatalf("%s: words %q, want %q, of\n%s", tool.Slug, got, want, tool.Body)
		}
	}
}

func FuzzSkimEnds(f *testing.F) {
	for _, seed := range []string{"a [b](c) `d` <e> &amp; \\f [^g] ][", "```\n## x", "[a]: b\n[^c]: d", "# a {#b}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		headings, text := skimmed(body)
		if n := len(headings) + len(text); n > 4*len(body)+1 {
			t.Errorf("%d bytes of a text of %d", n, len(body))
		}
	})
}
