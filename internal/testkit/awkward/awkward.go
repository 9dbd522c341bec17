// Package awkward draws what content folders may hold, above all texts with a meaning in YAML, JSON or Markdown, for
// tests that write it and read it back.
package awkward

import (
	"fmt"
	"strings"
	"unicode"

	"pgregory.net/rapid"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/markdown"
)

func notBlank(s string) bool { return !(&tree.Value{Kind: tree.Text, Text: s}).IsEmpty() }

// The generators draw texts of one line, of several, of a body, of a short body; days, prices and domains.
var (
	texts = rapid.SampledFrom([]string{
		"- a", "# a", "a # b", "a: b", "a:", ": a", "'a'", `"a"`, `\`, `\n`, "a\\", "{a}", "[a]", "a, b", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a`", "?", "? a", "-", "---", "...",
		"null", "Null", "~", "true", "Yes", "no", "on", "Off", "y", "N", "12", "1.5", "0x10", "0o7", "0b1", "1_000", "1e3", "08", ".5", ".nan", ".inf", "-.inf", "+1", "<<", "=", "2026-01-01", "12:30",
		" a", "a ", "\u00a0a\u00a0", "a\u202fb", "L’œuvre : « été »", "a  b", "😀", "\uFFFD", "e\u0301", "Ça coûte 5 %", "C#", "A&B", "Bon ?", "http://a:b", "a;b=c", "0 €/mois",
	})
	OneLine = rapid.OneOf(texts, rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool {
		return !unicode.IsControl(r) && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point) && r != '\u2800' // an empty pattern of Braille
	}), 1, 30, -1).Filter(notBlank))
	Prose  = Lines("", "\t", "---", "    code")
	Bodies = rapid.Custom(func(t *rapid.T) string {
		body, _ := tree.TrimBlankLines(Lines("", "\t", "---", "    code", "\ufeffa", "a\u200bb").Draw(t, "body"))
		return body
	}).Filter(func(s string) bool { return markdown.CheckSections(s).Problems == nil })
	Notes = Bodies.Filter(func(s string) bool { return markdown.Plain(s) != "" })
	Days  = rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("20%02d-%02d-%02d", rapid.IntRange(0, 99).Draw(t, "y"), rapid.IntRange(1, 12).Draw(t, "m"), rapid.IntRange(1, 28).Draw(t, "d"))
	})
	Prices  = rapid.SampledFrom([]string{"0 €/mois", "19,99 €/mois", "1 200 €/an", "1\u00a0200 €/an", "12\u202f000,5 €/utilisateur/mois", "3 €/é", catalog.NoPrice})
	Domains = rapid.SampledFrom([]string{"a.example", "été.fr", "A-1.b.co"})
)

// Lines draws texts of several lines, some of which are others.
func Lines(others ...string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(OneLine, rapid.SampledFrom(others)), 1, 5).Draw(t, "lines"), "\n")
	}).Filter(notBlank)
}
