package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"palmares/internal/catalog"
	"palmares/internal/theme"
)

func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	b := newTab(t, phone)
	for _, p := range kinds {
		b.show(phone) // before it is loaded, as a phone loads it
		b.open(p)
		b.isAccessible(p.path)
		if p.name == "tool" { // all others take their colours from the same sheet
			b.isReadableInEveryColour(p.path)
		}
	}
	// The check must notice a page that is not accessible.
	eval[chromedp.Void](b, `document.querySelector("main").append(new Image()); void 0`)
	if len(axe(b, "{}")) == 0 {
		t.Error("an image without a text alternative passes: the other pages prove nothing")
	}
}

// isAccessible checks the page once on a phone, where parts of it scroll or fold, and its colors
// in the dark on a desktop, which it leaves the tab with.
func (b *tab) isAccessible(what string) {
	b.t.Helper()
	b.show(phone)
	b.prefer("light")
	eval[chromedp.Void](b, kit.axe+";void 0")
	for _, problem := range axe(b, "{}") {
		b.t.Errorf("%s, light: %s", what, problem)
	}
	b.show(desktop)
	b.prefer("dark") // which changes colors only
	for _, problem := range axe(b, coloursOnly) {
		b.t.Errorf("%s, dark: %s", what, problem)
	}
}

// isReadableInEveryColour checks the colours of the page with accents that a publisher may choose: a dark
// one, the lightest that is accepted, and a saturated one.
func (b *tab) isReadableInEveryColour(what string) {
	b.t.Helper()
	for _, accent := range []string{"#14213d", theme.Light.Nearest(theme.Colour{0xff, 0xd1, 0x66}).String(), "#d6002f"} {
		css := theme.Of(&catalog.Settings{Theme: []catalog.Theme{{Accent: accent}}}).CSS()
		eval[chromedp.Void](b, fmt.Sprintf(`{ const sheet = new CSSStyleSheet(); sheet.replaceSync(%q); document.adoptedStyleSheets = [sheet] }`, css))
		for _, scheme := range []string{"light", "dark"} {
			b.prefer(scheme)
			for _, problem := range axe(b, coloursOnly) {
				b.t.Errorf("%s in %s, %s: %s", what, accent, scheme, problem)
			}
		}
	}
}

// coloursOnly has axe check only what colours change.
const coloursOnly = `{ runOnly: ["color-contrast", "link-in-text-block"] }`

// axe returns what axe-core finds wrong with the page as it is.
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
