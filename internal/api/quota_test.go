package api_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"palmares/internal/quota"
)

// usedUp is a meter on which a stranger and an account have used up their day.
func usedUp(t *testing.T) *quota.Meter {
	t.Helper()
	now := time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC)
	m, err := quota.New(t.Context(), quota.Config{
		Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		DayKey: func(_ context.Context, _ string, candidate quota.Key) (quota.Key, error) { return candidate, nil },
		Load: func(_ context.Context, day string) (quota.Usage, error) {
			if day != "2026-11-15" {
				return quota.Usage{}, nil
			}
			return quota.Usage{Accounts: []quota.AccountCount{{Account: "acc_1", Requests: 1000}}}, nil
		},
		Save:  func(context.Context, string, quota.Usage) error { return nil },
		Prune: func(context.Context, string, string) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		m.Take(t.Context(), quota.Subject{})
	}
	return m
}

func TestAQuotaThatIsUsedUpIsSaidInFull(t *testing.T) {
	s := serveCounting(t, shop(), usedUp(t))
	for _, path := range everyPath {
		switch path {
		case "/api/v1/openapi.json":
			s.get(path).ok()
			s.get(path, "Authorization: good").ok().is("X-RateLimit-Remaining", "0")
			continue
		case "/api/embeddings/zebre":
			s.get(path).fails(401, "missing_api_key")
		default:
			s.get(path).fails(429, "quota_exceeded", "100", "1\u202f000", "2026-11-16T00:00:00Z", "export").
				is("X-RateLimit-Tier", "anonymous").is("X-RateLimit-Limit", "100").is("X-RateLimit-Remaining", "0").is("X-RateLimit-Reset", "2026-11-16T00:00:00Z").
				is("RateLimit-Policy", `"daily";q=100;w=86400`).is("RateLimit", `"daily";r=0;t=57600`).is("Retry-After", "57600").is("ETag", "")
		}
		s.get(path, "Authorization: good").fails(429, "quota_exceeded", "1\u202f000", "Pro").
			is("X-RateLimit-Tier", "free").is("RateLimit", `"daily";r=0;t=57600`).is("Cdn-Cache-Control", "no-store")
		if r := s.get(path, "Authorization: pro"); r.status == 429 {
			t.Errorf("%s is refused to Pro", path)
		} else {
			r.is("X-RateLimit-Tier", "pro").is("X-RateLimit-Remaining", "2147483647").is("X-RateLimit-Limit", "").is("RateLimit", "").is("RateLimit-Policy", "")
		}
	}
	s.do("POST", "/api/v1/tools").fails(405, "method_not_allowed")
	s.get("/api/v1/tools", "Authorization: bad").fails(401, "invalid_api_key").is("X-RateLimit-Tier", "")
	s.get("/api/v1/tools?k=plm_00000000000000000000000000000000000000").fails(400, "invalid_parameter")
	if r := s.do("OPTIONS", "/api/v1/tools"); r.status != 204 {
		t.Errorf("OPTIONS: %d", r.status)
	}
}

func TestTheExactBodyOfARefusal(t *testing.T) {
	s := serveCounting(t, shop(), usedUp(t))
	s.get("/api/v1/tools").exactly(`{"error":"Le quota de 100 requêtes par jour est épuisé ; il se renouvelle à 2026-11-16T00:00:00Z. Une clé gratuite en donne 1 000 (voir /tarifs) ; pour reprendre tout le catalogue, demandez-en l’export plutôt que de le parcourir.","code":"quota_exceeded","tier":"anonymous","limit":100,"remaining":0,"reset_at":"2026-11-16T00:00:00Z"}`)
}
