package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"palmares/internal/problem"
	"palmares/internal/quota"
)

// Config is what the operations of one JSON API have in common. They read an S, which is a version
// of the catalogue.
type Config[S any] struct {
	// Snapshot returns what a request reads; nil if operations read nothing.
	Snapshot func() *S
	// Header sets the headers that say what a response was read from; nil for none.
	Header func(*S, http.Header)
	// Bulk reports whether the catalogue is offered as a whole, which a refusal then says; nil for
	// never.
	Bulk func(*S) bool
	// Callers identifies who sent a request. Required.
	Callers Authorizer
	// Places are where operations run and bodies are made; nil if these cost little.
	Places *Places
	// Meter counts requests; nil if they are not counted.
	Meter *quota.Meter
	// Public says that the API only reads and that responses are the same for everybody: they have
	// entity tags, are compressed, and may be stored by shared caches and read by pages of other
	// origins. Otherwise they are for one caller and are stored by nobody.
	Public bool
	// StallTimeout is how long the reader of a large response may take nothing of it before it is cut
	// off; a minute if zero.
	StallTimeout time.Duration
	// IsPath reports whether an address may have a route: two addresses for one response would
	// confuse caches and rules in front of this server. Required if there are routes.
	IsPath func(*url.URL) bool
	// Fallback is the operation of addresses without a route. Required.
	Fallback Operation[S]
	// Failed returns what is sent for an error: a response, or the public form of the error; nil for
	// the error as it is.
	Failed func(*Request[S], error) (Response, error)
}

// An Operation returns a response or an error; it writes nothing itself.
type Operation[S any] func(*Request[S]) (Response, error)

// A Request is one call of an operation.
type Request[S any] struct {
	*http.Request
	Snapshot *S
	Slug     string // the segment of the path that the pattern of the route leaves open
	Caller   Caller

	admitted bool
}

// A Route is a path and its operations.
type Route[S any] struct {
	// AnyOrigin says that pages of other origins may read it, in an API that is not Public.
	AnyOrigin bool
	// Deprecated is since when callers should use something else (RFC 9745), and Sunset when the route
	// will end (RFC 8594); zero for never.
	Deprecated, Sunset time.Time

	pattern string
	methods map[string]Operation[S]
}

// A Handler is the shell of a JSON API: it finds the operation of a request, identifies and counts
// the caller, and sends the response or the error. Nothing is written before the whole response is
// known, so that it can still be replaced by a quota error.
type Handler[S any] struct {
	Sender
	cfg    Config[S]
	exact  map[string]*Route[S]
	open   map[[2]string]*Route[S] // by what is before and behind the segment that is left open
	cached atomic.Pointer[cachedOf[S]]

	patterns []string
}

// NewHandler returns a handler without routes.
func NewHandler[S any](cfg Config[S]) *Handler[S] {
	return &Handler[S]{
		Sender: Sender{
			public: cfg.Public, stallTimeout: cfg.StallTimeout, compressor: NewCompressor(),
			room: newSharedLimit[quota.Subject](largeRoom, callerRoom, largeWait),
		}, cfg: cfg,
		exact: map[string]*Route[S]{}, open: map[[2]string]*Route[S]{},
	}
}

// Handle adds an operation to the route of a pattern: a path of which one segment may be left open,
// as {slug}. A GET operation serves HEAD, too.
func (h *Handler[S]) Handle(method, pattern string, op Operation[S]) *Route[S] {
	at, _ := h.find(pattern)
	if at == nil || at.pattern != pattern {
		at = &Route[S]{pattern: pattern, methods: map[string]Operation[S]{}}
		h.patterns = append(h.patterns, pattern)
		before, rest, isOpen := strings.Cut(pattern, "{")
		if isOpen {
			_, behind, _ := strings.Cut(rest, "}")
			h.open[[2]string{before, behind}] = at
		} else {
			h.exact[pattern] = at
		}
	}
	at.methods[method] = op
	return at
}

// find returns the route of a path, or nil, and the segment that it leaves open. It does not use the
// standard mux, which took 3 % of a whole request in a profile, and which redirects a path that is
// not clean with a page of HTML; here such a path does not exist.
func (h *Handler[S]) find(path string) (at *Route[S], slug string) {
	if at := h.exact[path]; at != nil {
		return at, ""
	}
	behind := len(path)
	for range 2 { // the last segment is open, or the one before it
		before := strings.LastIndexByte(path[:behind], '/') + 1
		if at := h.open[[2]string{path[:before], path[behind:]}]; at != nil && before < behind {
			return at, path[before:behind]
		}
		behind = max(0, before-1)
	}
	return nil, ""
}

// Patterns returns the patterns of all routes.
func (h *Handler[S]) Patterns() []string { return h.patterns }

// ServeHTTP serves one request.
func (h *Handler[S]) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	r := &Request[S]{Request: hr}
	if h.cfg.Snapshot != nil {
		r.Snapshot = h.cfg.Snapshot()
	}
	if h.cfg.Public && h.replyCached(w, r) {
		return
	}
	h.setCommonHeaders(w.Header(), r.Snapshot)
	var at *Route[S]
	if h.cfg.IsPath != nil && h.cfg.IsPath(hr.URL) {
		at, r.Slug = h.find(hr.URL.Path)
	}
	if at != nil {
		r.Pattern = at.pattern
		at.setHeaders(w.Header())
	}
	if r.Method == http.MethodOptions && (h.cfg.Public || at != nil && at.AnyOrigin) {
		WritePreflight(w)
		return
	}
	a, err := h.run(r, at)
	if r.Caller.Key != nil {
		if to, ok := w.(ReadyWriter); ok {
			to.Identify(r.Caller.Key.AccountID)
		}
	}
	h.reply(w, r, &a, err)
}

func (at *Route[S]) setHeaders(header http.Header) {
	if at.AnyOrigin {
		AllowAnyOrigin(header)
	}
	if !at.Deprecated.IsZero() {
		header.Set("Deprecation", "@"+strconv.FormatInt(at.Deprecated.Unix(), 10))
	}
	if !at.Sunset.IsZero() {
		header.Set("Sunset", at.Sunset.UTC().Format(http.TimeFormat))
	}
}

// run does the checks that apply to every path, and then the operation. A key that is sent must be
// valid, even where none is needed.
func (h *Handler[S]) run(r *Request[S], at *Route[S]) (Response, error) {
	if err := h.admit(r); err != nil {
		return Response{}, err
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h.cfg.Public {
		if method != http.MethodGet {
			return Response{}, methodNotAllowed(ReadMethods, problem.New("method-only-reads", Shorten(r.Method)))
		}
		if len(r.URL.Path)+len(r.URL.RawQuery) > maxURL {
			return Response{}, Invalid("", problem.New("url-too-long", maxURL))
		}
	}
	op := h.cfg.Fallback
	if at != nil {
		op = at.methods[method]
	}
	if op == nil {
		allowed := at.allowed()
		either := problem.Text{English: allowed, French: strings.ReplaceAll(allowed, ", ", " ou ")}
		return Response{}, methodNotAllowed(allowed, problem.New("method-not-here", Shorten(r.Method), either))
	}
	leave, err := h.cfg.Places.Enter(r.Request)
	if err != nil {
		return Response{}, err
	}
	defer leave()
	return op(r)
}

// allowed returns the methods of a route in the form of the Allow header.
func (at *Route[S]) allowed() string {
	if at.AnyOrigin {
		return ReadMethods
	}
	var methods []string
	for m := range at.methods {
		methods = append(methods, m)
		if m == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// reply counts a request and sends its response, or the error if err is not nil. An error that is
// not an *Error is sent as an internal one.
func (h *Handler[S]) reply(w http.ResponseWriter, r *Request[S], a *Response, err error) {
	if err != nil && h.cfg.Failed != nil {
		*a, err = h.cfg.Failed(r, err)
	}
	if err == nil {
		h.prepare(r.Request, a)
	}
	if err == nil && a.Size > pieceSize && a.Status == http.StatusOK {
		var leave func()
		leave, err = h.room.enter(r.Context(), r.Caller.Subject, a.Size)
		if err == nil {
			defer leave()
		}
	}
	isCached := a.Cached && asReady(w) != nil
	var body []byte
	if err == nil && a.Handler == nil && (a.Status != http.StatusNotModified || isCached) {
		body, err = h.makeBody(r, a)
	}
	if r.admitted {
		status := a.Status
		if err != nil {
			status = AsError(err).Status()
		}
		if over := h.count(w.Header(), r, status, a.Free); over != nil {
			err = over
		}
	}
	if isCached {
		h.cache(r, a, body, err)
	}
	r.Snapshot = nil // it may be replaced, and must not stay in memory for a slow reader
	switch {
	case err != nil:
		h.WriteError(w, r.Request, err)
	case a.Handler != nil:
		a.Handler.ServeHTTP(w, r.Request)
	default:
		h.write(w, a, body)
	}
}

// makeBody returns the body of a prepared response as it is sent.
func (h *Handler[S]) makeBody(r *Request[S], a *Response) ([]byte, error) {
	leave, err := h.cfg.Places.Enter(r.Request)
	if err != nil {
		return nil, err
	}
	defer leave()
	if h.isUnpacked(a) {
		return h.compressor.Compress(a.Body, Zstd), nil
	}
	if a.coding != Identity {
		return h.compressor.Compress(a.Body, a.coding), nil
	}
	return a.Body.Bytes(), nil
}

// WriteInternalError sends 500 for a request whose operation failed before anything was written.
func (h *Handler[S]) WriteInternalError(w http.ResponseWriter, r *http.Request) {
	clear(w.Header())
	if h.cfg.Snapshot != nil {
		h.setCommonHeaders(w.Header(), h.cfg.Snapshot())
	}
	h.WriteError(w, r, ErrorOf(CodeInternal))
}
