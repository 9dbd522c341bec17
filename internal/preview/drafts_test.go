package preview

import (
	"fmt"
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"palmares/internal/api"
	"palmares/internal/content"
	"palmares/internal/synthetic"
)

func newDrafts(t testing.TB) *Drafts {
	d := NewDrafts(DraftsConfig{
		Document: api.Document(),
		Now:      func() time.Time { return time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC) },
	})
	t.Cleanup(d.Close)
	return d
}

func folderWith(tagline string) fs.FS {
	return fstest.MapFS{
		"catalogue.yaml":  {Data: []byte(settings)},
		"outils/plume.md": {Data: []byte(strings.Replace(plume, "Écrit vite", tagline, 1))},
	}
}

func page(e *Edition, path string) string {
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Body.String()
}

func TestAnEditionShowsTheChangesOfItsKeyOnly(t *testing.T) {
	d := newDrafts(t)
	open := func(key string, revision int64, tagline string) *Edition {
		t.Helper()
		e, err := d.Open(t.Context(), key, revision, folderWith(tagline))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	one, other := open("one", 1, "Écrit bien"), open("other", 1, "Écrit mal")
	for e, want := range map[*Edition]string{one: "Écrit bien", other: "Écrit mal"} {
		if got := page(e, "/outils/plume"); !strings.Contains(got, want) || !strings.Contains(got, "noindex") {
			t.Errorf("the page lacks %q or noindex", want)
		}
	}
	if again := open("one", 1, "ignored"); again != one {
		t.Error("the same revision was read again")
	}
	if next := open("one", 2, "Écrit mieux"); !strings.Contains(page(next, "/outils/plume"), "Écrit mieux") {
		t.Error("the page lacks the change of the second revision")
	}
	broken := open("one", 3, "\"") // a quote that is not closed
	if len(broken.Problems) == 0 || !strings.Contains(page(broken, "/outils/plume"), "Écrit mieux") {
		t.Errorf("problems %v; the page before them is gone", broken.Problems)
	}
	if first := open("third", 1, "\""); first.HasPages() {
		t.Error("a folder that never was without problems has pages")
	}
	for i := range maxEditions {
		open(fmt.Sprint(i), 1, "Écrit")
	}
	if len(d.editions) != maxEditions || d.use("one") != nil {
		t.Errorf("%d editions are kept", len(d.editions))
	}
}

// BenchmarkDrafts measures how long a save takes until its page is there, with 2,000 tools.
func BenchmarkDrafts(b *testing.B) {
	dir := b.TempDir() + "/folder"
	c := synthetic.Catalog(2000, 1)
	if err := content.Write(b.Context(), dir, c, content.WriteOptions{}); err != nil {
		b.Fatal(err)
	}
	root, err := content.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	d := newDrafts(b)
	revision := int64(0)
	for b.Loop() {
		revision++
		e, err := d.Open(b.Context(), "key", revision, root.FS())
		if err != nil || len(e.Problems) > 0 {
			b.Fatal(err, e)
		}
		page(e, "/outils/"+c.Tools[0].Slug)
	}
}
