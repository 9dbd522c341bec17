// Package internal_test holds the arrows of ARCHITECTURE.md.
package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows says what each package may import of ours. What is not here may import
// nothing, and cmd may import everything.
var arrows = map[string][]string{
	"internal/account":   {},
	"internal/catalog":   {},
	"internal/markdown":  {"internal/catalog"},
	"internal/content":   {"internal/catalog", "internal/markdown"},
	"internal/synthetic": {"internal/catalog"},
	"internal/webhook":   {"internal/catalog"},
	"internal/mail":      {"internal/webhook"},
	"internal/billing":   {"internal/account"},
	"internal/store": {
		"internal/catalog", "internal/account", "internal/markdown", "internal/quota", "internal/webhook", "internal/mail", "internal/billing",
	},
	"internal/webhookapi": {"internal/account", "internal/api", "internal/catalog", "internal/keyring", "internal/store", "internal/webhook"},
	"internal/accountsite": {
		"internal/account", "internal/billing", "internal/catalog", "internal/clientip", "internal/quota", "internal/site", "internal/store", "internal/webhook",
	},
	"internal/snapshot": {"internal/catalog", "internal/markdown"},
	"internal/keyring":  {"internal/account"},
	"internal/coding":   {},
	"internal/clientip": {},
	"internal/quota":    {},
	"internal/search":   {"internal/catalog", "internal/markdown"},
	"internal/api":      {"internal/catalog", "internal/snapshot", "internal/account", "internal/coding", "internal/quota"},
	"internal/site":     {"internal/catalog", "internal/snapshot", "internal/markdown", "internal/coding", "internal/search"},
	"internal/server":   {"internal/catalog", "internal/snapshot", "internal/account", "internal/keyring", "internal/api", "internal/quota", "internal/clientip"},
	"internal/keyring/keyringtest": {
		"internal/account",
	},
	"internal/testkit": {},
	"demo":             {},
}

func TestImportsFollowTheArrows(t *testing.T) {
	root := os.DirFS("..")
	seen := map[string]bool{}
	err := fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		dir := path.Dir(file)
		if strings.HasPrefix(dir, "cmd/") || strings.HasPrefix(dir, "bench") || strings.HasPrefix(dir, "tools/") {
			return nil
		}
		allowed, ok := arrows[dir]
		if !ok {
			t.Errorf("%s is not in the table of arrows: add it, and draw it in ARCHITECTURE.md", dir)
			return nil
		}
		seen[dir] = true
		for _, imported := range imports(t, "../"+file) {
			switch ours, isOurs := strings.CutPrefix(imported, "palmares/"); {
			case isOurs && !slices.Contains(allowed, ours):
				t.Errorf("%s imports %s: that arrow is not allowed", file, ours)
			case dir == "internal/catalog" && !isOurs && strings.Contains(imported, "."):
				t.Errorf("%s imports %s: the domain needs the standard library only", file, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range arrows {
		if !seen[dir] {
			t.Errorf("%s is in the table of arrows and nowhere else", dir)
		}
	}
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, name)
	}
	return list
}
