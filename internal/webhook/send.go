package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"palmares/internal/guard"
	"palmares/internal/vault"
)

const (
	connectTimeout = 5 * time.Second // the contract's
	maxResponse    = 64 << 10        // bytes of a response that are read
	maxKept        = 1024            // bytes of a response that are stored
	maxHeaders     = 32 << 10
	// idleTimeout is below the minute after which most receivers and load balancers close
	// a connection, which could hit a request on its way.
	idleTimeout = 30 * time.Second
)

// UserAgent is the User-Agent header of every request.
const UserAgent = "Palmares-Webhooks/1"

// A sender sends the requests. The guard checks the address of every new connection;
// a reused one leads to the same address. No proxy is used, which would resolve names
// where the guard cannot see it, and no redirect is followed.
type sender struct {
	allow     []netip.Prefix
	sealer    vault.Sealer
	timeout   time.Duration
	now       func() time.Time
	dialer    *net.Dialer
	transport *http.Transport
}

func newSender(allow []netip.Prefix, sealer vault.Sealer, timeout time.Duration, now func() time.Time) *sender {
	dialer := &net.Dialer{Timeout: connectTimeout, Control: guard.New(allow).Control}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &sender{
		allow: allow, sealer: sealer, timeout: timeout, now: now, dialer: dialer,
		transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    connectTimeout,
			DisableCompression:     true, // responses are stored as sent, and cannot expand
			MaxIdleConns:           maxRequests,
			MaxIdleConnsPerHost:    MaxInFlight,
			IdleConnTimeout:        idleTimeout,
			MaxResponseHeaderBytes: maxHeaders,
			Protocols:              &protocols,
		},
	}
}

// send makes one attempt. Failures are part of the result: an attempt always has an
// outcome, unless ctx was done.
func (s *sender) send(ctx context.Context, c Claim) Result {
	r := Result{At: s.now()}
	s.try(ctx, c, &r)
	r.Duration = s.now().Sub(r.At)
	return r
}

func (s *sender) try(ctx context.Context, c Claim, r *Result) {
	// The URL was valid when it was stored; --webhook-allow may have changed since.
	target, err := guard.CheckURL(c.URL, s.allow)
	if err != nil {
		r.Outcome = Blocked
		return
	}
	header, err := s.header(c, r.At)
	if err != nil {
		r.Outcome = Secret
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	// Handshake errors have no common type. A goroutine of the transport connects, hence
	// the atomic.
	var handshakeFailed atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { handshakeFailed.Store(err != nil) },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(c.Body))
	if err != nil {
		r.Outcome = Blocked
		return
	}
	req.Header = header
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		r.Outcome = outcomeOf(err, handshakeFailed.Load())
		return
	}
	defer resp.Body.Close()
	r.Status = resp.StatusCode
	if r.Status < 200 {
		// With 101 the transport returns the raw connection, whose reads ignore the deadline.
		// We did not ask for another protocol, so it is closed.
		r.Outcome = HTTPStatus
		return
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	r.Response = text(body)
	switch {
	case r.Status > 299: // whether or not the body could be read
		r.Outcome = HTTPStatus
		r.RetryAfter = RetryAfter(resp.Header.Get("Retry-After"), s.now())
	case err != nil:
		r.Outcome = outcomeOf(err, false)
	default:
		r.Outcome = OK
	}
}

func (s *sender) header(c Claim, at time.Time) (http.Header, error) {
	secret, err := s.sealer.Open(c.EndpointID, c.Secret)
	if err != nil {
		return nil, err
	}
	secrets := []string{secret}
	if c.OldSecret != "" {
		// Without the old secret a receiver that knows the new one still accepts the request;
		// one that does not will get it again.
		if old, err := s.sealer.Open(c.EndpointID, c.OldSecret); err == nil {
			secrets = append(secrets, old)
		}
	}
	header, err := Sign(c.Body, c.EventID, at, secrets...)
	if err != nil {
		return nil, err
	}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", UserAgent)
	return header, nil
}

// outcomeOf classifies the error of a request.
func outcomeOf(err error, inHandshake bool) Outcome {
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.Is(err, guard.ErrBlocked):
		return Blocked
	case errors.As(err, &dns):
		return Resolve
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return Timeout
	case inHandshake:
		return TLS
	}
	return Connect
}

// text returns the beginning of a response in a form that databases and pages can
// store: valid UTF-8 without NUL, at most maxKept bytes.
func text(body []byte) string {
	s := strings.ReplaceAll(strings.ToValidUTF8(string(body), "\uFFFD"), "\x00", "\uFFFD")
	if len(s) <= maxKept {
		return s
	}
	end := maxKept
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
