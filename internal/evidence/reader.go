package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"palmares/internal/catalog"
	"palmares/internal/webhook"
)

// The limits of reading.
const (
	maxPage      = 5 << 20
	robotsPath   = "/robots.txt"
	maxRobots    = 64 << 10
	maxRedirects = 5
	pageTime     = 20 * time.Second // to read it and to parse it
	maxPages     = 2                // in memory at once
	maxHosts     = 8                // that are asked at once
	// maxPause is the longest Retry-After that is waited for; a host that wants more is left alone until the next run.
	maxPause = time.Minute
	// robotsAge is how long the rules of a host hold, and how long one that has none to read is not asked again.
	robotsAge = 5 * time.Minute
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

// Agent returns the User-Agent of a program that reads pages for a catalogue: who asks, and where to complain.
func Agent(program string, c *catalog.Catalog) string {
	return program + " (+" + strings.TrimSuffix(c.URL+"; "+c.Settings.Contact, "; ") + ")"
}

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
	hosts  sync.Map      // *host by name
}

// A host is a server that pages are read from. Whoever holds its turn asks it.
type host struct {
	turn   chan struct{}
	next   time.Time // when it may be asked again
	readAt time.Time // when robots and why became known
	robots robots
	why    error // no page of it can be read
}

// NewReader returns a Reader.
func NewReader(cfg ReaderConfig) *Reader {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: webhook.NewGuard(cfg.Allow).Control}
	return &Reader{
		cfg: cfg, places: make(chan struct{}, maxPages),
		client: &http.Client{
			Transport: &http.Transport{
				DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
				MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: 30 * time.Second, MaxIdleConns: 16,
			},
			CheckRedirect: func(_ *http.Request, via []*http.Request) error {
				if via[0].URL.Path == robotsPath && len(via) <= maxRedirects {
					return nil
				}
				return http.ErrUseLastResponse
			},
		},
	}
}

// Close closes the connections.
func (r *Reader) Close() { r.client.CloseIdleConnections() }

// Passages reads a page and returns the words around its amounts, nearest to a price first.
func (r *Reader) Passages(ctx context.Context, address, price string) (list []Passage, err error) {
	v, err := r.visit(ctx, address, "", "", func(p *page) { list = p.passages(price) })
	return list, errors.Join(err, v.why)
}

// A visit is an attempt to read a page.
type visit struct {
	final       string // the address in the end
	isElsewhere bool   // that is another host, the start page, or a page that asks for a password
	status      int    // of HTTP; 0 if there was no response
	why         error  // there is no page
	tag         string // the entity tag of the page, if it may be kept
	isSame      bool   // the page has not changed
	redirects   int
}

// visit asks for a page and calls look with it. One at a known address that still has the tag need not be sent again;
// dates do not count for that, since servers have "not modified" for every page that is older. The only errors are
// errLater and the end of the context.
func (r *Reader) visit(ctx context.Context, address, known, tag string, look func(*page)) (v visit, err error) {
	first, err := r.check(address)
	v.why = ErrAddress
	for to := first; err == nil; v.redirects++ {
		sent := ""
		if v.final = to.String(); v.final == known {
			sent = tag
		}
		next, err := r.ask(ctx, to, sent, &v, look)
		if err != nil || next == "" {
			return v, err
		}
		v.why = ErrRedirects
		target, err := to.Parse(next)
		if err != nil || !strings.HasPrefix(target.Scheme, "http") || v.redirects == maxRedirects {
			return v, nil
		}
		v.final, v.isElsewhere = target.String(), isElsewhere(first, target)
		if to, err = r.check(v.final); err != nil {
			return v, nil
		}
	}
	return v, nil
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

// isStart matches the paths of start pages: /, /fr, /fr-ca, /index.html.
var isStart = regexp.MustCompile(`(?i)^/*(?:[a-z]{2}(?:-[a-z]{2})?/*)?(?:index\.\w+)?$`).MatchString

// ask sends one request, in turn. It returns where the response redirects to, or completes the visit.
func (r *Reader) ask(ctx context.Context, to *url.URL, tag string, v *visit, look func(*page)) (next string, err error) {
	known, _ := r.hosts.LoadOrStore(to.Host, &host{turn: make(chan struct{}, 1)})
	h := known.(*host)
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	if err := r.readRobots(ctx, h, to); err != nil {
		return "", err
	}
	if v.why = h.why; v.why == nil && !h.robots.allow(to.RequestURI()) {
		v.why = ErrRobots
	}
	if v.why != nil {
		return "", nil
	}
	if err := h.pause(ctx); err != nil {
		return "", err
	}
	r.places <- struct{}{}
	defer func() { <-r.places }()
	limited, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	resp, err := r.get(limited, h, to, tag)
	if err == nil {
		defer resp.Body.Close()
		next, err = v.take(limited, resp, tag, look)
	}
	v.why = reason(err)
	return next, ctx.Err()
}

// reason returns why a page cannot be read, given an error of any kind.
func reason(err error) error {
	_, isStatus := errors.AsType[StatusError](err)
	missing, isName := errors.AsType[*net.DNSError](err)
	switch {
	case err == nil, isStatus, slices.Contains([]error{ErrRobots, ErrNoPage, ErrTooLarge}, err):
		return err
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
func (v *visit) take(ctx context.Context, resp *http.Response, tag string, look func(*page)) (next string, err error) {
	v.status = resp.StatusCode
	switch {
	case v.status == http.StatusNotModified && tag != "":
		v.isSame = true
		return "", nil
	case v.status/100 == 3 && resp.Header.Get("Location") != "":
		return resp.Header.Get("Location"), nil
	case v.status != http.StatusOK:
		return "", StatusError(v.status)
	}
	page, err := readPage(ctx, resp)
	if err == nil {
		v.tag = isTag.FindString(resp.Header.Get("ETag"))
		v.isElsewhere = v.isElsewhere || page.hasPassword && v.redirects > 0
		look(page)
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
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := r.client.Do(req)
	h.next = time.Now().Add(r.cfg.Spacing)
	if err != nil {
		return nil, err
	}
	after := resp.Header.Get("Retry-After")
	next, _ := http.ParseTime(after)
	if seconds, err := strconv.Atoi(after); err == nil {
		next = time.Now().Add(time.Duration(min(seconds, 1e6)) * time.Second)
	}
	if next.After(h.next) {
		h.next = next
	}
	return resp, nil
}

// pause waits until a host may be asked.
func (h *host) pause(ctx context.Context) error {
	wait := time.Until(h.next)
	if wait > maxPause {
		return errLater
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readRobots reads the robots.txt of a host. Without one everything is allowed; while the host fails to serve it,
// nothing is (RFC 9309).
func (r *Reader) readRobots(ctx context.Context, h *host, of *url.URL) error {
	if time.Since(h.readAt) < robotsAge {
		return nil
	}
	if err := h.pause(ctx); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	resp, err := r.get(limited, h, &url.URL{Scheme: of.Scheme, Host: of.Host, Path: robotsPath}, "")
	h.robots = nil
	if err == nil {
		defer resp.Body.Close()
		switch status := resp.StatusCode; {
		case status == http.StatusOK:
			var text []byte
			text, err = io.ReadAll(io.LimitReader(resp.Body, maxRobots))
			agent, _, _ := strings.Cut(r.cfg.Agent, "/")
			h.robots = parseRobots(string(text), agent)
		case status >= 500, status == http.StatusTooManyRequests:
			err = ErrRobots
		}
	}
	h.readAt, h.why = time.Now(), reason(err)
	return ctx.Err()
}

// readPage returns the page of a response.
func readPage(ctx context.Context, resp *http.Response) (*page, error) {
	kind := resp.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(kind)
	isHTML := kind == "" || err == nil && (media == "text/html" || media == "application/xhtml+xml")
	if !isHTML || resp.Header.Get("Content-Encoding") != "" { // that nobody asked for
		return nil, ErrNoPage
	}
	document, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	if len(document) > maxPage {
		return nil, ErrTooLarge
	}
	encoding, name, isSure := charset.DetermineEncoding(document[:min(len(document), 1024)], kind)
	if err == nil && name != "utf-8" && (isSure || !utf8.Valid(document)) {
		document, err = io.ReadAll(io.LimitReader(encoding.NewDecoder().Reader(bytes.NewReader(document)), maxPage))
	}
	if err != nil {
		return nil, err
	}
	return parsePage(ctx, document)
}
