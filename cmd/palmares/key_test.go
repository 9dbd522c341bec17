package main

import (
	"strings"
	"testing"
)

// What lists, pages and mails show of a key is enough to find it.
func TestAKeyIsFoundAsListsShowIt(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		must(t, "account", "create", "ada@example.org", "--database", database)
		key := strings.TrimSpace(must(t, "key", "create", "ada@example.org", "--name", "import", "--database", database))
		for given, want := range map[string]string{
			key: "ada@example.org", key[:8] + "…" + key[len(key)-4:]: "ada@example.org", key[:8] + "..." + key[len(key)-4:]: "ada@example.org",
			key[:8] + "…none": "no account has this key", "plm_": "standard input has no API key",
		} {
			find := palmares(t.Context(), "key", "find", "--database", database)
			find.Stdin = strings.NewReader(given + "\n")
			out, err := find.CombinedOutput()
			if !strings.Contains(string(out), want) || (err == nil) != strings.Contains(want, "@") {
				t.Errorf("%s: %v, %s", given, err, out)
			}
		}
	})
}
