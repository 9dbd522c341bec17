package markdown

import (
	"strings"
	"testing"
	"unicode"
)

func TestOnlyMarkupIsEscaped(t *testing.T) {
	for plain, want := range map[string]string{
		"Plume Code":                    "Plume Code",
		"19,99 €/mois - tout compris":   "19,99 €/mois - tout compris",
		"R&D & un_mot_composé":          `R\&D & un_mot_composé`,
		"- pas une liste":               `\- pas une liste`,
		"2. pas une liste":              `2\. pas une liste`,
		"## pas un titre":               `\#\# pas un titre`,
		"C# et *gras* et _italique_":    `C# et \*gras\* et \_italique\_`,
		"a|b <b> [lien](x)\n\tla suite": `a\|b \<b\> \[lien\](x) la suite`,
		"":                              "",
	} {
		if got := Escape(plain); got != want {
			t.Errorf("%q became %q, not %q", plain, got, want)
		}
	}
}

func FuzzEscapedTextReadsTheSame(f *testing.F) {
	for _, s := range []string{
		"Plume", "- a", "+ a", "1. a", "1) a", "# a", "###### a", "=", "---", "***", "> a", "`a`", "``", "a\nb", "&amp; &#65; &x", "\\", "\\*", "[a]: b", "[a]", "![a](b)",
		"<b>", "<http://a.example>", "a_b _c_", "__x__", "~~a~~", "| a | b |", "|---|", "{#id}", "a {#id}", "\u202e", "\u2028", "123456789. x", ": a", "~~~", "a  ", "\x00", "0 #", "\u2000", "\u2000a", "a\u3000b", "\u00a0", "\u2000- a", "- \u2000", "\u0085", "\ufeff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		escaped := Escape(s)
		if strings.ContainsAny(escaped, "\n\r") {
			t.Fatalf("%q became several lines: %q", s, escaped)
		}
		said := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool {
			return r == ' ' || r == '\u2028' || r == '\u2029' || unicode.IsControl(r)
		}), " ")
		for frame, want := range map[string]string{"%": said, "- %": said, "# x %": "x " + said, "x % y": "x " + said + " y", "[%](/a)": said} {
			if got := Plain(strings.Replace(frame, "%", escaped, 1)); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
				t.Errorf("in %q, %q says %q (written %q)", frame, s, got, escaped)
			}
		}
		if _, found := tooComplex(escaped); found {
			return
		}
		if got := Plain("| a | b |\n|---|---|\n| " + escaped + " | z |\n"); strings.TrimSpace(said) != "" && !strings.HasSuffix(got, " | z") {
			t.Errorf("%q left its cell: %q", s, got)
		}
	})
}

func TestEscapingHTMLKeepsMarkdown(t *testing.T) {
	for body, want := range map[string]string{
		"## Titre {#t}\n\n- a **b** `<i>` <https://a.example>\n": "## Titre {#t}\n\n- a **b** `<i>` <https://a.example>\n",
		"avant <b>gras</b> après":                                "avant &lt;b>gras&lt;/b> après",
		"<script>\nalert(1)\n</script>\n\n    <code>\n":          "&lt;script>\nalert(1)\n&lt;/script>\n\n    <code>\n",
		"a < b": "a < b",
	} {
		if got := EscapeHTML(body); got != want {
			t.Errorf("%q became %q, not %q", body, got, want)
		}
	}
}

func FuzzEscapedHTMLIsGone(f *testing.F) {
	for _, s := range []string{"<b>", "<script>\n</script>\n    <b>", "<!-- a\n\n<i> -->\n<b>", "> <div>\n> <a\nb>", "a <b\nc> d", "<?php ?>", "<![CDATA[ <b> ]]>", "- <div>\n\n  <b>", "| <b> |\n|---|\n| <i> |"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if spans, _ := rawHTML(EscapeHTML(body)); len(spans) > 0 {
			t.Errorf("%q became %q, which still has HTML", body, EscapeHTML(body))
		}
	})
}
