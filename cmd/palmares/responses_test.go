package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func TestTheAPIServesAFolderAsTheseBytes(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/responses.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, responses := t.TempDir(), ""
	for _, file := range archive.Files {
		if file.Name == "responses" {
			responses = string(file.Data)
			continue
		}
		writeFile(t, filepath.Join(dir, file.Name), file.Data)
	}
	if responses == "" {
		t.Fatal("no responses to compare with")
	}
	databases.EachDSN(t, func(t *testing.T, database string) {
		must(t, "publish", dir, "--database", database)
		c := newCrawler(t, database)
		for want := range strings.Lines(responses) {
			path, _, _ := strings.Cut(want, " ")
			resp, body := c.fetch(path)
			got := fmt.Sprintf("%s %d %s %s", path, resp.StatusCode, cmp.Or(resp.Header.Get("Location"), "-"), cmp.Or(resp.Header.Get("X-Total-Count"), "-"))
			if resp.StatusCode < 400 {
				got += " " + body
			}
			if got+"\n" != want {
				t.Errorf("it is\n%s\nwant\n%s", got, want)
			}
		}
	})
}
