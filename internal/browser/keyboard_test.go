package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A focus is where the keyboard is.
type focus struct {
	What    string  // for people who read the test's words
	Place   int     // among all that the keyboard can reach, -1 for the page itself
	Outline float64 // its width in pixels, 0 for none
}

// focusScript gives the focus when the browser has scrolled to it.
const focusScript = `new Promise((resolve, reject) => {
	const e = document.activeElement, style = getComputedStyle(e), deadline = performance.now() + 30000;
	const reachable = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
		.filter(e => !e.disabled && e.type !== "hidden" && e.checkVisibility({ visibilityProperty: true }));
	const look = () => {
		const box = e.getBoundingClientRect();
		if (box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth) resolve({
			What: e.tagName + " " + (e.innerText || e.name || "").slice(0, 40), Place: reachable.indexOf(e),
			Outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
		});
		else if (performance.now() > deadline) reject(new Error("the keyboard is out of view on " + e.outerHTML));
		else requestAnimationFrame(look);
	};
	look();
})`

func TestTheKeyboardReachesEverythingInOrderAndIsSeen(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	for _, path := range []string{"/", "/outils", "/outils/babilune", "/comparatifs/mandibule-vs-escouade", "/tarifs", "/docs"} {
		b.goTo(path)
		for i := range 30 {
			b.do(chromedp.KeyEvent(kb.Tab))
			at := eval[focus](b, focusScript, chromedp.EvalAwaitPromise)
			if at.Place == -1 && i > 10 {
				break // round the page
			}
			if at.Place != i {
				t.Fatalf("%s: Tab number %d leads to %+v", path, i+1, at)
			}
			if at.Outline < 2 {
				t.Errorf("%s: one does not see that the keyboard is on %+v", path, at)
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
	b.do(chromedp.Focus(chromedp.CSS(`[name=q]`)), chromedp.KeyEvent("murmurine"))
	b.await(`location.search === "?q=murmurine"`)
	if name := eval[string](b, `document.activeElement.name + "=" + document.activeElement.value`); name != "q=murmurine" {
		t.Errorf("after typing, the keyboard is on %s", name)
	}
	b.do(chromedp.KeyEvent(kb.Tab))
	if at := eval[string](b, `document.activeElement.name`); at != "category" {
		t.Errorf("the next field is %q", at)
	}
	// Page two leaves a reader at the top of the list it brings.
	b.goTo("/outils")
	b.do(chromedp.Focus(chromedp.CSS(`[data-pager] a[rel=next]`)), chromedp.KeyEvent(kb.Enter))
	b.await(`location.search === "?page=2"`)
	b.do(chromedp.KeyEvent(kb.Tab))
	if at, first := b.text(":focus"), b.text(results+" a"); at != first {
		t.Errorf("on page 2 the keyboard goes on to %q, not %q", at, first)
	}
}
