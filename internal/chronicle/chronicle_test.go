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
	equal(t, "of a category", lines(s, chronicle.On(s, "categories/code")), told[:3])
	equal(t, "of a tool", lines(s, chronicle.On(s, "outils/bourdon")), []string{told[0], told[2]})
	equal(t, "of a retired tool", lines(s, chronicle.On(s, "outils/cigale")), told[1:2])
}

// Entries lead to the record that they are about, whatever it and others are called since.
func TestEntriesLeadToTheirRecords(t *testing.T) {
	s := snapshot.Build(past(), 2, "2026-11-02")
	entry := func(position int64, kind, slug string, what catalog.What, topics ...string) catalog.Entry {
		return catalog.Entry{
			Kind: kind, Slug: slug, First: slug, Name: strings.ToUpper(slug), What: what, New: "1", Day: "2026-10-01",
			At: fmt.Sprintf("2026-10-01T10:0%d:00Z", position/2), Position: position, Topics: topics,
		}
	}
	withdrawn := entry(8, "outil", "bourdon", catalog.WhatPrice, "outils/bourdon")
	withdrawn.Withdrawn = true
	gone := entry(1, "page", "parti", catalog.WhatRemoved)
	gone.New = ""
	s.Entries = []catalog.Entry{
		withdrawn, entry(7, "outil", "ruche", catalog.WhatText, "outils/ruche", "categories/chat"),
		entry(6, "comparatif", "match", catalog.WhatText, "categories/chat", "categories/code"),
		entry(5, "page", "foire", catalog.WhatText), entry(4, "outil", "drone", catalog.WhatRemoved, "outils/drone", "categories/code"),
		entry(3, "outil", "abeille", catalog.WhatPrice, "outils/abeille"), // another one, which had this slug before
		entry(2, "outil", "bourdon", catalog.WhatPrice, "outils/bourdon"), gone,
	}
	stored := []string{
		"2026-10-01 | RUCHE : avis publié | /outils/abeille | Ada",
		"2026-10-01 | Comparatif publié : MATCH | /comparatifs/duel",
		"2026-10-01 | Page publiée : FOIRE | /salon",
		"2026-10-01 | DRONE : réuni à 1 | /outils",
		"2026-10-01 | ABEILLE : sur devis → sur devis | /outils",
		"2026-10-01 | Page retirée : PARTI | /",
	}
	s.Entries[5].Old, s.Entries[5].New = "payant\t0 €/mois", "payant\t0 €/mois"
	equal(t, "all", lines(s, chronicle.Latest(s)), stored)
	equal(t, "of a category", lines(s, chronicle.On(s, "categories/code")), []string{stored[1], stored[3]})
	equal(t, "of two tools", lines(s, chronicle.On(s, "outils/ruche", "outils/drone")), []string{stored[0], stored[3]})
	for _, slug := range []string{"ruche", "abeille"} {
		if f, _ := chronicle.Find(s, slug); f.Topic() != "outils/ruche" {
			t.Errorf("who follows %s follows %s", slug, f.Topic())
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
	if len(all) > catalog.KeptEntries || len(known) < 50 || all[49].Day != "2026-10-01" {
		t.Fatalf("%d entries, %d without new tools", len(all), len(known))
	}
	if known[2].Day != "2026-09-03" || known[49].Day != "2026-08-01" {
		t.Errorf("without new tools: %+v", known)
	}
}

func TestAToolTellsItsPastWhereMoreHappenedThanIsKept(t *testing.T) {
	s := snapshot.Build(past(), 1, "2026-09-10")
	for i := range catalog.KeptEntries {
		s.Entries = append(s.Entries, catalog.Entry{
			Kind: "outil", First: fmt.Sprint("t", i), What: catalog.WhatRemoved, Day: "2026-09-10", At: "2026-09-10T08:00:00Z",
		})
	}
	got := lines(s, chronicle.On(s, catalog.ToolTopic+"bourdon"))
	if len(got) != 1 || !strings.HasPrefix(got[0], "2026-09-03 | Bourdon : ") {
		t.Errorf("the feed of a tool has %q", got)
	}
}
