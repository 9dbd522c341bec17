package record_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"palmares/internal/catalog"

	"palmares/internal/record"
)

func TestTheStateIsTheDigestOfTheLinesOfAllRecordsInByteOrder(t *testing.T) {
	changes := []record.Change{
		{Kind: catalog.ToolKind, Slug: "b", Hash: "sha256-2"},
		{Kind: catalog.ToolKind, Slug: "a-b", Hash: "sha256-1"},
		{Kind: catalog.PageKind, Slug: "z", Deleted: true},
		{Kind: catalog.ToolKind, Slug: "a", Hash: "sha256-3"},
		{Kind: catalog.RetiredKind, Slug: "c", Hash: "sha256-4"},
	}
	lines := []string{"outil\x00b\x00sha256-2\n", "outil\x00a-b\x00sha256-1\n", "outil\x00a\x00sha256-3\n", "cimetiere\x00c\x00sha256-4\n"}
	slices.Sort(lines)
	want := sha256.New()
	for _, line := range lines {
		want.Write([]byte(line))
	}
	if got := record.State(changes); got != fmt.Sprintf("sha256-%x", want.Sum(nil)) {
		t.Errorf("got %s", got)
	}
	if got := record.State(nil); got != "sha256-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("the state of nothing is %s", got)
	}
}

func TestTheFirstFeedOfACatalogueHasAllThatIsPublic(t *testing.T) {
	f := record.First("x", small(), 3, "2026-11-16T09:30:00.250Z")
	var got []string
	for i, c := range f.Changes {
		if c.Position != int64(i+1) || c.Version != 3 || c.At != "2026-11-16T09:30:00.250Z" || c.Deleted {
			t.Errorf("%+v", c)
		}
		got = append(got, c.Kind.Name+" "+c.Slug)
	}
	want := []string{"outil plume", "outil stylo", "comparatif plume-ou-stylo", "cimetiere gomme", "page methode", "catalogue catalogue"}
	if !slices.Equal(got, want) || f.Last != 6 || f.ID != "x" || f.Format != record.Format {
		t.Errorf("%q in %+v", got, f)
	}
	// Two tools become one: it was public since the first of them was.
	merged := small()
	merged.Tools = merged.Tools[:1]
	merged.Tools[0].Slug, merged.Tools[0].Aliases = "feutre", []string{"stylo", "plume"}
	for range 30 { // the order of aliases must not matter
		next, _ := f.After(merged, 4, "2026-11-17T09:30:00.250Z")
		i := slices.IndexFunc(next.Changes, func(c record.Change) bool { return c.Slug == "feutre" })
		if c := next.Changes[i]; c.FirstPosition != 1 || c.FirstAt != "2026-11-16T09:30:00.250Z" {
			t.Fatalf("%+v", c)
		}
	}
	if len(f.From(0)) != 6 || len(f.From(5)) != 1 || len(f.From(6)) != 0 {
		t.Error("From does not start after a position")
	}
}

func TestATextThatHadEndedBeforeItWasPublishedIsToldAsDeletedOnce(t *testing.T) {
	c := small()
	c.Ended = []string{"articles/salon"}
	f := record.First("x", c, 1, "2026-11-16T09:30:00.250Z")
	if last := f.Changes[len(f.Changes)-1]; last.Kind != catalog.ArticleKind || last.Slug != "salon" || !last.Deleted || last.Position != 7 || f.State != record.First("y", small(), 1, "").State {
		t.Errorf("%+v", last)
	}
	if _, added := f.After(c, 2, "2026-11-17T09:30:00.250Z"); len(added) > 0 {
		t.Errorf("told again: %+v", added)
	}
}
