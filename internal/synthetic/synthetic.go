// Package synthetic generates catalogues of any size, to try the service and to
// measure it with up to a million tools.
//
// The same size and seed produce the same catalogue on every machine and with
// every release of Go. The package therefore uses no clock and no map iteration,
// computes figures from integers, and takes only the PCG generator from the
// standard library: its sequence is specified, that of the functions on top of it
// is not. Every field is used, and every optional one is sometimes omitted, because
// too regular a catalogue tests nothing.
package synthetic

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"palmares/internal/catalog"
)

// The dates of a catalogue are in the daysCovered days up to lastDay. They are
// fixed, because the bytes must not depend on the current date.
const daysCovered = 2200

var lastDay = time.Date(2026, time.June, 30, 0, 0, 0, 0, time.UTC)

// Catalog generates a sorted catalogue of the given number of active tools, with
// about one comparison per twenty tools and one retired tool per twenty-five.
func Catalog(tools int, seed uint64) *catalog.Catalog {
	m := &generator{
		pcg:  rand.NewPCG(seed, 0x70616c6d61726573),
		next: make(map[string]int, tools+tools/16),
		days: make([]string, daysCovered),
	}
	for i := range m.days {
		m.days[i] = catalog.Day(lastDay.AddDate(0, 0, i+1-daysCovered))
	}

	c := &catalog.Catalog{Name: "Palmarès synthétique", URL: "https://synthetique.example"}
	for i := range fields {
		c.Categories = append(c.Categories, catalog.Category{Slug: fields[i].slug, Label: fields[i].label})
	}
	c.Tools = slices.Grow(c.Tools, tools)
	for range tools {
		c.Tools = append(c.Tools, m.tool(c.Tools))
	}
	c.Comparisons = m.comparisons(c.Tools, tools/20)
	for i := range tools / 25 {
		c.Retired = append(c.Retired, m.retired(c.Tools, catalog.Reasons[i%len(catalog.Reasons)]))
	}
	m.addEditorial(c)
	c.Sort()
	return c
}

// A generator holds the state of one call of Catalog: the random source, the slugs
// used so far, and a buffer for texts.
type generator struct {
	pcg  *rand.PCG
	next map[string]int // by slug in use, the suffix of the next tool with that name
	days []string       // oldest first
	text bytes.Buffer
}

// below returns a random number from 0 to n-1.
func (m *generator) below(n int) int {
	high, _ := bits.Mul64(m.pcg.Uint64(), uint64(n))
	return int(high)
}

// between returns a random number from low to high, inclusive.
func (m *generator) between(low, high int) int { return low + m.below(high-low+1) }

func (m *generator) chance(percent int) bool { return m.below(100) < percent }

func pick[T any](m *generator, list []T) T { return list[m.below(len(list))] }
