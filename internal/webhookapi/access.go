package webhookapi

import (
	"errors"
	"net/http"

	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/keyring"
	"palmares/internal/web"
)

// authorize tells whose key a request carries, nil when it has no Authorization
// header. A key is refused in the words of package api: it is the same key.
func (h *Handler) authorize(r *http.Request) (*account.Key, error) {
	lines := r.Header["Authorization"]
	if len(lines) == 0 {
		return nil, nil
	}
	token, ok := account.Bearer(lines)
	if !ok {
		return nil, api.InvalidKey()
	}
	var ctx web.StoreContext
	ctx.Start(r.Context())
	defer ctx.Stop()
	key, err := h.cfg.Keys.Check(&ctx, token)
	if err == nil {
		return key, nil
	}
	refusal := api.KeyError(err)
	// A flood of made-up keys, or callers who did not wait, must not flood the log.
	if refusal.Status == http.StatusServiceUnavailable && !errors.Is(err, keyring.ErrTooManyLookups) && r.Context().Err() == nil {
		h.cfg.Log.Error("a key cannot be looked up", "error", err)
	}
	return nil, refusal
}
