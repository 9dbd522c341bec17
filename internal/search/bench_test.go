package search

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"syscall"
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

var benchTools = flag.Int("bench.tools", 100_000, "tools of the catalogue of BenchmarkNext; a million take 8 GB")

// BenchmarkNext prints how much of the time of Build it takes to index a catalogue of which
// one tool in a hundred has changed, both in seconds on the clock and in processor time.
func BenchmarkNext(b *testing.B) {
	tools := *benchTools
	before := synthetic.Catalog(tools, 1)
	after := *before
	after.Tools = slices.Clone(before.Tools)
	other := synthetic.Catalog(tools/100, 2)
	s := Step{Moved: make([]int32, tools)}
	for i := range s.Moved {
		if s.Moved[i] = int32(i); i%100 == 50 {
			s.Moved[i] = -1
			s.Fresh = append(s.Fresh, int32(i))
			slug := after.Tools[i].Slug
			after.Tools[i] = other.Tools[i/100]
			after.Tools[i].Slug = slug
		}
	}
	b.Run(fmt.Sprint(tools), func(b *testing.B) {
		var build, next spent
		for b.Loop() {
			x, err := build.on(func() (*Index, error) { return Build(b.Context(), before) })
			if err == nil {
				_, err = next.on(func() (*Index, error) { return x.Next(b.Context(), &after, s) })
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(build.clock.Seconds()/float64(b.N), "build-s")
		b.ReportMetric(build.processor.Seconds()/float64(b.N), "build-cpu-s")
		b.ReportMetric(next.clock.Seconds()/float64(b.N), "next-s")
		b.ReportMetric(next.processor.Seconds()/float64(b.N), "next-cpu-s")
		b.ReportMetric(build.clock.Seconds()/next.clock.Seconds(), "build/next")
		b.ReportMetric(build.processor.Seconds()/next.processor.Seconds(), "build/next-cpu")
	})
}

// spent adds up the time of something.
type spent struct{ clock, processor time.Duration }

func (s *spent) on(make func() (*Index, error)) (*Index, error) {
	runtime.GC()
	start, before := time.Now(), processorTime()
	x, err := make()
	s.clock += time.Since(start)
	s.processor += processorTime() - before
	return x, err
}

// processorTime returns what the process has used of all processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
