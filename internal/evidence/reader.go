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
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/net/html/charset"

	"palmares/internal/webhook"
)

// The limits of one page.
const (
	maxPage      = 5 << 20
	maxRobots    = 500 << 10
	maxRedirects = 5
	pageTime     = 20 * time.Second
	// maxPause is the longest Retry-After that is waited for; a host that wants more is left alone
	// until the next run.
	maxPause = time.Minute
)

// ReaderConfig is what a Reader needs.
type ReaderConfig struct {
	Agent string // the User-Agent: who asks, and where to complain
	// Allow are networks besides public addresses; in them http and addresses without a name are
	// accepted as well.
	Allow []netip.Prefix
	// Spacing is the time between two requests to one host.
	Spacing time.Duration
}

// A Reader reads pages as a polite visitor does: one request per host at a time, with a pause
// before the next one, nothing that robots.txt keeps to itself.
type Reader struct {
	cfg    ReaderConfig
	client *http.Client

	mu    sync.Mutex
	hosts map[string]*host
}

// A host is a server that pages are read from. Whoever holds its turn asks it.
type host struct {
	turn   chan struct{}
	next   time.Time // when it may be asked again
	robots *robotstxt.RobotsData
	closed bool // it said that it does not want to be asked in this run
}

// NewReader returns a Reader.
func NewReader(cfg ReaderConfig) *Reader {
	guard := webhook.NewGuard(cfg.Allow)
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %w", webhook.ErrBlocked, err)
		}
		return guard.Check(network, to)
	}}
	return &Reader{
		cfg: cfg, hosts: map[string]*host{},
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

// A visit is what came of asking for a page.
type visit struct {
	final  string // the address in the end
	status int    // of HTTP; 0 if there was no response
	result Result // "" if there is a page to look at
	page   []byte // in UTF-8
	tag    string // by which the server knows the page; "" if it does not say
	same   bool   // the page has not changed
}

// errLater says that a host is left alone until the next run.
var errLater = errors.New("the host asks to be left alone for longer than a minute")

// visit asks for a page. last is what need not be sent again; without a tag, it is sent whatever it is. Dates do not count
// for that: servers have "not modified" for every page that is older. The only errors are errLater and that of a
// context that ended.
func (r *Reader) visit(ctx context.Context, address string, last *Proof) (v visit, err error) {
	first, err := r.check(address)
	if err != nil {
		v.result = Unreadable
		return v, nil
	}
	to := first
	for range maxRedirects + 1 {
		v.final = to.String()
		tag := ""
		if v.final == last.FinalURL {
			tag = last.ETag
		}
		next, err := r.ask(ctx, to, tag, &v)
		if err != nil || next == "" {
			return v, err
		}
		target, err := to.Parse(next)
		if err != nil || !isWeb(target.String()) {
			break
		}
		v.final = target.String()
		if moved(first, target) {
			v.result = Moved
			return v, nil
		}
		to, err = r.check(target.String())
		if err != nil {
			break
		}
	}
	v.result = Unreadable
	return v, nil
}

// isWeb reports whether an address is one of a page, as nothing else is kept or followed.
func isWeb(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// check parses an address and reports whether it may be asked for.
func (r *Reader) check(address string) (*url.URL, error) {
	address, _, _ = strings.Cut(address, "#")
	clean, err := webhook.CheckURL(address, r.cfg.Allow)
	if err != nil {
		return nil, err
	}
	return url.Parse(clean)
}

// aboutNothing are the last parts of paths that are not about prices.
var aboutNothing = []string{
	"login", "signin", "sign-in", "log-in", "connexion", "auth", "anmelden", "signup", "sign-up", "register", "account", "compte", "konto", "sso", "accueil", "home",
}

// moved reports whether a redirect leads away: to another host, the start page or a sign-in.
func moved(from, to *url.URL) bool {
	name := func(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") }
	if name(from) != name(to) {
		return true
	}
	if isStart(to.Path) {
		return !isStart(from.Path)
	}
	for part := range strings.SplitSeq(strings.ToLower(to.Path), "/") {
		if slices.Contains(aboutNothing, part) {
			return true
		}
	}
	return false
}

// isStart reports whether a path is that of a start page: /, /fr, /index.html.
func isStart(p string) bool {
	base := strings.Trim(path.Clean("/"+p), "/")
	return base == "" || len(base) == 2 || len(base) == 5 && base[2] == '-' || strings.HasPrefix(base, "index.")
}

// ask sends one request, in turn. It returns where the response redirects to, or completes the visit.
func (r *Reader) ask(ctx context.Context, to *url.URL, tag string, v *visit) (redirect string, err error) {
	h := r.host(to)
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err := r.readRobots(ctx, h, to); err != nil {
		return "", err
	}
	if !h.robots.TestAgent(to.RequestURI(), r.cfg.Agent) {
		v.result = Unreadable
		return "", nil
	}
	if err := r.pause(ctx, h); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	resp, err := r.get(limited, h, to, tag)
	if err != nil {
		v.result = Unreadable
		if isNoHost(err) {
			v.result = Gone
		}
		return "", ctx.Err()
	}
	defer resp.Body.Close()
	v.status = resp.StatusCode
	redirect = v.take(resp, tag)
	return redirect, ctx.Err()
}

// isNoHost reports whether a name is not there, which a failing resolver does not say.
func isNoHost(err error) bool {
	missing, ok := errors.AsType[*net.DNSError](err)
	return ok && missing.IsNotFound
}

// isTag matches what a server may call a page, if it is short enough to be kept.
var isTag = compile(`^(?:W/)?"[!#-~]{1,200}"$`)

// take completes a visit with a response, or returns where it redirects to.
func (v *visit) take(resp *http.Response, tag string) (redirect string) {
	switch status := resp.StatusCode; {
	case status == http.StatusNotModified && tag != "":
		v.same = true
	case status == http.StatusNotFound, status == http.StatusGone:
		v.result = Gone
	case status >= 300 && status < 400:
		redirect = resp.Header.Get("Location")
		if redirect == "" {
			v.result = Unreadable
		}
	case status != http.StatusOK:
		v.result = Unreadable
	default:
		page, err := readPage(resp)
		if err != nil {
			v.result = Unreadable
			break
		}
		v.page = page
		v.tag = isTag().FindString(resp.Header.Get("ETag"))
	}
	return redirect
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
	h.closed = pause > maxPause
	if next := time.Now().Add(min(pause, maxPause)); next.After(h.next) {
		h.next = next
	}
}

// host returns the host of an address.
func (r *Reader) host(of *url.URL) *host {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hosts[of.Host]
	if h == nil {
		h = &host{turn: make(chan struct{}, 1)}
		r.hosts[of.Host] = h
	}
	return h
}

// pause waits until a host may be asked.
func (r *Reader) pause(ctx context.Context, h *host) error {
	if h.closed {
		return errLater
	}
	select {
	case <-time.After(time.Until(h.next)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readRobots reads the robots.txt of a host, once. Without one everything is allowed; while the
// host fails to serve it, nothing is (RFC 9309).
func (r *Reader) readRobots(ctx context.Context, h *host, of *url.URL) error {
	if h.robots != nil {
		return nil
	}
	to := &url.URL{Scheme: of.Scheme, Host: of.Host, Path: "/robots.txt"}
	limited, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	status, text := http.StatusServiceUnavailable, []byte(nil)
	for range maxRedirects + 1 {
		if err := r.pause(ctx, h); err != nil {
			return err
		}
		resp, err := r.get(limited, h, to, "")
		if err != nil {
			if isNoHost(err) {
				status = http.StatusNotFound
			}
			break
		}
		status, text, err = readRobotsText(resp)
		next := resp.Header.Get("Location")
		if err != nil || status < 300 || status >= 400 || next == "" {
			break
		}
		target, err := to.Parse(next)
		if err != nil || target.Host != to.Host {
			status = http.StatusNotFound // rules elsewhere are not those of this host
			break
		}
		to = target
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case status == http.StatusTooManyRequests:
		status = http.StatusServiceUnavailable
	case status >= 300 && status < 400:
		status = http.StatusNotFound
	}
	robots, err := robotstxt.FromStatusAndBytes(status, text)
	if err != nil { // what cannot be read forbids nothing
		robots, _ = robotstxt.FromStatusAndBytes(http.StatusNotFound, nil)
	}
	h.robots = robots
	return nil
}

func readRobotsText(resp *http.Response) (status int, text []byte, err error) {
	defer resp.Body.Close()
	body, err := decompress(resp)
	if err != nil {
		return resp.StatusCode, nil, err
	}
	text, err = io.ReadAll(io.LimitReader(body, maxRobots))
	return resp.StatusCode, text, err
}

var errNoPage = errors.New("the response is no page, or too large")

func decompress(resp *http.Response) (io.Reader, error) {
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
		return resp.Body, nil
	case "gzip":
		return gzip.NewReader(resp.Body)
	}
	return nil, errNoPage
}

// readPage returns the page of a response, in UTF-8.
func readPage(resp *http.Response) ([]byte, error) {
	kind := resp.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); kind != "" && (err != nil || media != "text/html" && media != "application/xhtml+xml") {
		return nil, errNoPage
	}
	body, err := decompress(resp)
	if err != nil {
		return nil, err
	}
	page, err := io.ReadAll(io.LimitReader(body, maxPage+1))
	switch {
	case err != nil:
		return nil, err
	case len(page) > maxPage:
		return nil, errNoPage
	}
	encoding, _, _ := charset.DetermineEncoding(page[:min(len(page), 1024)], kind)
	return encoding.NewDecoder().Bytes(page)
}
