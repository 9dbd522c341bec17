package catalogdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/wire"
)

// undo takes a version back and returns what that left.
func undo(t failer, s *kit, version int64, force bool, on int) (*Undo, Publication) {
	t.Helper()
	u, err := s.Catalogue.Undo(t.Context(), version, force)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Catalogue.Publish(t.Context(), u.Next, PublishOptions{Now: at(day(on)), AllowRemovals: true, Undo: u})
	if err != nil {
		t.Fatal(err)
	}
	return u, p
}

// sameRecords compares two catalogues, histories and what is kept of former tools included.
func sameRecords(t *testing.T, what string, want, got *catalog.Catalog) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestAVersionIsUndoneAsIfItHadNeverBeen(t *testing.T) {
	before := func() *catalog.Catalog {
		c := withPictures(picture("images/a.png", "one"))
		c.Tools[0].Logo = "images/a.png"
		c.Tools = append(c.Tools, tool("b", "2 €/mois"), tool("c", "3 €/mois"))
		for _, x := range c.Tools {
			x.Score = ptr(7)
		}
		c.Comparisons = []catalog.Comparison{duel("a-vs-b", true), duel("b-vs-a", false)}
		c.Pages = []catalog.Page{{Slug: "methode", Title: "Méthode", Menu: catalog.MenuFooter, Body: "Nous essayons."}}
		return c
	}
	for name, test := range map[string]struct {
		change func(*catalog.Catalog)
		events string // of the undo
		alias  string // that b gets
	}{
		"price and score": {
			change: func(c *catalog.Catalog) { c.Tools[1].Price, c.Tools[1].Score = "9 €/mois", ptr(3) },
			events: "tool.updated b\npricing.updated b",
		},
		"rename": {
			change: func(c *catalog.Catalog) {
				c.Tools[1].Slug, c.Tools[1].Aliases = "neuf", []string{"b"}
				c.Comparisons[0].ToolB, c.Comparisons[0].Winner = "neuf", "neuf"
			},
			events: "tool.updated b\ncomparatif.updated a-vs-b", alias: "neuf",
		},
		"merge": {
			change: func(c *catalog.Catalog) {
				c.Tools, c.Comparisons = slices.Delete(c.Tools, 1, 2), nil
				c.Tools[1].Aliases = []string{"b"}
			},
			events: "tool.created b\ntool.updated c\ncomparatif.published a-vs-b",
		},
		"retirement": {
			change: func(c *catalog.Catalog) {
				c.Tools, c.Comparisons = slices.Delete(c.Tools, 1, 2), nil
				c.Retired = []catalog.Retired{retired("b")}
			},
			events: "tool.restored b\ncomparatif.published a-vs-b",
		},
		"addition": {
			change: func(c *catalog.Catalog) { c.Tools = append(c.Tools, tool("d", "4 €/mois")) },
			events: "tool.removed d",
		},
		"pages, drafts, settings and pictures": {
			change: func(c *catalog.Catalog) {
				c.Pages[0].Body, c.Comparisons[1].Published, c.Settings.Headline = "Non.", true, "Non"
				c.Pictures, c.Tools[0].Logo = nil, ""
			},
			events: "tool.updated a\ncomparatif.unpublished b-vs-a\npage.updated methode",
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *kit) {
				publishAll(t, s, before(), 0)
				second := before()
				second.Tools[1].Price = "5 €/mois" // a history that stays
				publishAll(t, s, second, 1)
				good := loaded(t, s)
				third := before()
				third.Tools[1].Price = "5 €/mois"
				test.change(third)
				third.Sort()
				publishAll(t, s, third, 2)
				bad := loaded(t, s)

				u, p := undo(t, s, 3, false, 3)
				undone := loaded(t, s)
				want := *good.Catalog
				if test.alias != "" {
					want.Tools = slices.Clone(want.Tools)
					b := *want.Tools[1]
					b.Aliases, b.FirstSlug = []string{test.alias}, "b"
					want.Tools[1] = &b
				}
				sameRecords(t, "undone", &want, undone.Catalog)
				if got := strings.TrimSuffix(types(events(t, s), 4), "\ncatalog.updated"); p.Version != 4 || got != test.events || len(u.Left) > 0 {
					t.Errorf("version %d, events:\n%s\nleft: %v", p.Version, got, u.Left)
				}
				followed(t, s, bad, undone)

				undo(t, s, 4, false, 4)
				again := loaded(t, s)
				sameRecords(t, "redone", bad.Catalog, again.Catalog)
				if again.Feed.State != bad.Feed.State {
					t.Error("the state is another one")
				}
				if log, err := s.Catalogue.Versions(t.Context(), 2); err != nil || log[0].Undoes != 4 || log[1].Undoes != 3 {
					t.Errorf("log: %+v, %v", log, err)
				}
			})
		})
	}
}

func TestWhatWasChangedSinceIsLeftUnlessForced(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		with := func(change func(*catalog.Catalog)) *catalog.Catalog {
			c := catalogue(tool("a", "1 €/mois"), tool("b", "2 €/mois"), tool("c", "3 €/mois"))
			change(c)
			c.Sort()
			return c
		}
		publishAll(t, s, with(func(*catalog.Catalog) {}), 0)
		first := loaded(t, s)
		bad := func(c *catalog.Catalog) {
			c.Tools[0].Price, c.Tools[2].Price = "9 €/mois", "9 €/mois"
			c.Tools[1].Slug, c.Tools[1].Aliases = "neuf", []string{"b"}
		}
		publishAll(t, s, with(bad), 1)
		publishAll(t, s, with(func(c *catalog.Catalog) { // a colleague edits one, and the renamed one
			bad(c)
			c.Tools[0].Tagline, c.Tools[1].Tagline = "Mieux", "Mieux"
		}), 2)
		third := loaded(t, s)
		u, p := undo(t, s, 2, false, 3)
		want := []Left{{"outils/a", 3}, {"outils/b", 3}, {"outils/neuf", 3}}
		if diff := cmp.Diff(want, u.Left); diff != "" || p.Version != 4 {
			t.Errorf("version %d leaves (-want +got):\n%s", p.Version, diff)
		}
		now := loaded(t, s).Catalog
		if now.Tool("c").Price != "3 €/mois" || now.Tool("a").Tagline != "Mieux" || now.Tool("neuf") == nil || now.Tool("b") != nil {
			t.Errorf("undone: %s", wire.AppendJSON(nil, now.Tools))
		}
		undo(t, s, 4, false, 3)
		sameRecords(t, "redone", third.Catalog, loaded(t, s).Catalog)
		undo(t, s, 2, true, 3)
		forced := loaded(t, s).Catalog
		if got := forced.Tool("b").Aliases; !slices.Equal(got, []string{"neuf"}) {
			t.Errorf("b has the aliases %q", got)
		}
		forced.Tool("b").Aliases, forced.Tool("b").FirstSlug = nil, ""
		sameRecords(t, "forced", first.Catalog, forced)
		// What is as it was before needs no undo; only b has another alias.
		if u, p := undo(t, s, 2, false, 3); len(u.Left) != 1 || p.Version != 6 {
			t.Errorf("again: version %d, left %v", p.Version, u.Left)
		}
	})
}

func TestAnUndoKeepsTheRevisionAndFitsOneVersion(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		from := Source{Revision: "0123456789abcdef", Author: "Ada", Token: "ci", Clean: true}
		for i, price := range []string{"1 €/mois", "2 €/mois"} {
			opts := PublishOptions{Now: at(day(i)), Source: from}
			if _, err := s.Catalogue.Publish(t.Context(), catalogue(tool("a", price)), opts); err != nil {
				t.Fatal(err)
			}
		}
		u, err := s.Catalogue.Undo(t.Context(), 2, false)
		if err != nil || u.Source != from {
			t.Fatalf("%+v, %v", u, err)
		}
		late := *u
		if _, err := s.Catalogue.Publish(t.Context(), u.Next, PublishOptions{
			Now: at(day(2)), Undo: u, Source: Source{Token: "desk"},
		}); err != nil {
			t.Fatal(err)
		}
		head, err := s.Catalogue.Head(t.Context())
		if want := (Head{Version: 3, By: "Ada", Revision: from.Revision, Author: "Ada", Clean: true, Since: 3}); err != nil || head != want {
			t.Errorf("%+v, %v; want %+v", head, err, want)
		}
		if log, err := s.Catalogue.Versions(t.Context(), 1); err != nil || log[0].Token != "desk" {
			t.Errorf("%+v, %v", log, err)
		}
		if _, err := s.Catalogue.Publish(t.Context(), late.Next, PublishOptions{Now: at(day(3)), Undo: &late}); !errors.Is(err, ErrUndoMoved) {
			t.Errorf("an undo of another version: %v", err)
		}
		for version, want := range map[int64]error{-1: ErrNoVersion, 0: ErrNoVersion, 1: ErrCannotUndo, 4: ErrNoVersion} {
			if _, err := s.Catalogue.Undo(t.Context(), version, false); !errors.Is(err, want) {
				t.Errorf("version %d: %v", version, err)
			}
		}
		for v := 4; v <= 52; v++ {
			publish(t, s, catalogue(tool("a", fmt.Sprintf("%d €/mois", v))), day(v))
		}
		if _, err := s.Catalogue.Undo(t.Context(), 2, false); !errors.Is(err, ErrCannotUndo) {
			t.Errorf("version 2 of 52: %v", err)
		}
		if u, err := s.Catalogue.Undo(t.Context(), 3, true); err != nil || u.Next.Tools[0].Price != "2 €/mois" {
			t.Errorf("version 3 of 52: %+v, %v", u, err)
		}
	})
}

// recordsByName returns the records of a catalogue as text, without what other records change in
// them, pictures and the address of the site; and without their aliases, which it returns apart.
func recordsByName(c *catalog.Catalog) (records map[string]string, aliases map[string][]string) {
	records, aliases = map[string]string{}, map[string][]string{}
	add := func(r record.Record, names []string) {
		name := r.Kind.Name + "/" + r.Slug
		records[name] = string(r.Append(nil, nil))
		aliases[name] = names
	}
	for _, t := range c.Tools {
		own := *t
		own.Aliases, own.FirstSlug = nil, ""
		add(record.Of(&catalog.Catalog{URL: "https://site.example"}, &own), t.Aliases)
	}
	for _, x := range c.Comparisons {
		names := x.Aliases
		x.Aliases, x.FirstSlug = nil, ""
		add(record.Of(c, &x), names)
	}
	for i := range c.Retired {
		add(record.Of(c, &c.Retired[i]), nil)
	}
	for i := range c.Pages {
		add(record.Of(c, &c.Pages[i]), nil)
	}
	add(record.Of(c, c), nil)
	for slug, p := range c.Past {
		records["past/"+slug] = string(record.Of(c, p).AppendOnly(nil, nil, catalog.IsKept))
	}
	return records, aliases
}

// isWhole reports whether a folder of the catalogue could be published: an undo of a part may leave
// names that two records claim, and comparisons without their tools.
func isWhole(c *catalog.Catalog) bool {
	taken := map[string]bool{}
	isFree := func(name string) bool {
		was := taken[name]
		taken[name] = true
		return !was
	}
	for _, t := range c.Tools {
		for _, name := range append([]string{t.Slug}, t.Aliases...) {
			if !isFree(name) {
				return false
			}
		}
	}
	for _, r := range c.Retired {
		if !isFree(r.Slug) {
			return false
		}
	}
	for _, x := range c.Comparisons {
		if a, b := c.Tool(x.ToolA), c.Tool(x.ToolB); a == nil || b == nil || a.Score == nil || b.Score == nil {
			return false
		}
		for _, name := range append([]string{x.Slug}, x.Aliases...) {
			if !isFree("x " + name) {
				return false
			}
		}
	}
	return true
}

// An undoRun is a history of publications, hours and undos, and what each version was.
type undoRun struct {
	*rapid.T
	s        *kit
	set      func(failer, time.Time) // the clock of the database
	now      time.Time
	versions []*Published     // by number
	due      map[int64]string // when versions made themselves
	waiting  []catalog.Scheduled
}

func (r *undoRun) head() *Published { return r.versions[len(r.versions)-1] }

// load reads the version that was just published, and checks the way there.
func (r *undoRun) load() {
	p, err := r.s.Catalogue.Load(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	if p.Version == r.head().Version {
		return
	}
	followed(r, r.s, r.head(), p)
	if want := expectedState(r, p.Catalog); p.Feed.State != want {
		r.Fatalf("the state is %s; want %s", p.Feed.State, want)
	}
	events(r, r.s) // has no gap
	r.versions = append(r.versions, p)
}

// undo takes a version back and compares what that leaves with the versions that the run knows.
func (r *undoRun) undo(version int, force bool) {
	u, err := r.s.Catalogue.Undo(r.Context(), int64(version), force)
	if err != nil {
		r.Fatal(err)
	}
	now, nowAliases := recordsByName(r.head().Catalog)
	before, beforeAliases := recordsByName(r.versions[version-1].Catalog)
	after, afterAliases := recordsByName(r.versions[version].Catalog)
	restored, _ := recordsByName(forgotten(r.versions[version-1].Catalog, r.due[int64(version)]))
	got, gotAliases := recordsByName(u.Next)
	left := map[string]bool{}
	for _, l := range u.Left {
		folder, slug, _ := strings.Cut(strings.Replace(l.Name, catalog.SettingsFile, "catalogue/catalogue", 1), "/")
		left[strings.TrimSuffix(folder, "s")+"/"+slug] = true
	}
	names := map[string]bool{}
	for _, records := range []map[string]string{now, before, got} {
		for name := range records {
			names[name] = true
		}
	}
	for name := range names {
		isOurs := before[name] != after[name] || !slices.Equal(beforeAliases[name], afterAliases[name])
		isLater := after[name] != now[name] || !slices.Equal(afterAliases[name], nowAliases[name])
		isSame := before[name] == now[name] && slices.Equal(beforeAliases[name], nowAliases[name])
		switch {
		case strings.HasPrefix(name, "past/"): // has no file, and goes with its tool
		case isOurs && isLater && !isSame && !force && !left[name]:
			r.Fatalf("undo %d of %d: %s was changed since and is not left: %v", version, r.head().Version, name, u.Left)
		case isOurs && !left[name] && got[name] != restored[name]:
			r.Fatalf("undo %d of %d: %s is %s; want %s", version, r.head().Version, name, got[name], restored[name])
		case (left[name] || !isOurs && !force) && got[name] != now[name]:
			r.Fatalf("undo %d of %d: %s is %s; want it to stay %s", version, r.head().Version, name, got[name], now[name])
		}
		for _, alias := range gotAliases[name] { // former names of today
			kind, _, _ := strings.Cut(name, "/")
			isKnown := slices.Contains(beforeAliases[name], alias) || slices.Contains(nowAliases[name], alias)
			if !isKnown && (now[kind+"/"+alias] == "" || got[kind+"/"+alias] != "") {
				r.Fatalf("undo %d of %d: %s has the alias %s", version, r.head().Version, name, alias)
			}
		}
	}
	if !isWhole(u.Next) {
		return
	}
	waiting := slices.Clone(r.waiting)
	for i := range waiting {
		waiting[i].Problem = "" // it may fit again
	}
	want, _ := r.expect(u.Next, waiting)
	if _, err := r.s.Catalogue.Publish(r.Context(), u.Next, PublishOptions{Now: at(r.now), AllowRemovals: true, Undo: u}); err != nil {
		r.Fatal(err)
	}
	r.load()
	r.check(fmt.Sprintf("version %d undone", version), want)
}

// Any history of publications, hours that come and undos leaves what a model of its versions and plans
// says; undoing an undo restores the version.
func TestAnyHistoryOfPublicationsHoursAndUndosIsWhatItsVersionsWere(t *testing.T) {
	eachWithClock(t, func(t *testing.T, s *kit, set func(failer, time.Time)) {
		rapid.Check(t, func(rt *rapid.T) {
			wipe(rt, s)
			r := &undoRun{T: rt, s: s, set: set, now: day(0), due: map[int64]string{}}
			set(rt, r.now)
			empty, err := s.Catalogue.Load(rt.Context())
			if err != nil {
				rt.Fatal(err)
			}
			r.versions = []*Published{empty}
			edition := anyEdition(rt)
			for range rapid.IntRange(2, 8).Draw(rt, "steps") {
				r.advance() // which a publication does first, too
				head := int(r.head().Version)
				if head < 2 || rapid.Bool().Draw(rt, "publish") {
					edition = edited(rt, edition)
					if rapid.IntRange(0, 3).Draw(rt, "plan") > 0 {
						edition = plan(rt, edition)
					}
					want, _ := r.expect(overtaken(r.head().Catalog, edition, r.now), edition.Scheduled)
					opts := PublishOptions{Now: at(r.now), AllowRemovals: true, Pictures: aPicture{}}
					if _, err := s.Catalogue.Publish(rt.Context(), clone(edition), opts); err != nil {
						rt.Fatal(err)
					}
					r.load()
					r.check("published", want)
					continue
				}
				r.undo(rapid.IntRange(2, head).Draw(rt, "version"), rapid.IntRange(0, 3).Draw(rt, "force") == 0)
				if undone := int(r.head().Version); undone > head {
					r.undo(undone, false)
					if again := r.head(); again.Feed.State != r.versions[head].Feed.State {
						rt.Fatalf("undoing version %d does not restore version %d (-want +got):\n%s", undone, head,
							cmp.Diff(r.versions[head].Catalog, again.Catalog, cmpEmpty))
					}
				}
			}
		})
	})
}

func TestWhatHappenedByItselfIsUndoneForGood(t *testing.T) {
	s := open(t, databases.SQLite(t)) // the clock of the test decides there
	first := scheduled("2026-11-19T23:00:00Z", later)
	first.Tools[0].Announced = []catalog.Announcement{{From: "2026-11-20", Price: "9 €/mois"}, {From: "2099-01-01", Price: "10 €/mois"}}
	first.Pages = []catalog.Page{*page("salon", "Salon")}
	first.Pages[0].UnpublishAt = "2026-11-19T23:00:00Z" // midnight in Paris
	publish(t, s, first, day(0))
	before := loaded(t, s).Catalog
	if done := advance(t, s, day(5)); len(done.Versions) != 1 {
		t.Fatalf("%+v", done)
	}
	made := loaded(t, s).Catalog
	if len(made.Pages) != 1 || made.Pages[0].Slug != "page-0" || made.Tools[0].Price != "9 €/mois" {
		t.Fatalf("made: %+v", made)
	}
	undo(t, s, 2, false, 6)
	if done := advance(t, s, day(7)); len(done.Versions) > 0 {
		t.Errorf("happened again: %+v", done)
	}
	want := *before
	a, salon := *before.Tools[0], before.Pages[0]
	a.Announced, salon.UnpublishAt = a.Announced[1:], ""
	want.Tools, want.Pages = []*catalog.Tool{&a}, []catalog.Page{salon}
	sameRecords(t, "undone", &want, loaded(t, s).Catalog)
	planned, err := s.Catalogue.Planned(t.Context())
	if err != nil || len(planned) != 2 || planned[1].Name != "pages/page-1" && planned[0].Name != "pages/page-1" {
		t.Errorf("planned: %+v, %v", planned, err)
	}
}
