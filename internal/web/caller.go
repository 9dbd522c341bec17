package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"palmares/internal/account"
	"palmares/internal/clientip"
	"palmares/internal/keyring"
	"palmares/internal/quota"
)

// A Caller is who sent a request.
type Caller struct {
	Key     *account.Key          // nil for an anonymous caller; shared, must not be changed
	Subject quota.Subject         // whose quota the request is counted against
	Token   *account.PublishToken // of who publishes from elsewhere; otherwise nil

	waited time.Duration // for the store, to look up the key
}

// admit identifies the caller, or returns why the request is refused whatever it asks for.
func (h *Handler[S]) admit(r *Request[S]) error {
	if name, found := findKey(r.URL.RawQuery); found {
		return keyInAddress(name, h.cfg.Public)
	}
	caller, err := h.cfg.Callers(r.Context(), r.Request)
	if err != nil {
		return err
	}
	r.Caller, r.admitted = caller, true
	return nil
}

// count takes one request off the caller's quota if the response is one that counts, and tells
// callers with a key what remains. It runs after the response is made and before it is written, so
// that nothing has to be given back. It returns an error if nothing is left.
func (h *Handler[S]) count(header http.Header, r *Request[S], status int, free bool) error {
	keyed := r.Caller.Key != nil
	if h.cfg.Public && keyed {
		header["CDN-Cache-Control"] = noStore // for caches that ignore Vary
	}
	if h.cfg.Meter == nil {
		return nil
	}
	var counts bool
	switch status {
	case http.StatusOK, http.StatusPermanentRedirect, http.StatusBadRequest, http.StatusNotFound:
		counts = !free
	case http.StatusNotModified:
		counts = !free && !keyed
	}
	ctx := r.Context()
	if h.cfg.Meter.Waits(r.Caller.Subject) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, keyring.StoreTimeout-r.Caller.waited)
		defer cancel()
	}
	if !counts {
		if keyed {
			h.cfg.Meter.Look(ctx, r.Caller.Subject).SetHeaders(header)
		}
		return nil
	}
	grant := h.cfg.Meter.Take(ctx, r.Caller.Subject)
	grant.SetHeaders(header)
	if grant.Refused {
		return quotaExceeded(&grant, h.cfg.Bulk != nil && h.cfg.Bulk(r.Snapshot))
	}
	return nil
}

// An Authorizer returns who sent a request, or an *Error that refuses it.
type Authorizer func(ctx context.Context, r *http.Request) (Caller, error)

// A Gate identifies the callers of the server by their API key or, if they send none, by
// their network.
type Gate struct {
	Keys *keyring.Keyring
	// Trusted are the proxies whose X-Forwarded-For is believed; none by default.
	Trusted []netip.Prefix
	Log     *slog.Logger

	failing, flooded episode
}

// An episode is a number of failures with less than quiet between one and the next.
type episode struct{ last atomic.Int64 } // in Unix nanoseconds

const quiet = time.Minute

// begins notes a failure and reports whether it is the first of an episode.
func (e *episode) begins() bool {
	now := time.Now().UnixNano()
	return now-e.last.Swap(now) > quiet.Nanoseconds()
}

// Authorize is an Authorizer. It treats a request without an Authorization header as anonymous. A header that
// is not one valid key is refused, never treated as anonymous.
func (g *Gate) Authorize(ctx context.Context, r *http.Request) (Caller, error) {
	network := clientip.Network(clientip.Addr(r, g.Trusted))
	lines := r.Header["Authorization"]
	if len(lines) == 0 {
		return Caller{Subject: quota.Subject{Tier: quota.Anonymous, Network: network}}, nil
	}
	token, ok := account.Bearer(lines)
	if !ok {
		return Caller{}, ErrorOf(CodeInvalidKey)
	}
	begin := time.Now()
	key, err := g.Keys.Check(ctx, token, network)
	if err != nil {
		return Caller{}, g.refuse(r, err)
	}
	tier := quota.Free
	if key.Plan == account.Pro {
		tier = quota.Pro
	}
	subject := quota.Subject{Tier: tier, Account: key.AccountID}
	return Caller{Key: key, Subject: subject, waited: time.Since(begin)}, nil
}

// refuse returns the error for a request whose key was refused or could not be looked up.
// Failures are logged once per episode, not for every key; cancelled requests are not
// failures.
func (g *Gate) refuse(r *http.Request, err error) error {
	refusal := KeyError(err)
	switch {
	case refusal.Code != CodeUnavailable || r.Context().Err() != nil:
	case errors.Is(err, keyring.ErrTooManyLookups):
		if g.flooded.begins() {
			g.Log.Warn("more unknown API keys than can be looked up: some callers get 503; somebody may be guessing keys")
		}
	case g.failing.begins():
		g.Log.Error("could not look up an API key: callers with keys that are not in memory get 503 until it works",
			"error", err)
	}
	return refusal
}
