package certificate

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/acme"
)

const (
	orderTimeout = 4 * time.Minute
	claim        = 5 * time.Minute // whoever began an order and was killed has failed by then
)

// delays are how long to wait after that many failures. Each order may fail to prove a domain in two
// ways, and authorities allow five such failures an hour.
var delays = []time.Duration{
	0, time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour,
}

// afterStart is how long to wait instead, at most, when a server starts: somebody may have
// corrected what was wrong.
const afterStart = 15 * time.Minute

// next returns when a certificate may be ordered again.
func (o Order) next(now time.Time, started bool) time.Time {
	if o.Tried.After(now.Add(time.Hour)) {
		return now // the clock was wrong then
	}
	next := o.Tried.Add(o.delay(started))
	if next.Before(o.ClaimedUntil) {
		return o.ClaimedUntil
	}
	return next
}

func (o Order) delay(started bool) time.Duration {
	delay := delays[min(o.Failures, len(delays)-1)]
	if started {
		return min(delay, afterStart)
	}
	return delay
}

// renew orders a certificate unless another node does, or the last failure was a short time ago.
func (m *Manager) renew(ctx context.Context, store Store, domain string, started bool) {
	now := m.cfg.Now()
	last, err := store.LastOrder(ctx, domain)
	if next := last.next(now, started); err == nil && now.Before(next) {
		if started {
			m.cfg.Log.Info("a certificate is not ordered yet: another node orders it, or the last order failed or was cut off",
				"domain", domain, "tried_again_at", next.UTC().Format(time.RFC3339))
		}
		return
	}
	var claimed bool
	if err == nil {
		claimed, err = store.Claim(ctx, domain, last, now, now.Add(claim))
	}
	if err != nil {
		m.cfg.Log.Error("whether a certificate is to be ordered cannot be read from the database",
			"domain", domain, "error", err)
		return
	}
	if !claimed {
		return
	}
	outcome := Order{Tried: now}
	err = m.orderInTime(ctx, domain)
	switch {
	case err != nil && ctx.Err() != nil:
		outcome.Failures = last.Failures // the server stops: it is nobody's failure
	case err != nil:
		outcome.Failures = last.Failures + 1
		m.cfg.Log.Error("no certificate for "+domain+": "+explain(err, domain, m.cfg.Directory),
			"tried_again_in", outcome.delay(false).String(), "error", err)
	default:
		leaf := (*m.held.Load())[domain].Leaf
		m.cfg.Log.Info("a certificate was issued", "domain", domain, "expires", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := store.End(ending, domain, outcome.Failures); err != nil {
		m.cfg.Log.Error("the end of an order cannot be stored", "domain", domain, "error", err)
	}
}

// grace is how long an order goes on when the server stops, so that what the authority has issued is
// stored.
const grace = 5 * time.Second

var (
	errClock     = errors.New("the certificate that was issued is to be renewed already")
	errDirectory = errors.New("the directory of the authority cannot be read")
)

// orderInTime orders a certificate, stores it and holds it.
func (m *Manager) orderInTime(ctx context.Context, domain string) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), orderTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	if err := m.order(limited, domain); err != nil {
		return err
	}
	if err := m.load(limited, domain); err != nil {
		return err
	}
	if m.isDue(domain) {
		return errClock // or it would be ordered again and again
	}
	return nil
}

// The ways to prove that a domain is ours, in the order in which they are tried.
var ways = []string{"http-01", "tls-alpn-01"}

func (m *Manager) order(ctx context.Context, domain string) error {
	client, err := m.client(ctx)
	if err != nil {
		return err
	}
	if _, err := client.Discover(ctx); err != nil {
		return fmt.Errorf("%w: %w", errDirectory, err)
	}
	account := &acme.Account{}
	if m.cfg.Contact != "" {
		account.Contact = []string{"mailto:" + m.cfg.Contact}
	}
	_, err = client.Register(ctx, account, acme.AcceptTOS)
	if err != nil && !errors.Is(err, acme.ErrAccountAlreadyExists) {
		return err
	}
	var refused error
	for _, way := range ways {
		o, err := client.AuthorizeOrder(ctx, acme.DomainIDs(domain))
		if err != nil {
			return err
		}
		err = m.prove(ctx, client, o, domain, way)
		if err == nil {
			return m.finish(ctx, client, o, domain)
		}
		refused = errors.Join(refused, fmt.Errorf("%s: %w", way, err))
		if _, ok := errors.AsType[*acme.AuthorizationError](err); !ok {
			break // another way does not help
		}
	}
	return refused
}

func (m *Manager) prove(ctx context.Context, client *acme.Client, o *acme.Order, domain, way string) error {
	for _, at := range o.AuthzURLs {
		z, err := client.GetAuthorization(ctx, at)
		if err != nil {
			return err
		}
		if z.Status != acme.StatusPending { // proven a short time ago
			continue
		}
		i := slices.IndexFunc(z.Challenges, func(c *acme.Challenge) bool { return c.Type == way })
		if i < 0 {
			return errors.New("the authority does not offer it")
		}
		if err := m.show(ctx, client, at, z.Challenges[i], domain); err != nil {
			return err
		}
	}
	return nil
}

// show shows the authority a token on every node.
func (m *Manager) show(
	ctx context.Context, client *acme.Client, authorization string, c *acme.Challenge, domain string,
) (err error) {
	if err := m.values.put(ctx, proofName(domain), c.Token); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.values.remove(context.WithoutCancel(ctx), proofName(domain))) }()
	select {
	case <-time.After(proofAge): // until no node believes that there is none
	case <-ctx.Done():
		return ctx.Err()
	}
	if _, err := client.Accept(ctx, c); err != nil {
		return err
	}
	_, err = client.WaitAuthorization(ctx, authorization)
	return err
}

// finish has the certificate of a proven order issued, and stores it with a new key.
func (m *Manager) finish(ctx context.Context, client *acme.Client, o *acme.Order, domain string) error {
	o, err := client.WaitOrder(ctx, o.URI)
	if err != nil {
		return err
	}
	key, text, err := newKey()
	if err != nil {
		return err
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: []string{domain}}, key)
	if err != nil {
		return err
	}
	chain, _, err := client.CreateCertFromOrder(ctx, o, request, true)
	if err != nil {
		return err
	}
	for _, der := range chain {
		text += string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	if err := m.values.put(ctx, certificateName(domain), text); err != nil {
		return fmt.Errorf("a certificate was issued and cannot be stored: %w", err)
	}
	return nil
}

// client returns a client of the authority with the account of this installation, whose key it makes if
// there is none.
func (m *Manager) client(ctx context.Context) (*acme.Client, error) {
	text, err := m.account(ctx)
	if err != nil {
		return nil, err
	}
	if text == "" {
		_, text, err = newKey()
		if err == nil {
			err = m.values.put(ctx, m.accountName(), text)
		}
		if err != nil {
			return nil, err
		}
	}
	block, _ := pem.Decode([]byte(text))
	key, err := x509.ParseECPrivateKey(block.Bytes)
	return &acme.Client{
		Key: key, DirectoryURL: m.cfg.Directory, UserAgent: m.cfg.Agent, RetryBackoff: backoff,
		HTTPClient: &http.Client{Transport: m.transport, Timeout: 30 * time.Second},
	}, err
}

// account returns the key of the account at the authority, "" if there is none.
func (m *Manager) account(ctx context.Context) (string, error) {
	text, err := m.values.get(ctx, m.accountName())
	if err != nil {
		return "", fmt.Errorf("the account at the authority cannot be read from the database: %w", err)
	}
	return text, nil
}

func (m *Manager) accountName() string { return "account " + m.cfg.Directory }

// backoff returns how long to wait before a request that was refused is sent again, for the nth time.
func backoff(n int, _ *http.Request, resp *http.Response) time.Duration {
	if resp.StatusCode == http.StatusBadRequest && n < 10 {
		return time.Millisecond // it had a nonce that the authority has forgotten, and gets another one
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // 0 for a date
	return max(time.Duration(seconds)*time.Second, time.Second<<min(n-1, 3))
}

// newKey returns a key, and the same as text.
func newKey() (*ecdsa.PrivateKey, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	der, err := x509.MarshalECPrivateKey(key)
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})), err
}

// explain says what is wrong and what to do.
func explain(err error, domain, directory string) string {
	text := err.Error()
	problem, _ := errors.AsType[*acme.Error](err)
	var network *url.Error
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var other x509.HostnameError
	switch {
	case errors.Is(err, errClock):
		return text + ": check this machine's clock"
	case errors.As(err, &other):
		return "the server of " + directory + " has a certificate of another name: correct --acme-directory"
	case errors.As(err, &unknown):
		return "the authority " + directory + " has a certificate that this machine does not trust: " +
			"correct --acme-directory, or add its root to the machine's certificates"
	case errors.As(err, &invalid):
		return "the certificate of the authority " + directory + " is not valid at this time: check this machine's clock"
	case problem != nil && problem.ProblemType == "urn:ietf:params:acme:error:rateLimited":
		return "the authority has had too many requests for it: " + problem.Detail
	case strings.Contains(text, "acme:error:dns"):
		return "the authority does not find its address: let the DNS entry of " + domain + " (A or AAAA) point to this server"
	case strings.Contains(text, "acme:error:connection"), strings.Contains(text, "acme:error:tls"):
		return "the authority cannot reach this server: open ports 80 and 443 to the world, " +
			"and let the DNS entry of " + domain + " point here"
	case strings.Contains(text, "acme:error:unauthorized"), strings.Contains(text, "acme:error:incorrectResponse"):
		return "the authority reached another server: let the DNS entry of " + domain + " point to this one"
	case strings.Contains(text, "acme:error:caa"):
		return "the CAA entry of the domain allows another authority only: correct it"
	case strings.Contains(text, "acme:error:rejectedIdentifier"):
		return "the authority issues none for this name: correct --domain"
	case errors.As(err, &network) || isTimeout(err):
		return "the authority " + directory + " cannot be reached: check the network and --acme-directory"
	case errors.Is(err, errDirectory) && (problem == nil || problem.StatusCode < http.StatusInternalServerError):
		return directory + " is no directory of an authority: correct --acme-directory"
	case problem != nil:
		return "the authority refuses: " + text
	}
	return text
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}
