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

// A tab is one reader: a page in a window of its own. Its methods stop the test when
// the browser cannot do what they ask.
type tab struct {
	t     *testing.T
	ctx   context.Context
	watch *watch
	base  string // URL of the server
}

// A screen is a window on a device.
type screen struct {
	name          string
	width, height int64
	touch         bool
}

var (
	desktop = screen{"desktop", 1280, 900, false}
	phone   = screen{"phone", 390, 844, true}
)

// Deadlines only bound failures: nothing is expected to take this long, on any machine.
const (
	actionDeadline = 7 * time.Minute // for one action, such as a click on an element that must appear first
	deadline       = 2 * time.Minute // for one condition to come true
)

// newTab opens an empty tab in the wide typeface on the server that all tests share.
func newTab(t *testing.T, s screen) *tab {
	t.Helper()
	return openTab(t, wideBrowser, s, kit.url)
}

// openTab opens an empty tab with an empty cache, and closes it with the test. What
// its pages complained about until then fails the test.
func openTab(t *testing.T, browser *chromium, s screen, base string) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser.context(t), chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	if err := chromedp.Do(ctx); err != nil { // opens it; a deadline here would close it
		t.Fatal(err)
	}
	b := &tab{t: t, ctx: ctx, base: base}
	b.watch = newWatch(b)
	b.show(s)
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	t.Cleanup(func() {
		if !t.Failed() { // a test that failed has said why
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

// prefer sets the preferred color scheme: "light" or "dark".
func (b *tab) prefer(scheme string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// withoutScripts turns JavaScript off for the pages opened afterwards.
func (b *tab) withoutScripts() {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// action returns a context for one action.
func (b *tab) action() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, actionDeadline)
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.action()
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("%v (at %s)", err, b.lastURL())
	}
}

// open loads a page of the server, and once more if a part of it was lost: a browser that is slow may send
// its request just when the server gives up a connection that was opened in advance and not used.
func (b *tab) open(p pageKind) {
	b.t.Helper()
	resp := get(b, chromedp.NavigateResponse(b.base+p.path))
	lost := eval[[]string](b, `performance.getEntriesByType("resource").filter(part => !part.responseStatus).map(part => part.name)`)
	if len(lost) > 0 {
		b.watch.lost = append(b.watch.lost, lost...)
		resp = get(b, chromedp.NavigateResponse(b.base+p.path))
	}
	if resp == nil || resp.Status != p.answer() {
		b.t.Fatalf("%s: %s, not %d", p.path, said(resp), p.answer())
	}
	if p.answer() != 200 {
		b.watch.forgive(b.base + p.path)
	}
}

// goTo loads a page that must answer 200.
func (b *tab) goTo(path string) {
	b.t.Helper()
	b.open(pageKind{path: path})
}

// follow clicks on an element that leads to another page, and waits until that is loaded.
func (b *tab) follow(selector string) {
	b.t.Helper()
	b.leave(chromedp.Click(chromedp.CSS(selector)))
}

// leave runs actions that lead to another page, and waits until that is loaded.
func (b *tab) leave(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.meet(200, actions...)
}

// meet is leave for a page that answers with a status other than 200.
func (b *tab) meet(status int64, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.action()
	defer cancel()
	resp, err := chromedp.RunResponse(ctx, actions...)
	if err != nil {
		b.t.Fatalf("%v (at %s)", err, b.lastURL())
	}
	if resp != nil && resp.Status != status {
		b.t.Fatalf("%s: %s", b.lastURL(), said(resp))
	}
}

// back returns to the previous page. The browser may have kept it: then nothing loads.
func (b *tab) back() {
	b.t.Helper()
	get(b, chromedp.WaitEvent(page.FrameNavigated, nil, chromedp.Evaluate[chromedp.Void](`history.back()`)))
}

// await waits until a JavaScript expression is true. It is evaluated once per frame.
func (b *tab) await(expression string) {
	b.t.Helper()
	ctx, cancel := b.action()
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`new Promise((resolve, reject) => {
		const deadline = performance.now() + %d;
		const look = () => {
			if (%s) resolve();
			else if (performance.now() > deadline) reject(new Error("the deadline has passed"));
			else requestAnimationFrame(look);
		};
		look();
	})`, deadline.Milliseconds(), expression), chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s never became true: %v (at %s, which says: %.300s)", expression, err, b.lastURL(), b.text("main"))
	}
}

// at checks where a link has led: the path and query, and words of the heading.
func (b *tab) at(address, heading string) {
	b.t.Helper()
	if got := strings.TrimPrefix(b.lastURL(), b.base); got != address {
		b.t.Fatalf("the address is %s, want %s", got, address)
	}
	if got := b.text("h1"); !strings.Contains(got, heading) {
		b.t.Fatalf("the heading of %s is %q, want %q", address, got, heading)
	}
}

// text returns the visible text of an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector(%q).innerText.replaceAll(/[\u00a0\u202f]/g, " ")`, selector))
}

// texts returns the visible text of every matching element.
func (b *tab) texts(selector string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.innerText.replaceAll(/[\u00a0\u202f]/g, " "))`, selector))
}

func (b *tab) lastURL() string {
	b.t.Helper()
	return eval[string](b, `location.href`)
}

// sees waits until an element is inside the window: browsers scroll asynchronously.
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
