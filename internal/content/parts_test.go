package content

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"palmares/internal/content/tree"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// copyParts returns a folder that has only the parts of another.
func copyParts(t *testing.T, fsys fs.FS) fstest.MapFS {
	t.Helper()
	parts, err := Parts(fsys)
	if err != nil {
		t.Fatal(err)
	}
	made := fstest.MapFS{}
	for _, p := range parts {
		if parent := filepath.Dir(p.Path); parent != "." && made[parent] == nil {
			t.Errorf("%s comes before its folder", p.Path)
		}
		if made[p.Path] != nil {
			t.Errorf("%s comes twice", p.Path)
		}
		if p.IsFolder {
			made[p.Path] = &fstest.MapFile{Mode: fs.ModeDir | 0o700}
			continue
		}
		var content []byte
		if p.Size > 0 {
			if content, err = fs.ReadFile(fsys, p.Path); err != nil {
				t.Fatal(err)
			}
			if int64(len(content)) != p.FileSize {
				t.Errorf("%s: %d bytes of %d", p.Path, p.FileSize, len(content))
			}
		}
		made[p.Path] = &fstest.MapFile{Data: content[:p.Size]}
	}
	return made
}

// readsTheSame fails the test unless a folder and its parts have the same problems,
// warnings and records.
func readsTheSame(t *testing.T, fsys fs.FS) {
	t.Helper()
	var results [2]*Result
	for i, folder := range []fs.FS{fsys, copyParts(t, fsys)} {
		r, err := ReadFS(t.Context(), folder, Options{Today: "2026-11-15"})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		results[i] = r
	}
	if diff := cmp.Diff(results[0].Problems, results[1].Problems); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(results[0].Warnings, results[1].Warnings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(results[0].Catalog, results[1].Catalog); diff != "" {
		t.Error(diff)
	}
}

func TestThePartsOfAFolderReadAsTheFolder(t *testing.T) {
	fixtures, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(fixtures) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, name := range fixtures {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		folder := fstest.MapFS{
			"README.md": {Data: []byte("# A repository\n")}, "notes.md": {Data: []byte("---\nname: X\n---\n")},
			"scripts/x.py": {}, "Outils/x.md": {}, "outile/x.txt": {}, ".git/config": {}, "outils/.x.md": {}, "outils/sub/x.md": {}, "outils/x.txt": {Data: []byte("x")},
			"outils/large.md": {Data: make([]byte, 3*tree.MaxFile)}, "images/sub/x.png": {Data: []byte("x")}, "images/empty.png": {}, "bulk.ndjson": {Data: []byte("{}")},
		}
		for _, f := range archive.Files[:len(archive.Files)-1] {
			folder[f.Name] = &fstest.MapFile{Data: f.Data}
		}
		t.Run(filepath.Base(name), func(t *testing.T) { readsTheSame(t, folder) })
	}
}

func TestOnlyWhatIsReadIsAPart(t *testing.T) {
	made := copyParts(t, fstest.MapFS{
		"secret.env": {Data: []byte("x")}, "README.md": {Data: []byte("# A long text")}, ".env": {Data: []byte("x")}, "src/main.go": {}, "docs/a.md": {Data: []byte("x")}, "docs/b.md": {},
	})
	got := map[string]string{}
	for name, f := range made {
		got[name] = string(f.Data)
	}
	want := map[string]string{"secret.env": "", "README.md": "# A long", "src": "", "docs": "", "docs/x.md": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLinksInsideAFolderArePartsAndOthersAreNot(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "content", "outils"), 0o700),
		os.WriteFile(filepath.Join(dir, "catalogue.yaml"), []byte("name: X\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "content", "outils", "x.md"), []byte("---\n"), 0o600),
		os.Symlink("content/outils", filepath.Join(dir, "outils")),
		os.Symlink("x.md", filepath.Join(dir, "content", "outils", "y.md")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	readsTheSame(t, root.FS())
	for what, make := range map[string]func(name string) error{
		"a link that leads out of the folder": func(name string) error { return os.Symlink(os.TempDir(), name) },
		"a link to nothing":                   func(name string) error { return os.Symlink("none", name) },
		"a pipe":                              func(name string) error { return syscall.Mkfifo(name, 0o600) },
	} {
		name := filepath.Join(dir, "outils", "z.md")
		if err := make(name); err != nil {
			t.Fatal(err)
		}
		_, err := Parts(root.FS())
		if part, ok := errors.AsType[*PartError](err); !ok || part.Path != "outils/z.md" {
			t.Errorf("%s: %v", what, err)
		}
		if _, problems, err := readDir(t, dir); err != nil || len(problems) == 0 {
			t.Errorf("%s is no problem, %v", what, err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
