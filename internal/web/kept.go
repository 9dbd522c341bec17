package web

import (
	"hash/maphash"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// Kept holds whole answers, headers and body, to the requests of one version of the
// catalogue that are asked often. It has a place for each answer, found by a hash of what was
// asked, so that looking for an answer costs the same whether it is there or not, and takes no
// lock.
//
// An answer is kept when it is asked for a second time before another one for the same place.
// Each time that it is found, it earns a credit, up to a limit, which it loses instead of its
// place. So somebody who asks for everything once changes nothing, and somebody who asks for
// everything a few times drops only what others do not ask for.
//
// Answers that say that there is nothing have a shelf of their own, because anybody can invent
// addresses: they never take the place of others.
type Kept struct {
	answers, missing shelf
	// common sets the headers that all answers of the version have.
	common func(http.Header)
}

// A shelf is a number of places and what is in them.
type shelf struct {
	places []place
	limit  int // of size

	mu   sync.Mutex // held to keep and drop answers
	size int
	hand int // place that was last considered for making room
}

type place struct {
	answer atomic.Pointer[keptAnswer]
	asked  atomic.Uint64 // hash of what was last asked for and not found
}

const (
	// keptSize bounds the memory for the answers of one version. It is enough for 600 pages of
	// 50 tools, or for 6,000 single ones.
	keptSize   = 16 << 20
	keptPlaces = 4096
	// missingSize and missingPlaces are for answers that say that there is nothing.
	missingSize   = 1 << 20
	missingPlaces = 256
	// keptAnswerSize is roughly what an answer takes besides what its slices point to.
	keptAnswerSize = 500
)

// NewKept returns an empty Kept for one version; common sets the headers that all answers of
// a Service have, and may be nil otherwise.
func NewKept(common func(http.Header)) *Kept {
	return &Kept{
		answers: shelf{places: make([]place, keptPlaces), limit: keptSize},
		missing: shelf{places: make([]place, missingPlaces), limit: missingSize},
		common:  common,
	}
}

// A keptAnswer is an answer in the form in which it is sent, as such and as 304.
type keptAnswer struct {
	question
	pattern string // of its route
	status  int
	tag     string // "" for none
	free    bool
	body    []byte
	length  []string // of the body, as a header
	ok      keptHead
	known   keptHead // for a client that has the body already
	credit  atomic.Int32
}

// maxCredit is how much credit an answer has at most.
const maxCredit = 3

// isSpared reports whether the answer keeps its place, which costs it a credit.
func (a *keptAnswer) isSpared() bool {
	credit := a.credit.Load()
	a.credit.Store(max(0, credit-1)) // one that is earned meanwhile may be lost
	return credit > 0
}

// A question is what an answer depends on.
type question struct {
	path, query string
	coding      Coding
}

// A keptHead is the headers of an answer, except its length and those that differ each time:
// for a map, and as lines.
type keptHead struct {
	names  []string
	values [][]string
	lines  []byte
}

var keptSeed = maphash.MakeSeed()

// questionOf returns what a request asks, and false if its answer is not kept.
func questionOf(r *http.Request) (question, bool) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || r.URL.RawPath != "" {
		return question{}, false
	}
	return question{r.URL.Path, r.URL.RawQuery, ChooseCoding(r.Header["Accept-Encoding"], Brotli)}, true
}

// find returns the kept answer to a question, or nil.
func (k *Kept) find(q question) *keptAnswer {
	h := q.hash()
	a := k.answers.at(h).answer.Load()
	if a == nil || a.question != q {
		if a = k.missing.at(h).answer.Load(); a == nil || a.question != q {
			return nil
		}
	}
	if credit := a.credit.Load(); credit < maxCredit { // otherwise nothing is written that processors share
		a.credit.Store(credit + 1)
	}
	return a
}

func (q *question) hash() uint64 {
	return maphash.String(keptSeed, q.path)*31 + maphash.String(keptSeed, q.query) + uint64(q.coding)
}

func (s *shelf) at(hash uint64) *place { return &s.places[hash%uint64(len(s.places))] }

// isAskedAgain notes that an answer was asked for and not found, and reports whether it is
// time to keep it.
func (s *shelf) isAskedAgain(q question) bool {
	h := q.hash()
	return s.at(h).asked.Swap(h) == h
}

// put keeps an answer, unless its place is taken by one with credit.
func (s *shelf) put(a *keptAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.at(a.hash())
	if before := p.answer.Load(); before != nil && before.isSpared() || a.size() > s.limit/16 {
		return
	}
	s.drop(p)
	s.size += a.size()
	for s.size > s.limit {
		s.hand = (s.hand + 1) % len(s.places)
		if other := s.places[s.hand].answer.Load(); other != nil && !other.isSpared() {
			s.drop(&s.places[s.hand])
		}
	}
	p.answer.Store(a)
}

// drop empties a place. It is called with the lock held.
func (s *shelf) drop(p *place) {
	if a := p.answer.Swap(nil); a != nil {
		s.size -= a.size()
	}
}

func (a *keptAnswer) size() int {
	heads := 2*len(a.ok.lines) + 2*len(a.known.lines) // the maps point to as much text again
	return keptAnswerSize + len(a.path) + len(a.query) + len(a.body) + heads
}

// newKeptHead returns headers in the forms in which they are sent, without those that
// differ each time.
func newKeptHead(header http.Header, without ...string) (h keptHead) {
	for name, values := range header {
		if name == "Connection" || name == "Content-Length" || slices.Contains(without, name) {
			continue
		}
		h.names, h.values = append(h.names, name), append(h.values, values)
		for _, v := range values {
			h.lines = append(append(append(append(h.lines, name...), ": "...), v...), "\r\n"...)
		}
	}
	return h
}

// A ReadyWriter is an http.ResponseWriter that can send a whole answer at once, if what it
// writes to can. Of the headers, lines are those that are not in Header, each with its end.
// Otherwise it does nothing and reports false.
type ReadyWriter interface {
	WriteReady(status int, lines, body []byte) bool
}

// Buffered is the longest body whose length net/http finds out itself, because all of it is in
// its buffer when the handler ends. One header less to sort and copy is a twentieth of the
// whole request.
const Buffered = 2048

// statusFor returns the status with which the answer is sent to a request.
func (a *keptAnswer) statusFor(r *http.Request) int {
	if match := r.Header["If-None-Match"]; match != nil && a.tag != "" && MatchesTag(match, a.tag) {
		return http.StatusNotModified
	}
	return a.status
}

// send sends the answer, as 304 or in full, with the headers that are in the header of w
// already.
func (a *keptAnswer) send(w http.ResponseWriter, method string, status int) {
	head, body := &a.ok, a.body
	if status == http.StatusNotModified {
		head, body = &a.known, nil
	}
	if ready, ok := w.(ReadyWriter); ok && method != http.MethodHead && ready.WriteReady(status, head.lines, body) {
		return
	}
	header := w.Header()
	for i, name := range head.names {
		header[name] = head.values[i]
	}
	if len(body) > Buffered || method == http.MethodHead && body != nil {
		header["Content-Length"] = a.length
	}
	w.WriteHeader(status)
	if body != nil {
		_, _ = w.Write(body) // fails only if the client has disconnected
	}
}

// Reply answers a request from what is kept, and reports whether it did: for answers that are
// the same for everybody and not counted.
func (k *Kept) Reply(w http.ResponseWriter, r *http.Request) bool {
	q, ok := questionOf(r)
	if !ok {
		return false
	}
	a := k.find(q)
	if a == nil {
		return false
	}
	r.Pattern = a.pattern
	a.send(w, r.Method, a.statusFor(r))
	return true
}

// Keep keeps an answer that is sent as 200, if it is asked again. The header, with all but the
// length, and the body must not be changed any more; tag is in the header.
func (k *Kept) Keep(r *http.Request, tag string, header http.Header, body []byte) {
	if q, ok := questionOf(r); ok && k.answers.isAskedAgain(q) {
		k.answers.keep(&keptAnswer{question: q, pattern: r.Pattern, status: http.StatusOK, tag: tag, body: body}, header)
	}
}

// keep keeps an answer with these headers.
func (s *shelf) keep(a *keptAnswer, header http.Header) {
	if len(a.body) > pieceSize {
		return // its reader needs patience
	}
	a.length = []string{strconv.Itoa(len(a.body))}
	a.ok, a.known = newKeptHead(header), newKeptHead(header, "Content-Type", "Content-Encoding")
	s.put(a)
}

// ReplyKept answers a request from what is kept, and reports whether it did. Otherwise the
// answer may be kept by Reply.
func (s *Service) ReplyKept(w http.ResponseWriter, r *Request, k *Kept) bool {
	q, ok := questionOf(r.Request)
	if !ok {
		return false
	}
	r.kept = k
	a := k.find(q)
	if a == nil {
		return false
	}
	r.Pattern = a.pattern
	caller, err := s.Callers.Authorize(&r.store, r.Request)
	if err == nil {
		r.Caller, r.admitted = caller, true
		status := a.statusFor(r.Request)
		if err = s.count(w.Header(), r, status, a.free); err == nil {
			a.send(w, r.Method, status)
			return true
		}
	}
	k.common(w.Header())
	s.WriteError(w, err)
	return true
}

// keep keeps an answer that is sent, if it is asked again.
func (s *Service) keep(r *Request, a *Answer) {
	q := question{r.URL.Path, r.URL.RawQuery, a.coding}
	if !r.kept.answers.isAskedAgain(q) {
		return
	}
	header := http.Header{}
	r.kept.common(header)
	as := *a
	as.Status = http.StatusOK // also if this client has it already
	s.setHeaders(header, &as)
	r.kept.answers.keep(&keptAnswer{
		question: q, pattern: r.Pattern, status: http.StatusOK, tag: a.tag, free: a.Free, body: s.body(a, nil),
	}, header)
}

// keepMissing keeps an answer that says that there is nothing, if it is asked again.
func (s *Service) keepMissing(r *Request, e *Error) {
	q, ok := questionOf(r.Request)
	if !ok || !r.kept.missing.isAskedAgain(q) {
		return
	}
	header := http.Header{}
	r.kept.common(header)
	s.setErrorHeaders(header, e)
	r.kept.missing.keep(&keptAnswer{question: q, pattern: r.Pattern, status: e.Status(), body: e.JSON()}, header)
}
