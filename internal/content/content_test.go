package content

import (
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
	eachFixture(t, "testdata/*.txtar", "problems", func(t *testing.T, folder fs.FS) (lines string) {
		c, problems := read(t, folder)
		for _, p := range problems {
			lines += p.String() + "\n"
		}
		if (c == nil) != (len(problems) > 0) {
			t.Errorf("%d problems, but the catalogue is %v", len(problems), c)
		}
		return lines
	})
}

// eachFixture compares what is found in the folders of archives with their last file.
func eachFixture(t *testing.T, pattern, last string, find func(t *testing.T, folder fs.FS) string) {
	t.Helper()
	fixtures, err := filepath.Glob(pattern)
	if err != nil || len(fixtures) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, name := range fixtures {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := &archive.Files[len(archive.Files)-1]
			got := find(t, archived(t, archive))
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want.Data), got); want.Name != last || diff != "" {
				t.Error(diff)
			}
		})
	}
}

// readAll calls ReadFS, which must not fail. The result is closed at the end of the test.
func readAll(t testing.TB, fsys fs.FS, opts Options) *Result {
	t.Helper()
	r, err := ReadFS(t.Context(), fsys, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	wantFrench(t, r)
	return r
}

// read returns what readAll finds without options.
func read(t testing.TB, fsys fs.FS) (*catalog.Catalog, []Problem) {
	t.Helper()
	r := readAll(t, fsys, Options{})
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
