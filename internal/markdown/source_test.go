package markdown_test

import (
	"testing"

	"palmares/internal/markdown"
)

func TestATextBelowAnotherHasLowerHeadingsAndItsOwnFootnotes(t *testing.T) {
	for body, want := range map[string]string{
		"a\n\n## B\n\n### C {#c}\n\n```\n## x\n```\n":            "a\n\n### B\n\n#### C {#c}\n\n```\n## x\n```\n",
		"x[^1] y[^deux] `[^a-z]`\n\n[^1]: u\n\n[^deux]: v[^1]\n": "x[^zig-1] y[^zig-deux] `[^a-z]`\n\n[^zig-1]: u\n\n[^zig-deux]: v[^zig-1]\n",
		"###### a": "###### a",
		"rien":     "rien",
	} {
		if got := markdown.Below(body, "zig"); got != want {
			t.Errorf("%q becomes %q, want %q", body, got, want)
		}
	}
}

func TestLinksInASourceGetTheirAddress(t *testing.T) {
	for body, want := range map[string]string{
		"[a](plume.md#prix \"t\") ![b](<../images/logo.png>)":       "[a](/avis/plume#prix \"t\") ![b](</media/aa.png>)",
		"[![a](../images/logo.png)](../images/logo.png) [b](#prix)": "[![a](/media/aa.png)](/media/aa.png) [b](#prix)",
		"[a][r]\n\n[r]: ../pages/methode.md\n":                      "[a][r]\n\n[r]: /methode\n",
		"`[a](plume.md)` [b](plume.md)":                             "`[a](plume.md)` [b](/outils/plume)",
		"```\n[a](plume.md)\n```\n":                                 "```\n[a](plume.md)\n```\n",
		"[a](absent.md) [b](https://x.example) [c](javascript:x)":   "[a](absent.md) [b](https://x.example) [c](javascript:x)",
		"[a](https://banc.example/avis/plume)":                      "[a](/avis/plume)",
		"x[^1]\n\n[^1]: [a](jaserin.md)\n":                          "x[^1]\n\n[^1]: [a](/cimetiere/jaserin)\n",
		"[plume.md](plume.md) [x `](` y](plume.md)":                 "[plume.md](/outils/plume) [x `](` y](/outils/plume)",
	} {
		if got := markdown.WithAddresses(body, magazine().In("outils")); got != want {
			t.Errorf("%q becomes %q, want %q", body, got, want)
		}
	}
}
