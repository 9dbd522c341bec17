// Package peer is the HTTP client of a server of Palmarès elsewhere, for publishing on it and for
// copying it.
package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"palmares/internal/clientip"
)

// A Client sends requests to one server. It follows no redirect: what it sends is for that
// server only.
type Client struct {
	URL  string // of the server, without a final slash
	http *http.Client
}

// New returns a client of the server at an http or https URL. http is for this machine only:
// otherwise the error begins with risk.
func New(server, risk string) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && !clientip.IsLoopback(u.Host) {
		return nil, fmt.Errorf("%s: use https:// (http:// is for this machine only)", risk)
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   30 * time.Second,
		ExpectContinueTimeout: 10 * time.Second,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       time.Minute,
		Protocols:             &http.Protocols{},
	}
	transport.Protocols.SetHTTP1(true) // only there a refusal arrives while a body is being sent
	follow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{strings.TrimSuffix(server, "/"), &http.Client{Transport: transport, CheckRedirect: follow}}, nil
}

// Close closes the connections to the server.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Send sends a request. The caller closes the body of the response.
func (c *Client) Send(ctx context.Context, method, path string, h http.Header, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, body)
	if err != nil {
		return nil, err
	}
	req.Header = h
	return c.http.Do(req)
}

// ErrUnavailable means that a server cannot be reached, or asks to try again later.
var ErrUnavailable = errors.New("the server is unavailable")

// An Error is why a server did not do what it was asked to.
type Error struct {
	Text   string
	Status int           // of the response; 0 without a complete one
	Retry  time.Duration // not before; 0 if the server did not say
}

func (e *Error) Error() string { return e.Text }

// Is reports whether target is ErrUnavailable and the server, or a proxy in front of it, may do
// later what it was asked to.
func (e *Error) Is(target error) bool {
	switch e.Status {
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return target == ErrUnavailable
	}
	return false
}

// Cause returns why there was no response, without the request and the ports of its connection,
// which differ each time.
func Cause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err
	}
	return err
}

// Reason returns the sentence of an error response; "" if Palmarès did not write that.
func Reason(resp *http.Response) string {
	var said struct{ Error string }
	err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&said)
	if err != nil {
		return ""
	}
	return said.Error
}
