package catalogdb

import (
	"database/sql"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/record"
)

// What a publication keeps in memory of the published catalogue makes no difference to what
// it changes.
func TestAPublicationChangesWhatWholeCataloguesDifferIn(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		rapid.Check(t, func(rt *rapid.T) {
			wipe(rt, s)
			edition, on := anyEdition(rt), 0
			for range rapid.IntRange(1, 5).Draw(rt, "publications") {
				before, err := s.Catalogue.Load(rt.Context())
				if err != nil {
					rt.Fatal(err)
				}
				err = s.SQL.Read(rt.Context(), func(tx *sql.Tx) error { return loadGone(rt.Context(), tx, before.Catalog) })
				if err != nil {
					rt.Fatal(err)
				}
				want := clone(edition)
				want.Sort()
				catalog.CarryOver(before.Catalog, want, catalog.Day(day(on)))
				diff := catalog.Compare(before.Catalog, want, markdown.Sections)

				next := clone(edition)
				opts := PublishOptions{Now: at(day(on)), AllowRemovals: true, Pictures: aPicture{}}
				done, err := s.Catalogue.Publish(rt.Context(), next, opts)
				if err != nil {
					rt.Fatal(err)
				}
				if got, want := asJSON(rt, done.Diff), asJSON(rt, diff); got != want {
					rt.Fatalf("changes: %s", cmp.Diff(want, got))
				}
				after, err := s.Catalogue.Load(rt.Context())
				if err != nil {
					rt.Fatal(err)
				}
				if diff := cmp.Diff(want, after.Catalog, cmpopts.EquateEmpty()); diff != "" {
					rt.Fatalf("stored: %s", diff)
				}
				if state := record.First("", want, 1, "").State; len(diff.Changes) > 0 && after.Feed.State != state {
					rt.Fatalf("the state is %s; want %s", after.Feed.State, state)
				}
				edition, on = edited(rt, edition), on+rapid.IntRange(0, 2).Draw(rt, "days")
			}
		})
	})
}

func asJSON(t *rapid.T, d catalog.Diff) string {
	raw, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
