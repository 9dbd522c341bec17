package content

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"palmares/internal/catalog"
)

// editedFiles are the files of a folder under edit, each with texts it may have: most of
// them valid, all of them valid in some folders only.
func editedFiles() map[string][]string {
	tool := func(name, more string) string {
		return "---\nname: " + name + "\ndomain: " + strings.ToLower(name) + ".example\ncategory: code\npricing: payant\nprice: 19 €/mois\ntagline: Il relit\n" + more
	}
	tools := []string{
		tool("Plume", "score: 7\ntested_at: 2026-11-01\nprice_source: https://plume.example/tarifs\nprice_quote: Pro 19 €\n---\nUn [avis](#fin).\n\n## Fin\n"),
		strings.Replace(tool("Plume", "price_source: https://plume.example/tarifs\nprice_quote: Pro 19 €\n---\n"), "19 €", "22 €", 1),
		tool("Plume", "score: 8\ntested_at: 2026-11-14\nlogo: images/a.png\n---\n![](../images/b.png)\n"),
		tool("Plume", "draft: true\nimage: images/b.png\n---\n"),
		tool("Encre", "score: 6\naliases: [stylo]\n---\nVoir https://essai.example/outils/plume.\n"),
		tool("Encre", "price_history:\n  - changed_at: 2026-01-01\n    old_pricing: payant\n    old_price: 1 €/mois\n    new_pricing: payant\n    new_price: 2 €/mois\n---\n"),
		tool("Encre", "publish_at: 2026-12-01T08:00:00Z\n---\n"),
		tool("Gomme", "category: texte\n---\n"), tool("Gomme", "tier: 9\n---\n"),
		"---\nname: [\n---\n", "sans champs\n", "\xff", "",
	}
	comparison := func(more string) string {
		return "---\ntitle: Deux\ntool_a: plume\ntool_b: encre\nwinner: plume\nwinner_note: Voilà.\n" + more + "---\n"
	}
	comparisons := []string{comparison(""), comparison("published: false\n"), comparison("aliases: [duo]\nupdated_at: 2026-11-14\n"), comparison("draft: true\n"), "---\ntool_a: plume\n---\n"}
	retired := []string{
		"---\nname: Craie\ncategory: code\nreason: mort\nretired_at: 2026-11-14\n---\nFini.\n", "---\nname: Craie\nsuccessor: plume\ndraft: true\n---\n",
		"---\nname: Craie\ncategory: code\nreason: mort\nretired_at: 2026-11-14\npublish_at: 2026-12-01T08:00:00Z\n---\nFini.\n",
	}
	proof := `{"slug":"plume","url":"https://plume.example/tarifs","final_url":"https://plume.example/tarifs","checked_at":"2026-11-14T03:00:00Z","status":200,` +
		`"result":"confirmed","quote":"Pro 19 €","found":"","text_hash":"","confirmed_at":"2026-11-14T03:00:00Z"}` + "\n"
	return map[string][]string{
		catalog.SettingsFile: {
			someCatalogue, someCatalogue, strings.Replace(someCatalogue, "essai.example", "autre.example", 1),
			someCatalogue + "  - slug: texte\n    label: Texte\n", "name: [\n", "categories: []\n",
		},
		"outils/plume.md": tools, "outils/encre.md": tools, "outils/gomme.md": tools,
		"outils.jsonl":          {someLine, "{", someLine + "\n" + someLine},
		"comparatifs/duel.md":   comparisons,
		"comparatifs/autre.md":  comparisons,
		"cimetiere/craie.md":    retired,
		"cimetiere/plume.md":    retired,
		catalog.ProofFile:       {proof, strings.ReplaceAll(proof, "confirmed", "gone"), "{", "<<<<<<< HEAD\n" + proof},
		"pages/equipe.md":       {"---\ntitle: Nous\n---\n[Plume](../outils/plume.md)\n", "---\ntitle: Nous\ndraft: true\n---\n", "---\ntitle: Nous\npublish_at: 2026-12-01T08:00:00Z\n---\n", "---\n---\n"},
		"images/a.png":          {string(drawing(8, 1)), string(drawing(8, 2)), "x"},
		"images/b.png":          {string(drawing(8, 1)), string(drawing(8, 3))},
		"outils/notes.txt":      {"x"},
		"outils/Pas un slug.md": tools[:2],
	}
}

// A folder that is read with a memory, after any edits, reads as if it were new.
func TestAMemoryChangesNothingButTheTime(t *testing.T) {
	texts := editedFiles()
	names := append(slices.Sorted(maps.Keys(texts)), catalog.SettingsFile, catalog.SettingsFile) // on which all depend
	good := 0
	rapid.Check(t, func(t *rapid.T) {
		var memory Memory
		start := folderOf(map[string]string{
			"outils/plume.md": texts["outils/plume.md"][0], "outils/encre.md": texts["outils/encre.md"][4], catalog.ProofFile: texts[catalog.ProofFile][0],
			"comparatifs/duel.md": texts["comparatifs/duel.md"][0], "pages/equipe.md": texts["pages/equipe.md"][2],
			"cimetiere/craie.md": texts["cimetiere/craie.md"][2],
		})
		folder := maps.Clone(start)
		for range rapid.IntRange(1, 12).Draw(t, "reads") {
			for range rapid.IntRange(0, 3).Draw(t, "edits") {
				name := rapid.SampledFrom(names).Draw(t, "name")
				other := rapid.SampledFrom(names).Draw(t, "other")
				switch rapid.SampledFrom([]string{"write", "undo", "delete", "rename"}).Draw(t, "edit") {
				case "write":
					folder[name] = &fstest.MapFile{Data: []byte(rapid.SampledFrom(texts[name]).Draw(t, "text"))}
				case "undo":
					if delete(folder, name); start[name] != nil {
						folder[name] = start[name]
					}
				case "delete":
					delete(folder, name)
				case "rename":
					if file, ok := folder[name]; ok {
						delete(folder, name)
						folder[other] = file
					}
				}
			}
			today := rapid.SampledFrom([]string{"2026-11-15", "2026-11-15", "2026-11-02"}).Draw(t, "today")
			good += compareMemory(t, folder, &memory, today)
		}
	})
	if good == 0 {
		t.Error("no folder was valid")
	}
}

// compareMemory reads a folder with a memory and without, and returns 1 if it is valid.
func compareMemory(t *rapid.T, folder fstest.MapFS, memory *Memory, today string) int {
	opts := Options{Now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC), Today: today, MaxAge: 10, Drafts: true, InMemory: true}
	fresh, err := ReadFS(t.Context(), folder, opts)
	if err != nil {
		t.Fatal(err)
	}
	opts.Memory = memory
	again, err := ReadFS(t.Context(), folder, opts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fresh.Problems, again.Problems); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(fresh.Warnings, again.Warnings); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(fresh.Catalog, again.Catalog); diff != "" {
		t.Fatal(diff)
	}
	compareWith(t, folder, again, opts)
	if again.Catalog == nil {
		return 0
	}
	catalog.CarryOver(&catalog.Catalog{}, again.Catalog, today) // as a reader does
	return 1
}

// compareWith changes one file of a folder that was read, and compares what With makes of it with what reading
// the folder does. Only the links of other records are not checked.
func compareWith(t *rapid.T, folder fstest.MapFS, read *Result, opts Options) {
	texts := editedFiles()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(texts)), func(name string) bool { return folder[name] == nil || !strings.HasSuffix(name, ".md") })
	if len(names) == 0 {
		return
	}
	name := rapid.SampledFrom(names).Draw(t, "changed")
	text := rapid.SampledFrom(texts[name]).Draw(t, "changed text")
	got, _, ok := read.With(name, text)
	if !ok {
		return
	}
	changed := maps.Clone(folder)
	changed[name] = &fstest.MapFile{Data: []byte(text)}
	opts.Memory = nil
	want, err := ReadFS(t.Context(), changed, opts)
	if err != nil {
		t.Fatal(err)
	}
	isLink := func(p Problem) bool { return p.File != name && strings.Contains(p.Text.English, "link") }
	want.Problems = slices.DeleteFunc(want.Problems, isLink)
	if diff := cmp.Diff(want.Problems, got.Problems); diff != "" {
		t.Fatal(diff)
	}
	if want.Catalog == nil {
		return
	}
	want.Catalog.Pictures, got.Catalog.Pictures = nil, nil // those that are not used any more are kept
	if diff := cmp.Diff(want.Catalog, got.Catalog); diff != "" {
		t.Fatal(diff)
	}
	ofFile := func(all []Warning) []Warning {
		return slices.DeleteFunc(all, func(w Warning) bool { return w.File != name })
	}
	if wanted, told := ofFile(want.Warnings), ofFile(got.Warnings); !slices.Equal(wanted, told) {
		t.Fatalf("warnings: %v instead of %v", told, wanted)
	}
}

// What a memory is for.
func TestOnlyChangedFilesAreDecodedAgain(t *testing.T) {
	folder := folderOf(map[string]string{"outils/boreal.md": someTool, "outils/calame.md": strings.Replace(someTool, "boreal", "calame", 1)})
	var memory Memory
	read := func() map[string]*decoded {
		t.Helper()
		r, err := ReadFS(t.Context(), folder, Options{Memory: &memory})
		if err != nil || len(r.Problems) > 0 {
			t.Fatal(err, r)
		}
		return memory.files
	}
	before := read()
	folder["outils/calame.md"] = &fstest.MapFile{Data: []byte(strings.Replace(someTool, "boreal", "autre", 1))}
	after := read()
	if before["outils/boreal.md"] != after["outils/boreal.md"] || before["outils/calame.md"] == after["outils/calame.md"] {
		t.Error("the wrong files were decoded again")
	}
	delete(folder, "outils/calame.md")
	if left := read(); len(left) != 1 {
		t.Errorf("%d files are remembered of a folder with one", len(left))
	}
}
