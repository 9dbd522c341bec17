package api_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"testing"
	"time"

	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/quota"
	"palmares/internal/testkit/quotatest"
)

// usedUp returns a meter on which anonymous callers and account acc_1 have no requests
// left today.
func usedUp(t *testing.T) *quota.Meter {
	t.Helper()
	now := time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC)
	m, err := quota.New(t.Context(), quota.Config{
		Counters: quotatest.Counters{Usage: map[string]quota.Usage{
			"2026-11-15": {Accounts: []quota.AccountCount{{Account: "acc_1", Requests: 1000}}},
		}},
		Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		m.Take(t.Context(), quota.Subject{})
	}
	return m
}

func TestAnExhaustedQuotaIsExplained(t *testing.T) {
	s := serveCounting(t, smallCatalogue(), usedUp(t))
	for _, path := range everyPath {
		switch path {
		case "/api/v1/openapi.json":
			s.get(path).OK()
			s.get(path, "Authorization: good").OK().HasHeader("X-RateLimit-Remaining", "0")
			continue
		case "/api/embeddings/zebre":
			s.get(path).Fails(401, "missing_api_key")
		default:
			s.get(path).Fails(429, "quota_exceeded", "100", "1\u202f000", "2026-11-16T00:00:00Z", "export").
				HasHeader("X-RateLimit-Tier", "anonymous").HasHeader("X-RateLimit-Limit", "100").HasHeader("X-RateLimit-Remaining", "0").HasHeader("X-RateLimit-Reset", "2026-11-16T00:00:00Z").
				HasHeader("RateLimit-Policy", `"daily";q=100;w=86400`).HasHeader("RateLimit", `"daily";r=0;t=57600`).HasHeader("Retry-After", "57600").HasHeader("ETag", "")
		}
		s.get(path, "Authorization: good").Fails(429, "quota_exceeded", "1\u202f000", "Pro").
			HasHeader("X-RateLimit-Tier", "free").HasHeader("RateLimit", `"daily";r=0;t=57600`).HasHeader("Cdn-Cache-Control", "no-store")
		if r := s.get(path, "Authorization: pro"); r.Status == 429 {
			t.Errorf("%s is refused for Pro", path)
		} else {
			r.HasHeader("X-RateLimit-Tier", "pro").HasHeader("X-RateLimit-Remaining", "2147483647").HasHeader("X-RateLimit-Limit", "").HasHeader("RateLimit", "").HasHeader("RateLimit-Policy", "")
		}
	}
	s.get("/api/v1/tools", "If-None-Match: *").Fails(429, "quota_exceeded")
	s.get("/api/v1/tools", "Authorization: good", "If-None-Match: *").Is(304).HasHeader("X-RateLimit-Remaining", "0")
	s.do("POST", "/api/v1/tools").Fails(405, "method_not_allowed")
	s.get("/api/v1/tools", "Authorization: bad").Fails(401, "invalid_api_key").HasHeader("X-RateLimit-Tier", "")
	s.get("/api/v1/tools?k=plm_00000000000000000000000000000000000000").Fails(400, "invalid_parameter")
	if r := s.do("OPTIONS", "/api/v1/tools"); r.Status != 204 {
		t.Errorf("OPTIONS: %d", r.Status)
	}
}

func TestTheExamplesOfARefusalAreWhatIsSent(t *testing.T) {
	var document struct {
		Components struct {
			Examples map[string]struct{ Value map[string]any }
		}
	}
	if err := json.Unmarshal(api.Document(), &document); err != nil {
		t.Fatal(err)
	}
	s := serveCounting(t, smallCatalogue(), usedUp(t))
	for name, header := range map[string]string{"QuotaAnonymous": "Accept: */*", "QuotaFree": "Authorization: good"} {
		var sent map[string]any
		if err := json.Unmarshal([]byte(s.get("/api/v1/tools", header).Body), &sent); err != nil {
			t.Fatal(err)
		}
		if example := document.Components.Examples[name].Value; !maps.Equal(example, sent) {
			t.Errorf("%s is %v\nand what is sent %v", name, example, sent)
		}
	}
}

func TestTheExactBodyOfARefusal(t *testing.T) {
	s := serveCounting(t, smallCatalogue(), usedUp(t))
	s.get("/api/v1/tools").Equals(`{"error":"Le quota de 100 requêtes par jour est épuisé ; il se renouvelle à 2026-11-16T00:00:00Z. Une clé gratuite en donne 1 000 (voir /tarifs) ; l’export, /data/v1/export, a tout le catalogue.","code":"quota_exceeded","tier":"anonymous","limit":100,"remaining":0,"reset_at":"2026-11-16T00:00:00Z"}`)
	kept := smallCatalogue()
	kept.Settings.Dataset = catalog.DatasetOff
	s = serveCounting(t, kept, usedUp(t))
	s.get("/api/v1/tools").Equals(`{"error":"Le quota de 100 requêtes par jour est épuisé ; il se renouvelle à 2026-11-16T00:00:00Z. Une clé gratuite en donne 1 000 (voir /tarifs).","code":"quota_exceeded","tier":"anonymous","limit":100,"remaining":0,"reset_at":"2026-11-16T00:00:00Z"}`)
}
