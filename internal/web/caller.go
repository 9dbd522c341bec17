package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"

	"palmares/internal/account"
	"palmares/internal/clientip"
	"palmares/internal/keyring"
	"palmares/internal/quota"
)

// A Caller is who sent a request.
type Caller struct {
	Key     *account.Key  // nil for an anonymous caller; shared, must not be changed
	Subject quota.Subject // whose quota the request is counted against
}

// An Authorizer identifies callers.
type Authorizer interface {
	// Authorize returns who sent a request, or an *Error that refuses it. It waits for the
	// store no longer than ctx allows.
	Authorize(ctx context.Context, r *http.Request) (Caller, error)
}

// A Gate is the Authorizer of the server: it identifies callers by their API key or, if
// they send none, by their network.
type Gate struct {
	Keys *keyring.Keyring
	// Trusted are the proxies whose X-Forwarded-For is believed; none by default.
	Trusted []netip.Prefix
	Log     *slog.Logger
}

// Authorize treats a request without an Authorization header as anonymous. A header that
// is not one valid key is refused, never treated as anonymous.
func (g *Gate) Authorize(ctx context.Context, r *http.Request) (Caller, error) {
	lines := r.Header["Authorization"]
	if len(lines) == 0 {
		network := clientip.Network(clientip.Addr(r, g.Trusted))
		return Caller{Subject: quota.Subject{Tier: quota.Anonymous, Network: network}}, nil
	}
	token, ok := account.Bearer(lines)
	if !ok {
		return Caller{}, NewError(CodeInvalidKey, "")
	}
	key, err := g.Keys.Check(ctx, token)
	if err != nil {
		refusal := KeyError(err)
		// Neither a flood of made-up keys nor callers who hang up may flood the log.
		if refusal.Code == CodeUnavailable && !errors.Is(err, keyring.ErrTooManyLookups) && r.Context().Err() == nil {
			g.Log.Error("could not look up an API key", "error", err)
		}
		return Caller{}, refusal
	}
	tier := quota.Free
	if key.Plan == account.Pro {
		tier = quota.Pro
	}
	return Caller{Key: key, Subject: quota.Subject{Tier: tier, Account: key.AccountID}}, nil
}

// An AuthorizerFunc is a function that is an Authorizer.
type AuthorizerFunc func(ctx context.Context, r *http.Request) (Caller, error)

// Authorize calls f.
func (f AuthorizerFunc) Authorize(ctx context.Context, r *http.Request) (Caller, error) {
	return f(ctx, r)
}
