package mirror

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"palmares/internal/account"
)

// A Client reads what another server gives away. Every answer has a limit, and so has the
// time in which nothing arrives.
type Client struct {
	origin string // its base URL
	key    string // "" for none
	http   *http.Client
	stall  time.Duration

	allowance *atomic.Pointer[allowance] // what the last answer said of it; nil if nothing
}

// stallTimeout is how long nothing may arrive.
const stallTimeout = time.Minute

// NewClient returns a client of the server at an http or https URL. http is for this
// machine only. key, which may be empty, is sent to no other server.
func NewClient(origin, key string) (*Client, error) {
	u, err := url.Parse(origin)
	if err != nil {
		return nil, err
	}
	ip := net.ParseIP(u.Hostname())
	if isHere := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback(); u.Scheme != "https" && !isHere {
		return nil, fmt.Errorf("what %s sends could be changed on the way: use https:// (http:// is for this machine only)", origin)
	}
	if key = strings.TrimSpace(key); key != "" && !account.CheckKey(key) {
		return nil, errors.New("PALMARES_MIRROR_KEY is not a key, or was not copied completely: set it to a key of an account at " + origin + ", or to nothing")
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 30 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: pictureWorkers,
		IdleConnTimeout:     time.Minute,
	}
	return &Client{origin: strings.TrimSuffix(origin, "/"), key: key, stall: stallTimeout, allowance: &atomic.Pointer[allowance]{}, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes the connections to the server.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A refusal is an answer of the origin that is not what was asked for.
type refusal struct {
	text   string
	status int
	retry  time.Duration // not before; 0 if the origin did not say
}

func (e *refusal) Error() string { return e.text }

// An answer is the body of a 200 or 304. Close it.
type answer struct {
	io.Reader
	header http.Header
	status int
	close  func()
}

// get requests a path, unless it still has the tag. At most limit bytes of the answer can
// be read, and one more, which tells that it is too long.
func (c *Client) get(ctx context.Context, path, tag string, limit int64) (*answer, error) {
	header := http.Header{}
	if tag != "" {
		header.Set("If-None-Match", tag)
	}
	return c.send(ctx, path, header, limit)
}

// send requests a path, as get does.
func (c *Client) send(ctx context.Context, path string, header http.Header, limit int64) (*answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := time.AfterFunc(c.stall, func() { cancel(errStalled) })
	end := func() {
		watch.Stop()
		cancel(nil)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.origin+path, nil)
	if err != nil {
		end()
		return nil, err
	}
	req.Header = header
	req.Header.Set("User-Agent", "palmares-mirror")
	if c.key != "" && strings.HasPrefix(path, "/data/") {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		err = c.unreachable(ctx, err)
		end()
		return nil, err
	}
	body := &steady{ctx: ctx, body: resp.Body, watch: watch, stall: c.stall, client: c}
	a := &answer{Reader: io.LimitReader(body, limit+1), header: resp.Header, status: resp.StatusCode, close: func() {
		_ = resp.Body.Close() // it was read, or is of no use
		end()
	}}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNotModified && header.Get("If-None-Match") != "" {
		c.allowance.Store(allowanceOf(resp.Header))
		return a, nil
	}
	defer a.close()
	return nil, c.refused(path, resp, a)
}

// Close ends the request.
func (a *answer) Close() { a.close() }

var errStalled = errors.New("nothing arrived for too long")

// steady reads a body as long as something arrives.
type steady struct {
	ctx    context.Context
	body   io.Reader
	watch  *time.Timer
	stall  time.Duration
	client *Client
}

func (s *steady) Read(b []byte) (int, error) {
	n, err := s.body.Read(b)
	if n > 0 {
		s.watch.Reset(s.stall)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.client.unreachable(s.ctx, err)
	}
	return n, err
}

// unreachable is the error of a request that was not answered to its end.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err // without the port, which is another one each time and would make it another sentence
	}
	if errors.Is(err, errStalled) {
		return &refusal{text: fmt.Sprintf("%s did not go on sending: check its load and the network; it is asked again soon (%v)", c.origin, err), status: http.StatusGatewayTimeout}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &refusal{text: fmt.Sprintf("an answer of %s was cut off: it is asked again soon (%v)", c.origin, err)}
	}
	return &refusal{text: fmt.Sprintf("%s cannot be reached, or broke the connection: check that it runs and the address; it is asked again soon (%v)", c.origin, err)}
}

// refused is the error of an answer that is neither 200 nor 304.
func (c *Client) refused(path string, resp *http.Response, body io.Reader) error {
	r := &refusal{status: resp.StatusCode, retry: retryAfter(resp.Header)}
	var said struct{ Error string }
	if text, err := io.ReadAll(io.LimitReader(body, 64<<10)); err == nil {
		_ = json.Unmarshal(text, &said) // what is no error of ours has none
	}
	switch status := resp.StatusCode; {
	case status/100 == 3:
		to := resp.Header.Get("Location")
		if u, err := url.Parse(to); err == nil {
			u.RawQuery, u.User = "", nil
			to = u.String()
		}
		r.text = fmt.Sprintf("%s redirects %s to %q, and a mirror follows no redirect: give the address of the origin itself", c.origin, path, to)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		r.text = fmt.Sprintf("%s refuses the key in PALMARES_MIRROR_KEY: set it to a valid key of an account there (%s)", c.origin, said.Error)
	case status == http.StatusTooManyRequests && c.key == "":
		r.text = fmt.Sprintf("%s has answered as many requests today as it does without a key: set PALMARES_MIRROR_KEY to a key of an account there, which is not charged for asking whether something is new (%s)", c.origin, said.Error)
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		r.text = fmt.Sprintf("%s asks to try again later (%s): %s", c.origin, resp.Status, said.Error)
	case status == http.StatusNotFound && said.Error != "":
		r.text = fmt.Sprintf("%s has nothing to copy: it has published nothing yet, gives nothing away (`dataset: off` in its catalogue.yaml) or is an older release; ask its publisher (%s)", c.origin, said.Error)
	case status == http.StatusNotFound:
		r.text = fmt.Sprintf("%s has no %s and does not answer as a server of Palmarès does: check the address", c.origin, path)
	case status == http.StatusGone || status == http.StatusConflict:
		r.text = fmt.Sprintf("%s no longer has what it announced: %s", c.origin, said.Error)
	default:
		r.text = fmt.Sprintf("%s answered %s to %s: look into its log; it is asked again soon", c.origin, resp.Status, path)
	}
	return r
}

// maxRetryAfter bounds what an origin may ask for: quotas start again every day.
const maxRetryAfter = 24 * time.Hour

// retryAfter returns how long a server asks to wait, 0 if it does not.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds > 0 {
		return min(time.Duration(min(seconds, int(maxRetryAfter/time.Second)))*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter)
	}
	return 0
}

// getJSON requests a path and decodes the answer. It reports whether there was one: the
// answer to a tag may be that nothing has changed.
func (c *Client) getJSON(ctx context.Context, path, tag string, limit int64, into any) (header http.Header, isNew bool, err error) {
	a, err := c.get(ctx, path, tag, limit)
	if err != nil {
		return nil, false, err
	}
	defer a.Close()
	if a.status == http.StatusNotModified {
		return a.header, false, nil
	}
	if kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type")); kind != "application/json" {
		return nil, false, fmt.Errorf("%s answers %s with %q instead of JSON: check the address, and whether a proxy or another site is in between", c.origin, path, kind)
	}
	text, err := io.ReadAll(a)
	switch {
	case err != nil:
		return nil, false, err
	case int64(len(text)) > limit:
		return nil, false, fmt.Errorf("%s answers %s with more than %d MiB, which no release of palmares does: check the address", c.origin, path, limit>>20)
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(into); err != nil {
		return nil, false, fmt.Errorf("%s does not answer %s as a server of Palmarès does: check the address (%w)", c.origin, path, err)
	}
	return a.header, true, nil
}

// An allowance is how many requests an origin still answers today.
type allowance struct {
	limit, remaining int
	reset            time.Time
}

// allowanceOf returns what an answer says; nil if that is nothing.
func allowanceOf(h http.Header) *allowance {
	limit, err := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	remaining, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	reset, err3 := time.Parse(time.RFC3339, h.Get("X-RateLimit-Reset"))
	if errors.Join(err, err2, err3) != nil {
		return nil
	}
	return &allowance{limit, remaining, reset}
}

// pause returns how far requests must be apart so that what is left lasts until the end of
// the day: without a key, all of them count. Half of the allowance is not rationed.
func (a *allowance) pause(now time.Time) time.Duration {
	if a == nil || 2*a.remaining > a.limit {
		return 0
	}
	return max(0, a.reset.Sub(now)) / time.Duration(max(a.remaining, 1))
}
