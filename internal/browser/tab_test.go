package browser_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A tab is one reader: a page in a window of its own. Its methods end the test
// when the browser cannot do what they ask.
type tab struct {
	t     *testing.T
	ctx   context.Context
	watch *watch
	base  string // of the server that it visits
}

// A screen is what a reader holds.
type screen struct {
	name          string
	width, height int64
	touch         bool
}

var (
	desktop = screen{"desktop", 1280, 900, false}
	phone   = screen{"phone", 390, 844, true}
)

// patience is how long a tab may take for all that a test asks of it. It is for
// tests that would otherwise hang.
const patience = 4 * time.Minute

// newTab opens an empty tab that nothing is cached in, and closes it with the test.
// What its pages complained about until then fails the test.
func newTab(t *testing.T, s screen) *tab {
	t.Helper()
	return newTabAt(t, s, kit.url)
}

// newTabAt is newTab for another server than the one that all tests share.
func newTabAt(t *testing.T, s screen, base string) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(kit.browser, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	if err := chromedp.Do(ctx); err != nil { // opens it without the limit below, which would close it
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, base: base}
	b.watch = newWatch(b)
	b.show(s)
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	t.Cleanup(func() {
		if !t.Failed() { // a test that failed half-way says why itself
			b.watch.check()
		}
		b.watch.stop()
	})
	return b
}

// show changes the screen.
func (b *tab) show(s screen, options ...chromedp.EmulateViewportOption) {
	b.t.Helper()
	if s.touch {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait)
	}
	b.do(chromedp.EmulateViewport(s.width, s.height, options...))
}

// prefer sets what the reader prefers: "light" or "dark".
func (b *tab) prefer(scheme string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// withoutScripts turns JavaScript off, before a page is opened.
func (b *tab) withoutScripts() {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("%v (at %s)", err, b.lastURL())
	}
}

// open goes to a page of the server and waits until all of it is there.
func (b *tab) open(p pageKind) {
	b.t.Helper()
	resp := get(b, chromedp.NavigateResponse(b.base+p.path))
	if resp == nil || resp.Status != p.answer() {
		b.t.Fatalf("%s: %s, not %d", p.path, said(resp), p.answer())
	}
	if p.answer() != 200 {
		b.watch.forgive(b.base + p.path)
	}
}

// goTo opens a page that must be there.
func (b *tab) goTo(path string) {
	b.t.Helper()
	b.open(pageKind{path: path})
}

// follow clicks on what leads to another page and waits until that is there.
func (b *tab) follow(selector string) {
	b.t.Helper()
	b.leave(chromedp.Click(chromedp.CSS(selector)))
}

// leave does what leads to another page and waits until that is there.
func (b *tab) leave(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.meet(200, actions...)
}

// meet is leave for a page that answers with another status.
func (b *tab) meet(status int64, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	resp, err := chromedp.RunResponse(b.ctx, actions...)
	if err != nil {
		b.t.Fatalf("%v (at %s)", err, b.lastURL())
	}
	if resp != nil && resp.Status != status {
		b.t.Fatalf("%s: %s", b.lastURL(), said(resp))
	}
}

// back goes to the page before, which the browser may have kept as it was: then
// nothing loads.
func (b *tab) back() {
	b.t.Helper()
	get(b, chromedp.WaitEvent(page.FrameNavigated, nil, chromedp.Evaluate[chromedp.Void](`history.back()`)))
}

// await waits until a JavaScript expression holds, which it looks at with every
// frame that is drawn.
func (b *tab) await(expression string) {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`new Promise((resolve, reject) => {
		const deadline = performance.now() + 30000;
		const look = () => {
			if (%s) resolve();
			else if (performance.now() > deadline) reject(new Error("not within thirty seconds"));
			else requestAnimationFrame(look);
		};
		look();
	})`, expression), chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s never came true: %v (at %s, which says: %.300s)", expression, err, b.lastURL(), b.text("main"))
	}
}

// at tells whether the reader is where a link should have led: the address after
// the host, and a heading that says the words.
func (b *tab) at(address, heading string) {
	b.t.Helper()
	if got := strings.TrimPrefix(b.lastURL(), b.base); got != address {
		b.t.Fatalf("the reader is at %s, not %s", got, address)
	}
	if got := b.text("h1"); !strings.Contains(got, heading) {
		b.t.Fatalf("%s is headed %q, not %q", address, got, heading)
	}
}

// text is what an element says to a reader who sees.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector(%q).innerText.replaceAll(/[\u00a0\u202f]/g, " ")`, selector))
}

// texts are what all elements of a kind say.
func (b *tab) texts(selector string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.innerText.replaceAll(/[\u00a0\u202f]/g, " "))`, selector))
}

func (b *tab) lastURL() string {
	b.t.Helper()
	return eval[string](b, `location.href`)
}

// sees waits until an element stands within the window: browsers scroll to it in
// their own time.
func (b *tab) sees(id string) {
	b.t.Helper()
	b.await(fmt.Sprintf(`(() => {
		const box = document.getElementById(%q).getBoundingClientRect();
		return box.top >= 0 && box.top < innerHeight && box.left >= 0;
	})()`, id))
}

func said(resp *network.Response) string {
	if resp == nil {
		return "no answer"
	}
	return fmt.Sprintf("status %d", resp.Status)
}
