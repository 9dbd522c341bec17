package publication_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/publication"
	"palmares/internal/store"
)

// pixel is a picture of the given width.
func pixel(t *testing.T, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 1))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// completeFolder has files of every kind and gives no warnings.
func completeFolder(t *testing.T) []string {
	t.Helper()
	return []string{
		"catalogue.yaml", catalogueYAML + "logo: images/logo.png\n",
		"outils/scie.md", tool("Scie", "Coupe."),
		"outils/rabot.md", tool("Rabot", "Lisse."),
		"outils.jsonl", `{"slug":"lime","name":"Lime","domain":"lime.example","category":"code","pricing":"payant","price":"1 €/mois","tagline":"Use.","updated_at":"2026-11-01"}` + "\n",
		"cimetiere/gouge.md", "---\nname: Gouge\ncategory: code\nreason: mort\nretired_at: 2026-01-01\n---\nElle a fermé.\n",
		"pages/equipe.md", "---\ntitle: L’équipe\n---\nNous.\n",
		"images/logo.png", pixel(t, 8),
	}
}

// large makes every folder a large one, published to st.
func large(st *store.Store) func(*publication.Job) {
	return func(j *publication.Job) { j.Large, j.Last = 1, st.Catalogue.Folder }
}

// onDay is large on another day.
func onDay(st *store.Store, day int) func(*publication.Job) {
	return func(j *publication.Job) {
		large(st)(j)
		j.Now = func() time.Time { return sunday.AddDate(0, 0, day) }
	}
}

// published publishes files and reports whether they were read.
func published(t *testing.T, st *store.Store, change func(*publication.Job), files ...string) (sink *recorder, wasRead bool) {
	t.Helper()
	sink, _, err := run(t, st, change, files...)
	if err != nil {
		t.Fatal(err, sink.findings)
	}
	return sink, sink.stages["reading"]
}

// replaced returns files with another text in one of them.
func replaced(files []string, name, old, text string) []string {
	files = slices.Clone(files)
	i := slices.Index(files, name) + 1
	files[i] = strings.Replace(files[i], old, text, 1)
	return files
}

func TestALargeFolderThatHasWhatIsPublishedIsNotRead(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *store.Store) {
		files := completeFolder(t)
		first, wasRead := published(t, st, large(st), files...)
		if !wasRead || !strings.HasPrefix(first.report, "added") {
			t.Fatalf("the first publication: read %v, %s", wasRead, first.report)
		}
		want := "nothing changed: version 1 stands, 3 tools, 0 comparisons, 1 retired tool, 1 category, 1 page, 1 picture\n"
		for what, change := range map[string]func(*publication.Job){
			"again":            func(*publication.Job) {},
			"in a dry run":     func(j *publication.Job) { j.DryRun = true },
			"strictly":         func(j *publication.Job) { j.Strict = true },
			"a year later":     func(j *publication.Job) { j.Now = func() time.Time { return sunday.AddDate(1, 0, 0) } },
			"by a stale guard": func(j *publication.Job) { j.Guard = func(store.Head) error { return errors.New("stale") } },
		} {
			sink, wasRead := published(t, st, func(j *publication.Job) { large(st)(j); change(j) }, files...)
			if wasRead || sink.report != want || len(sink.findings) > 0 {
				t.Errorf("%s: read %v, findings %v, report: %s", what, wasRead, sink.findings, sink.report)
			}
		}
		for what, change := range map[string]func(*publication.Job){
			"a small one":            func(j *publication.Job) { j.Large = 0 },
			"with another age":       func(j *publication.Job) { j.MaxAge = 1000 },
			"on the day before":      func(j *publication.Job) { j.Now = func() time.Time { return sunday.AddDate(0, 0, -1) } },
			"one that is only given": func(j *publication.Job) { j.Last = nil },
		} {
			sink, wasRead := published(t, st, func(j *publication.Job) { large(st)(j); j.DryRun = true; change(j) }, files...)
			if !wasRead || sink.report != want {
				t.Errorf("%s: read %v, report: %s", what, wasRead, sink.report)
			}
		}
	})
}

func TestAFolderThatWasFoundUnchangedIsNotReadAgain(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *store.Store) {
		files := completeFolder(t)
		if _, wasRead := published(t, st, nil, files...); !wasRead { // records nothing
			t.Fatal("the first publication did not read the folder")
		}
		for i, want := range []bool{true, false} {
			if sink, wasRead := published(t, st, large(st), files...); wasRead != want || !strings.HasPrefix(sink.report, "nothing changed: version 1") {
				t.Errorf("publication %d: read %v, report: %s", i+2, wasRead, sink.report)
			}
		}
		// Other bytes that say the same take its place.
		spaced := replaced(files, "outils.jsonl", `,"name"`, `, "name"`)
		for i, want := range []bool{true, false} {
			if sink, wasRead := published(t, st, large(st), spaced...); wasRead != want || !strings.HasPrefix(sink.report, "nothing changed: version 1") {
				t.Errorf("publication %d: read %v, report: %s", i+4, wasRead, sink.report)
			}
		}
	})
}

func TestAFolderWithAnythingElseIsRead(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *store.Store) {
		files := completeFolder(t)
		published(t, st, large(st), files...)
		renamed := slices.Clone(files)
		renamed[slices.Index(files, "outils/scie.md")] = "outils/scier.md"
		without := slices.Clone(files)
		i := slices.Index(files, "pages/equipe.md")
		without = slices.Delete(without, i, i+2)
		for what, changed := range map[string][]string{
			"a byte of a tool":      replaced(files, "outils/scie.md", "Coupe.", "Coupé."),
			"a byte of a line":      replaced(files, "outils.jsonl", "Use.", "Usé."),
			"a byte of a setting":   replaced(files, "catalogue.yaml", "Essai", "Essay"),
			"a byte of an obituary": replaced(files, "cimetiere/gouge.md", "fermé", "ferme"),
			"another picture":       replaced(files, "images/logo.png", pixel(t, 8), pixel(t, 9)),
			"one more file":         append(slices.Clone(files), "outils/varlope.md", tool("Varlope", "Lisse.")),
			"a file less":           without,
			"another name":          renamed,
		} {
			sink, _, err := run(t, st, func(j *publication.Job) { large(st)(j); j.DryRun, j.AllowRemovals = true, true }, changed...)
			if err != nil || !sink.stages["reading"] || !strings.Contains(sink.report, "would publish version 2") {
				t.Errorf("%s: %v, report: %s", what, err, sink.report)
			}
		}
		if _, wasRead := published(t, st, large(st), append(slices.Clone(files), "outils/.scie.md.swp", "x", "images/.DS_Store", "x")...); wasRead {
			t.Error("files that are ignored have made a difference")
		}
	})
}

func TestAnotherPublicationMakesALargeFolderBeRead(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *store.Store) {
		files := completeFolder(t)
		other := replaced(files, "outils/scie.md", "Coupe.", "Scie.")
		published(t, st, large(st), files...)
		published(t, st, nil, other...)
		sink, wasRead := published(t, st, large(st), files...)
		if !wasRead || !strings.Contains(sink.report, "tagline Scie. → Coupe.\npublished version 3: 1 changed") {
			t.Errorf("read %v, report: %s", wasRead, sink.report)
		}

		// Also if it comes after the folder was recognized.
		sink, wasRead = published(t, st, func(j *publication.Job) {
			large(st)(j)
			j.Last = func(ctx context.Context) (store.Folder, error) {
				last, err := st.Catalogue.Folder(ctx)
				published(t, st, nil, other...)
				return last, err
			}
		}, files...)
		if !wasRead || !strings.Contains(sink.report, "tagline Scie. → Coupe.\npublished version 5: 1 changed") {
			t.Errorf("read %v, report: %s", wasRead, sink.report)
		}
	})
}

func TestAFolderThatIsNotReadReplacesTheRevision(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *store.Store) {
		files := completeFolder(t)
		head := func(want store.Head) {
			t.Helper()
			if got, err := st.Catalogue.Head(t.Context()); err != nil || got != want {
				t.Errorf("published is %+v, %v; want %+v", got, err, want)
			}
		}
		from := func(revision string, dryRun bool, guard error) {
			t.Helper()
			_, wasRead := published(t, st, func(j *publication.Job) {
				large(st)(j)
				j.DryRun, j.Source = dryRun, store.Source{Revision: revision, Author: "Ada", Clean: true}
				j.Guard = func(store.Head) error { return guard }
			}, files...)
			if wasRead != (revision == "a") {
				t.Errorf("%s: read %v", revision, wasRead)
			}
		}
		from("a", false, nil)
		head(store.Head{Version: 1, Revision: "a", Author: "Ada", Clean: true})
		from("b", true, nil)
		from("c", false, store.ErrRevisionStays)
		head(store.Head{Version: 1, Revision: "a", Author: "Ada", Clean: true})
		from("d", false, nil)
		head(store.Head{Version: 1, Revision: "d", Author: "Ada", Clean: true})
	})
}

func TestEveryWarningIsShownOnItsDay(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *store.Store) {
		tested := strings.Replace(tool("Scie", "Coupe."), "---\n", "---\nscore: 8\nverifiability: 7\ntested_at: 2026-11-05\n", 1)
		files := replaced(completeFolder(t), "outils/scie.md", tool("Scie", "Coupe."), tested)
		for _, c := range []struct {
			day, warnings int
			wasRead       bool
		}{{0, 0, true}, {1, 0, false}, {10, 0, false}, {11, 1, true}, {11, 1, true}} { // 20 days after the test
			sink, wasRead := published(t, st, func(j *publication.Job) { onDay(st, c.day)(j); j.MaxAge = 20 }, files...)
			if wasRead != c.wasRead || len(sink.findings) != c.warnings {
				t.Errorf("day %d: read %v, findings %v", c.day, wasRead, sink.findings)
			}
		}

		// A date in the future is told as long as it is one.
		files = replaced(files, "outils/scie.md", "updated_at: 2026-11-01", "updated_at: 2026-11-17")
		for _, c := range []struct {
			day, warnings int
			wasRead       bool
		}{{0, 1, true}, {1, 1, true}, {2, 0, true}, {3, 0, false}, {1, 1, true}} {
			sink, wasRead := published(t, st, onDay(st, c.day), files...)
			if wasRead != c.wasRead || len(sink.findings) != c.warnings {
				t.Errorf("day %d: read %v, findings %v", c.day, wasRead, sink.findings)
			}
		}
	})
}

// The change of today that a file lists is the automatic one; tomorrow it is another.
func TestAFolderThatListsAChangeOfTodayIsReadTomorrow(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *store.Store) {
		files := completeFolder(t)
		published(t, st, large(st), files...)
		const history = "price: 3 €/mois\nprice_history:\n" +
			"  - {changed_at: 2026-11-15, old_pricing: payant, old_price: 2 €/mois, new_pricing: payant, new_price: 3 €/mois}\n" +
			"  - {changed_at: 2026-11-15, old_pricing: payant, old_price: 1 €/mois, new_pricing: payant, new_price: 2 €/mois}\n"
		files = replaced(files, "outils/scie.md", "price: 1 €/mois\n", history)
		files = replaced(files, "outils/scie.md", "updated_at: 2026-11-01", "updated_at: 2026-11-15")
		published(t, st, large(st), files...)
		sink, wasRead := published(t, st, onDay(st, 1), files...)
		if !wasRead || !strings.Contains(sink.report, "published version 3") {
			t.Fatalf("read %v, report: %s", wasRead, sink.report)
		}
		if sink, wasRead := published(t, st, onDay(st, 2), files...); wasRead || !strings.HasPrefix(sink.report, "nothing changed: version 3") {
			t.Errorf("read %v, report: %s", wasRead, sink.report)
		}
	})
}

// An editor is a Sink that saves a file while the folder is read.
type editor struct {
	recorder
	t          *testing.T
	path       string
	start, end string // the texts that it saves when the reading begins and ends; "" for none
	calls      int
}

func (e *editor) Progress(stage string, done, _ int) {
	e.stages[stage] = true
	if stage != "reading" {
		return
	}
	text := ""
	if e.calls++; e.calls == 1 {
		text = e.start
	} else if done == 1 {
		text = e.end
	}
	if text != "" {
		if err := os.WriteFile(e.path, []byte(text), 0o600); err != nil {
			e.t.Error(err)
		}
	}
}

func TestNothingIsLostThatIsSavedWhileAFolderIsRead(t *testing.T) {
	a, b := tool("Scie", "Coupe."), tool("Scie", "Scie.")
	databases.Each(t, func(t *testing.T, st *store.Store) {
		for _, c := range []struct{ what, start, end, now, want string }{
			{"after it was read", "", b, b, "tagline Coupe. → Scie."},
			{"before it is read, and taken back later", b, "", a, "tagline Scie. → Coupe."},
			{"before it is read, and taken back at once", b, a, a, "tagline Scie. → Coupe."},
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, "outils", "scie.md")
			long := sunday.AddDate(0, 0, -1)
			if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(filepath.Join(dir, "catalogue.yaml"), []byte(catalogueYAML), 0o600),
				os.WriteFile(path, []byte(a), 0o600), os.Chtimes(path, long, long)); err != nil {
				t.Fatal(err)
			}
			sink := &editor{recorder: recorder{stages: map[string]bool{}}, t: t, path: path, start: c.start, end: c.end}
			job := &publication.Job{Dir: dir, Now: func() time.Time { return sunday }, Sink: sink}
			large(st)(job)
			read, err := job.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := job.Publish(t.Context(), st.Catalogue, read); err != nil {
				t.Fatal(err)
			}
			if err := read.Close(); err != nil {
				t.Error(err)
			}
			if folder, err := st.Catalogue.Folder(t.Context()); err != nil || folder.Digest != "" {
				t.Errorf("saved %s: %+v is recorded, %v", c.what, folder, err)
			}
			after, wasRead := published(t, st, large(st), "catalogue.yaml", catalogueYAML, "outils/scie.md", c.now)
			if !wasRead || !strings.Contains(after.report, c.want) {
				t.Errorf("saved %s: read %v, report: %s", c.what, wasRead, after.report)
			}
			published(t, st, nil, "catalogue.yaml", catalogueYAML, "outils/scie.md", tool("Scie", "Autre."))
		}
	})
}
