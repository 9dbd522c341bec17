package store

import (
	"errors"
	"testing"

	"palmares/internal/catalog"
)

func TestAFolderIsForgottenWhenStoredPricesChangeTheirAuthor(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		folder := Folder{Digest: "abc", Until: "9999-12-31"}
		written := func(price string, entries ...catalog.PriceChange) *catalog.Catalog {
			x := dated(tool("a", price), "2025-01-01")
			x.PriceHistory, x.PriceHistoryMode = entries, catalog.HistoryReplace
			return catalogue(x)
		}
		step := func(n int, c *catalog.Catalog, f Folder, want string) {
			t.Helper()
			if _, err := s.Catalogue.Publish(t.Context(), c, PublishOptions{Now: at(day(n)), Folder: f}); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Catalogue.Folder(t.Context()); err != nil || got.Digest != want {
				t.Errorf("day %d: %+v, %v; want %q", n, got, err, want)
			}
			_, _, err := s.Catalogue.Stand(t.Context(), PublishOptions{Now: at(day(n)), Folder: folder})
			if known := err == nil; known != (want == "abc") || !known && !errors.Is(err, ErrOtherFolder) {
				t.Errorf("day %d: Stand returns %v", n, err)
			}
		}
		step(0, written("1 €/mois"), Folder{}, "")
		step(1, written("2 €/mois"), folder, "abc") // with an automatic entry
		step(2, written("2 €/mois", change("2026-11-17", "1", "2")), Folder{Digest: "other", Until: "9999-12-31"}, "")
		step(3, written("2 €/mois", change("2026-11-17", "1", "2")), Folder{Digest: "other", Until: "9999-12-31"}, "other")
		// Which is why: the first folder withdraws the entry now.
		step(4, written("2 €/mois"), folder, "abc")
		history(t, s, "a")
	})
}

func TestAMirrorHasNoFolder(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		folder := Folder{Digest: "abc", Until: "9999-12-31"}
		c := func() *catalog.Catalog { return catalogue(dated(tool("a", "1 €/mois"), "2025-01-01")) }
		if _, err := s.Catalogue.Publish(t.Context(), c(), PublishOptions{Now: at(monday), Folder: folder}); err != nil {
			t.Fatal(err)
		}
		if err := s.Mirror.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustBegin(t, s)
		if done, err := mirrorStep(t, s, c(), 1, catalog.Day(monday)); err != nil || done.Version != 1 {
			t.Fatal(done, err)
		}
		opts := PublishOptions{Now: at(monday), Folder: folder}
		if _, _, err := s.Catalogue.Stand(t.Context(), opts); !errors.Is(err, ErrMirror) {
			t.Errorf("in a mirror: %v", err)
		}
		if err := s.Mirror.Detach(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Catalogue.Stand(t.Context(), opts); !errors.Is(err, ErrOtherFolder) {
			t.Errorf("after a copy that changed nothing: %v", err)
		}
	})
}
