package browser_test

import (
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// A watch records the console messages and the requests of a tab's pages. The browser
// reports both in order, so the watch makes a marked message and a marked request, and
// has read everything before them once it reads them.
type watch struct {
	b          *tab
	marks      int
	console    stream[chromedp.ConsoleMessage]
	sent       stream[network.EventRequestWillBeSent]
	finished   stream[network.EventLoadingFinished]
	complaints []string
	requests   []request
	forgiven   []string
	lost       []string // what was loaded again: one message about each is forgiven
}

// A request was made by a page.
type request struct {
	id   network.RequestID
	url  string
	kind network.ResourceType
}

// A stream is a sequence of browser events that is read on demand.
type stream[E any] struct {
	next func() (E, error, bool)
	stop func()
}

func newStream[E any](events iter.Seq2[E, error]) stream[E] {
	next, stop := iter.Pull2(events)
	return stream[E]{next, stop}
}

// newWatch starts watching a tab.
func newWatch(b *tab) *watch {
	return &watch{
		b:        b,
		console:  newStream(chromedp.Console(b.ctx)),
		sent:     newStream(chromedp.Events(b.ctx, network.RequestWillBeSent)),
		finished: newStream(chromedp.Events(b.ctx, network.LoadingFinished)),
	}
}

func (w *watch) stop() {
	w.console.stop()
	w.sent.stop()
	w.finished.stop()
}

// forgive accepts messages about a URL that the test expects to fail.
func (w *watch) forgive(address string) { w.forgiven = append(w.forgiven, address) }

// read reads everything up to now.
func (w *watch) read() {
	w.b.t.Helper()
	w.marks++
	mark := fmt.Sprintf("mark %d of the watch", w.marks)
	address := fmt.Sprintf("%s/robots.txt?mark=%d", w.b.base, w.marks)
	eval[chromedp.Void](w.b, fmt.Sprintf(`fetch(%q).then(answer => answer.text()).then(() => console.debug(%q))`, address, mark), chromedp.EvalAwaitPromise)
	for {
		m := w.console.take(w.b.t)
		if m.Text == mark {
			break
		}
		if i := slices.Index(w.lost, m.URL); i >= 0 && strings.Contains(m.Text, "net::ERR_SOCKET_NOT_CONNECTED") {
			w.lost = slices.Delete(w.lost, i, i+1)
			continue
		}
		if m.Type != chromedp.ConsoleDebug && !slices.Contains(w.forgiven, m.URL) {
			w.complaints = append(w.complaints, fmt.Sprintf("%s (%s %s)", m, m.Source, m.URL))
		}
	}
	for {
		e := w.sent.take(w.b.t)
		if e.Request.URL == address {
			break
		}
		if !strings.HasPrefix(e.Request.URL, "data:") {
			w.requests = append(w.requests, request{e.RequestID, e.Request.URL, e.Type})
		}
		if to, err := url.Parse(e.Request.URL); err != nil || to.Scheme != "data" && "http://"+to.Host != w.b.base {
			w.complaints = append(w.complaints, "a request to another host: "+e.Request.URL)
		}
	}
}

// transferred returns the bytes received since the last call of read, headers included,
// in total and per URL. It fails the test if anything was to complain about.
func (w *watch) transferred() (total float64, parts []string) {
	w.b.t.Helper()
	// Browsers may or may not load a page's icon: that request is left out, and a
	// script requests the icon instead.
	eval[chromedp.Void](w.b, `fetch(document.querySelector("link[rel=icon]").href).then(answer => answer.text())`, chromedp.EvalAwaitPromise)
	before := len(w.requests)
	w.read()
	w.fail()
	waiting := map[network.RequestID]string{}
	for _, r := range w.requests[before:] {
		if r.kind != network.ResourceTypeOther {
			waiting[r.id] = r.url
		}
	}
	for len(waiting) > 0 {
		e := w.finished.take(w.b.t)
		address, ours := waiting[e.RequestID]
		if !ours {
			continue
		}
		delete(waiting, e.RequestID)
		total += e.EncodedDataLength
		parts = append(parts, fmt.Sprintf("%s %.0f", strings.TrimPrefix(address, w.b.base), e.EncodedDataLength))
	}
	return total, parts
}

// check fails the test if anything was to complain about.
func (w *watch) check() {
	w.b.t.Helper()
	w.read()
	w.fail()
}

func (w *watch) fail() {
	w.b.t.Helper()
	for _, c := range w.complaints {
		w.b.t.Errorf("the browser reports: %s", c)
	}
	w.complaints = nil
}

// take waits for the next event.
func (s stream[E]) take(t *testing.T) E {
	t.Helper()
	e, err, ok := s.next()
	if err != nil || !ok {
		t.Fatalf("the browser reports no more events: %v", err)
	}
	return e
}

// get runs an action and returns its value.
func get[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := b.action()
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// eval returns the value of a JavaScript expression in the page.
func eval[T any](b *tab, expression string, options ...chromedp.EvaluateOption) T {
	b.t.Helper()
	ctx, cancel := b.action()
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		b.t.Fatalf("%v, for %.300s", err, expression)
	}
	return v
}

// call sends the browser a command of its protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, cancel := b.action()
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}
