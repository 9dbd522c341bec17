// Package synthetic generates catalogues of any size, to try the service and to
// measure it with up to a million tools.
//
// The same size and seed produce the same catalogue on every machine and with
// every release of Go. The package therefore uses no clock and no map iteration,
// computes figures from integers, and takes only the PCG generator from the
// standard library: its sequence is specified, the functions on top of it
// are not. Every field is used, and every optional one is sometimes omitted, because
// too regular a catalogue tests nothing.
package synthetic

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
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
	c := m.magazine()
	c.Tools = slices.Grow(c.Tools, tools)
	for range tools {
		c.Tools = append(c.Tools, m.tool(c))
	}
	if tools > 0 {
		c.Articles[0].Tools, c.Articles[0].Category = []string{c.Tools[0].Slug}, c.Tools[0].Category
	}
	c.Comparisons = m.comparisons(c.Tools, tools/20)
	for i := range tools / 25 {
		c.Retired = append(c.Retired, m.retired(c, catalog.Reasons[i%len(catalog.Reasons)]))
	}
	c.Sort()
	return c
}

// A generator holds the state of one call of Catalog: the random source, the slugs
// used so far, and a buffer for texts. Its draws are in a fixed order: any other order is another catalogue.
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

// some returns up to three elements of a list.
func some(m *generator, list []string) (some []string) {
	for _, x := range list {
		if len(some) < 3 && m.chance(45) {
			some = append(some, x)
		}
	}
	return some
}

// figure returns a figure from 0 to 10 with one decimal, roughly normally
// distributed around a mean in tenths.
func (m *generator) figure(mean int) *float64 {
	for range 4 {
		mean += m.between(-11, 11)
	}
	return new(float64(min(max(mean, 0), 100)) / 10)
}

// syllables have accents, for the order of names.
var syllables = strings.Fields(`ba bé bri bou ça chan cli cô cra da dè dia dra él fa fê flo fré ga gé gla guî ha jou
	ka lé li lou mâ mi mo na né nu œu pla pré qua ré ri sa sé so ta tè tra tu va vî vo xi ya zo`)

// name generates a name and a slug, which need not be unique.
func (m *generator) name() (name, slug string) {
	for range m.between(3, 4) {
		name += pick(m, syllables)
	}
	first, size := utf8.DecodeRuneInString(name)
	switch m.below(20) {
	case 0:
		name = strings.ToUpper(name)
	case 1: // lower case
	default:
		name = string(unicode.ToUpper(first)) + name[size:]
	}
	if m.chance(45) {
		name += pick(m, []string{" ", " ", "\u00a0"}) + pick(m, texts["second words"])
	}
	return name, markdown.Slug(name)
}

// unique returns the slug itself the first time, and numbered ones after the first.
// Active tools, aliases and retired tools share one namespace.
func (m *generator) unique(slug string) string {
	n := m.next[slug]
	if n == 0 {
		m.next[slug] = 2
		return slug
	}
	for ; ; n++ {
		numbered := slug + "-" + strconv.Itoa(n)
		if m.next[numbered] == 0 {
			m.next[slug], m.next[numbered] = n+1, 2
			return numbered
		}
	}
}
