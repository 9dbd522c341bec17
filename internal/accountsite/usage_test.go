package accountsite_test

import (
	"strings"
	"testing"

	"palmares/internal/accountsite"
	"palmares/internal/quota"
)

func (p *server) used(day string, requests uint64) {
	p.t.Helper()
	id := p.account("ada@example.org").ID
	if err := p.store.Usage.Save(p.t.Context(), day, quota.Usage{Accounts: []quota.AccountCount{{Account: id, Requests: int64(requests)}}}); err != nil {
		p.t.Fatal(err)
	}
}

func TestUsageShowsTodayAndThirtyDays(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		b.get("/compte/usage").Is(200).Contains(`<span class="big">0</span>`, "0\u00a0requête en tout")
		p.used("2026-11-16", 250)
		p.used("2026-10-18", 1000) // the oldest day shown
		p.used("2026-10-17", 77)   // too old
		r := b.get("/compte/usage").Is(200).Contains(
			`<span class="big">250</span> sur 1`+"\u202f000\u00a0requêtes", "Il en reste 750", "1\u202f250\u00a0requêtes en tout",
			`<time datetime="2026-10-18">18`+"\u00a0octobre 2026</time></th><td>1\u202f000</td>", "La ligne pointillée est le quota", `role="img"`, ">19/10</text>",
		).Lacks("2026-10-17", ">77<")
		if bars, rows := strings.Count(r.Body, `class="chart-bar"`), strings.Count(r.Body, `<th scope="row">`); bars != 30 || rows != 30 {
			t.Errorf("there are %d bars and %d rows", bars, rows)
		}
		b.get("/compte").Is(200).Contains(`<span class="big">250</span>`)
		p.used("2026-11-16", 750)
		b.get("/compte/usage").Is(200).Contains("Le quota du jour est atteint", "429")
		p.pro("ada@example.org")
		b.get("/compte/usage").Is(200).Contains("1\u202f000</span> requêtes, sans limite").Lacks("quota du jour", "pointillée")

		p.cfg.Quota = 0
		p.handler = accountsite.New(p.cfg)
		b.get("/compte/usage").Is(200).Contains("ne compte pas les requêtes").Lacks("chart-bar")
	})
}
