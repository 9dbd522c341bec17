package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func TestAFolderOfTheFirstReleaseIsAnsweredAsThen(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/first-release.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, answers := t.TempDir(), ""
	for _, file := range archive.Files {
		if file.Name == "answers" {
			answers = string(file.Data)
			continue
		}
		writeFile(t, filepath.Join(dir, file.Name), file.Data)
	}
	if answers == "" {
		t.Fatal("no answers to compare with")
	}
	databases.EachDSN(t, func(t *testing.T, database string) {
		must(t, "publish", dir, "--database", database)
		c := newCrawler(t, database)
		for want := range strings.Lines(answers) {
			path, _, _ := strings.Cut(want, " ")
			resp, body := c.fetch(path)
			got := fmt.Sprintf("%s %d %s %s", path, resp.StatusCode, cmp.Or(resp.Header.Get("Location"), "-"), cmp.Or(resp.Header.Get("X-Total-Count"), "-"))
			if resp.StatusCode < 400 {
				got += " " + body
			}
			if got+"\n" != want {
				t.Errorf("answers\n%s\nwant\n%s", got, want)
			}
		}
	})
}
