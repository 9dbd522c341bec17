package content

import (
	"bytes"
	stdimage "image"
	"image/png"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Each fixture is a folder without problems and the complete list of its warnings on
// 2026-06-30, with a greatest age of 90 days.
func TestEveryWarningOfAFolderIsReportedWithFileAndLine(t *testing.T) {
	eachFixture(t, "testdata/warnings/*.txtar", "warnings", func(t *testing.T, folder fs.FS) (lines string) {
		r := readAll(t, folder, Options{Today: "2026-06-30", MaxAge: 90})
		wantProblems(t, r.Problems)
		for _, w := range r.Warnings {
			lines += w.String() + "\n"
			kinds := 0
			for _, codes := range kindCodes {
				if slices.Contains(codes, w.Text.Code) {
					kinds++
				}
			}
			if kinds > 1 {
				t.Errorf("%s is of %d kinds", w, kinds)
			}
		}
		return lines
	})
}

// archived returns all files of an archive but the last. Every picture is one pixel.
func archived(t *testing.T, archive *txtar.Archive) fstest.MapFS {
	t.Helper()
	folder := fstest.MapFS{}
	for _, f := range archive.Files[:len(archive.Files)-1] {
		data := f.Data
		if strings.HasSuffix(f.Name, ".png") {
			var b bytes.Buffer
			if err := png.Encode(&b, stdimage.NewGray(stdimage.Rect(0, 0, 1, 1))); err != nil {
				t.Fatal(err)
			}
			data = b.Bytes()
		}
		folder[f.Name] = &fstest.MapFile{Data: data}
	}
	return folder
}

func TestWithoutADayNoDateIsInTheFutureOrTooOld(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/warnings/dates.txtar")
	if err != nil {
		t.Fatal(err)
	}
	r := readAll(t, archived(t, archive), Options{})
	if len(r.Warnings) > 0 {
		t.Error(r.Warnings)
	}
}

func TestARecordThatKeptItsDateIsNamedWithTheLineOfTheDate(t *testing.T) {
	const fields = `"name":"X","category":"code","icp":"mixte","pricing":"payant","price":"1 €/mois","tagline":"x"`
	folder := fstest.MapFS{
		"catalogue.yaml": {Data: []byte("name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n")},
		"outils/scie.md": {Data: []byte("---\nname: Scie\ndomain: scie.example\ncategory: code\nicp: mixte\npricing: payant\n" +
			"price: 10 €/mois\ntagline: Une scie\nupdated_at: 2026-01-01\n---\n")},
		"outils.jsonl": {Data: []byte(`{"slug":"lime","domain":"lime.example",` + fields + "}\n" +
			`{"slug":"plume","domain":"plume.example","updated_at":"2026-01-01",` + fields + "}\n")},
	}
	r := readAll(t, folder, Options{})
	var got []string
	for _, w := range r.WarnUndated([]string{"lime", "plume", "scie"}, nil) {
		got = append(got, w.String())
	}
	want := []string{
		`outils/scie.md:9: warning: "scie" changed, but its updated_at did not; set it to the day of the change, or leave it out`,
		`outils.jsonl:2: warning: "plume" changed, but its updated_at did not; set it to the day of the change, or leave it out`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
