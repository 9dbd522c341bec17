package content

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
)

// spooledFolder has tools in both formats, links to sections of their reviews, drafts, and
// whatever else files has.
func spooledFolder(files map[string]string) fstest.MapFS {
	fields := `"name":"Plume","category":"code","pricing":"payant","price":"1 €/mois","tagline":"Elle \"écrit\".","updated_at":"2026-01-02","plans":[{"name":"Solo","price":"1 €"}],"author":["Ada"],"aliases":["stylo"],"score":7.35,"verifiability":7,"tested_at":"2026-01-01"`
	fsys := fstest.MapFS{
		"catalogue.yaml": {Data: []byte("name: Essai\nurl: https://essai.example\ncategories: [{slug: code, label: Code}]\n")},
		"outils.jsonl": {Data: []byte(`{"slug":"plume","domain":"plume.example",` + fields + `,"body":"Voir [le prix](burin.md#prix).\n\n## Avis {#avis}\n\nBien."}` + "\n" +
			`{"slug":"encre","domain":"encre.example",` + strings.Replace(fields, "stylo", "noire", 1) + "}\n")},
		"outils/burin.md": {Data: []byte("---\nname: Burin\ndomain: burin.example\ncategory: code\npricing: payant\nprice: 2 €/mois\ntagline: Il grave.\n---\n\nVoir [Plume](plume.md#avis).\n\n## Le prix {#prix}\n\nRaisonnable.\n")},
		"outils/rabot.md": {Data: []byte("---\ndraft: true\nname: Rabot\n---\n\nVoir [Plume](/avis/plume#avis).\n")},
	}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestReviewsInATemporaryFileAreThoseOfTheCatalogue(t *testing.T) {
	for _, drafts := range []bool{false, true} {
		want := readAll(t, spooledFolder(nil), Options{Drafts: drafts})
		got := readAll(t, spooledFolder(nil), Options{Drafts: drafts, SpoolReviews: true})
		if len(want.Problems) > 0 {
			t.Fatal(want.Problems)
		}
		for i := range got.Catalog.Tools {
			tool := got.Catalog.Tools[i]
			reference := tool.Body
			text, err := got.Reviews.Text(reference)
			if err != nil {
				t.Fatal(err)
			}
			if text != "" && strings.Contains(reference, text) {
				t.Errorf("%s keeps its review in memory", tool.Slug)
			}
			if !got.Reviews.Is(reference, text) || got.Reviews.Is(reference, text+"x") || got.Reviews.Is(reference, "") != (text == "") || got.Reviews.Is("", text) != (text == "") {
				t.Errorf("%s: another text is taken for its review", tool.Slug)
			}
			tool.Body = text
		}
		if diff := cmp.Diff(want.Catalog, got.Catalog); diff != "" {
			t.Error(diff)
		}
		if _, err := got.Reviews.Text("Un avis."); err == nil {
			t.Error("a text is taken for a reference")
		}
	}
}

// Links to sections are checked against the reviews in the file, also if records collide.
func TestLinksIntoReviewsInATemporaryFileAreChecked(t *testing.T) {
	files := map[string]string{
		"pages/liens.md": "---\ntitle: Liens\n---\n\n[a](../outils/plume.md#avis), [b](../outils/plume.md#rien), [c](/avis/burin#prix), [d](/avis/burin#avis), [e](/avis/encre).\n",
	}
	for name, more := range map[string]string{"wrong links": "", "a tool that exists twice": "---\nname: Plume\ndomain: plume.example\ncategory: code\npricing: payant\nprice: 2 €/mois\ntagline: Double.\n---\n\n## Rien {#rien}\n"} {
		t.Run(name, func(t *testing.T) {
			if more != "" {
				files["outils/plume.md"] = more
			}
			want, got := readAll(t, spooledFolder(files), Options{}), readAll(t, spooledFolder(files), Options{SpoolReviews: true})
			if diff := cmp.Diff(want.Problems, got.Problems); diff != "" || len(want.Problems) < 3 {
				t.Errorf("%d problems, difference: %s", len(want.Problems), diff)
			}
			if diff := cmp.Diff(want.Warnings, got.Warnings); diff != "" || got.Catalog != (*catalog.Catalog)(nil) {
				t.Error(diff)
			}
		})
	}
}
