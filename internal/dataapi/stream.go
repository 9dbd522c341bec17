package dataapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

const (
	streamChanges = 100       // of a page of a stream
	streamSize    = 256 << 10 // bytes of such a page, but for a single record
	streamTime    = 15 * time.Minute
	commentEvery  = 15 * time.Second
	sendTimeout   = time.Minute     // for a page, or the response to a request that has waited
	endTimeout    = 2 * time.Second // for the last events when the server stops
	// HeldSuffix ends the label in the metrics of requests that were held open: how long
	// they took says nothing about the server.
	HeldSuffix = " (held)"
)

// hold returns the response to a request that is held open, if it may be.
func (h *Handler) hold(r *request, handler http.Handler) (web.Response, error) {
	if err := h.streams.enter(r.Caller.Subject); err != nil {
		return web.Response{}, err
	}
	subject := r.Caller.Subject
	r.Pattern += HeldSuffix
	return web.Response{Handler: handler, Done: func() { h.streams.leave(subject) }}, nil
}

// waiting serves a request whose page is empty: with the page of the next version, or
// with the empty one when its time is over.
type waiting struct {
	h        *Handler
	query    changeQuery
	wait     time.Duration
	replaced <-chan struct{} // closed when the next version is served
}

func (x *waiting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn := http.NewResponseController(w)
	timer := time.NewTimer(x.wait)
	defer timer.Stop()
	select {
	case <-x.replaced:
	case <-timer.C:
	case <-x.h.streams.ending.Done():
	case <-r.Context().Done(): // nobody reads the response
	}
	_ = conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	snap := x.h.live.Snapshot()
	snap.SetHeader(w.Header())
	if err := x.query.check(snap); err != nil {
		x.h.Send(w, r, nil, err)
		return
	}
	a := x.query.page(snap).response()
	a.NoStore, a.Shared = true, true
	x.h.Send(w, r, &a, nil)
}

// A stream sends events: one for each change, and the state whenever there are no
// more. Between two writes it holds no version of the catalogue, and while it writes only
// the bytes of one page, so that a slow reader costs a connection and no more.
type stream struct {
	h     *Handler
	query changeQuery
}

var (
	eventType = []string{"text/event-stream"}
	noStore   = []string{"no-store"}
	noSniff   = []string{"nosniff"}
	// nginx would keep the events until there are many.
	noBuffering = []string{"no"}
)

func (s *stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["Content-Type"], header["Cache-Control"], header["Link"] = eventType, noStore, licenseLink
	header["X-Content-Type-Options"], header["X-Accel-Buffering"] = noSniff, noBuffering
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	out := &eventWriter{w: w, conn: http.NewResponseController(w), streams: s.h.streams}
	defer context.AfterFunc(s.h.streams.ending, func() {
		_ = out.conn.SetWriteDeadline(time.Now().Add(endTimeout)) // its reader may have stopped reading
	})()
	s.run(r.Context(), out)
}

// run writes events until the time is over, the server stops or the reader, whose context
// ends, is gone.
func (s *stream) run(ctx context.Context, out *eventWriter) {
	end := time.Now().Add(streamTime)
	comment := time.NewTicker(commentEvery)
	defer comment.Stop()
	if !out.write([]byte("retry: 5000\n\n")) {
		return
	}
	for woken := false; ; {
		snap, replaced := s.h.live.Watch()
		events, more, err := s.next(snap, woken)
		if !out.write(events) || err != nil || !time.Now().Before(end) {
			return
		}
		for waits := !more; waits; {
			select {
			case <-replaced:
				waits, woken = false, true
			case <-comment.C:
				if !time.Now().Before(end) || !out.write([]byte(":\n\n")) {
					return
				}
			case <-s.h.streams.ending.Done():
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// next returns the next events and moves on behind them. After an error there are no
// more. Once the reader has everything it is woken together with all others, and they
// share the bytes.
func (s *stream) next(snap *snapshot.Snapshot, woken bool) (events []byte, more bool, err error) {
	if err := s.query.check(snap); err != nil {
		return appendFailure(nil, err), false, err
	}
	page := s.query.page(snap)
	s.query.after = page.next
	body := wire.NewParts(page.digest("events"), eventPage{page})
	if woken {
		return s.h.Bytes(body), page.more, nil
	}
	return body.Bytes(), page.more, nil
}

// An eventPage is a part of the feed as events.
type eventPage struct{ *changePage }

// Append appends the events to b.
func (p eventPage) Append(b []byte) []byte {
	for _, c := range p.changes {
		b = appendEvent(b, "change", c.Position)
		b = append(p.appendRow(b, c), "\n\n"...)
	}
	if p.more {
		return b
	}
	b = appendEvent(b, "state", p.next)
	return append(append(b, p.meta...), "\n\n"...)
}

// appendEvent appends the start of an event: its data, in one line, and its end follow.
func appendEvent(b []byte, name string, position int64) []byte {
	b = append(append(b, "event: "...), name...)
	b = strconv.AppendInt(append(b, "\nid: "...), position, 10)
	return append(b, "\ndata: "...)
}

// appendFailure appends the event that says why a stream ends early: it has the name of
// the error's code, and no position.
func appendFailure(b []byte, err error) []byte {
	e := web.AsError(err)
	b = append(append(b, "event: "...), e.Code...)
	b = append(append(b, "\ndata: "...), e.JSON()...)
	return append(b, "\n\n"...)
}

type eventWriter struct {
	w       http.ResponseWriter
	conn    *http.ResponseController
	streams *Streams
}

// write writes and flushes b, and reports whether the stream goes on.
func (o *eventWriter) write(b []byte) bool {
	_ = o.conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	if o.streams.ending.Err() != nil { // and may have set an earlier deadline, just now overwritten
		return false
	}
	if _, err := o.w.Write(b); err != nil {
		return false
	}
	return o.conn.Flush() == nil
}
