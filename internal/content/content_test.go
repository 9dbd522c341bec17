package content

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"palmares/internal/catalog"
)

var update = flag.Bool("update", false, "write the reported problems to the fixtures")

// Each fixture is a folder and the complete list of its problems.
func TestEveryProblemOfAFolderIsReportedWithFileAndLine(t *testing.T) {
	fixtures, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(fixtures) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, name := range fixtures {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			last := &archive.Files[len(archive.Files)-1]
			c, problems := read(t, archived(t, archive))
			var got bytes.Buffer
			for _, p := range problems {
				got.WriteString(p.String() + "\n")
			}
			if *update {
				last.Data = got.Bytes()
				if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(last.Data), got.String()); last.Name != "problems" || diff != "" {
				t.Error(diff)
			}
			if (c == nil) != (len(problems) > 0) {
				t.Errorf("%d problems, but the catalogue is %v", len(problems), c)
			}
		})
	}
}

// read calls ReadFS, which must not fail.
func read(t testing.TB, fsys fs.FS) (*catalog.Catalog, []Problem) {
	t.Helper()
	r, err := ReadFS(t.Context(), fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	wantFrench(t, r)
	return r.Catalog, r.Problems
}

// readDir calls Read.
func readDir(t testing.TB, dir string) (*catalog.Catalog, []Problem, error) {
	t.Helper()
	r, err := Read(t.Context(), dir, Options{})
	if err != nil {
		return nil, nil, err
	}
	wantFrench(t, r)
	return r.Catalog, r.Problems, r.Close()
}
