package content

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestWhatEditorsAndFileManagersLeaveIsIgnored(t *testing.T) {
	folder := folderOf(map[string]string{"outils/boreal.md": someTool})
	want, problems := read(t, folder)
	wantProblems(t, problems)
	for _, place := range []string{"", "outils/", "pages/", "images/", "images/sous-dossier/"} {
		for _, name := range []string{".x.md", ".x.md.swp", "boreal.md~", "catalogue.yaml~", "#boreal.md#", "Thumbs.db", "thumbs.db", "desktop.ini", "Desktop.ini"} {
			folder[place+name] = &fstest.MapFile{Data: []byte("x")}
		}
	}
	r := readAll(t, folder, Options{})
	wantProblems(t, r.Problems)
	if len(r.Warnings) > 0 {
		t.Error(r.Warnings)
	}
	if diff := cmp.Diff(want, r.Catalog); diff != "" {
		t.Error(diff)
	}
	parts, err := Parts(folder)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, p := range parts {
		paths = append(paths, p.Path)
	}
	if diff := cmp.Diff([]string{"catalogue.yaml", "images", "images/sous-dossier", "outils", "outils/boreal.md", "pages"}, paths); diff != "" {
		t.Error(diff)
	}
	folder["outils/#"] = &fstest.MapFile{}
	_, problems = read(t, folder)
	wantProblems(t, problems, "outils/#:1: this file is not read; a record must be named <slug>.md")
}
