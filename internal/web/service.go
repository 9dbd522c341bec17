package web

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"palmares/internal/quota"
	"palmares/internal/wire"
)

// A Service is what all operations of one JSON API have in common.
type Service struct {
	// Callers identifies who sent a request. Required.
	Callers Authorizer
	// Meter counts requests; nil if they are not counted.
	Meter *quota.Meter
	// Public says that answers are the same for everybody: they have entity tags, are
	// compressed, and may be kept by shared caches and read by pages of other origins.
	// Otherwise they are for one caller and are kept by nobody.
	Public bool
	// Stall is how long the reader of a large answer may take nothing of it before it is cut
	// off; a minute if zero.
	Stall time.Duration

	// Compressor is of a Public service. Required.
	Compressor *Compressor
}

// A Request is one call of an operation. Begin and End enclose it.
type Request struct {
	*http.Request
	Caller Caller
	Bulk   bool // the catalogue is offered as a whole, which a refusal then says

	admitted  bool
	responses *Responses        // where the answer may be cached; nil for nowhere
	common    func(http.Header) // sets the headers of every answer, if responses is not nil
	store     StoreContext
}

// Begin starts the request, and with it its deadline for the store.
func (r *Request) Begin(hr *http.Request) {
	r.Request = hr
	r.store.Context = hr.Context() // nobody else knows it yet
}

// Resume gives a request that has waited for something else all the time for the store
// again.
func (r *Request) Resume() {
	r.store.Stop()
	r.store.Start(r.Context())
}

// End releases what Begin started.
func (r *Request) End() { r.store.Stop() }

// Admit identifies the caller, or returns why the request is refused whatever it asks for.
func (s *Service) Admit(r *Request) error {
	if name, found := findKey(r.URL.RawQuery); found {
		text := "Une clé d’API ne va pas dans l’adresse, où les journaux la garderaient : envoyez-la dans l’en-tête « Authorization: Bearer … ». Révoquez celle-ci si l’adresse a circulé."
		if s.Public {
			text = "Une clé d’API ne va pas dans l’adresse, où journaux et caches la garderaient : envoyez-la dans l’en-tête « Authorization: Bearer … ». Révoquez celle-ci si l’adresse a circulé."
		}
		return Invalid(Shorten(name), text)
	}
	caller, err := s.Callers.Authorize(&r.store, r.Request)
	if err != nil {
		return err
	}
	r.Caller, r.admitted = caller, true
	return nil
}

// AdmitRead is Admit for an API that only reads.
func (s *Service) AdmitRead(r *Request) error {
	if err := s.Admit(r); err != nil {
		return err
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return &Error{Code: CodeMethodNotAllowed, Allow: ReadMethods, Text: "La méthode " + Quote(r.Method) + " n’est pas admise : cette API ne fait que lire, utilisez GET ou HEAD."}
	}
	return CheckURLLength(r.URL)
}

// An Answer is the result of an operation.
type Answer struct {
	Status   int       // 200 if zero
	Body     wire.Body // unused for 204 and redirects
	Location string
	Link     []string
	IsList   bool
	Total    int  // length of the whole list, if IsList
	Free     bool // not counted against any quota
	NoCache  bool // caches must ask each time whether it is still true
	NoStore  bool // for this one request: it has no entity tag and is kept by nobody
	Shared   bool // sent to many callers at once, so that its bytes are worth keeping
	Large    bool // so large that the best compression would take a second
	Cached   bool // the same for every caller, so that it may be cached; also of a 404
	// Handler, if it is not nil, writes the answer, once the request is counted: for
	// requests that are held open, and for files. Of the other fields only Status is used
	// then.
	Handler http.Handler

	coding Coding
	tag    string
}

// JSON returns the body that encodes v. It has no digest: it is for services that are
// not Public.
func JSON(v any) wire.Body { return wire.NewBody(wire.Digest{}, wire.AppendJSON(nil, v)) }

// Reply counts a request and sends its answer, or the error if err is not nil. An error
// that is not an *Error is sent as an internal one.
func (s *Service) Reply(w http.ResponseWriter, r *Request, a *Answer, err error) {
	if err == nil {
		s.prepare(r.Request, a)
	}
	if r.admitted {
		status, free := a.Status, a.Free
		if err != nil {
			status = AsError(err).Status()
		}
		if over := s.count(w.Header(), r, status, free); over != nil {
			err = over
		}
	}
	switch {
	case err != nil:
		s.WriteError(w, err)
		if e := AsError(err); r.responses != nil && a.Cached && e.Status() == http.StatusNotFound {
			s.cache(r, a, e)
		}
	case a.Handler != nil:
		a.Handler.ServeHTTP(w, r.Request)
	default:
		s.write(w, a)
		if r.responses != nil && a.Cached {
			s.cache(r, a, nil)
		}
	}
}

// Send sends an answer, or an error, to a request that is counted already.
func (s *Service) Send(w http.ResponseWriter, r *http.Request, a *Answer, err error) {
	if err != nil {
		s.WriteError(w, err)
		return
	}
	s.prepare(r, a)
	s.write(w, a)
}

// Bytes returns the bytes of a body that is sent to many callers at once. They are
// assembled once and must not be changed.
func (s *Service) Bytes(b wire.Body) []byte { return s.Compressor.Compress(b, Identity) }

// prepare decides the status and the coding without assembling the body: whether a
// request is counted depends on it.
func (s *Service) prepare(r *http.Request, a *Answer) {
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	if !s.Public || a.Status != http.StatusOK || a.Handler != nil {
		return
	}
	best := Brotli
	if a.Large {
		best = Zstd
	}
	if a.NoStore {
		a.coding = ChooseCoding(r.Header["Accept-Encoding"], best)
		return
	}
	var known bool
	if a.coding, a.tag, known = Negotiate(r, a.Body.Digest(), best); known {
		a.Status = http.StatusNotModified
	}
}

// count takes one request off the caller's quota if the answer is one that counts, and
// tells callers with a key what remains. It runs after the answer is made and before it
// is written, so that nothing has to be given back. It returns an error if nothing is
// left.
func (s *Service) count(header http.Header, r *Request, status int, free bool) error {
	keyed := r.Caller.Key != nil
	if s.Public && keyed {
		header["CDN-Cache-Control"] = noStore // for caches that ignore Vary
	}
	if s.Meter == nil {
		return nil
	}
	var counts bool
	switch status {
	case http.StatusOK, http.StatusPermanentRedirect, http.StatusBadRequest, http.StatusNotFound:
		counts = !free
	case http.StatusNotModified:
		counts = !free && !keyed
	}
	if !counts {
		if keyed {
			s.Meter.Look(&r.store, r.Caller.Subject).SetHeaders(header)
		}
		return nil
	}
	grant := s.Meter.Take(&r.store, r.Caller.Subject)
	grant.SetHeaders(header)
	if grant.Refused {
		return quotaExceeded(&grant, r.Bulk)
	}
	return nil
}

// Header values that never change are shared by all answers, so that setting them costs
// no allocation. Names are written as in the documents, not in the canonical form of
// net/http, which would send Etag and X-Ratelimit-Limit.
var (
	jsonType    = []string{"application/json"}
	cacheHour   = []string{"s-maxage=3600, stale-while-revalidate=86400"}
	cacheMinute = []string{"s-maxage=60"}
	noStore     = []string{"no-store"}
	noCache     = []string{"no-cache"}
	zero        = []string{"0"}
	anyOrigin   = []string{"*"}
	vary        = []string{"Authorization, Accept-Encoding"}
	noSniff     = []string{"nosniff"}
	exposed     = []string{"X-Total-Count, X-Service-Updated-At, X-Service-Version, X-RateLimit-Tier, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, ETag, Link, Accept-Ranges, Content-Range"}
)

// ReadMethods are the methods of a Public service.
const ReadMethods = "GET, HEAD, OPTIONS"

// SetPublicHeaders sets the headers that every answer of a Public service has.
func SetPublicHeaders(h http.Header) {
	AllowAnyOrigin(h)
	h["Access-Control-Expose-Headers"] = exposed
	h["Vary"] = vary
}

// AllowAnyOrigin lets pages of every origin read an answer.
func AllowAnyOrigin(h http.Header) { h["Access-Control-Allow-Origin"] = anyOrigin }

// WritePreflight tells a browser what a page of another origin may send.
func WritePreflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Allow", ReadMethods)
	h.Set("Access-Control-Allow-Methods", ReadMethods)
	h.Set("Access-Control-Allow-Headers", "*, Authorization") // the star is any other one
	h.Set("Access-Control-Max-Age", "86400")
	h["X-Content-Type-Options"] = noSniff
	w.WriteHeader(http.StatusNoContent)
}

// Location returns the value of Location for a path, which is escaped, with the query of
// a request. Bytes that must not occur in a header are escaped.
func Location(path, query string) string {
	if query == "" {
		return path
	}
	b := append([]byte(path), '?')
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c > '~' {
			b = fmt.Appendf(b, "%%%02X", c)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// buffers are for bodies that must be assembled. A page of 200 tools takes about 100 kB;
// a larger buffer is left to the garbage collector.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 32<<10); return &b }}

const maxBuffer = 256 << 10

// write sends a prepared answer.
func (s *Service) write(w http.ResponseWriter, a *Answer) {
	header := w.Header()
	s.setHeaders(header, a)
	switch a.Status {
	case http.StatusPermanentRedirect, http.StatusTemporaryRedirect:
		header["Content-Length"] = zero
		w.WriteHeader(a.Status)
		return
	case http.StatusNoContent, http.StatusNotModified:
		w.WriteHeader(a.Status)
		return
	}
	buffer := buffers.Get().(*[]byte)
	body := s.body(a, buffer)
	if cap(*buffer) <= maxBuffer {
		defer buffers.Put(buffer)
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(a.Status)
	if len(body) > pieceSize {
		w = s.Patient(w)
	}
	_, _ = w.Write(body) // fails only if the client has disconnected
}

// setHeaders sets the headers of a prepared answer, except Content-Length.
func (s *Service) setHeaders(header http.Header, a *Answer) {
	header["X-Content-Type-Options"] = noSniff
	header["Cache-Control"] = noStore
	switch {
	case a.NoStore:
	case s.Public && a.NoCache:
		header["Cache-Control"] = noCache
	case s.Public:
		header["Cache-Control"] = cacheHour
	}
	if a.Location != "" {
		header["Location"] = []string{a.Location}
	}
	switch a.Status {
	case http.StatusPermanentRedirect, http.StatusTemporaryRedirect, http.StatusNoContent:
		return
	}
	values := new([2]string) // one allocation for the values that differ each time
	if a.tag != "" {
		values[0] = a.tag
		header["ETag"] = values[0:1:1]
	}
	if a.Link != nil {
		header["Link"] = a.Link
	}
	if a.IsList {
		values[1] = strconv.Itoa(a.Total)
		header["X-Total-Count"] = values[1:2:2]
	}
	if a.Status != http.StatusNotModified {
		header["Content-Type"] = jsonType
		if a.coding != Identity {
			header["Content-Encoding"] = a.coding.Header()
		}
	}
}

// body returns the body of a prepared answer. One that must be assembled is in buffer, if it
// is not nil.
func (s *Service) body(a *Answer, buffer *[]byte) []byte {
	switch {
	case a.coding != Identity:
		return s.Compressor.Compress(a.Body, a.coding)
	case a.Shared:
		return s.Bytes(a.Body)
	case a.Body.Assembled() && buffer != nil:
		*buffer = a.Body.Append((*buffer)[:0])
		return *buffer
	case buffer != nil:
		return a.Body.Bytes()
	}
	return a.Body.Append(nil)
}
