package server

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"palmares/internal/account"
	"palmares/internal/api"
)

// authorizer tells who sent a request. A request with no Authorization header is
// anonymous; one with anything else than one good key is refused, never taken
// for anonymous.
func authorizer(keys *account.Keyring, log *slog.Logger) func(*http.Request) (api.Caller, *api.Error) {
	return func(r *http.Request) (api.Caller, *api.Error) {
		lines := r.Header["Authorization"]
		if len(lines) == 0 {
			return api.Caller{}, nil
		}
		token, ok := bearer(lines)
		if !ok {
			return api.Caller{}, api.InvalidKey()
		}
		_, err := keys.Check(r.Context(), token)
		switch {
		case err == nil:
			return api.Caller{Keyed: true}, nil
		case errors.Is(err, account.ErrInvalidKey):
			return api.Caller{}, api.InvalidKey()
		case errors.Is(err, account.ErrRevokedKey):
			return api.Caller{}, api.RevokedKey()
		case errors.Is(err, account.ErrExpiredKey):
			return api.Caller{}, api.ExpiredKey()
		}
		log.Error("a key cannot be looked up", "error", err)
		return api.Caller{}, api.Unavailable()
	}
}

// bearer finds the token of the one Authorization header there may be.
func bearer(lines []string) (token string, ok bool) {
	if len(lines) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(lines[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimLeft(token, " "), true
}
