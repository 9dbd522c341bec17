package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"palmares/internal/account"
	"palmares/internal/peer"
	"palmares/internal/webhook"
)

// A Client reads what another server gives away. Every response has a limit, and so has the
// time in which nothing arrives.
type Client struct {
	*peer.Client
	key   string // "" for none
	stall time.Duration

	allowance *atomic.Pointer[allowance] // what the last response said of it; nil if nothing
}

// stallTimeout is how long nothing may arrive.
const stallTimeout = time.Minute

// NewClient returns a client of the server at an http or https URL. http is for this
// machine only. key, which may be empty, is sent to no other server.
func NewClient(origin, key string) (*Client, error) {
	client, err := peer.New(origin, "what "+origin+" sends could be changed on the way")
	if err != nil {
		return nil, err
	}
	key = strings.TrimSpace(key)
	if key != "" && !account.CheckKey(key) {
		return nil, errors.New("PALMARES_MIRROR_KEY is not a key, or was not copied completely: " +
			"set it to a key of an account at " + origin + ", or to nothing")
	}
	return &Client{Client: client, key: key, stall: stallTimeout, allowance: &atomic.Pointer[allowance]{}}, nil
}

// get requests a path. The response, whose body the caller closes, has the status 200, or 304 if
// header asks for what has changed. Its body ends after limit bytes and one more, which tells
// that it is too long.
func (c *Client) get(ctx context.Context, path string, header http.Header, limit int64) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := time.AfterFunc(c.stall, func() { cancel(errStalled) })
	header.Set("User-Agent", "palmares-mirror")
	if c.key != "" && strings.HasPrefix(path, "/data/") {
		header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.Send(ctx, http.MethodGet, path, header, nil)
	if err != nil {
		err = c.unreachable(ctx, err)
		watch.Stop()
		cancel(nil)
		return nil, err
	}
	body := &watchedBody{Closer: resp.Body, client: c, ctx: ctx, cancel: cancel, watch: watch}
	body.limited = io.LimitedReader{R: resp.Body, N: limit + 1}
	resp.Body = body
	isUnchanged := resp.StatusCode == http.StatusNotModified && header.Get("If-None-Match") != ""
	if resp.StatusCode == http.StatusOK || isUnchanged {
		c.allowance.Store(allowanceOf(resp.Header))
		return resp, nil
	}
	defer body.Close()
	return nil, c.refused(path, resp)
}

var errStalled = errors.New("nothing arrived for too long")

// A watchedBody is the body of a response that ends with an error once nothing has arrived for
// too long.
type watchedBody struct {
	io.Closer
	limited io.LimitedReader
	client  *Client
	ctx     context.Context
	cancel  context.CancelCauseFunc
	watch   *time.Timer
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.limited.Read(p)
	if n > 0 {
		b.watch.Reset(b.client.stall)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.client.unreachable(b.ctx, err)
	}
	return n, err
}

// Close ends the request.
func (b *watchedBody) Close() error {
	err := b.Closer.Close()
	b.watch.Stop()
	b.cancel(nil)
	return err
}

// unreachable is the error of a request without a complete response.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	err = peer.Cause(err)
	switch {
	case errors.Is(err, errStalled):
		return &peer.Error{Status: http.StatusGatewayTimeout, Text: fmt.Sprintf(
			"%s did not go on sending: check its load and the network; it is asked again soon (%v)", c.URL, err)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &peer.Error{Text: fmt.Sprintf("an answer of %s was cut off: it is asked again soon (%v)", c.URL, err)}
	}
	return &peer.Error{Text: fmt.Sprintf("%s cannot be reached, or broke the connection: "+
		"check that it runs and the address; it is asked again soon (%v)", c.URL, err)}
}

// refused is the error of a response that is neither 200 nor 304.
func (c *Client) refused(path string, resp *http.Response) error {
	said := peer.Reason(resp)
	var why string
	switch status := resp.StatusCode; {
	case status/100 == 3:
		to := resp.Header.Get("Location")
		if u, err := url.Parse(to); err == nil {
			u.RawQuery, u.User = "", nil
			to = u.String()
		}
		why = fmt.Sprintf("redirects %s to %q, and a mirror follows no redirect: give the address of the origin itself",
			path, to)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		why = "refuses the key in PALMARES_MIRROR_KEY: set it to a valid key of an account there (" + said + ")"
	case status == http.StatusTooManyRequests && c.key == "":
		why = "has answered as many requests today as it does without a key: set PALMARES_MIRROR_KEY to a key of " +
			"an account there, which is not charged for asking whether something is new (" + said + ")"
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		why = "asks to try again later (" + resp.Status + "): " + said
	case status == http.StatusNotFound && said != "":
		why = "has nothing to copy: it has published nothing yet, gives nothing away " +
			"(`dataset: off` in its catalogue.yaml) or is an older release; ask its publisher (" + said + ")"
	case status == http.StatusNotFound:
		why = "has no " + path + " and does not answer as a server of Palmarès does: check the address"
	case status == http.StatusGone || status == http.StatusConflict:
		why = "no longer has what it announced: " + said
	default:
		why = "answered " + resp.Status + " to " + path + ": look into its log; it is asked again soon"
	}
	retry := webhook.RetryAfter(resp.Header.Get("Retry-After"), time.Now())
	return &peer.Error{Text: c.URL + " " + why, Status: resp.StatusCode, Retry: retry}
}

// getJSON requests a path, unless it still has the tag, and decodes the response. It reports
// whether there was something to decode.
func (c *Client) getJSON(
	ctx context.Context, path, tag string, limit int64, into any,
) (header http.Header, isNew bool, err error) {
	asked := http.Header{}
	if tag != "" {
		asked.Set("If-None-Match", tag)
	}
	resp, err := c.get(ctx, path, asked, limit)
	if err != nil {
		return nil, false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified {
		return resp.Header, false, nil
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "application/json" {
		return nil, false, fmt.Errorf("%s answers %s with %q instead of JSON: "+
			"check the address, and whether a proxy or another site is in between", c.URL, path, kind)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, false, err
	}
	if int64(len(text)) > limit {
		return nil, false, fmt.Errorf("%s answers %s with more than %d MiB, which no release of palmares does: "+
			"check the address", c.URL, path, limit>>20)
	}
	err = json.Unmarshal(text, into)
	if err != nil {
		return nil, false, fmt.Errorf("%s does not answer %s as a server of Palmarès does: check the address (%w)",
			c.URL, path, err)
	}
	return resp.Header, true, nil
}

// An allowance is how many requests an origin still serves today.
type allowance struct {
	limit, remaining int
	reset            time.Time
}

// allowanceOf returns what a response says of it; nil if that is nothing.
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
