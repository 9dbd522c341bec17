package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestNothingIsWiderThanASmallPhone(t *testing.T) {
	t.Parallel()
	b := newTab(t, screen{"small phone", 360, 740, true})
	for _, p := range kinds {
		b.open(p)
		b.fits(360)
	}
}

// fits checks that the page, shown on a screen of that width, does not scroll sideways.
// Tables may scroll within themselves; the page may not.
func (b *tab) fits(width int) {
	b.t.Helper()
	wide := eval[[]string](b, fmt.Sprintf(`(width => {
		const page = document.documentElement;
		const scrolls = e => e && (getComputedStyle(e).overflowX !== "visible" || scrolls(e.parentElement));
		const wide = [...document.querySelectorAll("body *")]
			.filter(e => e.getBoundingClientRect().right > width + 0.5 && !scrolls(e.parentElement))
			.map(e => e.tagName + "." + e.className);
		if (page.scrollWidth > width || innerWidth > width) wide.unshift("the page: " + page.scrollWidth);
		return wide;
	})(%d)`, width))
	if len(wide) > 0 {
		b.t.Errorf("%s does not fit into %d pixels: %v", b.lastURL(), width, wide)
	}
}

// shiftScript sums up how much of what was shown moved after it was shown, as
// browsers count it. The first paint is told after the shifts that came before.
const shiftScript = `new Promise(resolve => {
	let score = 0, painted = false;
	const observer = new PerformanceObserver(list => {
		for (const entry of list.getEntries()) {
			if (entry.entryType === "layout-shift") score += entry.value;
			else painted = true;
		}
	});
	observer.observe({ type: "layout-shift", buffered: true });
	observer.observe({ type: "paint", buffered: true });
	const wait = frames => requestAnimationFrame(() => setTimeout(() => {
		if (painted && frames <= 0) resolve(score);
		else wait(frames - 1);
	}));
	wait(3);
})`

func TestNothingMovesWhileAPageLoads(t *testing.T) {
	t.Parallel()
	for _, s := range []screen{phone, desktop} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, s)
			for _, p := range kinds {
				b.open(p)
				if score := eval[float64](b, shiftScript, chromedp.EvalAwaitPromise); score >= 0.02 {
					t.Errorf("%s: the layout shifts by %g", p.path, score)
				}
			}
			// What the figure is worth: something that does move.
			eval[chromedp.Void](b, `new Promise(resolve => requestAnimationFrame(() => {
				const block = document.createElement("div");
				block.append(Object.assign(document.createElement("pre"), { textContent: "\n".repeat(20) }));
				document.querySelector("main").prepend(block);
				requestAnimationFrame(() => resolve());
			}))`, chromedp.EvalAwaitPromise)
			if score := eval[float64](b, shiftScript, chromedp.EvalAwaitPromise); score < 0.02 {
				t.Errorf("a page that moves has a score of %g only: the other figures prove nothing", score)
			}
		})
	}
}
