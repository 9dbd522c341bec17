package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A focus is the element that has the keyboard focus.
type focus struct {
	What    string  // description for failure messages
	Index   int     // among all focusable elements, -1 for the page itself
	Outline float64 // width in pixels, 0 for none
}

// focusScript returns the focus once the browser has scrolled to it.
const focusScript = `new Promise((resolve, reject) => {
	const e = document.activeElement, style = getComputedStyle(e), deadline = performance.now() + 120000;
	const reachable = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
		.filter(e => !e.disabled && e.type !== "hidden" && e.checkVisibility({ visibilityProperty: true }));
	const look = () => {
		const box = e.getBoundingClientRect();
		if (box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth) resolve({
			What: e.tagName + " " + (e.innerText || e.name || "").slice(0, 40), Index: reachable.indexOf(e),
			Outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
		});
		else if (performance.now() > deadline) reject(new Error("the focus is outside the window, on " + e.outerHTML));
		else requestAnimationFrame(look);
	};
	look();
})`

func TestTheKeyboardReachesEverythingInOrderWithVisibleFocus(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	for _, path := range []string{"/", "/outils", "/outils/babilune", "/carte", "/comparatifs/mandibule-vs-escouade", "/tarifs", "/docs"} {
		b.goTo(path)
		for i := range 30 {
			b.do(chromedp.KeyEvent(kb.Tab))
			at := eval[focus](b, focusScript, chromedp.EvalAwaitPromise)
			if at.Index == -1 && i > 10 {
				break // at the end of the page
			}
			if at.Index != i {
				t.Fatalf("%s: Tab number %d leads to %+v", path, i+1, at)
			}
			if at.Outline < 2 {
				t.Errorf("%s: the focus is not visible on %+v", path, at)
			}
		}
	}
}

func TestTheFirstTabSkipsToTheContent(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	for _, p := range kinds {
		b.open(p)
		b.do(chromedp.KeyEvent(kb.Tab))
		if skip := b.text(":focus"); skip != "Aller au contenu" {
			t.Fatalf("%s: the first Tab leads to %q", p.path, skip)
		}
		b.do(chromedp.KeyEvent(kb.Enter))
		b.await(`document.activeElement.tagName === "MAIN"`)
		b.do(chromedp.KeyEvent(kb.Tab))
		if inside := eval[bool](b, `document.querySelector("main").contains(document.activeElement)`); !inside && eval[bool](b, `!!document.querySelector("main a")`) {
			t.Errorf("%s: the Tab after the link leads to %s", p.path, b.text(":focus"))
		}
	}
}

func TestAFilterIsChosenWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/outils")
	b.do(chromedp.Focus(chromedp.CSS(`form[data-live] [name=q]`)), chromedp.KeyEvent("murmurine"))
	b.await(`location.search === "?q=murmurine"`)
	if name := eval[string](b, `document.activeElement.name + "=" + document.activeElement.value`); name != "q=murmurine" {
		t.Errorf("after typing, the focus is on %s", name)
	}
	b.do(chromedp.KeyEvent(kb.Tab))
	if at := eval[string](b, `document.activeElement.name`); at != "category" {
		t.Errorf("the next field is %q", at)
	}
	// The next page puts the focus at the top of its list.
	b.goTo("/outils")
	b.do(chromedp.Focus(chromedp.CSS(`[data-pager] a[rel=next]`)), chromedp.KeyEvent(kb.Enter))
	b.await(`location.search === "?page=2"`)
	b.do(chromedp.KeyEvent(kb.Tab))
	if at, first := b.text(":focus"), b.text(results+" a"); at != first {
		t.Errorf("on page 2, Tab leads to %q, want %q", at, first)
	}
}
