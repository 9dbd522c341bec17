package catalogdb

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

// later is an hour that has not come in any test, whatever clock decides.
const later = "2099-01-04T08:00:00Z"

func page(slug, title string) *catalog.Page {
	return &catalog.Page{Slug: slug, Title: title, Menu: catalog.MenuFooter, Body: "Un texte."}
}

// scheduled returns a catalogue of a tool with pages that wait, one for each hour.
func scheduled(hours ...string) *catalog.Catalog {
	c := catalogue(tool("a", "1 €/mois"))
	for i, hour := range hours {
		c.Scheduled = append(c.Scheduled, catalog.Scheduled{Due: hour, Record: page(fmt.Sprintf("page-%d", i), "Titre")})
	}
	return c
}

// passed are hours that have passed by every clock, from moveHours.
func passed(i int) string { return fmt.Sprintf("2026-01-0%dT08:00:00Z", i+1) }

// moveHours makes the hours of scheduled records come: PostgreSQL has a clock of its own.
func moveHours(t failer, s *kit, n int) {
	t.Helper()
	for i := range n {
		execute(t, s, `UPDATE scheduled SET due = $1 WHERE slug = $2`, passed(i), fmt.Sprintf("page-%d", i))
	}
	execute(t, s, `UPDATE catalogue SET due = $1`, passed(0))
}

// advance makes all versions that are due.
func advance(t testing.TB, s *kit, now time.Time) Advance {
	t.Helper()
	done, err := s.Catalogue.Advance(t.Context(), at(now))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// hours returns the hours at which versions made themselves, oldest first.
func hours(t testing.TB, s *kit) (list []string) {
	t.Helper()
	versions, err := s.Catalogue.Versions(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range slices.Backward(versions) {
		if v.Due != "" {
			list = append(list, v.Due)
		}
	}
	return list
}

func TestWhatIsScheduledIsStoredAndNotPublicAndCancelledWithItsFile(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, catalogue(tool("a", "1 €/mois")), day(0))
		before := loaded(t, s)
		done := publish(t, s, scheduled(later), day(1))
		after := loaded(t, s)
		if done.Version != 2 || types(events(t, s), 2) != "catalog.updated" || after.Feed.State != before.Feed.State || len(after.Catalog.Pages)+len(after.Catalog.Scheduled) > 0 {
			t.Errorf("version %d has %s and %+v", done.Version, types(events(t, s), 2), after.Catalog)
		}
		all, err := s.Catalogue.LoadAll(t.Context())
		if diff := cmp.Diff(scheduled(later).Scheduled, all.Catalog.Scheduled); err != nil || diff != "" {
			t.Error(err, diff)
		}
		if again := publish(t, s, scheduled(later), day(2)); again.Version != 2 {
			t.Errorf("publishing the same made version %d", again.Version)
		}
		if cancelled := publish(t, s, catalogue(tool("a", "1 €/mois")), day(3)); len(cancelled.Diff.Scheduled.Removed) != 1 {
			t.Errorf("got %+v", cancelled.Diff.Scheduled)
		}
		if list, err := s.Catalogue.Planned(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("%v is still planned, %v", list, err)
		}
	})
}

func TestEveryHourIsOneVersionWhateverAndHowManyMakeIt(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		if _, err := s.Catalogue.Publish(t.Context(), scheduled(later, later, later), PublishOptions{Now: at(day(0)), Source: Source{Revision: "r1", Author: "Ada", Clean: true}}); err != nil {
			t.Fatal(err)
		}
		moveHours(t, s, 3)
		nodes := []*kit{s, open(t, dsn), open(t, dsn)}
		var running sync.WaitGroup
		for _, node := range slices.Concat(nodes, nodes) {
			running.Go(func() {
				if _, err := node.Catalogue.Advance(context.WithoutCancel(t.Context()), at(day(5))); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		if got := hours(t, s); !slices.Equal(got, []string{passed(0), passed(1), passed(2)}) {
			t.Errorf("versions made themselves at %v", got)
		}
		p := loaded(t, s)
		if p.Version != 4 || len(p.Catalog.Pages) != 3 || p.ChangedOn != "2026-11-16" {
			t.Errorf("version %d of %s has %d pages", p.Version, p.ChangedOn, len(p.Catalog.Pages))
		}
		events(t, s)
		h, err := s.Catalogue.Head(t.Context())
		if want := (Head{4, "Ada", "r1", "Ada", true, false, 1}); h != want || err != nil || !h.Is(1) || !h.Is(4) || h.Is(0) || h.Is(5) {
			t.Errorf("got %+v, %v", h, err)
		}
	})
}

// A folder that was read before the hour of something must not undo it.
func TestAPublicationDoesNotUndoWhatHappenedSinceItsFolderWasRead(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		hour := "2026-11-17T08:00:00Z" // which has passed by the real clock, too
		publish(t, s, scheduled(later), day(0))
		moveHours(t, s, 1)
		advance(t, s, day(2))
		stale := scheduled(hour)
		if done := publish(t, s, stale, day(2)); done.Version != 2 || len(loaded(t, s).Catalog.Pages) != 1 {
			t.Errorf("version %d: %+v", done.Version, done.Diff)
		}
	})
}

func TestWhatWasPreparedBeforeAnHourIsNotWhatIsPublished(t *testing.T) {
	s := databases.OpenDSN(t, databases.SQLite(t))
	hour := day(1).Truncate(time.Second)
	prepare := func(now time.Time, want int) {
		t.Helper()
		err := s.Catalogue.Prepare(t.Context(), at(now))
		if known := s.Catalogue.prepared.Load(); err != nil || (known != nil) != (want > 0) || known != nil && len(known.tools) != want {
			t.Fatalf("on %s prepared are %+v, %v; want %d", now, known, err, want)
		}
	}
	edition := func(price string) *catalog.Catalog {
		c := catalogue(tool("a", price), tool("b", "1 €/mois"))
		c.Scheduled = []catalog.Scheduled{{Due: catalog.FormatTime(hour), Record: page("salon", "Salon")}}
		return c
	}
	publish(t, s, edition("20 €/mois"), day(0))
	prepare(hour.Add(-time.Minute), 0)
	prepare(hour.Add(-20*time.Second), 2)
	publish(t, s, edition("25 €/mois"), hour.Add(-10*time.Second))
	if done := advance(t, s, hour); len(done.Versions) != 1 {
		t.Fatalf("got %+v", done)
	}
	got := loaded(t, s).Catalog
	if got.Tools[0].Price != "25 €/mois" || len(got.Tools[0].PriceHistory) != 1 || len(got.Tools) != 2 || len(got.Pages) != 1 {
		t.Errorf("got %+v", got)
	}
	if types(events(t, s), 3) != "page.updated salon\ncatalog.updated" {
		t.Errorf("version 3 has %s", types(events(t, s), 3))
	}
	prepare(hour, 0)
}

func TestAnAnnouncedPriceHappensOnItsDayAndOnce(t *testing.T) {
	s := databases.OpenDSN(t, databases.SQLite(t))
	announced := func() *catalog.Tool {
		x := tool("a", "20 €/mois")
		x.PriceDisplay = "Dès 20 €"
		x.Announced = []catalog.Announcement{{From: "2026-12-01", Price: "25 €/mois"}, {From: "2027-02-01", Pricing: "freemium", Price: "0 €/mois"}}
		return x
	}
	publish(t, s, catalogue(announced(), tool("b", "1 €/mois")), day(0))
	if got := loaded(t, s).Catalog.Tools[0]; got.Price != "20 €/mois" || len(got.Announced) != 2 || len(got.PriceHistory) > 0 {
		t.Fatalf("got %+v", got)
	}
	if done := advance(t, s, time.Date(2026, 11, 30, 22, 59, 59, 0, time.UTC)); len(done.Versions) > 0 {
		t.Fatalf("too early: %+v", done)
	}
	// The server was off for a while: midnight in Paris is an hour earlier in UTC.
	if done := advance(t, s, time.Date(2026, 12, 4, 7, 0, 0, 0, time.UTC)); len(done.Versions) != 1 {
		t.Fatalf("got %+v", done)
	}
	want := []catalog.PriceChange{{ChangedAt: "2026-12-01", OldPricing: "payant", OldPrice: "20 €/mois", NewPricing: "payant", NewPrice: "25 €/mois", Automatic: true}}
	p := loaded(t, s)
	got := p.Catalog.Tools[0]
	if diff := cmp.Diff(want, got.PriceHistory); diff != "" || got.Price != "25 €/mois" || got.PriceDisplay != "" || len(got.Announced) != 1 || got.UpdatedAt != "2026-12-01" {
		t.Errorf("got %+v\n%s", got, diff)
	}
	if p.ChangedOn != "2026-11-30" || types(events(t, s), 2) != "tool.updated a\npricing.updated a\ncatalog.updated" {
		t.Errorf("version 2 of %s has %s", p.ChangedOn, types(events(t, s), 2))
	}
	written := announced()
	written.Price, written.PriceDisplay, written.Announced = "25 €/mois", "", written.Announced[1:]
	for name, file := range map[string]*catalog.Tool{"the same file": announced(), "the file that says it itself": written} {
		for n := range 3 {
			again := *file
			if done := publish(t, s, catalogue(&again, tool("b", "1 €/mois")), time.Date(2026, 12, 4+n, 9, 0, 0, 0, time.UTC)); done.Version != 2 {
				t.Fatalf("%s changes something: %+v", name, done.Diff)
			}
		}
	}
	advance(t, s, time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC))
	if got := loaded(t, s).Catalog.Tools[0]; got.Price != "0 €/mois" || got.Pricing != "freemium" || len(got.PriceHistory) != 2 || got.Announced != nil {
		t.Errorf("got %+v", got)
	}
}

func TestAPriceThatIsWrittenAfterAnAnnouncementCounts(t *testing.T) {
	s := databases.OpenDSN(t, databases.SQLite(t))
	file := func(price, display string) *catalog.Catalog {
		x := tool("a", price)
		x.PriceDisplay = display
		x.Announced = []catalog.Announcement{{From: "2026-12-01", Price: "25 €/mois"}, {From: "2026-12-02", Price: "30 €/mois"}}
		return catalogue(x)
	}
	publish(t, s, file("18 €/mois", ""), day(0))
	publish(t, s, file("20 €/mois", ""), time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)) // the day, in UTC, of the first hour
	for n, test := range []struct {
		price, display, want string
		entries              int
	}{
		{"20 €/mois", "", "30 €/mois", 3},         // the announcements have happened
		{"25 €/mois", "", "30 €/mois", 3},         // the first one is written by now
		{"30 €/mois", "Dès 30 €", "30 €/mois", 3}, // both are
		{"27 €/mois", "", "27 €/mois", 4},         // the maker changed its mind
		{"27 €/mois", "Dès 27 €", "27 €/mois", 4},
	} {
		now := time.Date(2027, 1, 1+n, 9, 0, 0, 0, time.UTC)
		advance(t, s, now)
		publish(t, s, file(test.price, test.display), now)
		got := loaded(t, s).Catalog.Tools[0]
		if got.Price != test.want || len(got.PriceHistory) != test.entries || got.PriceDisplay != test.display || got.Announced != nil {
			t.Errorf("a file with %s: got %+v", test.price, got)
		}
	}
}

func TestAToolIsRetiredByItsObituary(t *testing.T) {
	s := databases.OpenDSN(t, databases.SQLite(t))
	c := catalogue(tool("a", "20 €/mois"), tool("b", "1 €/mois"))
	obituary := retired("a")
	c.Scheduled = []catalog.Scheduled{{Due: "2026-12-01T08:00:00Z", Record: &obituary}}
	c.Pages = []catalog.Page{*page("salon", "Salon")}
	c.Pages[0].UnpublishAt, c.Pages[0].Image = "2026-12-01T08:00:00Z", "images/salon.png"
	c.Pictures = map[string]catalog.Picture{"images/salon.png": picture("images/salon.png", "one")}
	next := *tool("b", "1 €/mois")
	next.Image = "images/neuf.png"
	c.Scheduled = append(c.Scheduled, catalog.Scheduled{Due: "2026-12-01T08:00:00Z", Record: &next})
	c.Held = map[string]catalog.Picture{"images/neuf.png": picture("images/neuf.png", "two")}
	if _, err := s.Catalogue.Publish(t.Context(), c, PublishOptions{Now: at(day(0)), Pictures: files{"one": "1", "two": "2"}}); err != nil {
		t.Fatal(err)
	}
	if held := loaded(t, s).Catalog.Pictures; len(held) != 1 {
		t.Errorf("the public sees %v", held)
	}
	advance(t, s, day(30))
	p := loaded(t, s)
	if _, err := s.Pictures.Read(t.Context(), "two"); err != nil || len(p.Catalog.Pictures) != 1 || p.Catalog.Pictures["images/neuf.png"].Hash != "two" {
		t.Errorf("the pictures are %v, %v", p.Catalog.Pictures, err)
	}
	if types(events(t, s), 2) != "tool.updated b\ntool.retired a\ncatalog.updated" || len(p.Catalog.Tools) != 1 || p.Catalog.Retired[0].LastPrice != "20 €/mois" || len(p.Catalog.Pages) > 0 {
		t.Errorf("%s: %+v", types(events(t, s), 2), p.Catalog)
	}
}

func TestWhatDoesNotFitAnyMoreStaysScheduledAndIsSaid(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		c := scheduled(later)
		c.Settings.Contact = "redaction@example.org"
		other := tool("page-1", "3 €/mois")
		other.Category = "image"
		c.Scheduled = append(c.Scheduled, catalog.Scheduled{Due: later, Record: other})
		publish(t, s, c, day(0))
		moveHours(t, s, 2)
		execute(t, s, `UPDATE scheduled SET document = replace(document, '"image"', '"perdue"'), due = $1`, passed(0))
		tell := s.Catalogue.tellStuck
		s.Catalogue.tellStuck = func(context.Context, *sql.Tx, string, *catalog.Scheduled, time.Time) error {
			return context.DeadlineExceeded
		}
		if _, err := s.Catalogue.Advance(t.Context(), at(day(1))); err == nil { // the node ends before its mail is queued
			t.Error("the hour is settled without a mail")
		}
		s.Catalogue.tellStuck = tell
		done := advance(t, s, day(1))
		mails, err := sqldb.List(t.Context(), s.SQL, `SELECT address || ' ' || about FROM mails`, sqldb.ScanText)
		if want := []string{"redaction@example.org outils/page-1 " + passed(0)}; err != nil || !slices.Equal(mails, want) {
			t.Errorf("mails %q, %v; want %q", mails, err, want)
		}
		if len(done.Versions) != 1 || len(done.Stuck) != 1 || done.Stuck[0].Name() != "outils/page-1" || !strings.Contains(done.Stuck[0].Problem, "perdue") {
			t.Errorf("got %+v", done)
		}
		if again := advance(t, s, day(2)); len(again.Versions)+len(again.Stuck) > 0 {
			t.Errorf("said again: %+v", again)
		}
		if n, err := s.Catalogue.Stuck(t.Context()); n != 1 || err != nil {
			t.Errorf("%d are stuck, %v", n, err)
		}
		found, _, err := Examine(t.Context(), s.SQL.Reads(), day(1))
		if err != nil || !slices.ContainsFunc(found, func(f sqldb.Finding) bool { return f.Verdict == sqldb.Wrong && f.Subject == "calendar" }) {
			t.Errorf("got %v, %v", found, err)
		}
	})
}

// A node whose clock is ahead neither makes an hour come nor publishes what waits for it, where nodes share
// a database: that has the clock. Alone it has no other one.
func TestANodeWhoseClockIsTenMinutesAheadIsNotAhead(t *testing.T) {
	eachWithClock(t, func(t *testing.T, s *kit, set func(failer, time.Time)) {
		hour := time.Date(2026, 11, 20, 23, 55, 0, 0, time.UTC) // a node that is ahead has another day
		set(t, hour.Add(-time.Second))
		ahead := hour.Add(10*time.Minute - time.Second)
		publish(t, s, scheduled(catalog.FormatTime(hour)), ahead)
		isEarly := len(loaded(t, s).Catalog.Pages) > 0 || len(advance(t, s, ahead).Versions) > 0
		if isEarly == s.SQL.Shared() {
			t.Fatalf("a node that is ahead publishes what waits: %t", isEarly)
		}
		set(t, hour)
		advance(t, s, ahead.Add(time.Second))
		advance(t, s, hour)
		p := loaded(t, s)
		if len(p.Catalog.Pages) != 1 || s.SQL.Shared() && (p.Version != 2 || !slices.Equal(hours(t, s), []string{catalog.FormatTime(hour)})) {
			t.Errorf("version %d has %d pages; hours %q", p.Version, len(p.Catalog.Pages), hours(t, s))
		}
	})
}

// advanceChild makes versions, and prints a line before and within each.
func advanceChild(ctx context.Context, s *kit) error {
	tell := func() time.Time { fmt.Println("looks"); return day(9) }
	deliver := s.Catalogue.deliver
	s.Catalogue.deliver = func(ctx context.Context, tx *sql.Tx, after, last int64, now time.Time, progress func(done, total int)) error {
		fmt.Println("writes")
		return deliver(ctx, tx, after, last, now, progress)
	}
	_, err := s.Catalogue.Advance(ctx, tell)
	fmt.Println("ends")
	return err
}

func TestAKilledNodeLeavesEveryHourToTheNext(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		publish(t, s, scheduled(later, later, later, later), day(0))
		moveHours(t, s, 4)
		for n := 1; ; n++ {
			cmd := childCommand("advance", dsn)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines, last := bufio.NewScanner(stdout), ""
			for i := 0; i < n && lines.Scan(); i++ {
				last = lines.Text()
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if last == "ends" {
				break
			}
		}
		if got := hours(t, s); !slices.Equal(got, []string{passed(0), passed(1), passed(2), passed(3)}) || len(loaded(t, s).Catalog.Pages) != 4 {
			t.Errorf("versions made themselves at %v", got)
		}
		events(t, s)
	})
}
