package evidence

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
)

func TestWhatShouldBeLookedAtIsListedWithThePricesThatCanBeRecorded(t *testing.T) {
	const (
		page   = "https://plume.example/tarifs"
		forged = "preuves.jsonl:2: this is not a line that sources check wrote: remove the line, and it writes it again"
	)
	days := 30.0
	for _, test := range []struct {
		name   string
		change func(*catalog.Catalog, *catalog.Tool, *Proof)
		want   string // the state, and what can be recorded
	}{
		{"another price", nil, "changed 25 €/mois"},
		{"an amount of thousands, for a year and a user", func(_ *catalog.Catalog, _ *catalog.Tool, p *Proof) {
			p.Found = []Found{{"1 250,5 € par an et par utilisateur", "Pro : 1 250,5 € par an et par utilisateur"}}
		}, "changed 1 250,50 €/utilisateur/an"},
		{"several prices", func(_ *catalog.Catalog, _ *catalog.Tool, p *Proof) {
			p.Found = append(p.Found, Found{"240 €/an", "ou 240 €/an"}, Found{"19 €/mois", "Avant : 19 €/mois"})
		}, "changed 25 €/mois 240 €/an"},
		{"amounts that say too little", func(_ *catalog.Catalog, _ *catalog.Tool, p *Proof) {
			p.Found = []Found{{"25 €", "25 €"}, {"$25/month", "$25/month"}, {"0 €/mois", "0 €/mois"}, {"30 €/mois", "20 – 30 €/mois"}, {"25 € one-time", "25 € one-time"}, {"5 € par palette", "5 € par palette"}}
		}, "changed"},
		{"the words of the record for its price", func(_ *catalog.Catalog, t *catalog.Tool, _ *Proof) { t.PriceDisplay = "Dès 19 €/mois" }, "changed"},
		{"somebody read the price since", func(_ *catalog.Catalog, t *catalog.Tool, _ *Proof) { t.PriceCheckedAt = "2026-11-11" }, "changed"},
		{"an announced price is in effect", func(_ *catalog.Catalog, t *catalog.Tool, _ *Proof) {
			t.Announced = []catalog.Announcement{{From: "2026-11-10", Price: "25 €/mois"}}
		}, "changed"},
		{"the price was taken over", func(_ *catalog.Catalog, t *catalog.Tool, _ *Proof) {
			t.Price, t.PriceCheckedAt = "25 €/mois", "2026-11-10"
		}, ""},
		{"the price was changed to another one", func(_ *catalog.Catalog, t *catalog.Tool, _ *Proof) {
			t.Price, t.PriceCheckedAt = "29 €/mois", "2026-11-10"
		}, "changed 25 €/mois"},
		{"the price of another plan was looked for", func(_ *catalog.Catalog, t *catalog.Tool, p *Proof) {
			p.Price, t.PriceSourceHint = "19 €/mois", "Max"
		}, "changed"},
		{"the plan is not on the page", func(_ *catalog.Catalog, t *catalog.Tool, p *Proof) {
			p.Price, t.PriceSourceHint, p.NoPlan, p.Found = "19 €/mois; ; Max", "Max", true, nil
		}, "changed no Max"},
		{"the page is gone", func(_ *catalog.Catalog, _ *catalog.Tool, p *Proof) { p.Result = Gone }, "gone"},
		{"confirmed", func(c *catalog.Catalog, _ *catalog.Tool, p *Proof) { confirm(c, p, p.CheckedAt) }, "confirmed"},
		{"confirmed for another plan", func(c *catalog.Catalog, t *catalog.Tool, p *Proof) {
			confirm(c, p, p.CheckedAt)
			c.Proofs, p.Price, t.PriceSourceHint = nil, "19 €/mois; ; Pro", "Max"
		}, "stale"},
		{"confirmed by what was not found", func(c *catalog.Catalog, _ *catalog.Tool, p *Proof) {
			confirm(c, p, p.CheckedAt)
			p.Price, p.Found = "19 €/mois", []Found{{"25 €/mois", "25 €/mois"}}
		}, forged},
		{"looked at in the future", func(_ *catalog.Catalog, _ *catalog.Tool, p *Proof) {
			p.CheckedAt = p.CheckedAt.AddDate(0, 0, 4)
		}, forged},
		{"confirmed after the look", func(_ *catalog.Catalog, _ *catalog.Tool, p *Proof) {
			p.ConfirmedAt = p.CheckedAt.Add(time.Hour)
		}, forged},
		{"an address that is none", func(_ *catalog.Catalog, _ *catalog.Tool, p *Proof) {
			p.FinalURL = "javascript:alert(1)"
		}, forged},
		{"a tag that is none", func(_ *catalog.Catalog, _ *catalog.Tool, p *Proof) {
			p.ETag = "1\r\nHost: autre.example"
		}, forged},
		{"confirmed long ago", func(c *catalog.Catalog, _ *catalog.Tool, p *Proof) { confirm(c, p, p.CheckedAt.AddDate(0, 0, -90)) }, "stale"},
		{"confirmed too long ago for the catalogue", func(c *catalog.Catalog, _ *catalog.Tool, p *Proof) {
			c.Settings.PriceMaxAge = &days
			confirm(c, p, p.CheckedAt.AddDate(0, 0, -31))
		}, "stale"},
		{"confirmed long ago, and read since", func(c *catalog.Catalog, t *catalog.Tool, p *Proof) {
			confirm(c, p, p.CheckedAt.AddDate(0, 0, -90))
			t.PriceCheckedAt = "2026-10-01"
		}, "confirmed"},
		{"never looked at", func(_ *catalog.Catalog, t *catalog.Tool, _ *Proof) { t.PriceSource += "#pro" }, "stale"},
		{"a price on request", func(_ *catalog.Catalog, t *catalog.Tool, _ *Proof) { t.Price = "0 €/mois" }, ""},
		{"a draft", func(_ *catalog.Catalog, t *catalog.Tool, _ *Proof) { t.Draft = true }, "none"},
		{"an obituary, with what was seen of the price", func(c *catalog.Catalog, t *catalog.Tool, _ *Proof) {
			c.Tools, c.Retired = nil, []catalog.Retired{{Slug: t.Slug, Sources: []string{page}}}
		}, ""},
		{"an obituary whose source is gone", func(c *catalog.Catalog, t *catalog.Tool, p *Proof) {
			c.Tools, c.Retired = nil, []catalog.Retired{{Slug: t.Slug, Sources: []string{page}}}
			p.Result = Gone
		}, "gone"},
		{"what is announced", func(_ *catalog.Catalog, t *catalog.Tool, p *Proof) {
			t.PriceSource, t.Announced = "", []catalog.Announcement{{From: "2027-01-01", Retire: "mort", Source: page}}
			p.Result = Moved
		}, "moved"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool := &catalog.Tool{Slug: "plume", Name: "Plume", Domain: "plume.example", Pricing: "payant", Price: "19 €/mois", PriceSource: page}
			c := &catalog.Catalog{Tools: []*catalog.Tool{tool}}
			p := Proof{
				Slug: "plume", URL: page, CheckedAt: time.Date(2026, 11, 10, 3, 0, 0, 0, time.UTC), Result: Changed,
				Found: []Found{{"25 €/mois", "Pro : 25 €/mois"}},
			}
			if test.change != nil {
				test.change(c, tool, &p)
			}
			dir := t.TempDir()
			other := Proof{Slug: "encre", URL: page, CheckedAt: time.Unix(1, 0).UTC(), Result: Gone}
			if err := Save(dir, []Proof{p, other}); err != nil {
				t.Fatal(err)
			}
			got := "none"
			err := EachListed(c, os.DirFS(dir), "2026-11-12", func(l *Listed) {
				words := []string{l.State}
				for _, f := range l.Found {
					words = append(words, l.Recordable(f))
				}
				if l.NoPlan {
					words = append(words, "no", l.Hint)
				}
				got = strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
			})
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// confirm makes a proof one that confirmed the price at some time, as the catalogue has it too.
func confirm(c *catalog.Catalog, p *Proof, at time.Time) {
	p.Result, p.ConfirmedAt, p.Found = Confirmed, at, []Found{{"19 €/mois", "19 €/mois"}}
	c.Proofs = []catalog.Proof{{Slug: p.Slug, Result: catalog.Confirmed, CheckedAt: catalog.FormatTime(p.CheckedAt), ConfirmedAt: catalog.FormatTime(at), URL: p.URL}}
}
