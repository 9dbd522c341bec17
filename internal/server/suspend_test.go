package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
)

// A suspended key is valid, hence 403 without a challenge. Like every refused key it is
// never treated as anonymous.
func TestASuspendedKeyIsForbiddenOnEveryPathUntilItIsRestored(t *testing.T) {
	n := start(t, http.NotFoundHandler())
	key := n.issue(func(k *account.Key) { k.SuspendedAt = time.Unix(1, 0) })
	for _, path := range []string{"/api/v1/tools", "/api/v1/stats", "/api/embeddings/x", "/api/nothing"} {
		status, header, body := n.get(path, "Bearer "+key)
		if status != 403 || !strings.Contains(body, `"key_suspended"`) || header.Get("WWW-Authenticate") != "" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %s", path, status, header, body)
		}
	}
	n.refuses("revoked_api_key", "Bearer "+n.issue(func(k *account.Key) { k.SuspendedAt, k.RevokedAt = time.Unix(1, 0), time.Unix(2, 0) }))

	restored := n.keys[account.HashKey(key)]
	restored.SuspendedAt = time.Time{}
	n.keys[account.HashKey(key)] = restored
	n.ring.Invalidate()
	if status, _, body := n.get("/api/v1/tools", "Bearer "+key); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}
