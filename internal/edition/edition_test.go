package edition

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
)

func newEditions(t testing.TB, folder func() fs.FS) *Editions {
	d := New(Config{
		Document: api.Document(), Folder: folder,
		Now: func() time.Time { return time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC) },
	})
	t.Cleanup(d.Close)
	return d
}

const (
	settings = "name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n"
	plume    = "---\nname: Plume\ntagline: Écrit vite\ndomain: plume.example\ncategory: code\npricing: payant\nprice: 19 €/mois\nscore: 7.5\ntested_at: 2026-11-01\ntier: 1\nsummary: Net.\naccess: paid\n---\nUn avis.\n"
)

func folderWith(tagline string) fs.FS {
	return fstest.MapFS{
		"catalogue.yaml":  {Data: []byte(settings)},
		"outils/plume.md": {Data: []byte(strings.Replace(plume, "Écrit vite", tagline, 1))},
	}
}

// changeOf returns another tagline, of which nothing but the text of the tool is known.
func changeOf(key string, revision int64, tagline string) Change {
	files := folderWith(tagline)
	return Change{Key: key, Revision: revision, Files: func(*Edition) (fs.FS, bool, error) { return files, false, nil }}
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
	d := newEditions(t, func() fs.FS { return folderWith("Écrit") })
	open := func(key string, revision int64, tagline string) *Edition {
		t.Helper()
		e, err := d.With(t.Context(), changeOf(key, revision, tagline))
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
	folder, err := d.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxViews {
		open(fmt.Sprint(i), 1, "Écrit")
	}
	now, err := d.Now(t.Context())
	if err != nil || len(d.views) != maxViews+1 || now != folder || open("one", 1, "Écrit") == one {
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
	files := func() fs.FS { return folder }
	quick, slow := newEditions(t, files), newEditions(t, files)
	open := func(d *Editions, c Change) *Edition {
		t.Helper()
		e, err := d.With(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	reads := 0
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
		s := Change{Key: change.path, Revision: int64(i + 1), Path: change.path, Data: []byte(change.text)}
		s.Files = func(*Edition) (fs.FS, bool, error) { reads++; return nil, true, nil }
		got := open(quick, s)
		s.Path, s.Files = "", func(*Edition) (fs.FS, bool, error) { return changed, true, nil }
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
