package preview

import (
	"fmt"
	"io/fs"
	"maps"
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

// sourceOf returns the folder with another tagline, of which nothing but the text of the tool is known.
func sourceOf(key string, revision int64, tagline string) Source {
	files := folderWith(tagline)
	return Source{Key: key, Revision: revision, Files: func() (fs.FS, bool, error) { return files, false, nil }}
}

func page(t testing.TB, e *Edition, path string) string {
	t.Helper()
	pages, err := e.Pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Body.String()
}

func TestAnEditionShowsTheChangesOfItsKeyOnly(t *testing.T) {
	d := newDrafts(t)
	open := func(key string, revision int64, tagline string) *Edition {
		t.Helper()
		e, err := d.Open(t.Context(), sourceOf(key, revision, tagline))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	one, other := open("one", 1, "Écrit bien"), open("other", 1, "Écrit mal")
	for e, want := range map[*Edition]string{one: "Écrit bien", other: "Écrit mal"} {
		if got := page(t, e, "/outils/plume"); !strings.Contains(got, want) || !strings.Contains(got, "noindex") {
			t.Errorf("the page lacks %q or noindex", want)
		}
	}
	if again := open("one", 1, "ignored"); again != one {
		t.Error("the same revision was read again")
	}
	if next := open("one", 2, "Écrit mieux"); !strings.Contains(page(t, next, "/outils/plume"), "Écrit mieux") {
		t.Error("the page lacks the change of the second revision")
	}
	broken := open("one", 3, "\"") // a quote that is not closed
	if len(broken.Problems) == 0 || !strings.Contains(page(t, broken, "/outils/plume"), "Écrit mieux") {
		t.Errorf("problems %v; the page before them is gone", broken.Problems)
	}
	if first := open("third", 1, "\""); first.HasPages() {
		t.Error("a folder that never was without problems has pages")
	}
	folder := open("", 1, "Écrit")
	for i := range maxViews {
		open(fmt.Sprint(i), 1, "Écrit")
	}
	if len(d.views) != maxViews+1 || open("", 1, "ignored") != folder || open("one", 1, "Écrit") == one {
		t.Errorf("%d views are kept", len(d.views))
	}
}

// What is made of the edition before, in which one file differs, is what reading everything makes, and nothing
// is read for it.
func TestAChangeOfOneFileIsShownWithoutReadingTheOthers(t *testing.T) {
	const duel = "---\ntitle: Duel\ntool_a: plume\ntool_b: encre\nwinner: plume\nwinner_note: Voilà.\n---\nUn texte.\n"
	folder := fstest.MapFS{
		"catalogue.yaml": {Data: []byte(settings)}, "outils/plume.md": {Data: []byte(plume)},
		"outils/encre.md": {Data: []byte(strings.ReplaceAll(plume, "Plume", "Encre"))}, "comparatifs/duel.md": {Data: []byte(duel)},
	}
	quick, slow := newDrafts(t), newDrafts(t)
	open := func(d *Drafts, s Source) *Edition {
		t.Helper()
		e, err := d.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	reads := 0
	open(quick, Source{Files: func() (fs.FS, bool, error) { return folder, false, nil }})
	pages := []string{"/outils/plume", "/outils/neuf", "/comparatifs/duel", "/neuve", "/", "/outils?q=vite"}
	for i, change := range []struct {
		path, text string
		problems   int
	}{
		{"outils/plume.md", strings.Replace(plume, "Écrit vite", "Écrit mieux", 1), 0},
		{"outils/plume.md", "---\nname: Plume\n", 1},
		{"outils/plume.md", "---\nname: Plume\ndraft: true\n---\n", 1}, // the comparison needs it
		{"outils/plume.md", plume, 0},
		{"outils/neuf.md", "---\nname: Neuf\ndraft: true\n---\nUn texte.\n", 0},
		{"comparatifs/duel.md", strings.Replace(duel, "Voilà", "Enfin", 1), 0},
		{"comparatifs/duel.md", "---\ntitle: Duel\ndraft: true\n---\n", 0},
		{"pages/neuve.md", "---\ntitle: Neuve\n---\nUn texte.\n", 0},
	} {
		changed := maps.Clone(folder)
		changed[change.path] = &fstest.MapFile{Data: []byte(change.text)}
		s := Source{Key: change.path, Revision: int64(i + 1), Path: change.path, Data: []byte(change.text)}
		s.Files = func() (fs.FS, bool, error) { reads++; return nil, true, nil }
		got := open(quick, s)
		s.Path, s.Files = "", func() (fs.FS, bool, error) { return changed, true, nil }
		want := open(slow, s)
		if len(got.Problems) != change.problems || len(want.Problems) != change.problems || len(got.Warnings) != len(want.Warnings) {
			t.Errorf("%s: %v and %v, reading everything %v and %v", change.path, got.Problems, got.Warnings, want.Problems, want.Warnings)
		}
		for _, address := range pages {
			if page(t, got, address) != page(t, want, address) {
				t.Errorf("change %d of %s: the page %s differs from what reading everything makes", i, change.path, address)
			}
		}
	}
	if reads > 4 {
		t.Errorf("the changes were asked for %d times, more than once for each file", reads)
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
	name := "outils/" + c.Tools[0].Slug + ".md"
	text, err := root.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	revision := int64(0)
	for b.Loop() {
		revision++
		_, err := d.Open(b.Context(), Source{Files: func() (fs.FS, bool, error) { return root.FS(), false, nil }})
		if err != nil {
			b.Fatal(err)
		}
		e, err := d.Open(b.Context(), Source{
			Key: "key", Revision: revision, Path: name, Data: fmt.Appendf(text, "\nEncore %d.\n", revision),
			Files: func() (fs.FS, bool, error) { return nil, true, nil },
		})
		if err != nil || len(e.Problems) > 0 {
			b.Fatal(err, e)
		}
		page(b, e, "/outils/"+c.Tools[0].Slug)
	}
}
