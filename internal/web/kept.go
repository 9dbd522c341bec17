package web

import (
	"hash/maphash"
	"net/http"
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
type Kept struct {
	places [4096]struct {
		answer atomic.Pointer[keptAnswer]
		asked  atomic.Uint64 // hash of what was last asked for and not found
	}
	// common sets the headers that all answers of the version have.
	common func(http.Header)

	mu   sync.Mutex // held to keep and drop answers
	size int
	hand int // place that was last considered for making room
}

const (
	// keptSize bounds the memory for the answers of one version. It is enough for 600 pages of
	// 50 tools, or for 6,000 single ones.
	keptSize = 16 << 20
	// keptAnswerSize is roughly what an answer takes besides what its slices point to.
	keptAnswerSize = 500
)

// NewKept returns an empty Kept for one version; common sets the headers that all its answers
// have.
func NewKept(common func(http.Header)) *Kept { return &Kept{common: common} }

// A keptAnswer is an answer in the form in which it is sent, as 200 and as 304.
type keptAnswer struct {
	question
	pattern string // of its route
	tag     string
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

// find returns the kept answer to a request, or nil.
func (k *Kept) find(q question) *keptAnswer {
	a := k.places[q.hash()%uint64(len(k.places))].answer.Load()
	if a == nil || a.question != q {
		return nil
	}
	if credit := a.credit.Load(); credit < maxCredit { // otherwise nothing is written that processors share
		a.credit.Store(credit + 1)
	}
	return a
}

func (q *question) hash() uint64 {
	return maphash.String(keptSeed, q.path)*31 + maphash.String(keptSeed, q.query) + uint64(q.coding)
}

// isAskedAgain notes that an answer was asked for and not found, and reports whether it is
// time to keep it.
func (k *Kept) isAskedAgain(q question) bool {
	h := q.hash()
	return k.places[h%uint64(len(k.places))].asked.Swap(h) == h
}

// put keeps an answer, unless its place is taken by one with credit.
func (k *Kept) put(a *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	place := int(a.hash() % uint64(len(k.places)))
	if before := k.places[place].answer.Load(); before != nil && before.isSpared() || a.size() > keptSize/16 {
		return
	}
	k.drop(place)
	k.size += a.size()
	for k.size > keptSize {
		k.hand = (k.hand + 1) % len(k.places)
		if other := k.places[k.hand].answer.Load(); other != nil && !other.isSpared() {
			k.drop(k.hand)
		}
	}
	k.places[place].answer.Store(a)
}

// drop empties a place. It is called with the lock held.
func (k *Kept) drop(place int) {
	if a := k.places[place].answer.Swap(nil); a != nil {
		k.size -= a.size()
	}
}

func (a *keptAnswer) size() int {
	heads := 2*len(a.ok.lines) + 2*len(a.known.lines) // the maps point to as much text again
	return keptAnswerSize + len(a.path) + len(a.query) + len(a.body) + heads
}

// newKeptHead returns headers in the forms in which they are sent.
func newKeptHead(header http.Header) (h keptHead) {
	for name, values := range header {
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

// send sends the answer as 200 or 304, with the headers that are in the header of w already.
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

// ReplyKept answers a request from what is kept, and reports whether it did. Otherwise the
// answer may be kept by Reply.
func (s *Service) ReplyKept(w http.ResponseWriter, r *Request, k *Kept) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || r.URL.RawPath != "" {
		return false
	}
	r.kept = k
	a := k.find(question{r.URL.Path, r.URL.RawQuery, ChooseCoding(r.Header["Accept-Encoding"], Brotli)})
	if a == nil {
		return false
	}
	r.Pattern = a.pattern
	caller, err := s.Callers.Authorize(&r.store, r.Request)
	if err == nil {
		r.Caller, r.admitted = caller, true
		status := http.StatusOK
		if match := r.Header["If-None-Match"]; match != nil && MatchesTag(match, a.tag) {
			status = http.StatusNotModified
		}
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
	if !r.kept.isAskedAgain(q) {
		return
	}
	kept := &keptAnswer{question: q, pattern: r.Pattern, tag: a.tag, free: a.Free}
	if kept.body = s.body(a, nil); len(kept.body) > pieceSize {
		return // its reader needs patience
	}
	kept.length = []string{strconv.Itoa(len(kept.body))}
	head := func(status int) keptHead {
		header := http.Header{}
		r.kept.common(header)
		as := *a
		as.Status = status
		s.setHeaders(header, &as)
		return newKeptHead(header)
	}
	kept.ok, kept.known = head(http.StatusOK), head(http.StatusNotModified)
	r.kept.put(kept)
}
