package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
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
	"palmares/internal/wire"
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
	Config

	routes  http.ServeMux
	limits  limits
	uploads chan struct{} // has room for as many as may run at once
	lookups *web.Limit    // of tokens: strangers leave connections to others

	mu        sync.Mutex // held to ask whether there are tokens
	hasTokens bool       // when it was last known
	askErr    error      // of the last question, if hasTokens never was known
	askedAt   time.Time  // when the last question had its answer
}

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
	h.routes.HandleFunc("GET "+cataloguePath, h.serveCatalogue)
	h.routes.HandleFunc("POST "+cataloguePath, h.servePublication)
	h.routes.HandleFunc("POST "+picturesPath, h.servePictures)
	h.routes.HandleFunc("GET "+versionsPath, h.serveVersions)
	h.routes.HandleFunc("GET "+versionsPath+"/{version}", h.serveChanges)
	h.routes.HandleFunc("GET "+plannedPath, h.servePlanned)
	h.routes.HandleFunc("POST "+revertPath, h.serveRevert)
	for path, methods := range map[string]string{
		cataloguePath: "GET, HEAD, POST", picturesPath: "POST", versionsPath: "GET, HEAD", plannedPath: "GET, HEAD",
		revertPath: "POST",
	} {
		h.routes.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			e := web.NewError(web.CodeMethodNotAllowed,
				fmt.Sprintf("%s does not answer %s: use %s", path, web.Shorten(r.Method), methods))
			e.Allow = methods
			h.fail(w, r, e)
		})
	}
	h.routes.HandleFunc("/", h.notFound)
	if err := osfile.RemoveLeftovers(cfg.TempDir); err != nil {
		cfg.Log.Warn("could not remove what a killed process has left behind: remove it by hand", "error", err)
	}
	return h
}

// tokenKey is the key of the token in the context of a request.
type tokenKey struct{}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Pattern = prefix
	exists, err := h.anyToken(r.Context())
	if err == nil && !exists && !hasToken(r) {
		h.notFound(w, r)
		return
	}
	var token account.PublishToken
	if err == nil {
		token, err = h.authorize(r) // perhaps the first token, created since
	}
	if e, ok := errors.AsType[*web.Error](err); ok && !exists && e.Code == web.CodeInvalidToken {
		h.notFound(w, r)
		return
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	authorized := r.WithContext(context.WithValue(r.Context(), tokenKey{}, token))
	h.routes.ServeHTTP(w, authorized)
	_, r.Pattern, _ = strings.Cut(authorized.Pattern, " ") // the label of metrics has no method
}

// hasToken reports whether a request carries what may be a token.
func hasToken(r *http.Request) bool {
	text, _ := account.Bearer(r.Header["Authorization"])
	return account.CheckPublishToken(text)
}

// notFound sends 404 whatever the method is. No cache may store it, as it changes with the
// first token.
func (h *Handler) notFound(w http.ResponseWriter, r *http.Request) {
	page := r.WithContext(r.Context())
	if r.Method != http.MethodHead {
		page.Method = http.MethodGet
	}
	h.NotFound.ServeHTTP(&unstored{w}, page)
}

// unstored is a response that no cache stores.
type unstored struct{ http.ResponseWriter }

func (w *unstored) WriteHeader(status int) {
	w.Header().Set("Cache-Control", "no-store")
	w.ResponseWriter.WriteHeader(status)
}

// WriteInternalError sends 500 for a request whose handler panicked.
func (h *Handler) WriteInternalError(w http.ResponseWriter) { web.WriteError(w, errInternal()) }

func errInternal() error {
	return web.NewError(web.CodeInternal, "the server failed to publish the folder and has logged why; "+
		"nothing was changed")
}

func errUnavailable(text, retryAfter string) error {
	e := web.NewError(web.CodeUnavailable, text)
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

// fail sends an error, which is logged if it is nobody else's business.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	if _, ok := errors.AsType[*web.Error](err); !ok {
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
	extend(w)
	web.WriteError(w, err)
}

// extend gives the client time to receive a response, however long the request took.
func extend(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // tests write to memory
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

// authorize returns the token of a request, or why it is refused. Nothing of the body is
// read before.
func (h *Handler) authorize(r *http.Request) (account.PublishToken, error) {
	refused := func(code web.Code, text string) (account.PublishToken, error) {
		return account.PublishToken{}, web.NewError(code, text)
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
	if err := h.lookups.Enter(r.Context(), 1); err != nil {
		return account.PublishToken{}, errUnavailable("the server is checking too many tokens at once: "+
			"try again in a few seconds", "")
	}
	defer h.lookups.Leave(1)
	ctx, cancel := context.WithTimeout(r.Context(), lookupTimeout)
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

// serveCatalogue says what is published.
func (h *Handler) serveCatalogue(w http.ResponseWriter, r *http.Request) {
	head, err := h.Store.Catalogue.Head(r.Context())
	if err != nil {
		h.fail(w, r, err)
		return
	}
	writeJSON(w, head)
}

var isChecksum = regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString

// servePictures says which pictures the server lacks, of those whose checksums it is
// given.
func (h *Handler) servePictures(w http.ResponseWriter, r *http.Request) {
	var asked []string
	body := h.body(w, r)
	if err := json.NewDecoder(io.LimitReader(body, maxQuestion)).Decode(&asked); err != nil {
		h.fail(w, r, web.NewError(web.CodeInvalidUpload, "the list of pictures is broken or too long: "+err.Error()))
		return
	}
	if len(asked) > maxPictures {
		h.fail(w, r, web.NewError(web.CodePayloadTooLarge,
			fmt.Sprintf("one request may ask about %d pictures", maxPictures)))
		return
	}
	known, err := h.Store.Pictures.Known(r.Context())
	if err != nil {
		h.fail(w, r, err)
		return
	}
	missing := []string{}
	for _, sum := range asked {
		if !isChecksum(sum) {
			h.fail(w, r, web.NewError(web.CodeInvalidUpload, "the list of pictures holds something that is not a "+
				"SHA-256 in hexadecimal"))
			return
		}
		if _, ok := known(sum); !ok {
			missing = append(missing, sum)
		}
	}
	writeJSON(w, missing)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	extend(w)
	_, _ = w.Write(wire.AppendJSON(nil, v)) // fails only if the client has disconnected
}

// body returns the body of a request, which may take as long as the limits of an
// upload allow. A client that sends nothing is cut off.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) *uploadBody {
	return &uploadBody{
		body: r.Body, control: http.NewResponseController(w), stall: h.limits.stall,
		end: time.Now().Add(h.limits.total),
	}
}

type uploadBody struct {
	body    io.Reader
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
	if err := b.control.SetReadDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	var n int
	n, b.err = b.body.Read(p)
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
