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

// A watch keeps what the pages of a tab complain about and what they ask for.
// The browser tells both in order, so whatever was told before a mark that the
// watch sets itself is complete when it reads that mark.
type watch struct {
	b          *tab
	marks      int
	console    stream[chromedp.ConsoleMessage]
	sent       stream[network.EventRequestWillBeSent]
	finished   stream[network.EventLoadingFinished]
	complaints []string
	asked      []request
	forgiven   []string
}

// A request is one that a page made.
type request struct {
	id   network.RequestID
	url  string
	kind network.ResourceType
}

// A stream is told by the browser and read when the test wants to know.
type stream[E any] struct {
	next func() (E, error, bool)
	stop func()
}

func newStream[E any](events iter.Seq2[E, error]) stream[E] {
	next, stop := iter.Pull2(events)
	return stream[E]{next, stop}
}

// newWatch begins to watch a tab.
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

// forgive lets the browser say that an address failed which the test meant to fail.
func (w *watch) forgive(address string) { w.forgiven = append(w.forgiven, address) }

// read takes in all that happened until now.
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
			w.asked = append(w.asked, request{e.RequestID, e.Request.URL, e.Type})
		}
		if to, err := url.Parse(e.Request.URL); err != nil || to.Scheme != "data" && "http://"+to.Host != w.b.base {
			w.complaints = append(w.complaints, "a request to another host: "+e.Request.URL)
		}
	}
}

// weigh gives the bytes that came over the wire since the last reading, headers
// included, and what for. Every request must have ended well.
func (w *watch) weigh() (total float64, parts []string) {
	w.b.t.Helper()
	// Browsers load a page's icon when they like, or not at all: that request
	// is left out, and the icon asked for by a script instead.
	eval[chromedp.Void](w.b, `fetch(document.querySelector("link[rel=icon]").href).then(answer => answer.text())`, chromedp.EvalAwaitPromise)
	before := len(w.asked)
	w.read()
	w.fail()
	waiting := map[network.RequestID]string{}
	for _, r := range w.asked[before:] {
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

// check fails the test when there was something to complain about.
func (w *watch) check() {
	w.b.t.Helper()
	w.read()
	w.fail()
}

func (w *watch) fail() {
	w.b.t.Helper()
	for _, c := range w.complaints {
		w.b.t.Errorf("the browser complains: %s", c)
	}
	w.complaints = nil
}

// take reads what the browser told next, and waits for it when there is nothing yet.
func (s stream[E]) take(t *testing.T) E {
	t.Helper()
	e, err, ok := s.next()
	if err != nil || !ok {
		t.Fatalf("the browser no longer tells what happens: %v", err)
	}
	return e
}

// get runs an action for its value.
func get[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// eval gives the value of a JavaScript expression in the page.
func eval[T any](b *tab, expression string, options ...chromedp.EvaluateOption) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		b.t.Fatalf("%v, for %.300s", err, expression)
	}
	return v
}

// call sends the browser a command of its protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	r, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}
