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
		b.get("/compte/usage").is(200).says(`<span class="big">0</span>`, "0\u00a0requête en tout")
		p.used("2026-11-16", 250)
		p.used("2026-10-18", 1000) // the oldest day shown
		p.used("2026-10-17", 77)   // too old
		r := b.get("/compte/usage").is(200).says(
			`<span class="big">250</span> sur 1`+"\u202f000\u00a0requêtes", "Il en reste 750", "1\u202f250\u00a0requêtes en tout",
			`<time datetime="2026-10-18">18`+"\u00a0octobre 2026</time></th><td>1\u202f000</td>", "La ligne pointillée est le quota", `role="img"`, ">19/10</text>",
		).saysNot("2026-10-17", ">77<")
		if bars, rows := strings.Count(r.body, `class="chart-bar"`), strings.Count(r.body, `<th scope="row">`); bars != 30 || rows != 30 {
			t.Errorf("there are %d bars and %d rows", bars, rows)
		}
		b.get("/compte").is(200).says(`<span class="big">250</span>`)
		p.used("2026-11-16", 750)
		b.get("/compte/usage").is(200).says("Le quota du jour est atteint", "429")
		p.pro("ada@example.org")
		b.get("/compte/usage").is(200).says("1\u202f000</span> requêtes, sans limite").saysNot("quota du jour", "pointillée")

		p.cfg.Quota = 0
		p.handler = accountsite.New(p.cfg)
		b.get("/compte/usage").is(200).says("ne compte pas les requêtes").saysNot("chart-bar")
	})
}
