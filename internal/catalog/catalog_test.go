package catalog

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/wire"
)

func TestSlugs(t *testing.T) {
	for _, s := range []string{"a", "0", "plume", "plume-code", "a-1-b", strings.Repeat("a", 100)} {
		if !IsSlug(s) {
			t.Errorf("%q is rejected", s)
		}
	}
	for _, s := range []string{"", "-", "a-", "-a", "a--b", "A", "é", "a_b", "a b", "a/b", "a\n", strings.Repeat("a", 101)} {
		if IsSlug(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestPrices(t *testing.T) {
	for _, s := range []string{
		"0 €/mois", "19,99 €/mois", "1 200 €/an", "1\u00a0200 €/an", "1\u202f200,50 €/an", "1200 €/an",
		"12 345 678 €/an", "29 €/utilisateur/mois", "3 €/année", "0,002 €/requête",
	} {
		if !IsPrice(s) {
			t.Errorf("%q is rejected", s)
		}
	}
	for _, s := range []string{
		"", "gratuit", "19.99 €/mois", "19,99€/mois", "19,99\u00a0€/mois", "19,99 €/mois HT", "19,99 €/", "€/mois",
		" 19 €/mois", "19  €/mois", "1 20 €/mois", "1  200 €/mois", "1200 300 €/mois", "19, €/mois", ",5 €/mois", "-5 €/mois",
		"19,99 € / mois", "19,99 $/mois", "19,9 9 €/mois", "19 €/mois/", "19 €//mois", "19 €/3 mois", "19 €/mois\n", "٣ €/mois", "19 €/\xff",
	} {
		if IsPrice(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

func FuzzPriceHasTheDocumentedForm(f *testing.F) {
	f.Add("1 200,50 €/utilisateur/mois")
	f.Add("0 €/mois")
	f.Add("1\u202f000 €/an")
	f.Fuzz(func(t *testing.T, s string) {
		if !IsPrice(s) {
			return
		}
		amount, period, ok := strings.Cut(s, " €/")
		if !ok || amount == "" || period == "" || !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\t\x00.") {
			t.Errorf("%q was accepted as a price", s)
		}
	})
}

func FuzzSlugIsSafeInAPath(f *testing.F) {
	f.Add("plume-code")
	f.Add("a--b")
	f.Fuzz(func(t *testing.T, s string) {
		if IsSlug(s) && (s != strings.ToLower(s) || strings.ContainsAny(s, "/.%?#\\ ") || len(s) > MaxSlug || strings.Contains(s, "--")) {
			t.Errorf("%q was accepted as a slug", s)
		}
	})
}

func TestDates(t *testing.T) {
	for s, want := range map[string]bool{
		"2026-02-28": true, "2024-02-29": true, "2026-02-29": false, "2026-2-1": false, "2026-13-01": false,
		"": false, "2026-01-01T00:00:00Z": false, "26-01-01": false, "+026-01-01": false,
	} {
		if IsDate(s) != want {
			t.Errorf("IsDate(%q) = %v", s, !want)
		}
	}
}

func fig(x float64) *float64 { return &x }

// tool returns a tested tool with some changes.
func tool(slug string, changes ...func(*Tool)) *Tool {
	t := &Tool{
		Slug: slug, Name: strings.ToUpper(slug), Domain: slug + ".example", Category: "code", ICP: "mixte",
		Pricing: "payant", Price: "10 €/mois", Tagline: "Un outil", Score: fig(7), Verifiability: fig(6), Tier: 3,
	}
	for _, change := range changes {
		change(t)
	}
	return t
}

func with(tools ...*Tool) *Catalog {
	c := &Catalog{Name: "Essai", URL: "https://essai.example", Categories: []Category{{Slug: "code", Label: "Code"}}, Tools: tools}
	c.Sort()
	return c
}

func TestTopSetTakesTierOneThenScoreThenSlug(t *testing.T) {
	reviewed := func(tier int, score float64, mainstream bool) func(*Tool) {
		return func(t *Tool) { t.Tier, t.Score, t.Mainstream, t.Body = tier, fig(score), mainstream, "Avis." }
	}
	c := with(
		tool("a-third", reviewed(3, 7.9, true)),
		tool("b-high-score", reviewed(3, 8, false)),
		tool("c-first-low", reviewed(1, 2, false)),
		tool("d-first-high", reviewed(1, 9, false)),
		tool("e-second-main", reviewed(2, 5, true)),
		tool("f-second", reviewed(2, 7.9, false)),
		tool("g-untested", reviewed(1, 9, false), func(t *Tool) { t.Score = nil }),
		tool("h-unverified", reviewed(1, 9, false), func(t *Tool) { t.Verifiability = nil }),
		tool("i-unreviewed", reviewed(1, 9, false), func(t *Tool) { t.Body = "" }),
		tool("j-high-score", reviewed(2, 8, false)),
	)
	var got []string
	for _, i := range c.TopSet() {
		got = append(got, c.Tools[i].Slug)
	}
	want := []string{"d-first-high", "c-first-low", "b-high-score", "j-high-score", "e-second-main"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	var many []*Tool
	for i := range 310 {
		many = append(many, tool("t"+strings.Repeat("x", i%90)+string(rune('a'+i/90)), reviewed(1, 9, false)))
	}
	if n := len(with(many...).TopSet()); n != TopSetSize {
		t.Errorf("the top set has %d tools", n)
	}
}

func TestAnItemIsCompactJSONWithoutHTMLEscapes(t *testing.T) {
	got := string(wire.AppendJSON([]byte("x"), PriceItem{Slug: "a", Name: "<A & B>", Pricing: "payant", Price: "1 €/mois"}))
	if want := `x{"slug":"a","name":"<A & B>","pricing":"payant","price":"1 €/mois"}`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestEmbeddingsHashIsTheDocumentedOne(t *testing.T) {
	c := with(tool("a", func(t *Tool) { t.Body = "x" }))
	doc := c.EmbeddingsDoc(c.Tools[0], []Section{{"un", "Un\n\nTexte"}, {"deux", "Deux"}})
	// printf 'Un\n\nTexte\n\nDeux' | sha256sum
	if want := "sha256-9875d099eb00643595077b2150b0d54ec9d514ed25138047b66bbb65a601645d"; doc.Hash != want {
		t.Errorf("hash %s", doc.Hash)
	}
	if doc.ChunkCount != 2 || doc.Chunks[1].Metadata.CanonicalURL != "https://essai.example/avis/a#deux" || doc.Chunks[1].Metadata.Position != 1 {
		t.Errorf("document %+v", doc)
	}
	var keys map[string]any
	if err := json.Unmarshal(wire.AppendJSON(nil, doc), &keys); err != nil || len(keys) != 7 {
		t.Errorf("the document has the fields %v, %v", keys, err)
	}
}

func TestEditDistance(t *testing.T) {
	long := strings.Repeat("a", 3*MaxSlug)
	for _, c := range []struct {
		a, b string
		most int
		want int
	}{
		{"", "", 0, 0},
		{"a", "a", 0, 0},
		{"chat", "chien", 9, 3},
		{"dictafraze", "dictaphrase", 4, 3},
		{"ab", "ba", 2, 2},
		{"a", "abcdef", 2, 3},
		{"abcd", "wxyz", 1, 2},
		{long, long + "b", 1, 1},
		{"", "ab", 2, 2},
	} {
		got := EditDistance(c.a, c.b, c.most)
		if got != c.want && (got <= c.most || c.want <= c.most) {
			t.Errorf("EditDistance(%.20q, %.20q, %d) = %d; want %d", c.a, c.b, c.most, got, c.want)
		}
	}
}
