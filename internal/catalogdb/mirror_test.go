package catalogdb

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/record"
)

// copyOf returns the copy of a catalogue that an origin has published.
func copyOf(base Origin, c *catalog.Catalog, version int64, day string) *MirrorCopy {
	feed := record.First("origine", c, version, "2026-11-16T09:30:00.250Z")
	return &MirrorCopy{
		Base:   base,
		Origin: Origin{URL: "https://origine.example", Feed: feed.ID, Version: version, Position: feed.Last, State: feed.State, UpdatedAt: day, Records: len(feed.Changes)},
	}
}

// mirrorStep copies a catalogue into a mirror.
func mirrorStep(t *testing.T, s *kit, c *catalog.Catalog, version int64, updated string) (Publication, error) {
	t.Helper()
	base, err := s.Mirror.Origin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Sort()
	return s.Catalogue.Publish(t.Context(), c, PublishOptions{Now: at(day(40)), AllowRemovals: true, Mirror: copyOf(base, c, version, updated)})
}

func mustBegin(t *testing.T, s *kit) {
	t.Helper()
	if _, err := s.Mirror.Begin(t.Context(), "https://origine.example"); err != nil {
		t.Fatal(err)
	}
}

// dated returns a tool with the date that CarryOver would set.
func dated(t *catalog.Tool, day string) *catalog.Tool {
	t.UpdatedAt = day
	return t
}

func TestACopyHasTheDatesAndHistoriesOfItsOriginAndNoOthers(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		mustBegin(t, s)
		steps := []*catalog.Catalog{
			catalogue(dated(tool("a", "1 €/mois"), "2025-01-01"), dated(tool("b", "2 €/mois"), "2025-01-02")),
			catalogue(dated(tool("a", "9 €/mois"), "2025-01-01")), // another price, with neither a date nor an entry; and a removal
			catalogue(dated(tool("a", "9 €/mois"), "2025-01-01"), dated(tool("b", "2 €/mois"), "2025-01-02")),
		}
		for i, c := range steps {
			done, err := mirrorStep(t, s, c, int64(10+i), "2026-02-01")
			if err != nil || done.Version != int64(i+1) {
				t.Fatal(done, err)
			}
			got := loaded(t, s)
			if diff := cmp.Diff(steps[i].Tools, got.Catalog.Tools, cmpEmpty); diff != "" || got.ChangedOn != "2026-02-01" {
				t.Errorf("step %d, of %s: %s", i, got.ChangedOn, diff)
			}
			if want := record.First("", c, 1, "").State; got.Feed.State != want {
				t.Errorf("step %d: the state is %s", i, got.Feed.State)
			}
		}
		o, err := s.Mirror.Origin(t.Context())
		if err != nil || o.Version != 12 || o.Feed != "origine" || o.Records != 3 || o.UpdatedAt != "2026-02-01" || !o.CheckedAt.Equal(day(40)) {
			t.Errorf("%+v %v", o, err)
		}
		if got := types(events(t, s), 2); got != "tool.updated a\npricing.updated a\ntool.removed b\ncatalog.updated" {
			t.Errorf("events: %s", got)
		}
	})
}

func TestACopyThatOnlyHasAnotherDateIsANewVersion(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		mustBegin(t, s)
		c := func() *catalog.Catalog { return catalogue(dated(tool("a", "1 €/mois"), "2025-01-01")) }
		for i, want := range []struct {
			day     string
			version int64
		}{{"2026-02-01", 1}, {"2026-02-01", 1}, {"2026-02-02", 2}} {
			done, err := mirrorStep(t, s, c(), int64(i+1), want.day)
			if err != nil || done.Version != want.version {
				t.Fatal(done, err)
			}
			o, err := s.Mirror.Origin(t.Context())
			if got := loaded(t, s); err != nil || got.ChangedOn != want.day || got.Version != want.version || o.Version != int64(i+1) {
				t.Errorf("%+v: version %d of %s, %+v, %v", want, got.Version, got.ChangedOn, o, err)
			}
		}
		if got := types(events(t, s), 2); got != "catalog.updated" {
			t.Errorf("events: %s", got)
		}
	})
}

func TestACopyWithAnotherStateChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		mustBegin(t, s)
		if _, err := mirrorStep(t, s, catalogue(dated(tool("a", "1 €/mois"), "2025-01-01")), 1, "2026-02-01"); err != nil {
			t.Fatal(err)
		}
		before := dump(t, s)
		base, _ := s.Mirror.Origin(t.Context())
		for _, c := range []*catalog.Catalog{
			catalogue(dated(tool("a", "2 €/mois"), "2025-01-01")),
			catalogue(dated(tool("a", "1 €/mois"), "2025-01-01")),
		} {
			step := copyOf(base, catalogue(dated(tool("b", "2 €/mois"), "2025-01-01")), 2, "2026-02-01")
			_, err := s.Catalogue.Publish(t.Context(), c, PublishOptions{Now: at(day(41)), AllowRemovals: true, Mirror: step})
			if !errors.Is(err, ErrInexact) || !strings.Contains(err.Error(), "https://origine.example") {
				t.Errorf("got %v", err)
			}
		}
		step := copyOf(Origin{}, catalogue(tool("c", "1 €/mois")), 2, "2026-02-01")
		if _, err := s.Catalogue.Publish(t.Context(), catalogue(tool("c", "1 €/mois")), PublishOptions{Now: at(day(41)), AllowRemovals: true, Mirror: step}); !errors.Is(err, ErrMirrorMoved) {
			t.Errorf("a copy on another base: %v", err)
		}
		if err := s.Mirror.Checked(t.Context(), Origin{}, base); !errors.Is(err, ErrMirrorMoved) {
			t.Errorf("a check on another base: %v", err)
		}
		if diff := cmp.Diff(before, dump(t, s)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAMirrorIsNotPublishedUntilItIsDetached(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		mustBegin(t, s)
		mustBegin(t, s)
		refused := func() {
			t.Helper()
			for _, dry := range []bool{false, true} {
				_, err := s.Catalogue.Publish(t.Context(), catalogue(tool("a", "1 €/mois")), PublishOptions{Now: at(monday), DryRun: dry})
				if !errors.Is(err, ErrMirror) || !strings.Contains(err.Error(), "mirror of https://origine.example") || !strings.Contains(err.Error(), "--detach") {
					t.Errorf("got %v", err)
				}
			}
		}
		refused() // also before the first copy
		if _, err := mirrorStep(t, s, catalogue(dated(tool("a", "1 €/mois"), "2025-01-01")), 1, "2026-02-01"); err != nil {
			t.Fatal(err)
		}
		if err := s.Mirror.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		refused()
		if o, err := s.Mirror.Origin(t.Context()); err != nil || !o.Permitted || o.Version != 1 {
			t.Errorf("%+v %v", o, err)
		}
		if err := s.Mirror.Detach(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Mirror.Detach(t.Context()); !errors.Is(err, ErrNotMirror) {
			t.Errorf("got %v", err)
		}
		// A check that begins now, of a server that still runs, does not make it a mirror again.
		if err := s.Mirror.Checked(t.Context(), Origin{}, Origin{URL: "https://origine.example"}); !errors.Is(err, ErrMirrorMoved) {
			t.Errorf("got %v", err)
		}
		publish(t, s, catalogue(tool("a", "2 €/mois")), monday)
		if got := loaded(t, s).Catalog.Tools[0].PriceHistory; len(got) != 1 {
			t.Errorf("the history of a catalogue that was detached: %v", got)
		}
	})
}

func TestADatabaseWithItsOwnCatalogueBecomesAMirrorOnlyAfterAReset(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publish(t, s, catalogue(tool("a", "1 €/mois")), monday)
		if _, err := s.Mirror.Begin(t.Context(), "https://origine.example"); !errors.Is(err, ErrNotMirror) || !strings.Contains(err.Error(), "mirror reset") {
			t.Errorf("got %v", err)
		}
		if err := s.Mirror.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		publish(t, s, catalogue(tool("a", "2 €/mois")), day(1)) // it is not one yet
		mustBegin(t, s)
		if _, err := mirrorStep(t, s, catalogue(dated(tool("a", "2 €/mois"), "2026-11-17")), 7, "2026-02-01"); err != nil {
			t.Fatal(err)
		}
		if o, err := s.Mirror.Origin(t.Context()); err != nil || o.Permitted || o.URL == "" {
			t.Errorf("%+v %v", o, err)
		}
		if got := loaded(t, s).Catalog.Tools[0].PriceHistory; len(got) != 0 {
			t.Errorf("a history of its own remains: %v", got)
		}
	})
}

func TestOneNodeFollowsTheOrigin(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		lead := func(node string, now time.Time) bool {
			t.Helper()
			leads, err := s.Mirror.Lead(t.Context(), node, now, now.Add(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			return leads
		}
		if lead("a", monday) {
			t.Error("a node leads what is no mirror")
		}
		mustBegin(t, s)
		later, muchLater := monday.Add(50*time.Second), monday.Add(3*time.Minute)
		if !lead("a", monday) || lead("b", later) || !lead("a", later) || lead("b", monday.Add(100*time.Second)) || !lead("b", muchLater) || lead("a", muchLater) {
			t.Error("two nodes lead, or none")
		}
		for _, node := range []string{"a", "b"} { // of which only b leads
			if err := s.Mirror.Leave(t.Context(), node); err != nil || lead("a", muchLater) != (node == "b") {
				t.Errorf("%s left: %v", node, err)
			}
		}
	})
}
