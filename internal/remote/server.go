package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/catalogdb"
	"palmares/internal/osfile"
	"palmares/internal/problem"
	"palmares/internal/sqldb"
	"palmares/internal/web"
)

// Config is what a Handler needs. All fields are required unless they say otherwise.
type Config struct {
	Store  *catalogdb.Store
	Tokens *accountdb.Tokens
	// NotFound serves requests while no token exists, as if there were no /publish/.
	NotFound http.Handler
	Now      func() time.Time
	Log      *slog.Logger
	// TempDir is where folders are unpacked; "" for the temporary folder of the system.
	TempDir string
}

// Handler serves /publish/. Every request looks its token up in the database, so that a
// revocation works at once on every node.
type Handler struct {
	*web.Handler[struct{}]
	Config

	limits  limits
	uploads chan struct{} // has room for as many as may run at once
	lookups *web.Limit    // of tokens: strangers leave connections to others

	mu        sync.Mutex // held to ask whether there are tokens
	hasTokens bool       // when it was last known
	askErr    error      // of the last question, if hasTokens never was known
	askedAt   time.Time  // when the last question had its answer
}

// A request is one call of an operation.
type request = web.Request[struct{}]

const (
	maxUploads = 2
	maxLookups = 2
	// lookupTimeout is how long a request waits for its token, lookupWait how long for its turn.
	lookupTimeout = 5 * time.Second
	lookupWait    = time.Second
	// askEvery is how often the database is asked whether there is any token, and askWait how long it may
	// take to answer.
	askEvery = time.Second
	askWait  = 500 * time.Millisecond
)

// NewHandler returns a handler. It removes what uploads of processes that were killed
// have left behind.
func NewHandler(cfg Config) *Handler {
	h := &Handler{
		Config: cfg, limits: uploadLimits, uploads: make(chan struct{}, maxUploads),
		lookups: web.NewLimit(maxLookups, lookupWait),
	}
	h.Handler = web.NewHandler(web.Config[struct{}]{
		Callers: h.authorize, Fallback: h.notFound, Failed: h.failed,
		IsPath: func(u *url.URL) bool { return u.RawPath == "" },
	})
	h.Handle("GET", cataloguePath, h.catalogue)
	h.Handle("POST", cataloguePath, h.publish)
	h.Handle("POST", picturesPath, h.lackedPictures)
	h.Handle("GET", versionsPath, h.versions)
	h.Handle("GET", versionsPath+"/{version}", h.changes)
	h.Handle("GET", plannedPath, h.planned)
	h.Handle("POST", revertPath, h.revert)
	if err := osfile.RemoveLeftovers(cfg.TempDir); err != nil {
		cfg.Log.Warn("could not remove what a killed process has left behind: remove it by hand", "error", err)
	}
	return h
}

// ServeHTTP serves one request. Its body may take as long as the limits of an upload allow.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Pattern = prefix
	r.Body = &uploadBody{
		ReadCloser: r.Body, control: http.NewResponseController(w), stall: h.limits.stall,
		end: time.Now().Add(h.limits.total),
	}
	h.Handler.ServeHTTP(w, r)
}

// notFound returns a 404 whatever the method is. No cache may store it, as it changes with the
// first token.
func (h *Handler) notFound(r *request) (web.Response, error) {
	page := r.WithContext(r.Context())
	if r.Method != http.MethodHead {
		page.Method = http.MethodGet
	}
	return web.Response{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.NotFound.ServeHTTP(&unstored{w}, page)
	})}, nil
}

// unstored is a response that no cache stores.
type unstored struct{ http.ResponseWriter }

func (w *unstored) WriteHeader(status int) {
	w.Header().Set("Cache-Control", "no-store")
	w.ResponseWriter.WriteHeader(status)
}

// WriteInternalError sends 500 for a request whose handler panicked.
func (h *Handler) WriteInternalError(w http.ResponseWriter, r *http.Request) {
	web.WriteError(w, r, errInternal())
}

// newError returns an error whose sentence nobody translates.
func newError(code web.Code, text string) *web.Error { return web.NewError(code, problem.Words(text)) }

func errInternal() error {
	return newError(web.CodeInternal, "the server failed to publish the folder and has logged why; "+
		"nothing was changed")
}

func errUnavailable(text, retryAfter string) error {
	e := newError(web.CodeUnavailable, text)
	e.RetryAfter = retryAfter
	return e
}

// errOutage is for a server that cannot use its database.
func errOutage(err error) error {
	if sqldb.IsPermanent(err) {
		return errUnavailable("the server cannot use its database until its operator acts: its log says why; "+
			"nothing was changed", web.RetryLater)
	}
	return errUnavailable("the server cannot use its database at the moment: try again in a minute; "+
		"nothing was changed", "")
}

// errHidden refuses a request as if there were no /publish/.
var errHidden = errors.New("there is no token, so nobody may publish")

// failed returns the response to a request that failed.
func (h *Handler) failed(r *request, err error) (web.Response, error) {
	if errors.Is(err, errHidden) {
		return h.notFound(r)
	}
	return web.Response{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.fail(w, r, err)
	})}, nil
}

// fail sends an error, which is logged if it is nobody else's business.
func (h *Handler) fail(w http.ResponseWriter, r *request, err error) {
	e, isPublic := errors.AsType[*web.Error](err)
	switch {
	case isPublic && e.Code == web.CodeMethodNotAllowed:
		e.Text = problem.Words(fmt.Sprintf("%s does not answer %s: use %s", r.Pattern, web.Shorten(r.Method), e.Allow))
	case isPublic && e.Code == web.CodeInvalidParameter && account.HoldsKey(r.URL.RawQuery):
		e.Text = problem.Words("an API key does not belong in an address: revoke it if others may have seen this one")
	case isPublic:
	default:
		if r.Context().Err() == nil { // otherwise the client is gone
			h.Log.Error("a request to publish failed", "path", r.URL.Path, "error", err)
		}
		if sqldb.IsOutage(err) || errors.Is(err, context.DeadlineExceeded) {
			err = errOutage(err)
		} else {
			err = errInternal()
		}
	}
	if r.Method == http.MethodPost {
		w.Header().Set("Connection", "close") // the response does not wait for the rest of the body
	}
	web.WriteError(w, r.Request, err)
}

// anyToken reports whether there is a token, as of a second ago at most; or when the database last
// said so, if it does not at once.
func (h *Handler) anyToken(ctx context.Context) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	age := h.Now().Sub(h.askedAt)
	if age >= 0 && age < askEvery {
		return h.hasTokens, h.askErr
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWait)
	defer cancel()
	exists, err := h.Tokens.Any(ctx)
	switch {
	case err == nil:
		h.hasTokens, h.askErr = exists, nil
	case h.askedAt.IsZero() || h.askErr != nil:
		h.askErr = err
	}
	h.askedAt = h.Now()
	return h.hasTokens, h.askErr
}

// authorize returns who sent a request, or why it is refused. Nothing of the body is read before.
func (h *Handler) authorize(ctx context.Context, r *http.Request) (web.Caller, error) {
	exists, err := h.anyToken(ctx)
	if err != nil {
		return web.Caller{}, err
	}
	text, _ := account.Bearer(r.Header["Authorization"])
	if !exists && !account.CheckPublishToken(text) {
		return web.Caller{}, errHidden
	}
	token, err := h.findToken(ctx, r) // perhaps the first one, created since
	if e, ok := errors.AsType[*web.Error](err); ok && !exists && e.Code == web.CodeInvalidToken {
		err = errHidden
	}
	return web.Caller{Token: &token}, err
}

func (h *Handler) findToken(ctx context.Context, r *http.Request) (account.PublishToken, error) {
	refused := func(code web.Code, text string) (account.PublishToken, error) {
		return account.PublishToken{}, newError(code, text)
	}
	lines := r.Header["Authorization"]
	if len(lines) == 0 {
		return refused(web.CodeMissingToken, "publishing needs a token: set PALMARES_TOKEN to one that `palmares "+
			"token create` printed")
	}
	text, ok := account.Bearer(lines)
	switch {
	case account.HasKeyForm(text):
		return refused(web.CodeInvalidToken, problem.New("is-key", "this").English)
	case !ok || !account.CheckPublishToken(text):
		return refused(web.CodeInvalidToken, problem.New("is-broken-token", "this").English)
	}
	if err := h.lookups.Enter(ctx, 1); err != nil {
		return account.PublishToken{}, errUnavailable("the server is checking too many tokens at once: "+
			"try again in a few seconds", "")
	}
	defer h.lookups.Leave(1)
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	token, err := h.Tokens.Find(ctx, account.HashKey(text))
	if err == nil {
		err = token.Check(h.Now())
	}
	switch {
	case errors.Is(err, account.ErrInvalidToken):
		return refused(web.CodeInvalidToken, "the server does not know this token: see `palmares token list` there, "+
			"or create another")
	case errors.Is(err, account.ErrRevokedToken):
		return refused(web.CodeRevokedToken, fmt.Sprintf("the token %q was revoked: set PALMARES_TOKEN to another one",
			token.Name))
	case errors.Is(err, account.ErrExpiredToken):
		return refused(web.CodeExpiredToken, fmt.Sprintf("the token %q expired on %s: "+
			"set PALMARES_TOKEN to another one", token.Name, token.ExpiresAt.Format(time.DateOnly)))
	}
	return token, err
}

// catalogue says what is published.
func (h *Handler) catalogue(r *request) (web.Response, error) {
	head, err := h.Store.Catalogue.Head(r.Context())
	return web.Response{Body: web.JSON(head)}, err
}

var isChecksum = regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString

// lackedPictures says which pictures the server lacks, of those whose checksums it is
// given.
func (h *Handler) lackedPictures(r *request) (web.Response, error) {
	var asked []string
	if err := json.NewDecoder(io.LimitReader(r.Body, maxQuestion)).Decode(&asked); err != nil {
		return web.Response{}, newError(web.CodeInvalidUpload, "the list of pictures is broken or too long: "+err.Error())
	}
	if len(asked) > maxPictures {
		return web.Response{}, newError(web.CodePayloadTooLarge,
			fmt.Sprintf("one request may ask about %d pictures", maxPictures))
	}
	known, err := h.Store.Pictures.Known(r.Context())
	if err != nil {
		return web.Response{}, err
	}
	missing := []string{}
	for _, sum := range asked {
		if !isChecksum(sum) {
			return web.Response{}, newError(web.CodeInvalidUpload, "the list of pictures holds something that is not a "+
				"SHA-256 in hexadecimal")
		}
		if _, ok := known(sum); !ok {
			missing = append(missing, sum)
		}
	}
	return web.Response{Body: web.JSON(missing)}, nil
}

// An uploadBody is the body of a request. A client that sends nothing is cut off; what is sent to it
// has a minute from the last byte that was read.
type uploadBody struct {
	io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
	end     time.Time
	err     error // how the body ended; a body that is too short ends like others afterwards
}

func (b *uploadBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	deadline := time.Now().Add(b.stall)
	if deadline.After(b.end) {
		deadline = b.end
	}
	err := errors.Join(b.control.SetReadDeadline(deadline), b.control.SetWriteDeadline(deadline.Add(writeTimeout)))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	var n int
	n, b.err = b.ReadCloser.Read(p)
	if errors.Is(b.err, io.EOF) {
		// A deadline that passes later would look like a client that has gone.
		_ = b.control.SetReadDeadline(time.Time{}) // it worked a moment ago
	}
	return n, b.err
}

// isOneLine reports whether s may be stored as a revision, an author or the name of a
// folder.
func isOneLine(s string) bool {
	const most = 1000
	return len(s) <= most && s == strings.ToValidUTF8(s, "") &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
