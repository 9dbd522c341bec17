package content

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"palmares/internal/catalog"
	canonical "palmares/internal/record"
)

// readTool reads one tool from a file of an otherwise valid folder.
func readTool(t *testing.T, file, text string) *catalog.Tool {
	t.Helper()
	c, problems := read(t, folderOf(map[string]string{file: text}))
	for _, p := range problems {
		if p.Line < 1 || p.Line > 1+strings.Count(text, "\n") || p.Text.English == "" || p.File != file {
			t.Errorf("no such file or line: %s", p)
		}
	}
	if c == nil || len(c.Tools) != 1 {
		return nil
	}
	return c.Tools[0]
}

// lineOf returns a tool of the folders of this package in its canonical form.
func lineOf(tool *catalog.Tool) []byte {
	return canonical.Of(&catalog.Catalog{URL: "https://essai.example"}, tool).Append(nil, nil)
}

// A record that can be read can be written and read back unchanged.
func FuzzFrontMatter(f *testing.F) {
	f.Add(someFields)
	f.Add(someFields + "score: 8\naliases: [a, b]\nsources:\n- https://a.example\n")
	f.Add(someFields + "price_history:\n  - {changed_at: 2025-01-01, old_pricing: gratuit, old_price: 0 €/an, new_pricing: payant, new_price: \"1 €/an\"}\n")
	for _, s := range []string{"a: 'x\n\n  y'", "a: |2-\n   x", "a: >+\n x\n\n", "? a\n: b", "&a b: *a", "a: !!binary x", "a: \"\\x\"", "a: [b, {c: d}, ", "- - - a", "a:\n\tb: c", "%TAG ! x\n", "{a: b}", "\"a\" : b", "a: b\n c", "\u2028: x", "a: 1e3\nb: 0x1\nc: .nan", "x: \xff"} {
		f.Add(s)
		f.Add(someFields + s)
	}
	f.Fuzz(func(t *testing.T, yaml string) {
		tool := readTool(t, "outils/boreal.md", "---\n"+yaml+"\n---\ntexte")
		if tool == nil {
			return
		}
		markdown, _ := appendMarkdown(nil, catalog.ToolFields, tool)
		line := lineOf(tool)
		for file, text := range map[string]string{"outils/boreal.md": string(markdown), "outils.jsonl": string(line)} {
			if diff := cmp.Diff(tool, readTool(t, file, text), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func FuzzJSONLine(f *testing.F) {
	f.Add(someLine)
	for _, s := range []string{`{}`, `[]`, `null`, `{"a":1,"a":2}`, `{"slug":"a","body":"\ud83d\ude00\ud83d"}`, `{"a":{"b":[{"c":1}]}}`, `{"a":1}}`, `{"a":1`, "{\"a\":\"\xff\"}", `{"a":1e999}`, `{"Slug":"a"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") {
			return
		}
		tool := readTool(t, "outils.jsonl", line)
		if tool == nil {
			return
		}
		if diff := cmp.Diff(tool, readTool(t, "outils.jsonl", string(lineOf(tool))), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

// A price is served byte for byte, so it must not be normalized.
func FuzzPricesAndSlugsAreKeptOrRejected(f *testing.F) {
	f.Add("0 €/mois", "boreal")
	f.Add("1\u00a0200,50 €/utilisateur/mois", "a-1")
	f.Add(" 0 €/mois", "-a")
	f.Add("0\u00a0€/mois", strings.Repeat("a", 101))
	f.Add("0 €/mois\n", "A")
	f.Fuzz(func(t *testing.T, price, slug string) {
		record := map[string]any{}
		if err := json.Unmarshal([]byte(someLine), &record); err != nil {
			t.Fatal(err)
		}
		record["price"], record["slug"] = price, slug
		line, err := json.Marshal(record)
		if err != nil || !utf8.ValidString(price) || !utf8.ValidString(slug) {
			return
		}
		tool := readTool(t, "outils.jsonl", string(line))
		if valid := catalog.IsPrice(price) && catalog.IsSlug(slug); valid != (tool != nil) {
			t.Errorf("price %q and slug %q: valid is %v, but the tool is %v", price, slug, valid, tool)
		}
		if tool != nil && (tool.Price != price || tool.Slug != slug) {
			t.Errorf("price %q and slug %q became %q and %q", price, slug, tool.Price, tool.Slug)
		}
	})
}
