package chronicle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/chronicle"
	"palmares/internal/problem"
	"palmares/internal/snapshot"
)

// past is a catalogue whose records tell their past.
func past() *catalog.Catalog {
	price := catalog.PriceChange{
		ChangedAt: "2026-09-03", OldPrice: "27,37 €/mois", NewPrice: "18,37 €/mois",
	}
	c := &catalog.Catalog{
		Categories: []catalog.Category{{Slug: "chat", Label: "Chat"}, {Slug: "code", Label: "Code"}},
		Tools: []*catalog.Tool{
			{
				Slug: "abeille", Name: "Abeille", Category: "chat", Aliases: []string{"ruche"}, AddedAt: "2026-09-02",
				Authors: []string{"Ada"},
			},
			{
				Slug: "bourdon", Name: "Bourdon", Category: "code", PriceDisplay: "20 $/mois",
				PriceHistory: []catalog.PriceChange{price},
			},
		},
		Retired: []catalog.Retired{
			{
				Slug: "cigale", Name: "Cigale", Category: "code", Reason: "mort", RetiredAt: "2026-09-04",
				Successor: "abeille",
			},
		},
		Articles: []catalog.Article{
			{Slug: "voix", Title: "La voix", Category: "chat", Tools: []string{"bourdon"}, Date: "2026-09-05"},
			{Slug: "voeu", Date: "2026-12-31"},
		},
		Comparisons: []catalog.Comparison{
			{Slug: "duel", ToolA: "abeille", ToolB: "bourdon", Published: true, Aliases: []string{"match"}},
		},
		Pages: []catalog.Page{{Slug: "salon", Title: "Salon", Aliases: []string{"foire"}}},
		Past:  map[string]*catalog.Tool{"drone": {Name: "Drone", Category: "code"}},
	}
	c.Sort()
	return c
}

func lines(s *snapshot.Snapshot, entries []catalog.Entry) (list []string) {
	for _, e := range entries {
		of := chronicle.About(s, &e)
		line := []string{e.Day, strings.ReplaceAll(chronicle.Title(&e, problem.French), "\u00a0", " "), of.Path}
		list = append(list, strings.Join(append(line, of.Authors...), " | "))
	}
	return list
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n%s\nnot\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRecordsTellWhatIsNotStored(t *testing.T) {
	s := snapshot.Build(past(), 1, "2026-11-02")
	told := []string{
		"2026-09-05 | Article publié : La voix | /articles/voix", // and not yet the one of December
		"2026-09-04 | Cigale : retiré, fermé, remplacé par Abeille | /cimetiere/cigale",
		"2026-09-03 | Bourdon : environ 27,37 → environ 18,37 €/mois | /outils/bourdon",
		"2026-09-02 | Abeille : nouvel outil | /outils/abeille | Ada",
	}
	equal(t, "all", lines(s, chronicle.Latest(s)), told)
	equal(t, "of a category", lines(s, chronicle.InCategory(s, "code")), told[:3])
	equal(t, "of a tool", lines(s, chronicle.OfTools(s, "bourdon")), []string{told[0], told[2]})
	equal(t, "of a retired tool", lines(s, chronicle.OfTools(s, "cigale")), told[1:2])

	entry := func(position int64, kind, slug string, what catalog.What) catalog.Entry {
		return catalog.Entry{
			Kind: kind, Slug: slug, First: slug, Name: strings.ToUpper(slug), What: what, Day: "2026-10-01",
			At: fmt.Sprintf("2026-10-01T10:0%d:00Z", position/2), Position: position, FirstPosition: position,
		}
	}
	withdrawn := entry(8, "outil", "bourdon", catalog.WhatPrice)
	withdrawn.Day, withdrawn.Withdrawn = "2026-09-03", true
	s = snapshot.Build(past(), 2, "2026-11-02")
	s.Entries = []catalog.Entry{
		withdrawn, entry(7, "outil", "ruche", catalog.WhatText), entry(6, "comparatif", "match", catalog.WhatText),
		entry(5, "page", "foire", catalog.WhatText), entry(4, "outil", "drone", catalog.WhatRemoved),
		entry(3, "comparatif", "parti", catalog.WhatRemoved), entry(2, "article", "parti", catalog.WhatRemoved),
		entry(1, "page", "parti", catalog.WhatRemoved),
	}
	stored := []string{
		"2026-10-01 | RUCHE : avis publié | /avis/abeille | Ada",
		"2026-10-01 | Comparatif publié : MATCH | /comparatifs/duel",
		"2026-10-01 | Page publiée : FOIRE | /salon",
		"2026-10-01 | DRONE : retiré du catalogue | /outils",
		"2026-10-01 | Comparatif retiré : PARTI | /comparatifs",
		"2026-10-01 | Article retiré : PARTI | /articles",
		"2026-10-01 | Page retirée : PARTI | /",
	}
	equal(t, "all", lines(s, chronicle.Latest(s)), slices.Concat(stored, told[:2], told[3:]))
	inCode := slices.Concat(stored[1:2], stored[3:4], told[:2])
	equal(t, "of a category", lines(s, chronicle.InCategory(s, "code")), inCode)
	ofTwo := slices.Concat(stored[:2], stored[3:4], told[3:])
	equal(t, "of two tools", lines(s, chronicle.OfTools(s, "abeille", "drone")), ofTwo)
	for topic, want := range map[string]int{
		"": 7, "outils/ruche": 2, "outils/bourdon": 1, "outils/drone": 1, "categories/chat": 2, "categories/code": 2,
	} {
		n := 0
		for i := range s.Entries[1:] {
			if slices.Contains(chronicle.Topics(s, &s.Entries[1+i]), chronicle.Topic(s, topic)) {
				n++
			}
		}
		if n != want {
			t.Errorf("%d entries are on %q, want %d", n, topic, want)
		}
	}
}

// A large catalogue of one day has new tools before all that they tell of earlier days, which the home page wants.
func TestNewToolsDoNotHideWhatOthersTell(t *testing.T) {
	c := past()
	for i := range 5000 {
		tool := catalog.Tool{Slug: fmt.Sprintf("outil-%d", i), Name: "Outil", Category: "code", AddedAt: "2026-10-01"}
		c.Tools = append(c.Tools, &tool)
	}
	for _, tool := range c.Tools[100:200] {
		tool.TestedAt = "2026-08-01"
	}
	c.Sort()
	s := snapshot.Build(c, 1, "2026-11-02")
	all := chronicle.Latest(s)
	known := slices.DeleteFunc(slices.Clone(all), func(e catalog.Entry) bool { return e.What == catalog.WhatNew })
	if len(all) > 300 || len(known) < 50 || all[49].Day != "2026-10-01" {
		t.Fatalf("%d entries, %d without new tools", len(all), len(known))
	}
	if known[2].Day != "2026-09-03" || known[49].Day != "2026-08-01" {
		t.Errorf("without new tools: %+v", known)
	}
}
