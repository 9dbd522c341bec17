package snapshot

import (
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"palmares/internal/catalog"
)

// columns hold, by tool, what is looked up for all tools whenever a version is made. The tools
// are far apart in memory: a pass over a million of them takes a hundred times as long.
type columns struct {
	name                []uint64 // the first bytes of its collation key, see keyPrefix
	category            []int32  // index in the categories of the catalogue
	score, obsolescence []float64
	changed             []int32 // the last day on which its records tell a change
	traits              []uint8
}

// The traits of a tool.
const (
	hasAliases = 1 << iota
	hasLogo
	hasProfile // it is not for everybody
)

func makeColumns(n int) columns {
	return columns{
		name: make([]uint64, n), category: make([]int32, n), score: make([]float64, n), obsolescence: make([]float64, n),
		changed: make([]int32, n), traits: make([]uint8, n),
	}
}

// newColumns returns the columns of a catalogue, except for name, which sortTools sets.
func newColumns(c *catalog.Catalog) columns {
	x := makeColumns(len(c.Tools))
	const least = 1_000 // tools that are worth a goroutine
	parts := min(runtime.GOMAXPROCS(0), 1+len(c.Tools)/least)
	set := x.setter(c)
	var wait sync.WaitGroup
	for k := range parts {
		wait.Go(func() {
			for i := len(c.Tools) * k / parts; i < len(c.Tools)*(k+1)/parts; i++ {
				set(int32(i))
			}
		})
	}
	wait.Wait()
	return x
}

// next returns the columns of c, which follows the catalogue before.
func (x *columns) next(before, c *catalog.Catalog, m *catalog.Moves) columns {
	category := make([]int32, len(before.Categories)) // by former number
	for i := range category {
		category[i] = int32(slices.IndexFunc(c.Categories,
			func(now catalog.Category) bool { return now.Slug == before.Categories[i].Slug }))
	}
	next := makeColumns(len(c.Tools))
	for i := range int32(len(x.name)) {
		if to := m.To(i); to >= 0 {
			next.name[to], next.category[to], next.changed[to], next.traits[to] = x.name[i], category[x.category[i]], x.changed[i], x.traits[i]
			next.score[to], next.obsolescence[to] = x.score[i], x.obsolescence[i]
		}
	}
	set, keys := next.setter(c), newKeys()
	for _, i := range m.Fresh {
		set(i)
		next.name[i] = keyPrefix(keys.of(c.Tools[i].Name))
	}
	return next
}

// setter returns what sets the columns of a tool of c, except for name.
func (x *columns) setter(c *catalog.Catalog) func(i int32) {
	category := map[string]int32{}
	for i := range c.Categories {
		category[c.Categories[i].Slug] = int32(i)
	}
	return func(i int32) {
		t := c.Tools[i]
		x.category[i] = category[t.Category]
		x.score[i], x.obsolescence[i] = orNaN(t.Score), orNaN(t.Obsolescence)
		x.changed[i] = lastChange(t)
		x.traits[i] = trait(hasAliases, len(t.Aliases) > 0) | trait(hasLogo, t.Logo != "") |
			trait(hasProfile, t.ICP != catalog.EveryICP)
	}
}

func trait(bit uint8, has bool) uint8 {
	if has {
		return bit
	}
	return 0
}

func orNaN(figure *float64) float64 {
	if figure == nil {
		return math.NaN()
	}
	return *figure
}

// lastChange returns the last day on which the date or a history of a tool tells a change, in
// days from 1970; 0 if there is none.
func lastChange(t *catalog.Tool) int32 {
	last := t.UpdatedAt
	for i := range t.PriceHistory {
		last = max(last, t.PriceHistory[i].ChangedAt)
	}
	for i := range t.ScoreHistory {
		if s := &t.ScoreHistory[i]; s.ChangesScore() {
			last = max(last, s.ChangedAt)
		}
	}
	day, err := time.Parse(time.DateOnly, last)
	if err != nil {
		return 0
	}
	return int32(day.Unix() / (24 * 60 * 60))
}

// any reports whether a tool has the trait.
func (x *columns) any(trait uint8) bool {
	return slices.ContainsFunc(x.traits, func(t uint8) bool { return t&trait != 0 })
}

// with calls do for every tool that has the trait, in their order.
func (x *columns) with(trait uint8, do func(i int32)) {
	for i, t := range x.traits {
		if t&trait != 0 {
			do(int32(i))
		}
	}
}

// LatestTools returns, in the order of the catalogue, the tools with a change on one of the
// last days, of as many days as it takes to find n tools.
func (s *Snapshot) LatestTools(n int) []*catalog.Tool {
	count := map[int32]int{} // by day
	for _, day := range s.columns.changed {
		count[day]++
	}
	days := slices.Sorted(maps.Keys(count))
	var since int32
	for ; len(days) > 0 && n > 0; days = days[:len(days)-1] {
		since = days[len(days)-1]
		n -= count[since]
	}
	var latest []*catalog.Tool
	for i, day := range s.columns.changed {
		if day >= since {
			latest = append(latest, s.Catalog.Tools[i])
		}
	}
	return latest
}
