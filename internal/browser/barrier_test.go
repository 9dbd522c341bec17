package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestPagesHaveNoBarriers(t *testing.T) {
	t.Parallel()
	for _, s := range []screen{phone, desktop} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, s)
			for _, p := range kinds {
				b.open(p)
				b.hasNoBarriers(p.path + ", " + s.name)
			}
			// A barrier that is there must be seen.
			eval[chromedp.Void](b, `document.querySelector("main").append(new Image()); void 0`)
			if len(axe(b, "{}")) == 0 {
				t.Error("an image that says nothing passes: the other pages prove nothing")
			}
		})
	}
}

// hasNoBarriers looks at the page as it stands, in the light and in the dark.
func (b *tab) hasNoBarriers(what string) {
	b.t.Helper()
	b.prefer("light")
	eval[chromedp.Void](b, kit.axe+";void 0")
	for _, barrier := range axe(b, "{}") {
		b.t.Errorf("%s, light: %s", what, barrier)
	}
	// In the dark the page is the same but for its colours.
	b.prefer("dark")
	for _, barrier := range axe(b, `{ runOnly: ["color-contrast", "link-in-text-block"] }`) {
		b.t.Errorf("%s, dark: %s", what, barrier)
	}
}

// axe gives what axe-core finds wrong with the page as it stands.
func axe(b *tab, options string) []string {
	b.t.Helper()
	type violation struct {
		ID, Help string
		Nodes    []struct{ HTML, FailureSummary string }
	}
	var list []string
	for _, v := range eval[[]violation](b, `axe.run(document, { resultTypes: ["violations"], ...`+options+` }).then(found => found.violations.map(
		v => ({ ID: v.id, Help: v.help, Nodes: v.nodes.map(n => ({ HTML: n.html, FailureSummary: n.failureSummary })) })))`, chromedp.EvalAwaitPromise) {
		list = append(list, fmt.Sprintf("%s (%s): %d times, first %s\n%s", v.ID, v.Help, len(v.Nodes), v.Nodes[0].HTML, v.Nodes[0].FailureSummary))
	}
	return list
}
