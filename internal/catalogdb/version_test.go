package catalogdb

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/testkit"
)

func TestEachPublicationIsOnRecordWithItsSourceAndChanges(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		first := catalogue(tool("a", "1 €/mois"))
		publish(t, s, first, monday)
		publish(t, s, catalogue(tool("a", "1 €/mois")), day(1)) // changes nothing
		from := Source{Revision: "0123456789abcdef", Author: "Ada", Token: "ci", Clean: true}
		second := catalogue(tool("a", "2 €/mois"), tool("b", "2 €/mois"))
		second.Pages = []catalog.Page{{Slug: "equipe", Title: "Équipe"}}
		if _, err := s.Catalogue.Publish(t.Context(), second, PublishOptions{Now: at(day(2)), Source: from}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Catalogue.Versions(t.Context(), 10)
		want := []Version{
			{Number: 2, PublishedAt: day(2), Source: from, Changes: map[string]int{"page.updated": 1, "pricing.updated": 1, "tool.created": 1, "tool.updated": 1}, Pages: 1},
			{Number: 1, PublishedAt: monday, Changes: map[string]int{"tool.created": 1}, Settings: true},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("(-want +got):\n%s%v", diff, err)
		}
		if got, err = s.Catalogue.Versions(t.Context(), 1); len(got) != 1 || got[0].Number != 2 || err != nil {
			t.Errorf("the last version: %+v, %v", got, err)
		}
		d, err := s.Catalogue.Changes(t.Context(), 2)
		want2 := catalog.RecordChanges{Added: []string{"b"}, Changed: []string{"a"}}
		if err != nil || !cmp.Equal(d.Of(catalog.PageKind).Added, []string{"equipe"}) || !cmp.Equal(d.Of(catalog.ToolKind), want2) {
			t.Fatalf("%+v, %v", d, err)
		}
		if _, err := s.Catalogue.Changes(t.Context(), 3); !errors.Is(err, ErrNoVersion) {
			t.Errorf("version 3: %v", err)
		}
	})
}

func TestAGuardSeesWhatWouldBeReplacedAndCanRefuse(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		refused := errors.New("refused")
		var heads []Head
		try := func(price string, n int, source Source, answer error) error {
			_, err := s.Catalogue.Publish(t.Context(), catalogue(tool("a", price)), PublishOptions{
				Now: at(day(n)), Source: source, Guard: func(h Head) error { heads = append(heads, h); return answer },
			})
			return err
		}
		for i, source := range []Source{{Revision: "r1", Author: "Ada", Clean: true}, {}} {
			if err := try([]string{"1 €/mois", "2 €/mois"}[i], i, source, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := try("3 €/mois", 3, Source{Revision: "r3"}, refused); !errors.Is(err, refused) {
			t.Errorf("got %v", err)
		}
		want := []Head{{}, {1, "Ada", "r1", "Ada", true, false, 1}, {2, "", "r1", "Ada", true, true, 2}}
		if diff := cmp.Diff(want, heads); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if h, err := s.Catalogue.Head(t.Context()); h != (Head{2, "", "r1", "Ada", true, true, 2}) || err != nil {
			t.Errorf("after the refusal: %+v, %v", h, err)
		}
	})
}

func TestAFolderThatChangesNothingIsOnRecordWithItsRevisionOnly(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		try := func(price string, n int, source Source, answer error, dryRun bool) error {
			_, err := s.Catalogue.Publish(t.Context(), catalogue(tool("a", price)), PublishOptions{
				Now: at(day(n)), Source: source, DryRun: dryRun, Guard: func(Head) error { return answer },
			})
			return err
		}
		if err := try("1 €/mois", 0, Source{Revision: "r1", Author: "Ada", Token: "ci"}, nil, false); err != nil {
			t.Fatal(err)
		}
		before := testkit.Dump(t, s.SQL.Reads(), "catalogue", "events", "records")
		refused := errors.New("refused")
		ada, bob := Source{Revision: "r2", Author: "Ada", Clean: true}, Source{Revision: "r3", Author: "Bob"}
		for i, test := range []struct {
			source Source
			answer error
			dryRun bool
			want   Head
		}{
			{ada, nil, true, Head{1, "Ada", "r1", "Ada", false, false, 1}},
			{ada, nil, false, Head{1, "Ada", "r2", "Ada", true, false, 1}},
			{Source{}, nil, false, Head{1, "Ada", "r2", "Ada", true, false, 1}},
			{bob, fmt.Errorf("%w: %w", refused, ErrRevisionStays), false, Head{1, "Ada", "r2", "Ada", true, false, 1}},
			{bob, refused, false, Head{1, "Bob", "r3", "Bob", false, false, 1}}, // it would undo nothing
		} {
			err := try("1 €/mois", i+1, test.source, test.answer, test.dryRun)
			if h, headErr := s.Catalogue.Head(t.Context()); h != test.want || err != nil || headErr != nil {
				t.Errorf("publication %d: %+v, %v, %v; want %+v", i, h, err, headErr, test.want)
			}
		}
		if err := try("2 €/mois", 9, bob, refused, false); !errors.Is(err, refused) {
			t.Errorf("a change: %v", err)
		}
		if after := testkit.Dump(t, s.SQL.Reads(), "catalogue", "events", "records"); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
		if v, err := s.Catalogue.Versions(t.Context(), 10); err != nil || len(v) != 1 || v[0].Token != "ci" || !v[0].PublishedAt.Equal(monday) {
			t.Errorf("versions: %+v, %v", v, err)
		}
	})
}
