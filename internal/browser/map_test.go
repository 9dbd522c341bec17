package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// unnamedScript gives the focus to every mark of the map in turn, and returns what is wrong
// with their names.
const unnamedScript = `[...document.querySelectorAll(".plot a")].filter(mark => mark.checkVisibility()).flatMap(mark => {
	mark.focus();
	const text = mark.querySelector("text"), box = text.getBoundingClientRect();
	if (!/^\d+,\d+ · /.test(text.querySelector("tspan").textContent) || !text.querySelector("tspan").checkVisibility()) return [mark.ariaLabel + " has no figures"];
	if (!text.checkVisibility() || !box.width) return [mark.ariaLabel + " is not named"];
	if (box.left < 0 || box.right > innerWidth) return [mark.ariaLabel + " is named from " + box.left + " to " + box.right + " of " + innerWidth];
	return mark.ariaLabel.startsWith(text.firstChild.data.replace(/…$/, "")) ? [] : [mark.ariaLabel + " is named " + text.textContent];
})`

func TestEveryMarkOfAMapIsNamedOnFocus(t *testing.T) {
	t.Parallel()
	for _, s := range widths {
		b := newTab(t, s)
		for _, path := range []string{"/carte", "/carte?category=image", "/categories/code"} {
			b.goTo(path)
			eval[chromedp.Void](b, `document.querySelectorAll("details").forEach(folded => folded.open = true)`)
			if n := eval[int](b, `[...document.querySelectorAll(".plot a")].filter(mark => mark.checkVisibility()).length`); n < 5 {
				t.Fatalf("%s has %d marks", path, n)
			}
			for _, problem := range eval[[]string](b, unnamedScript) {
				t.Errorf("%s at %s: %s", path, s.name, problem)
			}
		}
	}
}

func TestAMarkIsNamedWithTheKeyboardAndLeadsToItsTool(t *testing.T) {
	t.Parallel()
	b := newTab(t, widths[1])
	b.goTo("/carte")
	// Few names fit on a phone: most marks have none until they have the focus.
	const hidden = `[...document.querySelectorAll(".plot a")].find(mark => mark.checkVisibility() && !mark.querySelector("text").checkVisibility())`
	eval[chromedp.Void](b, hidden+`.id = "trouve"; void 0`)
	name := eval[string](b, `document.getElementById("trouve").querySelector("text").firstChild.data`)
	b.do(chromedp.Focus(chromedp.CSS("#trouve")))
	b.await(`document.querySelector("#trouve text").checkVisibility()`)
	b.leave(chromedp.KeyEvent(kb.Enter))
	if got := b.text("h1"); got != name {
		t.Errorf("the mark of %s leads to %s", name, got)
	}
}

func TestTheMapCanBeSkipped(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/carte")
	b.do(chromedp.Focus(chromedp.CSS(".map-skip a")), chromedp.KeyEvent(kb.Enter))
	b.await(`document.activeElement.id === "page.tableau"`)
	b.do(chromedp.KeyEvent(kb.Tab))
	if at := eval[string](b, `document.activeElement.tagName`); at != "SUMMARY" {
		t.Errorf("after the map, Tab leads to %s", at)
	}
}

func TestAMarkIsFoundByItsNameAndShownByAFirstTap(t *testing.T) {
	t.Parallel()
	b := newTab(t, phone)
	b.goTo("/carte")
	b.do(chromedp.SendKeys(chromedp.CSS("[id='page.trouver']"), "septuor"+kb.Tab))
	b.await(`document.activeElement.closest(".plot a")?.ariaLabel.startsWith("Septuor, ")`)
	const shared = `[...document.querySelectorAll(".plot a[data-tools]")].find(mark => mark.checkVisibility())`
	eval[chromedp.Void](b, shared+`.querySelector("tspan:last-child").textContent = "et 2 autres"; void 0`)
	lead := eval[string](b, shared+`.ariaLabel`)
	other := eval[string](b, shared+`.dataset.tools.split("\n").find(name => !`+shared+`.textContent.includes(name))`)
	eval[chromedp.Void](b, fmt.Sprintf(`(input => { input.value = %q; input.dispatchEvent(new Event("change")) })(document.getElementById("page.trouver"))`, other))
	b.await(fmt.Sprintf(`document.activeElement.closest(".plot a")?.ariaLabel === %q && document.activeElement.textContent.includes(%q)`, lead, other))
	taps := eval[[]bool](b, `["/outils/septuor", "/outils/septuor", "/outils/faribolin"].map((href, i) => {
		const mark = [...document.querySelectorAll(".plot a")].find(a => a.getAttribute("href") === href && a.checkVisibility());
		let follows; // what is left to the browser, which is then stopped
		addEventListener("click", event => { follows = !event.defaultPrevented; event.preventDefault(); }, { once: true });
		mark.dispatchEvent(new PointerEvent("click", { pointerType: "touch", bubbles: true, cancelable: true }));
		return follows;
	})`)
	if len(taps) != 3 || taps[0] || !taps[1] || taps[2] {
		t.Errorf("of two taps on a mark and one on another, these follow a link: %v", taps)
	}
	small := eval[[]string](b, `[...document.querySelectorAll(".plot a")].filter(mark => mark.checkVisibility() && Math.round(mark.getBoundingClientRect().width) < 24).map(mark => mark.ariaLabel)`)
	if len(small) > 0 {
		t.Errorf("too small to hit: %q", small)
	}
}
