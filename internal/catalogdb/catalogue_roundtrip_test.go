package catalogdb

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/record"
)

// After any sequence of publications the last one is loaded as published, events have no
// gap, and publishing it again a day later changes nothing.
func TestAnySequenceOfPublicationsHoldsItsPromises(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		rapid.Check(t, func(rt *rapid.T) {
			wipe(rt, s)
			version, sequence := int64(0), int64(0)
			var before *Published
			for i := range rapid.IntRange(1, 3).Draw(rt, "publications") {
				next := anyCatalogue(rt)
				again := clone(next)
				p, err := s.Catalogue.Publish(t.Context(), next, PublishOptions{Now: at(day(2 * i)), AllowRemovals: true})
				if err != nil {
					rt.Fatal(err)
				}
				if !p.Diff.Empty() {
					version++
					sequence += int64(len(p.Diff.Changes))
				}
				got, err := s.Catalogue.Load(t.Context())
				if err != nil {
					rt.Fatal(err)
				}
				if p.Version != version || got.Version != version || p.Sequence != sequence || int64(len(events(rt, s))) != sequence {
					rt.Fatalf("version %d, loaded %d, sequence %d; want %d and %d", p.Version, got.Version, p.Sequence, version, sequence)
				}
				same(rt, next, got.Catalog)
				before = followed(rt, s, before, got)
				if p, err = s.Catalogue.Publish(t.Context(), again, PublishOptions{Now: at(day(2*i + 1))}); err != nil || !p.Diff.Empty() {
					rt.Fatalf("published again: %+v, %v", p.Diff, err)
				}
			}
		})
	})
}

// followed loads what follows before, which must be got, and returns it.
func followed(t failer, s *kit, before, got *Published) *Published {
	t.Helper()
	next, step, err := s.Catalogue.LoadAfter(t.Context(), before)
	if err == nil {
		err = Verify(t.Context(), s.Catalogue.db.Reads())
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, next, cmp.AllowUnexported(Published{}), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("version %d read from what changed (-all +changed):\n%s", got.Version, diff)
	}
	if before == nil || before.Version == 0 {
		return next
	}
	if step == nil {
		t.Fatalf("version %d was read as a whole", got.Version)
		return nil
	}
	for i, to := range step.Moved {
		if to >= 0 && before.Catalog.Tools[i].Slug != next.Catalog.Tools[to].Slug {
			t.Fatalf("%s became %s", before.Catalog.Tools[i].Slug, next.Catalog.Tools[to].Slug)
		}
	}
	return next
}

func wipe(t failer, s *kit) {
	t.Helper()
	execute(t, s, `
		DELETE FROM events; DELETE FROM entries; DELETE FROM publications; DELETE FROM records; DELETE FROM former_records; DELETE FROM picture_files; DELETE FROM scheduled;
		UPDATE catalogue SET url = '', version = 0, sequence = 0, chronicle = 0, published_at = '', changed_on = '', due = '', feed_position = 0, feed_state = '`+record.State(nil)+`'`)
}

// clone copies what CarryOver changes.
func clone(c *catalog.Catalog) *catalog.Catalog {
	d := *c
	d.Tools, d.Comparisons, d.Retired = slices.Clone(c.Tools), slices.Clone(c.Comparisons), slices.Clone(c.Retired)
	d.Pages, d.Scheduled = slices.Clone(c.Pages), slices.Clone(c.Scheduled)
	for i, t := range d.Tools {
		own := *t
		d.Tools[i] = &own
	}
	for i := range d.Scheduled {
		if t, ok := d.Scheduled[i].Record.(*catalog.Tool); ok {
			own := *t
			d.Scheduled[i].Record = &own
		}
	}
	return &d
}

// anyCatalogue uses few slugs, so that tools are created, renamed, retired, restored and
// removed from one publication to the next.
func anyCatalogue(t *rapid.T) *catalog.Catalog {
	c := catalogue()
	c.Name = rapid.SampledFrom([]string{"Palmarès", "Autre"}).Draw(t, "name")
	text := rapid.StringMatching(`[a-zé "'\\&<>]{0,6}`)
	date := rapid.SampledFrom([]string{"", "", "2025-03-04", "2026-11-17"})
	figure := func(name string) *float64 {
		return rapid.SampledFrom([]*float64{nil, ptr(0), ptr(7.25), ptr(8), ptr(10)}).Draw(t, name)
	}
	price := rapid.SampledFrom([]string{"1 €/mois", "2 €/mois", "1 200 €/an"})
	c.Settings.Headline, c.Settings.Contact = text.Draw(t, "headline"), text.Draw(t, "contact")
	c.Settings.Dataset = rapid.SampledFrom([]string{"", catalog.DatasetHead}).Draw(t, "dataset")
	c.Settings.Pro = rapid.SampledFrom([]string{"", catalog.ProHide}).Draw(t, "pro")
	if rapid.Bool().Draw(t, "page") {
		c.Pages = []catalog.Page{{Slug: "methode", Title: text.Draw(t, "page title"), Menu: "footer", Body: text.Draw(t, "page")}}
	}
	c.Categories[0].Description, c.Categories[0].Position = text.Draw(t, "description"), rapid.IntRange(0, 1).Draw(t, "position")
	c.Categories[1].Position = 1 - c.Categories[0].Position
	var scored []string
	for i := range 5 {
		slug := fmt.Sprintf("s%d", i)
		switch rapid.SampledFrom([]string{"none", "tool", "tool", "tool", "retired", "alias"}).Draw(t, slug) {
		case "tool":
			x := tool(slug, price.Draw(t, "price"))
			x.Pricing = rapid.SampledFrom(catalog.Pricings).Draw(t, "pricing")
			x.Tagline, x.UpdatedAt, x.TestedAt = text.Draw(t, "tagline"), date.Draw(t, "updated"), date.Draw(t, "tested")
			x.Score, x.Verifiability = figure("score"), figure("verifiability")
			x.Tier, x.Mainstream = rapid.IntRange(1, 3).Draw(t, "tier"), rapid.Bool().Draw(t, "mainstream")
			x.Sources = rapid.SampledFrom([][]string{nil, {"https://a.example"}, {`https://b.example/"\`, "https://c.example"}}).Draw(t, "sources")
			x.Body = rapid.SampledFrom([]string{"", "Un avis.", "Un avis.\n\n## Suite\n\nEncore."}).Draw(t, "body")
			x.PriceDisplay, x.ScoreNote = text.Draw(t, "display"), text.Draw(t, "score note")
			x.Authors = rapid.SampledFrom([][]string{nil, {"Ada"}, {"Ada", `B "x" \ é`}}).Draw(t, "authors")
			x.Plans = rapid.SampledFrom([][]catalog.PlanRow{nil, {{Name: "Solo", Price: "3 $/M"}, {Name: "\"É\"", Price: "x", Note: "y"}}}).Draw(t, "plans")
			x.PriceHistoryMode = rapid.SampledFrom([]catalog.HistoryMode{catalog.HistoryAdd, catalog.HistoryReplace}).Draw(t, "mode")
			x.ScoreHistoryMode = rapid.SampledFrom([]catalog.HistoryMode{catalog.HistoryAdd, catalog.HistoryReplace}).Draw(t, "score mode")
			if rapid.Bool().Draw(t, "history") {
				x.PriceHistory = []catalog.PriceChange{change("2025-06-01", "1", "2"), change("2025-02-01", "2", "1")}
			}
			if x.Score != nil {
				scored = append(scored, slug)
			}
			c.Tools = append(c.Tools, x)
		case "retired":
			r := retired(slug)
			r.Body = text.Draw(t, "note")
			r.Note = markdown.Plain(r.Body)
			c.Retired = append(c.Retired, r)
		case "alias":
			if n := len(c.Tools); n > 0 {
				c.Tools[n-1].Aliases = append(c.Tools[n-1].Aliases, slug)
			}
		}
	}
	for i := 1; i < len(scored); i++ {
		c.Comparisons = append(c.Comparisons, catalog.Comparison{
			Slug: "duel-" + scored[i], Title: text.Draw(t, "title"), ToolA: scored[i-1], ToolB: scored[i], Winner: scored[i],
			WinnerNote: "Net.", Published: rapid.Bool().Draw(t, "published"), UpdatedAt: date.Draw(t, "updated"), Body: text.Draw(t, "prose"),
		})
	}
	return c
}
