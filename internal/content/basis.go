package content

import (
	"cmp"
	"maps"
	"time"

	"palmares/internal/catalog"
)

// A basis is what decoding a file depends on, apart from its name and text.
type basis struct {
	declared categories
	days     dates
	zone     *time.Location
	site     string // the address of the catalogue
}

func (b basis) equal(o basis) bool {
	return maps.EqualFunc(b.declared, o.declared, (*catalog.Category).Same) &&
		(b.declared == nil) == (o.declared == nil) && b.days == o.days &&
		b.zone.String() == o.zone.String() && b.site == o.site
}

// categories are those that are declared, by slug; nil if catalogue.yaml could not be
// read.
type categories map[string]*catalog.Category

// dates say which days deserve a warning. Its zero value accepts them all.
type dates struct {
	today  string // days after it are in the future
	oldest string // price checks before it are too old; "" for none
	maxAge int    // days from oldest to today

	oldestTest string // tests before it are too old
}

// testAge is how many days old a test may be, if nothing else is said.
const testAge = 365

func newDates(today string, maxAge int) dates {
	c := dates{today: today, maxAge: maxAge}
	t, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return c
	}
	c.oldestTest = catalog.Day(t.AddDate(0, 0, -cmp.Or(maxAge, testAge)))
	if maxAge > 0 {
		c.oldest = c.oldestTest
	}
	return c
}

func (c dates) isFuture(day string) bool { return c.today != "" && day > c.today }
