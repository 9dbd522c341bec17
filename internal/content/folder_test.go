package content

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	someCatalogue = "name: Essai\nurl: https://essai.example/\ncategories:\n  - slug: code\n    label: Développement\n"
	someFields    = "name: Boréal\ndomain: boreal.example\ncategory: code\nicp: mixte\npricing: freemium\nprice: 19,99 €/mois\ntagline: Il relit\n"
	someTool      = "---\n" + someFields + "---\n"
	someLine      = `{"slug":"boreal","name":"Boréal","domain":"boreal.example","category":"code","icp":"mixte","pricing":"freemium","price":"19,99 €/mois","tagline":"Il relit"}`
)

// folderOf returns an in-memory folder with a valid catalogue.yaml and files.
func folderOf(files map[string]string) fstest.MapFS {
	folder := fstest.MapFS{catalog.SettingsFile: {Data: []byte(someCatalogue)}}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return folder
}

// diskFolder writes folderOf(files) to disk.
func diskFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, file := range folderOf(files) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func wantProblems(t *testing.T, got []Problem, want ...string) {
	t.Helper()
	var lines []string
	for _, p := range got {
		lines = append(lines, p.String())
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

func TestARecordDoesNotDependOnFormatOrEditor(t *testing.T) {
	const body = "\n \nUn **avis**.\n\n    du code\n\n---\nfin\n\n"
	want, problems := read(t, folderOf(map[string]string{"outils/boreal.md": someTool + body}))
	wantProblems(t, problems)
	if got := want.Tools[0].Body; got != "Un **avis**.\n\n    du code\n\n---\nfin" {
		t.Errorf("body is %q", got)
	}
	if want.URL != "https://essai.example" || want.Tools[0].Tier != 3 || want.Tools[0].UpdatedAt != "" {
		t.Errorf("defaults are %+v", want)
	}
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	for name, files := range map[string]map[string]string{
		"crlf":                  {"outils/boreal.md": crlf(someTool + body), catalog.SettingsFile: crlf(someCatalogue)},
		"bom":                   {"outils/boreal.md": tree.ByteOrderMark + someTool + body, catalog.SettingsFile: tree.ByteOrderMark + someCatalogue},
		"json":                  {"outils.jsonl": tree.ByteOrderMark + strings.TrimSuffix(someLine, "}") + fmt.Sprintf(`,"body":%q}`, body)},
		"json with crlf":        {"outils.jsonl": crlf("\n"+strings.TrimSuffix(someLine, "}")) + fmt.Sprintf(`,"body":%q}`, crlf(body)) + "\r\n\r\n"},
		"no newline at the end": {"outils/boreal.md": strings.TrimRight(someTool+body, "\n")},
		"spaces after ---":      {"outils/boreal.md": "--- \n" + someFields + "---\t\n" + body},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := read(t, folderOf(files))
			wantProblems(t, problems)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInvalidUTF8IsReportedWithItsLine(t *testing.T) {
	_, problems := read(t, folderOf(map[string]string{
		"outils/boreal.md": someTool + "\nd\xe9j\xe0",
		"outils/calame.md": someTool + "\n\uFFFD est un caractère",
		"outils.jsonl":     "{}\n{\"slug\":\"\xff\"}",
	}))
	wantProblems(t, problems[:1], "outils/boreal.md:11: the text is not valid UTF-8; save the file as UTF-8")
	wantProblems(t, problems[len(problems)-1:], "outils.jsonl:2: the line is not valid UTF-8; save the file as UTF-8")
	for _, p := range problems {
		if p.File == "outils/calame.md" {
			t.Errorf("a literal replacement character is rejected: %s", p)
		}
	}
}

func TestOversizedRecordsAreRejectedAndTheRestIsRead(t *testing.T) {
	padding := func(s string, size int) string { return s + strings.Repeat("x", size-len(s)) }
	line := strings.TrimSuffix(someLine, "}") + `,"body":"`
	exact := padding(line, tree.MaxFile-2) + `"}`
	other := strings.Replace(someLine, "boreal", "calame", 1)

	_, problems := read(t, folderOf(map[string]string{
		"outils/exact.md": padding(someTool+"\n", tree.MaxFile),
		"outils.jsonl":    exact + "\r\n" + other,
	}))
	wantProblems(t, problems)

	_, problems = read(t, folderOf(map[string]string{
		"outils/large.md":    padding(someTool+"\n", tree.MaxFile+1),
		"outils.jsonl":       "x" + exact + "\n" + other + "\n" + strings.Repeat("y", 3*tree.MaxFile) + "\n{}",
		"outils/yaml.md":     "---\n" + someFields + "sources:\n" + strings.Repeat("  - https://boreal.example\n", 3000) + "---\n",
		catalog.SettingsFile: padding(someCatalogue+"#", tree.MaxYAML+1),
	}))
	wantProblems(t, problems[:6],
		"catalogue.yaml:1: the YAML is larger than 64 KiB; move long lists into a .jsonl file",
		"outils/large.md:1: the file is larger than 1 MiB (1048576 bytes)",
		"outils/yaml.md:2: the YAML is larger than 64 KiB; move long lists into a .jsonl file",
		"outils.jsonl:1: the line is longer than 1 MiB (1048576 bytes)",
		"outils.jsonl:3: the line is longer than 1 MiB (1048576 bytes)",
		"outils.jsonl:4: slug is missing")
}

func TestTheNumberOfRecordsIsLimited(t *testing.T) {
	files := map[string]string{"outils/boreal.md": someTool, "outils/calame.md": someTool, "outils.jsonl": "\n" + strings.Replace(someLine, "boreal", "dune", 1) + "\n{}\n{}"}
	f := &folder{fsys: folderOf(files), maxRecords: 3}
	if err := f.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := f.assemble(""); len(c.Tools) != 3 {
		t.Errorf("%d tools were read", len(c.Tools))
	}
	wantProblems(t, f.problems, "outils.jsonl:3: the folder holds more than 3 records; the rest was not read")

	f = &folder{fsys: folderOf(files), maxRecords: 1}
	if err := f.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantProblems(t, f.problems, "outils/calame.md:1: the folder holds more than 1 records; the rest was not read")
}

func TestLinksWithinTheFolderAreFollowedAndOthersRejected(t *testing.T) {
	dir := diskFolder(t, map[string]string{"partage/boreal.md": someTool, "outils/calame.md": someTool})
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte(someTool), 0o666); err != nil {
		t.Fatal(err)
	}
	link := func(to, from string) {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	link("../partage/boreal.md", "outils/boreal.md")
	got, problems, err := readDir(t, dir)
	if err != nil || len(problems) > 0 || len(got.Tools) != 2 {
		t.Fatalf("a link within the folder is not followed: %v %v %v", got, problems, err)
	}

	link(outside, "outils/dehors.md")
	link("rien.md", "outils/rien.md")
	link("boucle.md", "outils/boucle.md")
	link("../partage", "outils/dossier.md")
	link(filepath.Dir(outside), "cimetiere")
	link(outside, "comparatifs.jsonl")
	_, problems, err = readDir(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	const rejected = ":1: this link points outside the folder or to nothing; replace it with the file itself"
	wantProblems(t, problems,
		"cimetiere"+rejected,
		"outils/boucle.md"+rejected,
		"outils/dehors.md"+rejected,
		"outils/dossier.md:1: this is a folder; a file is expected here",
		"outils/rien.md"+rejected,
		"comparatifs.jsonl"+rejected)
}

// Opening a pipe would block forever.
func TestIrregularFilesAreRejectedUnopened(t *testing.T) {
	dir := diskFolder(t, map[string]string{"outils/boreal.md": someTool})
	for _, name := range []string{"outils/tube.md", "comparatifs.jsonl"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("tube.md", filepath.Join(dir, "outils/lien.md")); err != nil {
		t.Fatal(err)
	}
	_, problems, err := readDir(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	wantProblems(t, problems,
		"outils/lien.md:1: this is not a regular file",
		"outils/tube.md:1: this is not a regular file",
		"comparatifs.jsonl:1: this is not a regular file")
}

func TestOnlyAFolderCanBeRead(t *testing.T) {
	dir := diskFolder(t, nil)
	for path, want := range map[string]string{
		filepath.Join(dir, "absent"):             "does not exist",
		filepath.Join(dir, catalog.SettingsFile): "is not a folder",
	} {
		if _, _, err := readDir(t, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s) = %v, want …%s…", path, err, want)
		}
	}
}

func TestReadStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	lines := strings.Repeat(someLine+"\n", 5000)
	calls := 0
	_, err := ReadFS(ctx, folderOf(map[string]string{"outils.jsonl": lines}), Options{Progress: func(int) {
		calls++
		cancel()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v after %d calls", err, calls)
	}
}

func TestProgressRisesToTheNumberOfRecords(t *testing.T) {
	var lines strings.Builder
	for i := range 1000 {
		lines.WriteString(strings.Replace(someLine, "boreal", fmt.Sprintf("outil-%d", i), 1) + "\n")
	}
	last := 0
	r, err := ReadFS(t.Context(), folderOf(map[string]string{"outils.jsonl": lines.String(), "outils/boreal.md": someTool}), Options{Progress: func(n int) {
		if n < last {
			t.Errorf("progress went from %d to %d", last, n)
		}
		last = n
	}})
	if err != nil || len(r.Problems) > 0 || last != 1001 {
		t.Errorf("ended at %d with %v %v", last, r, err)
	}
}
