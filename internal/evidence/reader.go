package evidence

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/sync/semaphore"

	"palmares/internal/catalog"
	"palmares/internal/guard"
	"palmares/internal/problem"
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
	maxKnown     = 1000             // hosts that are remembered
	maxPause     = time.Minute      // the longest Retry-After that is waited for; a longer one ends at the next run
	robotsAge    = 5 * time.Minute  // how long the rules of a host hold, and the lack of them
)

// Reasons why a page cannot be read, besides a status that is not OK.
var (
	ErrRobots    = problem.New("page-robots")
	ErrNoPage    = problem.New("page-no-html")
	ErrTooLarge  = problem.New("page-too-large")
	ErrNoHost    = problem.New("page-no-host")
	ErrAddress   = problem.New("page-not-public")
	ErrRedirects = problem.New("page-redirects")
	ErrNoAnswer  = problem.New("page-no-answer")
	errLater     = problem.New("page-later")
)

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
	places *semaphore.Weighted // one for each page in memory
	mu     sync.Mutex          // of the hosts
	hosts  map[string]*host
}

// A host is a server that pages are read from. Whoever holds its turn asks it.
type host struct {
	turn   *semaphore.Weighted
	users  atomic.Int32 // who have its turn, or wait for it
	next   time.Time    // when it may be asked again
	readAt time.Time    // when robots and why became known
	robots string
	why    error // no page of it can be read
}

// NewReader returns a Reader.
func NewReader(cfg ReaderConfig) *Reader {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: guard.New(cfg.Allow).Control}
	return &Reader{
		cfg: cfg, places: semaphore.NewWeighted(maxPages), hosts: map[string]*host{},
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

// Passages reads a page and returns the words around its amounts, nearest to a price first, and the status of HTTP.
func (r *Reader) Passages(ctx context.Context, address, price string) (list []Passage, status int, err error) {
	v, err := r.visit(ctx, catalog.Proof{URL: address}, func(ctx context.Context, p *page) { list = p.passages(ctx, price) })
	return list, v.status, errors.Join(err, v.why)
}

// A visit is an attempt to read a page.
type visit struct {
	final       string // the address in the end
	isElsewhere bool   // that is another host, the start page, or a page that asks for a password
	status      int    // of HTTP; 0 if there was no response
	why         error  // there is no page
	sent        string // the entity tag of the page that was known
	tag         string // and of the page, if it may be kept
	next        string // where it redirects to
	isSame      bool   // the page has not changed
	redirects   int
	look        func(context.Context, *page)
}

// visit asks for the page of a proof and calls look with it. One that still has the tag need not be sent again;
// dates do not count for that, since servers have "not modified" for every page that is older. The only errors are
// errLater and the end of the context.
func (r *Reader) visit(ctx context.Context, last catalog.Proof, look func(context.Context, *page)) (v visit, err error) {
	first, err := r.check(last.URL)
	v.why, v.look = ErrAddress, look
	for to := first; err == nil; v.redirects++ {
		v.next, v.sent = "", ""
		if v.final = to.String(); v.final == last.FinalURL {
			v.sent = last.ETag
		}
		if err := r.ask(ctx, to, &v); err != nil || v.next == "" {
			return v, err
		}
		v.why = ErrRedirects
		target, wrong := to.Parse(v.next)
		if wrong != nil || !strings.HasPrefix(target.Scheme, "http") || v.redirects == maxRedirects {
			break
		}
		v.final, v.isElsewhere = target.String(), isElsewhere(first, target)
		to, err = r.check(v.final)
	}
	return v, nil
}

// check parses an address and returns an error if it may not be asked for.
func (r *Reader) check(address string) (*url.URL, error) {
	address, _, _ = strings.Cut(address, "#")
	clean, err := guard.CheckURL(address, r.cfg.Allow)
	checked, wrong := url.Parse(clean)
	return checked, errors.Join(err, wrong)
}

// isElsewhere reports whether a redirect leads to another host or to the start page.
func isElsewhere(from, to *url.URL) bool {
	name := func(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Host), "www.") }
	return name(from) != name(to) || isStart(to.Path) && !isStart(from.Path)
}

// isStart matches the paths of start pages: /, /fr, /fr-ca, /index.html.
var isStart = regexp.MustCompile(`(?i)^/*(?:[a-z]{2}(?:-[a-z]{2})?/*)?(?:index\.\w+)?$`).MatchString

// host returns a host to one more user. Hosts without any that may be asked at once are forgotten when there are many.
func (r *Reader) host(name string) *host {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.hosts) >= maxKnown {
		maps.DeleteFunc(r.hosts, func(_ string, h *host) bool { return h.users.Load() == 0 && time.Now().After(h.next) })
	}
	h := cmp.Or(r.hosts[name], &host{turn: semaphore.NewWeighted(1)})
	h.users.Add(1)
	r.hosts[name] = h
	return h
}

// ask sends one request, in turn. The response completes the visit, or says where to go next.
func (r *Reader) ask(ctx context.Context, to *url.URL, v *visit) (err error) {
	h := r.host(to.Host)
	defer h.users.Add(-1)
	if err := h.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer h.turn.Release(1)
	if err := r.readRobots(ctx, h, to); err != nil {
		return err
	}
	agent, _, _ := strings.Cut(r.cfg.Agent, "/")
	if v.why = h.why; v.why == nil && !allows(h.robots, agent, to.RequestURI()) {
		v.why = ErrRobots
	}
	if v.why != nil {
		return nil
	}
	if err := h.pause(ctx); err != nil {
		return err
	}
	if err := r.places.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.places.Release(1)
	v.why, err = r.get(ctx, h, to, v.sent, v.take)
	return err
}

// reason returns why a page cannot be read, given an error of any kind.
func reason(err error) error {
	_, isOurs := errors.AsType[problem.Text](err)
	missing, isName := errors.AsType[*net.DNSError](err)
	switch {
	case err == nil, isOurs:
		return err
	case isName && missing.IsNotFound: // which a failing resolver does not say
		return ErrNoHost
	case errors.Is(err, guard.ErrBlocked):
		return ErrAddress
	}
	return ErrNoAnswer
}

// isTag matches entity tags that are short enough to be kept.
var isTag = regexp.MustCompile(`^(?:W/)?"[!#-~]{1,200}"$`)

// take completes a visit with a response, unless it redirects.
func (v *visit) take(ctx context.Context, resp *http.Response) error {
	v.status = resp.StatusCode
	switch location := resp.Header.Get("Location"); {
	case v.status == http.StatusNotModified && v.sent != "":
		v.isSame = true
		return nil
	case v.status/100 == 3 && location != "":
		v.next = location
		return nil
	case v.status != http.StatusOK:
		return problem.New("page-status", v.status)
	}
	page, err := readPage(ctx, resp)
	if err == nil {
		v.tag = isTag.FindString(resp.Header.Get("ETag"))
		v.isElsewhere = v.isElsewhere || page.hasPassword && v.redirects > 0
		v.look(ctx, page)
	}
	return err
}

// get sends a request and calls take with the response. It returns the reason if there is none.
func (r *Reader) get(
	ctx context.Context, h *host, to *url.URL, tag string, take func(context.Context, *http.Response) error,
) (why, err error) {
	limited, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	header := http.Header{"User-Agent": {r.cfg.Agent}, "Accept": {"text/html,application/xhtml+xml"}}
	if tag != "" {
		header.Set("If-None-Match", tag)
	}
	req := &http.Request{Method: http.MethodGet, URL: to, Header: header}
	resp, err := r.client.Do(req.WithContext(limited))
	h.next = time.Now().Add(r.cfg.Spacing)
	if err == nil {
		defer resp.Body.Close()
		after := resp.Header.Get("Retry-After")
		date, _ := http.ParseTime(after)
		wait, _ := time.ParseDuration(after + "s")
		h.next = slices.MaxFunc([]time.Time{h.next, date, time.Now().Add(wait)}, time.Time.Compare)
		err = take(limited, resp)
	}
	return reason(err), ctx.Err()
}

// pause waits until a host may be asked.
func (h *host) pause(ctx context.Context) error {
	if time.Until(h.next) > maxPause {
		return errLater
	}
	paused, cancel := context.WithDeadline(ctx, h.next)
	defer cancel()
	<-paused.Done()
	return ctx.Err()
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
	place := &url.URL{Scheme: of.Scheme, Host: of.Host, Path: robotsPath}
	why, err := r.get(ctx, h, place, "", func(_ context.Context, resp *http.Response) error {
		text, err := io.ReadAll(io.LimitReader(resp.Body, maxRobots))
		switch h.robots = ""; {
		case resp.StatusCode == http.StatusOK:
			h.robots = string(text)
		case resp.StatusCode >= 500, resp.StatusCode == http.StatusTooManyRequests:
			return ErrRobots
		}
		return err
	})
	h.readAt, h.why = time.Now(), why
	return err
}

var isHTML = regexp.MustCompile(`(?i)^$|^\s*(?:text/html|application/xhtml\+xml)\s*(?:;|$)`)

// readPage returns the page of a response.
func readPage(ctx context.Context, resp *http.Response) (*page, error) {
	kind := resp.Header.Get("Content-Type")
	if !isHTML.MatchString(kind) || resp.Header.Get("Content-Encoding") != "" { // that nobody asked for
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

// allows reports whether a robots.txt lets an agent ask for a path with its query (RFC 9309). Of the rules for the agent,
// or else of those for all, the longest one that matches decides, and of two such ones the allowing one.
func allows(robots, agent, path string) bool {
	best, group, isOver := map[string]int{}, []string{}, false // twice the length of the rule, and 1 if it allows
	agent, robots = strings.ToLower(agent), strings.ReplaceAll(strings.TrimPrefix(robots, "\ufeff"), "\r", "\n")
	for line := range strings.Lines(robots) {
		line, _, _ = strings.Cut(line, "#")
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		switch key {
		case "user-agent":
			if isOver {
				group, isOver = nil, false
			}
			if name := strings.ToLower(value); (name == "*" || name == agent) && !slices.Contains(group, name) {
				group, best[name] = append(group, name), max(best[name], 1)
			}
		case "allow", "disallow":
			isOver = true
			weight := 2*len(value) + map[string]int{"allow": 1}[key]
			for _, name := range group {
				if isAbout(value, path) {
					best[name] = max(best[name], weight)
				}
			}
		}
	}
	return cmp.Or(best[agent], best["*"], 1)%2 == 1
}

// isAbout reports whether a path is one of a rule, in which * is any text, and $ at its end the end of the path.
func isAbout(rule, path string) bool {
	if rest, isWhole := strings.CutSuffix(rule, "$"); isWhole {
		rule, path = rest+"\x00", path+"\x00"
	}
	start, others, _ := strings.Cut(rule, "*")
	path, ok := strings.CutPrefix(path, start)
	for part := range strings.SplitSeq(others, "*") {
		_, rest, found := strings.Cut(path, part)
		path, ok = rest, ok && found
	}
	return ok
}
