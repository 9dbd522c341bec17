package synthetic

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/content"
)

func TestACatalogueWrittenAsAFolderReadsBackEqual(t *testing.T) {
	for _, format := range []content.Format{content.JSONL, content.Markdown} {
		for _, n := range []int{0, 1, 2, 25, 1000} {
			dir, want := t.TempDir(), Catalog(n, 1)
			if err := content.Write(t.Context(), dir, want, content.WriteOptions{Format: format}); err != nil {
				t.Fatal(err)
			}
			got, err := content.Read(t.Context(), dir, content.Options{Today: catalog.Day(lastDay)})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range got.Problems {
				t.Errorf("%d tools, format %v: %s", n, format, p)
			}
			for _, w := range got.Warnings {
				if strings.Contains(w.Text.English, "more than 365 days old") { // it goes years back
					continue
				}
				t.Errorf("%d tools, format %v: %s", n, format, w)
			}
			if diff := cmp.Diff(want, got.Catalog); diff != "" {
				t.Errorf("%d tools, format %v (-written +read):\n%.4000s", n, format, diff)
			}
		}
	}
}
