// Package synthetic invents catalogues of any size: to try the service with,
// and to measure it with a million tools that no editor had to write.
//
// The same size and seed give the same catalogue on every machine and with every
// release of Go. So nothing here asks a clock or walks a map, figures are made
// from integers, and only the PCG generator is taken from the standard library:
// its sequence is specified, what other functions make of a sequence is not.
// Every field is in use, and every optional one is sometimes left out, because a
// catalogue that is too tidy tests nothing.
package synthetic

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"palmares/internal/catalog"
)

// The days of a catalogue lie in the daysCovered days before lastDay. They are
// fixed: a catalogue that follows the calendar is not the same bytes tomorrow.
const daysCovered = 2200

var lastDay = time.Date(2026, time.June, 30, 0, 0, 0, 0, time.UTC)

// Catalog invents a sorted catalogue of that many active tools (0 or more), with
// about one comparison for twenty of them and one retired tool for twenty-five.
func Catalog(tools int, seed uint64) *catalog.Catalog {
	m := &maker{
		pcg:  rand.NewPCG(seed, 0x70616c6d61726573),
		next: make(map[string]int, tools+tools/16),
		days: make([]string, daysCovered),
	}
	for i := range m.days {
		m.days[i] = catalog.Day(lastDay.AddDate(0, 0, i+1-daysCovered))
	}

	c := &catalog.Catalog{Name: "Palmarès synthétique", URL: "https://synthetique.example"}
	for i := range trades {
		c.Categories = append(c.Categories, catalog.Category{Slug: trades[i].slug, Label: trades[i].label})
	}
	c.Tools = slices.Grow(c.Tools, tools)
	for range tools {
		c.Tools = append(c.Tools, m.tool(c.Tools))
	}
	c.Comparisons = m.comparisons(c.Tools, tools/20)
	for i := range tools / 25 {
		c.Retired = append(c.Retired, m.retired(c.Tools, catalog.Reasons[i%len(catalog.Reasons)]))
	}
	c.Sort()
	return c
}

// A maker holds the state of one invention: the stream of chance, the slugs given
// out so far, and a buffer in which texts grow.
type maker struct {
	pcg  *rand.PCG
	next map[string]int // by slug in use, the number that tells its next namesake apart
	days []string       // oldest first
	text []byte
}

// below gives a number from 0 to n-1.
func (m *maker) below(n int) int {
	high, _ := bits.Mul64(m.pcg.Uint64(), uint64(n))
	return int(high)
}

// between gives a number from low to high, both included.
func (m *maker) between(low, high int) int { return low + m.below(high-low+1) }

func (m *maker) chance(percent int) bool { return m.below(100) < percent }

func pick[T any](m *maker, list []T) T { return list[m.below(len(list))] }
