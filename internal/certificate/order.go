package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// An Order is the last order of a certificate.
type Order struct {
	Claimed  bool      // by whoever asked
	Next     time.Time // when the next one may begin
	Failures int       // since the last success
}

const (
	orderTimeout = 4 * time.Minute
	claim        = 5 * time.Minute // the order of a process that was killed has ended by then
)

// delays are how long to wait after so many failures. An order may fail to prove a domain in two ways, and
// authorities allow five such failures at once and another one every twelve minutes.
var delays = []time.Duration{0, time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour}

// renew orders a certificate unless another node does, or the last failure was a short time ago.
func (m *Manager) renew(ctx context.Context, domain string, started bool) error {
	now := m.cfg.Now()
	o, err := m.store.Claim(ctx, domain, now, now.Add(claim))
	switch {
	case err != nil:
		return fmt.Errorf("the last order for %s cannot be read from the database: %w", domain, err)
	case !o.Claimed && started:
		m.cfg.Log.Info("a certificate is not ordered yet: another node orders it, or the last order failed",
			"domain", domain, "tried_again_at", o.Next.UTC().Format(time.RFC3339))
		return nil
	case !o.Claimed:
		return nil
	}
	err = m.order(ctx, domain)
	o.Next = now
	switch {
	case err == nil:
		o.Failures = 0
		m.cfg.Log.Info("a certificate was issued", "domain", domain,
			"expires", m.held[domain].Load().Leaf.NotAfter.UTC().Format(time.RFC3339))
	case ctx.Err() == nil: // otherwise the server stops: it is nobody's failure
		o.Failures++
		delay := delays[min(o.Failures, len(delays)-1)]
		o.Next = now.Add(delay)
		i := slices.IndexFunc(problems, func(p struct{ text, sentence string }) bool {
			return strings.Contains(err.Error(), p.text)
		})
		sentence := strings.ReplaceAll(problems[i].sentence, "AUTHORITY", m.cfg.Directory)
		m.cfg.Log.Error("no certificate for "+domain+": "+sentence,
			"tried_again_in", delay.String(), "error", err)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := m.store.End(ending, domain, o); err != nil {
		return fmt.Errorf("the end of the order for %s cannot be stored: %w", domain, err)
	}
	return nil
}

// An attempt is the cache and the transport of the autocert.Manager that orders one certificate.
type attempt struct {
	Store
	ctx       context.Context
	domain    string
	transport http.RoundTripper
	refusal   atomic.Pointer[string] // the authority's last problem with a proof, which autocert ignores
}

// Get hides the certificate that is to be replaced.
func (a *attempt) Get(ctx context.Context, name string) ([]byte, error) {
	if name == a.domain {
		return nil, autocert.ErrCacheMiss
	}
	return a.Store.Get(ctx, name)
}

// RoundTrip sends the authority a request, until the end of the attempt: the autocert.Manager lives on, and
// would renew the certificate by itself.
func (a *attempt) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := a.transport.RoundTrip(r.WithContext(a.ctx))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var authorization struct {
		Challenges []struct{ Error struct{ Type, Detail string } }
	}
	_ = json.Unmarshal(body, &authorization) // most responses are something else
	for _, c := range authorization.Challenges {
		if text := c.Error.Type + ": " + c.Error.Detail; c.Error.Type != "" {
			a.refusal.Store(&text)
		}
	}
	return resp, err
}

var errUseless = errors.New("the certificate that was issued is not in the database, or is to be renewed already")

// order has a certificate issued and stored, and holds it.
func (m *Manager) order(ctx context.Context, domain string) error {
	ctx, cancel := context.WithTimeout(ctx, orderTimeout)
	defer cancel()
	a := &attempt{Store: m.store, ctx: ctx, domain: domain, transport: m.transport}
	client := &acme.Client{
		DirectoryURL: m.cfg.Directory, UserAgent: m.cfg.Agent, HTTPClient: &http.Client{Transport: a},
	}
	manager := &autocert.Manager{Prompt: autocert.AcceptTOS, Cache: a, Client: client, Email: m.cfg.Contact}
	manager.HTTPHandler(nil) // lets it prove the domain by HTTP, too
	ended := make(chan error, 1)
	go func() {
		_, err := manager.GetCertificate(&tls.ClientHelloInfo{
			ServerName: domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
		})
		if refusal := a.refusal.Load(); err != nil && refusal != nil {
			err = fmt.Errorf("%w: %s", err, *refusal)
		}
		ended <- err
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done(): // autocert may be waiting for the authority
		err = ctx.Err()
	}
	if err == nil {
		err = m.load(ctx, domain)
	}
	if err == nil && m.isDue(domain) {
		err = errUseless // or it would be ordered again and again
	}
	return err
}

const (
	unreachable = "the authority cannot reach this server: open ports 80 and 443 to the world, " +
		"and let the domain's DNS entry point here"
	elsewhere = "the authority reached another server: let the domain's DNS entry point to this one"
)

// problems are texts in errors, each with a sentence that says what to do. The first that occurs counts.
var problems = []struct{ text, sentence string }{
	{"acme:error:rateLimited", "the authority has had too many requests for it"},
	{"acme:error:dns", "the authority does not find its address: let the domain's DNS entry (A or AAAA) point here"},
	{"acme:error:connection", unreachable},
	{"acme:error:tls", unreachable},
	{"acme:error:unauthorized", elsewhere},
	{"acme:error:incorrectResponse", elsewhere},
	{"acme:error:caa", "the CAA entry of the domain allows another authority only: correct it"},
	{"acme:error:rejectedIdentifier", "the authority issues none for this name: correct --domain"},
	{"acme:error:", "the authority refuses"},
	{errUseless.Error(), errUseless.Error() + ": check this machine's clock and disk"},
	{"x509: certificate has expired", "the certificate of AUTHORITY is not valid now: check this machine's clock"},
	{"x509: ", "the certificate of AUTHORITY has another name, or this machine does not trust it: " +
		"correct --acme-directory, or add its root to the machine's certificates"},
	{"", "AUTHORITY cannot be reached, or is no directory of an authority: check the network and --acme-directory"},
}
