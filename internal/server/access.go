package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"

	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/clientip"
	"palmares/internal/keyring"
	"palmares/internal/quota"
)

// A gate tells who sent a request.
type gate struct {
	keys    *keyring.Keyring
	trusted []netip.Prefix
	log     *slog.Logger
}

// authorize takes a request with no Authorization header for anonymous; one with
// anything else than one good key is refused, never taken for anonymous.
func (g *gate) authorize(ctx context.Context, r *http.Request) (api.Caller, *api.Error) {
	lines := r.Header["Authorization"]
	if len(lines) == 0 {
		network := clientip.Network(clientip.Addr(r, g.trusted))
		return api.Caller{Subject: quota.Subject{Tier: quota.Anonymous, Network: network}}, nil
	}
	token, ok := account.Bearer(lines)
	if !ok {
		return api.Caller{}, api.InvalidKey()
	}
	key, err := g.keys.Check(ctx, token)
	if err == nil {
		tier := quota.Free
		if key.Plan == account.Pro {
			tier = quota.Pro
		}
		return api.Caller{Keyed: true, Subject: quota.Subject{Tier: tier, Account: key.AccountID}}, nil
	}
	refusal := api.KeyError(err)
	// A flood of made-up keys, or callers who did not wait, must not flood the log.
	if refusal.Status == http.StatusServiceUnavailable && !errors.Is(err, keyring.ErrTooManyLookups) && r.Context().Err() == nil {
		g.log.Error("a key cannot be looked up", "error", err)
	}
	return api.Caller{}, refusal
}
