package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"palmares/internal/catalog"
)

// An Example is the body of an event, indented for readers.
type Example struct {
	Type string
	Body string
}

// Examples returns an example of each type, in the order of Types, and of a ping. They are
// what publications of a small catalogue announce, so that they are what receivers get.
func Examples() []Example {
	at := time.Date(2026, 11, 15, 8, 30, 0, 250_000_000, time.UTC)
	sequence, version := int64(1280), int64(41)
	last, found := &catalog.Catalog{}, map[string]Example{}
	for _, next := range exampleCatalogues() {
		next.Sort()
		catalog.CarryOver(last, next, catalog.Day(at))
		diff := catalog.Compare(last, next,
			func(body string) []catalog.Section { return []catalog.Section{{ID: "introduction", Text: body}} })
		for i := range diff.Changes {
			sequence++
			if counts, ok := diff.Changes[i].Object.(catalog.Counts); ok {
				version++
				diff.Changes[i].Object = counts.Published(version, sequence+2, exampleState)
			}
			if c := &diff.Changes[i]; c.Type != catalog.EmbeddingsUpdated || c.Reason == catalog.EmbeddingsChanged ||
				found[c.Type].Body == "" {
				found[c.Type] = newExample(c, at, sequence)
			}
		}
		last, at = next, at.Add(24*time.Hour)
	}
	found[Ping] = newExample(&catalog.Change{Type: Ping, URL: last.URL}, at, 0)
	var all []Example
	for _, name := range append(slices.Clone(Types), Ping) {
		all = append(all, found[name])
	}
	return all
}

const exampleState = "sha256-f3917c6bd4be00e32a1dcd03a4f3b1f5e2a8ee5ac2df7f4e7a2b6f6d1c0b9a88"

func newExample(c *catalog.Change, at time.Time, sequence int64) Example {
	id := fmt.Sprintf("evt_01kb3q7dzz0a2c4e6g8j1k%04d", sequence) // each event has its own
	var indented bytes.Buffer
	if err := json.Indent(&indented, EventBody(id, at, sequence, c), "", "  "); err != nil {
		panic(err) // it is JSON
	}
	return Example{c.Type, indented.String()}
}

// exampleCatalogues are published one after the other, and change in every way that an
// event announces.
func exampleCatalogues() []*catalog.Catalog {
	tool := func(slug, name, price, body string) *catalog.Tool {
		score, checked := 8.6, 7.5
		return &catalog.Tool{
			Slug: slug, Name: name, Domain: slug + ".example", Category: "ecriture", ICP: "mixte", Pricing: "payant",
			Price:   price,
			Tagline: "Relit vos textes et dit pourquoi.", Score: &score, Verifiability: &checked, Tier: 1, Body: body,
		}
	}
	site := func(tools ...*catalog.Tool) *catalog.Catalog {
		return &catalog.Catalog{
			Name: "Palmarès", URL: "https://palmares.example", Tools: tools,
			Categories: []catalog.Category{{Slug: "ecriture", Label: "Écriture"}},
		}
	}
	versus := func(winner string) []catalog.Comparison {
		return []catalog.Comparison{{
			Slug: "plume-vs-encrier", Title: "Plume ou Encrier ?", ToolA: "plume", ToolB: "encrier",
			Winner: winner, WinnerNote: "Plus juste sur les longs textes.", Published: true,
		}}
	}
	plume := tool("plume", "Plume", "19 €/mois", "Un avis.")
	encrier := tool("encrier", "Encrier", "9 €/mois", "")
	buvard := tool("buvard", "Buvard", "4 €/mois", "")
	dearer := tool("plume", "Plume", "24 €/mois", "Un avis revu.")
	retired := []catalog.Retired{{
		Slug: "buvard", Name: "Buvard", Category: "ecriture", Reason: "mort", RetiredAt: "2026-11-01",
		Body: "Fermé sans préavis.", Note: "Fermé sans préavis.", Successor: "plume",
	}}

	article := func(title string) []catalog.Article {
		return []catalog.Article{{
			Slug: "relire-un-contrat", Title: title, Authors: []string{"Chiara Moretti"}, Date: "2026-11-14",
			Tools: []string{"plume"}, Body: "Trois relectures, un seul contrat.",
		}}
	}

	begin, change, end, back := site(plume, encrier, buvard), site(dearer, encrier), site(dearer), site(dearer, buvard)
	begin.Comparisons, change.Comparisons = versus("encrier"), versus("plume")
	change.Retired, end.Retired = retired, retired
	begin.Articles, change.Articles = article("Relire un contrat"), article("Relire un contrat, et le comprendre")
	change.Pages = []catalog.Page{{Slug: "methode", Title: "Notre méthode", Menu: catalog.MenuFooter, Body: "Nous testons."}}
	return []*catalog.Catalog{begin, change, end, back}
}
