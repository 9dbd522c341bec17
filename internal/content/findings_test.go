package content

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheListOfFindingsEndsAtTenThousand(t *testing.T) {
	var free strings.Builder
	empty, aliased := map[string]string{}, strings.TrimSuffix(someLine, "}")+`,"aliases":["x"`+strings.Repeat(`,1`, 20_000)+"]}\n"
	for i := range maxFindings + 500 {
		empty[fmt.Sprintf("outils/x%d.md", i)] = ""
		free.WriteString(strings.Replace(strings.TrimSuffix(someLine, "}"), `"boreal"`, fmt.Sprintf(`"x%d"`, i), 1) + `,"score":1}` + "\n")
	}
	for name, files := range map[string]map[string]string{
		"empty files": empty, "one record": {"outils.jsonl": aliased}, "warnings": {"outils.jsonl": free.String()},
	} {
		r := readAll(t, folderOf(files), Options{InMemory: true})
		list, want := r.Problems, "there are 10000 or more problems; the rest of the folder was not read: fix these first"
		if name == "warnings" {
			want, list = "there are 10000 or more warnings; the others are not listed", nil
			for _, w := range r.Warnings {
				list = append(list, Problem(w))
			}
		}
		if len(list) != maxFindings+1 || list[maxFindings].Text.English != want {
			t.Errorf("%s: %d findings, the last is %v", name, len(list), list[len(list)-1])
		}
	}
}
