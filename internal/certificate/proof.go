package certificate

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// proofs are the tokens of orders under way, by domain. Any node answers the authority, and anybody may
// ask: the database is asked once in proofAge.
type proofs struct {
	turn chan map[string]proof // holds the map while nobody uses it
}

type proof struct {
	token string // "" without an order
	read  time.Time
}

const proofAge = time.Second

func newProofs() proofs {
	p := proofs{make(chan map[string]proof, 1)}
	p.turn <- map[string]proof{}
	return p
}

func proofName(domain string) string { return "proof " + domain }

// token returns the token of the order of a domain, "" if there is none.
func (m *Manager) token(ctx context.Context, domain string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	select {
	case known := <-m.proofs.turn:
		defer func() { m.proofs.turn <- known }()
		last := known[domain]
		now := time.Now()
		if now.Sub(last.read) < proofAge {
			return last.token, nil
		}
		token, err := m.values.get(ctx, proofName(domain))
		if err == nil {
			known[domain] = proof{token, now}
		}
		return token, err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (m *Manager) proveByTLS(ctx context.Context, domain string) (*tls.Certificate, error) {
	token, err := m.token(ctx, domain)
	if err != nil {
		return nil, err
	}
	if token == "" {
		return nil, fmt.Errorf("no certificate of %s is being ordered", domain)
	}
	client, err := m.client(ctx)
	if err != nil {
		return nil, err
	}
	c, err := client.TLSALPN01ChallengeCert(token, domain)
	return &c, err
}

const proofPath = "/.well-known/acme-challenge/"

// proveByHTTP answers the authority, and reports whether it was its request.
func (m *Manager) proveByHTTP(w http.ResponseWriter, r *http.Request) bool {
	asked, ok := strings.CutPrefix(r.URL.Path, proofPath)
	if !ok || asked == "" {
		return false
	}
	token, err := m.token(r.Context(), hostname(r.Host))
	var text string
	if err == nil && token == asked {
		client, failure := m.client(r.Context())
		err = failure
		if err == nil {
			text, err = client.HTTP01ChallengeResponse(token)
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case err != nil:
		m.cfg.Log.Warn("the authority's question cannot be answered", "error", err)
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	case text == "":
		w.WriteHeader(http.StatusNotFound)
	default:
		_, _ = w.Write([]byte(text)) // fails only if the authority has disconnected
	}
	return true
}
