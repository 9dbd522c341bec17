package catalogdb

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"palmares/internal/catalog"
)

// eachWithClock runs a test on a database of both kinds, whose hours come by a clock that set sets.
func eachWithClock(t *testing.T, test func(t *testing.T, s *kit, set func(failer, time.Time))) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		if !s.SQL.Shared() {
			test(t, s, func(failer, time.Time) {})
			return
		}
		execute(t, s, `CREATE SCHEMA faked; CREATE TABLE faked.clock AS SELECT now() AS at;
			CREATE FUNCTION faked.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM faked.clock'`)
		s = open(t, dsn+"&search_path=public%2Cfaked%2Cpg_catalog")
		test(t, s, func(t failer, now time.Time) {
			execute(t, s, `UPDATE faked.clock SET at = $1::timestamptz`, now.Format(time.RFC3339Nano))
		})
	})
}

// An anyHour is an hour of the first days of a history.
func anyHour(t *rapid.T) string {
	return catalog.FormatTime(day(rapid.IntRange(0, 8).Draw(t, "hour")).Truncate(time.Hour))
}

// plan adds what is to come to an edition: tools with announced prices, new texts of them, their ends, and
// pages that come and go. What anyEdition makes is about others.
func plan(t *rapid.T, c *catalog.Catalog) *catalog.Catalog {
	c = clone(c)
	isPlanned := func(slug string) bool { return strings.HasPrefix(slug, "plan") }
	c.Tools = slices.DeleteFunc(c.Tools, func(t *catalog.Tool) bool { return isPlanned(t.Slug) })
	c.Pages = slices.DeleteFunc(slices.Clone(c.Pages), func(p catalog.Page) bool { return isPlanned(p.Slug) })
	c.Scheduled = nil
	price := rapid.SampledFrom([]string{"1 €/mois", "2 €/mois", "3 €/mois"})
	for i := range 3 {
		slug := fmt.Sprintf("plan-%d", i)
		anyTool := func() *catalog.Tool {
			x := tool(slug, price.Draw(t, "price"))
			for n := range rapid.IntRange(0, 2).Draw(t, "announced") {
				from := catalog.Day(day(4*n + rapid.IntRange(0, 3).Draw(t, "from")))
				x.Announced = append(x.Announced, catalog.Announcement{From: from, Price: price.Draw(t, "price")})
			}
			return x
		}
		anyPage := func() *catalog.Page {
			p := page(slug, price.Draw(t, "title"))
			if rapid.Bool().Draw(t, "ends") {
				p.UnpublishAt = anyHour(t)
			}
			return p
		}
		wait := func(what string, record any) {
			if rapid.IntRange(0, 2).Draw(t, what) == 0 {
				c.Scheduled = append(c.Scheduled, catalog.Scheduled{Due: anyHour(t), Record: record})
			}
		}
		if rapid.Bool().Draw(t, slug) {
			c.Tools = append(c.Tools, anyTool())
		}
		if rapid.Bool().Draw(t, "page "+slug) {
			c.Pages = append(c.Pages, *anyPage())
		}
		wait("text", anyTool())
		wait("page", anyPage())
		obituary := retired(slug)
		wait("end", &obituary)
	}
	c.Sort()
	catalog.SortScheduled(c.Scheduled)
	return c
}

// A planState is what a model knows of what plan makes: what is public, and what waits.
type planState struct {
	Public  map[string]string // prices and titles by name
	Future  map[string]string // what they announce, as "instant price, …", and the ends of pages
	Waiting []string          // "hour name" of what waits
}

// planOf returns the part of a catalogue that plan makes.
func planOf(c *catalog.Catalog, waiting []catalog.Scheduled) planState {
	s := planState{Public: map[string]string{}, Future: map[string]string{}}
	for _, t := range c.Tools {
		if strings.HasPrefix(t.Slug, "plan") {
			s.put(&catalog.Scheduled{Record: t})
		}
	}
	for i := range c.Pages {
		if strings.HasPrefix(c.Pages[i].Slug, "plan") {
			s.put(&catalog.Scheduled{Record: &c.Pages[i]})
		}
	}
	for i := range c.Retired {
		if strings.HasPrefix(c.Retired[i].Slug, "plan") {
			s.put(&catalog.Scheduled{Record: &c.Retired[i]})
		}
	}
	for i := range waiting {
		s.Waiting = append(s.Waiting, waiting[i].Due+" "+waiting[i].Name())
	}
	slices.Sort(s.Waiting)
	return s
}

// put makes a record public.
func (s *planState) put(r *catalog.Scheduled) {
	switch x := r.Record.(type) {
	case *catalog.Tool:
		s.Public[r.Name()] = x.Price
		var list []string
		for _, a := range x.Announced { // a day begins an hour earlier in Paris
			from, _ := time.Parse(time.DateOnly, a.From)
			list = append(list, catalog.FormatTime(from.Add(-time.Hour))+" "+a.Price)
		}
		s.future(r.Name(), strings.Join(list, ","))
	case *catalog.Page:
		s.Public[r.Name()] = x.Title
		s.future(r.Name(), x.UnpublishAt)
	case *catalog.Retired:
		s.Public[r.Name()] = string(x.Reason)
		delete(s.Public, "outils/"+x.Slug)
		s.future("outils/"+x.Slug, "")
	}
}

func (s *planState) future(name, text string) {
	if s.Future[name] = text; text == "" {
		delete(s.Future, name)
	}
}

// pass lets time pass: what is due until now happens, in the order of its hours. It returns them.
func (s *planState) pass(waiting []catalog.Scheduled, now time.Time) (left []catalog.Scheduled, hours []string) {
	until := catalog.FormatTime(now)
	for {
		next := until + "~" // after all that is due
		for _, w := range waiting {
			if w.Problem == "" {
				next = min(next, w.Due)
			}
		}
		for _, text := range s.Future {
			next = min(next, text[:len(until)])
		}
		if next > until && (len(hours) == 0 || hours[len(hours)-1] == until) {
			return waiting, hours
		}
		next = min(next, until) // in the end, what did not fit is tried again
		hours = append(hours, next)
		left = nil
		for _, w := range waiting {
			slug := w.Name()[strings.IndexByte(w.Name(), '/'):]
			switch _, isGone := s.Public["cimetiere"+slug]; {
			case w.Due > next:
				left = append(left, w)
			case isGone && strings.HasPrefix(w.Name(), "outils/"):
				w.Problem = "retired"
				left = append(left, w)
			default:
				s.put(&w)
			}
		}
		waiting = left
		for _, name := range slices.Sorted(maps.Keys(s.Future)) {
			first, rest, _ := strings.Cut(s.Future[name], ",")
			instant, price, _ := strings.Cut(first, " ")
			switch {
			case instant > next:
			case price == "":
				delete(s.Public, name)
				s.future(name, "")
			default:
				s.Public[name] = price
				s.future(name, rest)
			}
		}
	}
}

// check compares what is stored with the model.
func (r *undoRun) check(what string, want planState) {
	all, err := r.s.Catalogue.LoadAll(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	got := planOf(all.Catalog, all.Catalog.Scheduled)
	if d := diff.Diff(want, got); d != "" {
		r.Fatalf("%s on %s (-want +got):\n%s", what, r.now, d)
	}
	r.waiting = all.Catalog.Scheduled
}

// expect returns what a catalogue becomes by what is due in it now.
func (r *undoRun) expect(c *catalog.Catalog, waiting []catalog.Scheduled) (planState, []string) {
	s := planOf(c, nil)
	left, hours := s.pass(slices.Clone(waiting), r.now)
	s.Waiting = planOf(&catalog.Catalog{}, left).Waiting
	return s, hours
}

// advance lets time pass.
func (r *undoRun) advance() {
	r.now = r.now.Add(time.Duration(rapid.IntRange(0, 6).Draw(r.T, "half days")) * 12 * time.Hour)
	r.set(r.T, r.now)
	want, hours := r.expect(r.head().Catalog, r.waiting)
	for last := ""; ; {
		if due, err := r.s.Catalogue.due(r.Context(), r.s.SQL.Reads(), at(r.now), 0); err != nil || due.IsZero() {
			break
		}
		if rapid.Bool().Draw(r.T, "prepared") {
			if err := r.s.Catalogue.Prepare(r.Context(), at(r.now)); err != nil {
				r.Fatal(err)
			}
		}
		before := r.head().Version
		done, _, err := r.s.Catalogue.advance(r.Context(), at(r.now)) // as Advance does, which is last
		if err != nil {
			r.Fatal(err)
		}
		if r.load(); r.head().Version == before { // what came has gone at once
			continue
		}
		versions, err := r.s.Catalogue.Versions(r.Context(), 1)
		if err != nil || done.Version != before+1 || versions[0].Due <= last || !slices.Contains(hours, versions[0].Due) {
			r.Fatalf("version %d made itself at %q after %q, not at one of %q, %v", done.Version, versions[0].Due, last, hours, err)
		}
		last = versions[0].Due
		r.due[done.Version] = last
	}
	if done, err := r.s.Catalogue.Advance(r.Context(), at(r.now)); err != nil || len(done.Versions) > 0 {
		r.Fatalf("%+v was still due, %v", done.Versions, err)
	}
	r.check("advanced", want)
}

// forgotten returns a catalogue without what was due at an hour, "" for none.
func forgotten(c *catalog.Catalog, hour string) *catalog.Catalog {
	c = clone(c)
	for _, t := range c.Tools {
		t.Announced = slices.DeleteFunc(slices.Clone(t.Announced), func(a catalog.Announcement) bool {
			from, _ := time.Parse(time.DateOnly, a.From)
			return catalog.FormatTime(from.Add(-time.Hour)) <= hour
		})
	}
	for i := range c.Pages {
		if c.Pages[i].UnpublishAt <= hour {
			c.Pages[i].UnpublishAt = ""
		}
	}
	return c
}

// overtaken returns an edition without the announced prices that its tools have had before, by their
// histories, if their files have other prices since.
func overtaken(before, c *catalog.Catalog, now time.Time) *catalog.Catalog {
	c = clone(c)
	for _, t := range c.Tools {
		prior, price := before.Tool(t.Slug), t.Price
		t.Announced = slices.DeleteFunc(slices.Clone(t.Announced), func(a catalog.Announcement) bool {
			from, _ := time.Parse(time.DateOnly, a.From)
			if prior == nil || from.Add(-time.Hour).After(now) {
				return false
			}
			for _, e := range prior.PriceHistory {
				if e.ChangedAt <= a.From {
					if e.NewPrice == a.Price && e.OldPrice != price {
						return true
					}
					break
				}
			}
			price = a.Price
			return false
		})
	}
	return c
}
