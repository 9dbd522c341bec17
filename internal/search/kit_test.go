package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

// tool returns a tool with a name, a tagline and a review.
func tool(name, tagline, body string) *catalog.Tool {
	key, _ := nameKey(name)
	return &catalog.Tool{Slug: key, Name: name, Tagline: tagline, Body: body}
}

func index(t testing.TB, tools ...*catalog.Tool) (*Index, *catalog.Catalog) {
	t.Helper()
	c := &catalog.Catalog{Tools: tools}
	c.Sort()
	x, err := Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return x, c
}

// differences returns the fields in which two indexes differ.
func differences(a, b *Index) []string {
	var fields []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Index]()) {
		value := func(x *Index) any {
			f := reflect.ValueOf(x).Elem().FieldByIndex(field.Index)
			return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Interface() // readable although not exported
		}
		if field.Name != "workspaces" && !field.Anonymous && !reflect.DeepEqual(value(a), value(b)) {
			fields = append(fields, field.Name)
		}
	}
	return fields
}

// find returns the names of all hits, best first.
func find(x *Index, text string) []string {
	var names []string
	for _, hit := range x.Search(Query{Text: text, Limit: len(x.tools)}).Hits {
		names = append(names, x.tools[hit.Tool].Name)
	}
	return names
}

// vocabulary invents size words with plurals and accents.
func vocabulary(r *rand.Rand, size int) []string {
	syllables := strings.Fields(`a ba bé bri cha cé cho cla co cra da dé di dou dra é en er fa fé flo fra ga gé gi gra
		gue ha hé i in ja jou ka la lé li lo lu ma mé mi mo mu na né ni nou o on ou pa pé pi plo por pra quo ra ré ri ro
		rou sa sé si so sta su ta té ti to tra tu u un va vé vi vo vra xa y za zo`)
	endings := []string{"", "s", "e", "es", "er", "ée", "és", "ation", "ement", "eur", "euse", "ique", "iques", "ité"}
	words := make([]string, 0, size)
	seen := map[string]bool{}
	for len(words) < cap(words) {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		b.WriteString(endings[r.IntN(len(endings))])
		if w := b.String(); !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}

// richCatalog invents a catalogue whose reviews use a large vocabulary, with the
// word frequencies of real texts (Zipf's law) and elisions. It also returns the
// words, the most frequent first.
func richCatalog(tools, size int, seed uint64) (*catalog.Catalog, []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	words := vocabulary(r, size)
	word := func() string {
		// Zipf with exponent 1: a rank whose logarithm is uniform.
		return words[int(math.Pow(float64(len(words)), r.Float64()))-1]
	}
	var text strings.Builder
	sentence := func(length int) string {
		text.Reset()
		for i := range length {
			if i > 0 {
				text.WriteByte(' ')
			}
			switch r.IntN(8) {
			case 0:
				text.WriteString("l’")
			case 1:
				text.WriteString("de ")
			}
			text.WriteString(word())
		}
		text.WriteByte('.')
		return text.String()
	}
	c := &catalog.Catalog{}
	for i := range tools {
		var body strings.Builder
		if r.IntN(100) < 70 {
			for range 4 {
				fmt.Fprintf(&body, "## %s\n\n", sentence(3))
				for range 3 {
					body.WriteString(sentence(5+r.IntN(45)) + "\n\n")
				}
			}
		}
		name := words[r.IntN(len(words))]
		if r.IntN(2) == 0 {
			name += " " + words[r.IntN(len(words))]
		}
		t := &catalog.Tool{Slug: fmt.Sprintf("outil-%07d", i), Name: name, Tagline: sentence(8), Body: body.String()}
		if r.IntN(5) > 0 {
			score := float64(r.IntN(101)) / 10
			t.Score = &score
		}
		c.Tools = append(c.Tools, t)
	}
	return c, words
}

// mistype returns a word with one typo.
func mistype(r *rand.Rand, word string) string {
	b := []byte(word)
	i := r.IntN(len(b))
	other := byte('a' + r.IntN(26))
	switch r.IntN(4) {
	case 0:
		return string(b[:i]) + string(b[i+1:])
	case 1:
		return string(b[:i]) + string(other) + string(b[i:])
	case 2:
		b[i] = other
	default:
		if i+1 < len(b) {
			b[i], b[i+1] = b[i+1], b[i]
		}
	}
	return string(b)
}
