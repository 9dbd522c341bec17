package evidence

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html/charset"

	"palmares/internal/catalog"
	"palmares/internal/webhook"
)

// The limits of one page.
const (
	maxPage      = 5 << 20
	maxRobots    = 64 << 10
	maxRedirects = 5
	pageTime     = 20 * time.Second // to read it and to parse it
	maxPages     = 2                // in memory at once
	// maxPause is the longest Retry-After that is waited for; a host that wants more is left alone until the next run.
	maxPause = time.Minute
)

// Reasons why a page cannot be read; a status that is not OK is a StatusError.
var (
	ErrRobots    = errors.New("robots.txt of the site does not allow programs to read this page")
	ErrNoPage    = errors.New("the address has no HTML page, but another kind of file")
	ErrTooLarge  = errors.New("the page is too large or too deeply nested to be read")
	ErrNoHost    = errors.New("there is no such host")
	ErrAddress   = errors.New("the address is not that of a public page: it must begin with https:// and have a public host")
	ErrRedirects = errors.New("the address redirects too often, or to an address that is not a page")
	ErrNoAnswer  = errors.New("the host does not answer within 20 seconds, or breaks off")
	errLater     = errors.New("the host asks to be left alone for longer than a minute")
)

// A StatusError is a response that is neither a page nor a redirect.
type StatusError int

func (e StatusError) Error() string { return fmt.Sprintf("the page answers with status %d", int(e)) }

// ReaderConfig is what a Reader needs.
type ReaderConfig struct {
	Agent   string         // the User-Agent: who asks, and where to complain
	Allow   []netip.Prefix // networks besides public addresses, also over http and without a host name
	Spacing time.Duration  // between two requests to one host
}

// A Reader reads pages as a polite visitor does: one request per host at a time, with a pause before the next one,
// nothing that robots.txt keeps to itself.
type Reader struct {
	cfg    ReaderConfig
	client *http.Client
	places chan struct{} // one for each page in memory

	mu    sync.Mutex
	hosts map[string]*host
}

// A host is a server that pages are read from. Whoever holds its turn asks it.
type host struct {
	turn     chan struct{}
	next     time.Time // when it may be asked again
	robots   *robots   // nil until they were read
	isClosed bool      // it said that it does not want to be asked in this run
}

// NewReader returns a Reader.
func NewReader(cfg ReaderConfig) *Reader {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: webhook.NewGuard(cfg.Allow).Control}
	return &Reader{
		cfg: cfg, hosts: map[string]*host{}, places: make(chan struct{}, maxPages),
		client: &http.Client{
			Transport: &http.Transport{
				DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, DisableCompression: true,
				MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: 30 * time.Second, MaxIdleConns: 16,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close closes the connections.
func (r *Reader) Close() { r.client.CloseIdleConnections() }

// Passages reads a page and returns the words around its amounts, nearest to a price first.
func (r *Reader) Passages(ctx context.Context, address, price string) ([]Passage, error) {
	v, err := r.visit(ctx, address, "", "")
	if err = errors.Join(err, v.why); err != nil {
		return nil, err
	}
	return v.page.passages(price), nil
}

// A visit is an attempt to read a page.
type visit struct {
	final       string // the address in the end
	isElsewhere bool   // that is another host, the start page, or a page that asks for a password
	status      int    // of HTTP; 0 if there was no response
	page        *page
	why         error  // there is no page
	tag         string // the entity tag of the page, if it may be kept
	isSame      bool   // the page has not changed
	redirects   int
}

// result returns the result of a look without a page.
func (v *visit) result() string {
	switch {
	case errors.Is(v.why, ErrNoHost), v.status == http.StatusNotFound, v.status == http.StatusGone:
		return catalog.Gone
	case v.isElsewhere:
		return catalog.Moved
	}
	return catalog.Unreadable
}

// visit asks for a page. One at a known address that still has the tag need not be sent again; dates do not count for
// that, since servers have "not modified" for every page that is older. The only errors are errLater and the end of
// the context.
func (r *Reader) visit(ctx context.Context, address, known, tag string) (v visit, err error) {
	v.why = ErrRedirects
	first, err := r.check(address)
	if err != nil {
		v.why = ErrAddress
		return v, nil
	}
	for to := first; ; {
		v.final = to.String()
		sent := tag
		if v.final != known {
			sent = ""
		}
		next, err := r.ask(ctx, to, sent, &v)
		if err != nil || next == "" {
			v.isElsewhere = v.isElsewhere || v.page != nil && v.page.hasPassword && v.final != first.String()
			return v, err
		}
		v.why = ErrRedirects
		target, err := to.Parse(next)
		if err != nil || !strings.HasPrefix(target.Scheme, "http") {
			return v, nil
		}
		v.redirects++
		v.final, v.isElsewhere = target.String(), isElsewhere(first, target)
		to, err = r.check(v.final)
		if err != nil || v.redirects > maxRedirects {
			return v, nil
		}
	}
}

// check parses an address and returns an error if it may not be asked for.
func (r *Reader) check(address string) (*url.URL, error) {
	address, _, _ = strings.Cut(address, "#")
	clean, err := webhook.CheckURL(address, r.cfg.Allow)
	if err != nil {
		return nil, err
	}
	return url.Parse(clean)
}

// isElsewhere reports whether a redirect leads to another host or to the start page.
func isElsewhere(from, to *url.URL) bool {
	name := func(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Host), "www.") }
	return name(from) != name(to) || isStart(to.Path) && !isStart(from.Path)
}

// isStart reports whether a path is that of a start page: /, /fr, /fr-ca, /index.html.
func isStart(p string) bool {
	base := strings.Trim(path.Clean("/"+p), "/")
	return base == "" || len(base) == 2 || len(base) == 5 && base[2] == '-' || strings.HasPrefix(base, "index.")
}

// acquire takes a place in a channel until it is released.
func acquire(ctx context.Context, places chan struct{}) (release func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask sends one request, in turn. It returns where the response redirects to, or completes the visit.
func (r *Reader) ask(ctx context.Context, to *url.URL, tag string, v *visit) (redirect string, err error) {
	r.mu.Lock()
	h := r.hosts[to.Host]
	if h == nil {
		h = &host{turn: make(chan struct{}, 1)}
		r.hosts[to.Host] = h
	}
	r.mu.Unlock()
	release, err := acquire(ctx, h.turn)
	if err != nil {
		return "", err
	}
	defer release()
	if err := r.readRobots(ctx, h, to); err != nil {
		return "", err
	}
	if !h.robots.allow(to.RequestURI()) {
		v.why = ErrRobots
		return "", nil
	}
	if err := h.pause(ctx); err != nil {
		return "", err
	}
	release, err = acquire(ctx, r.places)
	if err != nil {
		return "", err
	}
	defer release()
	limited, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	resp, err := r.get(limited, h, to, tag)
	if err == nil {
		defer resp.Body.Close()
		redirect, err = v.take(limited, resp, tag)
	}
	v.why = reason(err)
	return redirect, ctx.Err()
}

// reason returns why a page cannot be read, given an error of any kind.
func reason(err error) error {
	for _, own := range []error{ErrNoPage, ErrTooLarge, ErrRedirects} {
		if errors.Is(err, own) {
			return own
		}
	}
	status, isStatus := errors.AsType[StatusError](err)
	missing, isName := errors.AsType[*net.DNSError](err)
	switch {
	case err == nil:
		return nil
	case isStatus:
		return status
	case isName && missing.IsNotFound: // which a failing resolver does not say
		return ErrNoHost
	case errors.Is(err, webhook.ErrBlocked):
		return ErrAddress
	}
	return ErrNoAnswer
}

// isTag matches entity tags that are short enough to be kept.
var isTag = regexp.MustCompile(`^(?:W/)?"[!#-~]{1,200}"$`)

// take completes a visit with a response, or returns where it redirects to.
func (v *visit) take(ctx context.Context, resp *http.Response, tag string) (redirect string, err error) {
	v.status = resp.StatusCode
	switch {
	case v.status == http.StatusNotModified && tag != "":
		v.isSame = true
		return "", nil
	case v.status >= 300 && v.status < 400 && resp.Header.Get("Location") != "":
		return resp.Header.Get("Location"), nil
	case v.status != http.StatusOK:
		return "", StatusError(v.status)
	}
	document, err := readDocument(resp)
	if err == nil {
		v.tag = isTag.FindString(resp.Header.Get("ETag"))
		v.page, err = parsePage(ctx, document)
	}
	return "", err
}

func (r *Reader) get(ctx context.Context, h *host, to *url.URL, tag string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", r.cfg.Agent)
	req.Header.Set("Accept", "text/html,application/xhtml+xml")
	req.Header.Set("Accept-Encoding", "gzip")
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := r.client.Do(req)
	h.next = time.Now().Add(r.cfg.Spacing)
	if err == nil {
		h.rest(resp)
	}
	return resp, err
}

// rest respects what a response says about when to ask again.
func (h *host) rest(resp *http.Response) {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return
	}
	pause := time.Duration(0)
	after := resp.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err == nil {
		pause = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		pause = time.Until(at)
	}
	h.isClosed = pause > maxPause
	if next := time.Now().Add(min(pause, maxPause)); next.After(h.next) {
		h.next = next
	}
}

// pause waits until a host may be asked.
func (h *host) pause(ctx context.Context) error {
	if h.isClosed {
		return errLater
	}
	select {
	case <-time.After(time.Until(h.next)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readRobots reads the robots.txt of a host, once. Without one everything is allowed; while the host fails to serve it,
// nothing is (RFC 9309).
func (r *Reader) readRobots(ctx context.Context, h *host, of *url.URL) error {
	limited, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	to := &url.URL{Scheme: of.Scheme, Host: of.Host, Path: "/robots.txt"}
	for n := 0; h.robots == nil; n++ {
		if err := h.pause(ctx); err != nil {
			return err
		}
		resp, err := r.get(limited, h, to, "")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(reason(err), ErrNoHost) || n > maxRedirects:
			h.robots = &robots{}
		case err != nil:
			h.robots = nothing
		default:
			h.robots, to = r.robotsOf(resp, to)
		}
	}
	return nil
}

// robotsOf returns the rules of a response, or the address on the same host to which it redirects: rules elsewhere are
// those of another host.
func (r *Reader) robotsOf(resp *http.Response, at *url.URL) (*robots, *url.URL) {
	defer resp.Body.Close()
	switch status := resp.StatusCode; {
	case status == http.StatusOK:
		text, err := readBody(resp, maxRobots)
		if err != nil {
			return nothing, at
		}
		agent, _, _ := strings.Cut(r.cfg.Agent, "/")
		return parseRobots(text, agent), at
	case status >= 500, status == http.StatusTooManyRequests:
		return nothing, at
	case status >= 300 && status < 400:
		if next, err := at.Parse(resp.Header.Get("Location")); err == nil && next.Host == at.Host {
			return nil, next
		}
	}
	return &robots{}, at
}

// readBody returns the first bytes of a body.
func readBody(resp *http.Response, most int64) ([]byte, error) {
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
		return io.ReadAll(io.LimitReader(resp.Body, most))
	case "gzip":
		body, err := gzip.NewReader(resp.Body)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(body, most))
	}
	return nil, ErrNoPage
}

// readDocument returns the document of a response, in UTF-8.
func readDocument(resp *http.Response) ([]byte, error) {
	kind := resp.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); kind != "" && (err != nil || media != "text/html" && media != "application/xhtml+xml") {
		return nil, ErrNoPage
	}
	document, err := readBody(resp, maxPage+1)
	switch {
	case err != nil:
		return nil, err
	case len(document) > maxPage:
		return nil, ErrTooLarge
	}
	encoding, name, _ := charset.DetermineEncoding(document[:min(len(document), 1024)], kind)
	if name == "utf-8" {
		return document, nil
	}
	return encoding.NewDecoder().Bytes(document)
}
