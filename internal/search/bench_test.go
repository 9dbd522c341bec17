package search

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/synthetic"
)

// The kinds of queries measured, drawn from the words and names of the catalogue.
var kinds = []struct {
	name string
	make func(r *rand.Rand, x *Index) string
}{
	{"name", func(r *rand.Rand, x *Index) string { return x.tools[r.IntN(len(x.tools))].Name }},
	{"word", func(r *rand.Rand, x *Index) string { return anyWord(r, x) + " " }},
	{"common words", func(r *rand.Rand, x *Index) string {
		return commonWord(r, x) + " " + commonWord(r, x) + " " + commonWord(r, x) + " "
	}},
	{"sentence", func(r *rand.Rand, x *Index) string {
		t := x.tools[r.IntN(len(x.tools))]
		return t.Tagline
	}},
	{"prefix of 2", func(r *rand.Rand, x *Index) string { return truncate(anyWord(r, x), 2) }},
	{"prefix of 4", func(r *rand.Rand, x *Index) string { return commonWord(r, x) + " " + truncate(anyWord(r, x), 4) }},
	{"typo", func(r *rand.Rand, x *Index) string { return mistype(r, longWord(r, x, 5)) }},
	{"two typos", func(r *rand.Rand, x *Index) string { return mistype(r, mistype(r, longWord(r, x, 9))) }},
	{"typos in three words", func(r *rand.Rand, x *Index) string {
		return mistype(r, longWord(r, x, 8)) + " " + mistype(r, longWord(r, x, 8)) + " " + mistype(r, longWord(r, x, 8))
	}},
	{"hostile", func(r *rand.Rand, x *Index) string {
		var words []string
		for range 40 {
			words = append(words, mistype(r, longWord(r, x, 9)))
		}
		return strings.Join(words, " ")
	}},
}

// anyWord draws a word with its frequency in the texts.
func anyWord(r *rand.Rand, x *Index) string {
	at := uint32(r.IntN(len(x.docs)))
	term, found := slices.BinarySearch(x.start, at)
	if !found {
		term--
	}
	for x.start[term] == x.start[term+1] {
		term++
	}
	return x.stems.at(term / 2)
}

func commonWord(r *rand.Rand, x *Index) string {
	for range 1000 {
		w := anyWord(r, x)
		if i, _ := x.stems.find(w); x.frequency(uint32(i)) > len(x.tools)/10 {
			return w
		}
	}
	return anyWord(r, x)
}

func longWord(r *rand.Rand, x *Index, length int) string {
	for {
		if w := x.forms.at(r.IntN(x.forms.len())); len(w) >= length {
			return w
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, tools := range []int{1_000, 10_000, 100_000} {
		for _, texts := range []string{"synthetic", "rich"} {
			var c *catalog.Catalog
			if texts == "rich" {
				c, _ = richCatalog(tools, 160_000, 1)
			} else {
				c = synthetic.Catalog(tools, 1)
			}
			x, err := Build(b.Context(), c)
			if err != nil {
				b.Fatal(err)
			}
			for _, kind := range kinds {
				b.Run(fmt.Sprintf("%d/%s/%s", tools, texts, kind.name), func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 2))
					var took []time.Duration
					for b.Loop() {
						text := kind.make(r, x)
						start := time.Now()
						x.Search(Query{Text: text, Limit: 20})
						took = append(took, time.Since(start))
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
					b.ReportMetric(float64(took[len(took)*95/100])/1e6, "p95-ms")
				})
			}
		}
	}
}

// BenchmarkBuild also reports the size of the index.
func BenchmarkBuild(b *testing.B) {
	const tools = 100_000
	rich, _ := richCatalog(tools, 160_000, 1)
	for name, c := range map[string]*catalog.Catalog{"synthetic": synthetic.Catalog(tools, 1), "rich": rich} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				before := heapInUse()
				x, err := Build(b.Context(), c)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(heapInUse()-before)/tools, "B/tool")
				b.ReportMetric(float64(x.forms.len()), "words")
				b.ReportMetric(float64(len(x.docs)), "postings")
			}
		})
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
