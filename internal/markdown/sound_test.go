package markdown

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"palmares/internal/synthetic"
)

// What plainLinks finds is what the parser finds.
func TestPlainLinksAreThoseOfTheParser(t *testing.T) {
	pieces := []string{
		"[a](https://essai.example/b)", "[é d](http://autre.example/?c=d#e)", "[a](https://essai.example)", "](https://essai.example/f)", "[", "]", "(", ")", "!",
		"mot", "é", " ", "    ", "\t", "\n", "\n\n", "- ", "1. ", "> ", "# ", "## Titre {#titre}\n", "---", "===", "*", "**", "_", "~", "~~", "~~~", "`", "\\", "&amp;", "&", ":", "|", "x",
		"[x]", "[ ] ", "^", "[^1]", "<", "www.", "://", "\r\n", "\u00a0", "https://essai.example/g", "a@essai.example", "\"", "'",
	}
	random := rand.New(rand.NewPCG(1, 2))
	plain := 0
	check := func(body string) {
		links, ok := plainLinks(body)
		if !ok {
			return
		}
		if len(links) > 0 {
			plain++
		}
		if want := parsedLinks(body); !slices.Equal(links, want) {
			t.Errorf("%q has the links %v; want %v", body, links, want)
		}
	}
	for range 100_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			piece := pieces[random.IntN(len(pieces))]
			if random.IntN(3) == 0 {
				piece = pieces[random.IntN(10)]
			}
			b.WriteString(piece)
		}
		check(b.String())
	}
	if plain < 1000 {
		t.Errorf("only %d of the texts have plain links", plain)
	}
	plain = 0
	for _, tool := range synthetic.Catalog(1_000, 1).Tools {
		check(tool.Body)
	}
	if plain < 100 {
		t.Errorf("only %d of the reviews have plain links", plain)
	}
}

func TestATextContainsAHostInAnyCase(t *testing.T) {
	const host = "kiosque.example"
	for text, want := range map[string]bool{
		"": false, "kiosque": false, "voir Kiosque.EXAMPLE/a": true, "\u212aiosque.example": true, "k\u0130osque.example": true, "kkiosque.example": true, "kiosque.exampl": false, "Kkiosque.Exampl": false,
	} {
		if got := containsFold(text, host); got != want || got != strings.Contains(strings.ToLower(text), host) {
			t.Errorf("%q: %t", text, got)
		}
	}
}
