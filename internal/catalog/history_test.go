package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A step is one publication of a tool, given as "day price", and what its price history
// then is.
type step struct {
	day, price string
	mode       HistoryMode
	written    []PriceChange
	want       string // "day old > new" joined by ", "
}

func euros(n string) string { return n + " €/mois" }

func TestPriceHistories(t *testing.T) {
	listed := func(day, old, now string) []PriceChange {
		return []PriceChange{entry(day, euros(old), euros(now))}
	}
	typo := listed("2026-03-01", "24", "2499")
	for name, steps := range map[string][]step{
		"a typo corrected on the same day leaves no trace": {
			{day: "2026-01-01", price: "24"},
			{day: "2026-03-01", price: "2499", want: "2026-03-01 24 > 2499"},
			{day: "2026-03-01", price: "24"},
			{day: "2026-03-02", price: "24"},
		},
		"the changes of one day are one": {
			{day: "2026-01-01", price: "24"},
			{day: "2026-03-01", price: "25", want: "2026-03-01 24 > 25"},
			{day: "2026-03-01", price: "26", want: "2026-03-01 24 > 26"},
			{day: "2026-03-02", price: "24", want: "2026-03-02 26 > 24, 2026-03-01 24 > 26"},
		},
		"an exported typo disappears too": {
			{day: "2026-01-01", price: "24"},
			{day: "2026-03-01", price: "2499", want: "2026-03-01 24 > 2499"},
			{day: "2026-03-01", price: "2499", written: typo, want: "2026-03-01 24 > 2499"},
			{day: "2026-03-01", price: "29", written: typo, want: "2026-03-01 24 > 29"},
			{day: "2026-03-01", price: "24", written: typo},
		},
		"an entry of today that starts elsewhere is another one": {
			{day: "2026-01-01", price: "24"},
			{day: "2026-03-01", price: "29", written: listed("2026-03-01", "20", "24"), want: "2026-03-01 24 > 29, 2026-03-01 20 > 24"},
		},
		"an entry of the file is not automatic": {
			{day: "2026-03-01", price: "2499", written: typo, want: "2026-03-01 24 > 2499"},
			{day: "2026-03-01", price: "24", written: typo, want: "2026-03-01 2499 > 24, 2026-03-01 24 > 2499"},
		},
		"a file may replace the history": {
			{day: "2026-01-01", price: "24", written: listed("2025-01-01", "20", "24"), want: "2025-01-01 20 > 24"},
			{day: "2026-03-01", price: "2499", want: "2026-03-01 24 > 2499, 2025-01-01 20 > 24"},
			{day: "2026-03-02", price: "24", want: "2026-03-02 2499 > 24, 2026-03-01 24 > 2499, 2025-01-01 20 > 24"},
			{day: "2026-03-03", price: "24", mode: HistoryReplace, written: listed("2025-01-01", "20", "24"), want: "2025-01-01 20 > 24"},
			{day: "2026-03-04", price: "24", mode: HistoryReplace},
		},
		"the change made together with the replacement is part of the list or nowhere": {
			{day: "2026-01-01", price: "24"},
			{day: "2026-03-01", price: "2499", want: "2026-03-01 24 > 2499"},
			{day: "2026-03-02", price: "24", mode: HistoryReplace},
			{day: "2026-03-03", price: "24", mode: HistoryReplace},
		},
		"a later change adds its entry until the file lists it": {
			{day: "2026-01-01", price: "24", mode: HistoryReplace},
			{day: "2026-03-01", price: "29", mode: HistoryReplace, want: "2026-03-01 24 > 29"},
			{day: "2026-03-02", price: "29", mode: HistoryReplace, want: "2026-03-01 24 > 29"},
			{day: "2026-03-03", price: "29", mode: HistoryReplace, written: listed("2026-03-01", "24", "29"), want: "2026-03-01 24 > 29"},
			{day: "2026-03-04", price: "29", mode: HistoryReplace},
		},
		"a later change that the file dates is not added twice": {
			{day: "2026-01-01", price: "24", mode: HistoryReplace},
			{day: "2026-03-05", price: "29", mode: HistoryReplace, written: listed("2026-03-01", "24", "29"), want: "2026-03-01 24 > 29"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := &Catalog{}
			for _, s := range steps {
				next := with(tool("a", price(euros(s.price)), history(s.written...), func(t *Tool) { t.PriceHistoryMode = s.mode }))
				publish(t, now, next, s.day)
				if got := strings.ReplaceAll(strings.Join(prices(next, "a"), ", "), " €/mois", ""); got != s.want {
					t.Fatalf("on %s at %s: %q, want %q", s.day, s.price, got, s.want)
				}
				now = next
			}
		})
	}
}

func TestAToolThatReturnsKeepsTheEntriesItsFileDoesNotListYet(t *testing.T) {
	at := func(n string, mode HistoryMode, written ...PriceChange) *Catalog {
		return with(tool("a", price(euros(n)), history(written...), func(t *Tool) { t.PriceHistoryMode = mode }), tool("b"))
	}
	for name, test := range map[string]struct {
		before HistoryMode
		back   *Catalog
		want   string
	}{
		"at the same price":           {HistoryReplace, at("30", HistoryReplace), "2026-01-02 24 > 30"},
		"at another price":            {HistoryReplace, at("45", HistoryReplace), "2026-01-04 30 > 45, 2026-01-02 24 > 30"},
		"with a list":                 {HistoryReplace, at("45", HistoryReplace, entry("2026-01-02", euros("24"), euros("30"))), "2026-01-04 30 > 45, 2026-01-02 24 > 30"},
		"with a list that is all now": {HistoryAdd, at("45", HistoryReplace, entry("2025-01-01", euros("20"), euros("24"))), "2025-01-01 20 > 24"},
	} {
		t.Run(name, func(t *testing.T) {
			now := &Catalog{}
			for i, next := range []*Catalog{at("24", test.before), at("30", test.before), with(tool("b")), test.back} {
				publish(t, now, next, fmt.Sprintf("2026-01-0%d", i+1))
				now = next
			}
			if got := strings.ReplaceAll(strings.Join(prices(now, "a"), ", "), " €/mois", ""); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// What changes is only who wrote the entry, which nobody sees: no new version.
func TestListingAnAutomaticEntryIsNotAPublicChange(t *testing.T) {
	replace := func(t *Tool) { t.PriceHistoryMode = HistoryReplace }
	first, second := with(tool("a", price("1 €/mois"), replace)), with(tool("a", price("2 €/mois"), replace))
	publish(t, &Catalog{}, first, "2026-01-01")
	publish(t, first, second, "2026-01-02")
	third := with(tool("a", price("2 €/mois"), replace, history(entry("2026-01-02", "1 €/mois", "2 €/mois"))))
	expect(t, publish(t, second, third, "2026-01-03"))
	if d := Compare(second, third, oneSection); len(d.Listed) != 1 || third.Tools[0].PriceHistory[0].Automatic {
		t.Errorf("listed %v, history %v", d.Listed, third.Tools[0].PriceHistory)
	}
}

func TestTheHistoryOfAnAbsorbedToolIsNotJoined(t *testing.T) {
	first := with(tool("a", history(entry("2025-01-01", "8 €/mois", "10 €/mois"))), tool("b", history(entry("2025-02-01", "9 €/mois", "10 €/mois"))))
	publish(t, &Catalog{}, first, "2026-01-01")
	merged := func() *Catalog {
		return with(tool("a", func(t *Tool) { t.Aliases = []string{"b"} }))
	}
	now := merged()
	expect(t, publish(t, first, now, "2026-01-02"), "tool.updated a updated_at", "tool.removed b")
	if gone := Removals(first, now); len(gone) > 0 {
		t.Errorf("a merged tool counts as lost: %v", gone)
	}
	next := merged()
	expect(t, publish(t, now, next, "2026-01-03"))
	for _, c := range []*Catalog{now, next} {
		if diff := cmp.Diff([]string{"2025-01-01 8 €/mois > 10 €/mois"}, prices(c, "a")); diff != "" {
			t.Error(diff)
		}
	}
	back := with(tool("a"), tool("b"))
	publish(t, next, back, "2026-01-04")
	if diff := cmp.Diff([]string{"2025-02-01 9 €/mois > 10 €/mois"}, prices(back, "b")); diff != "" {
		t.Error(diff)
	}
}

func TestOneOfTwoToolsIsRenamedAndTheOtherAbsorbed(t *testing.T) {
	first := with(tool("a"), tool("b"))
	publish(t, &Catalog{}, first, "2026-01-01")
	next := with(tool("c", func(t *Tool) { t.Aliases = []string{"a", "b"}; t.Name, t.Domain = "A", "a.example" }))
	expect(t, publish(t, first, next, "2026-01-02"), "tool.updated c slug,canonical_url,alternatives_url,updated_at", "tool.removed b")
}

func figure(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprint(*p)
}

func scores(c *Catalog, slug string) string {
	var lines []string
	for _, e := range c.Tool(slug).ScoreHistory {
		line := e.ChangedAt + " " + figure(e.OldScore) + " > " + figure(e.NewScore)
		if e.Note != "" {
			line += " (" + e.Note + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

func TestScoreHistories(t *testing.T) {
	type step struct {
		day   string
		score *float64
		note  string
		want  string
	}
	for name, steps := range map[string][]step{
		"a change is recorded with its note": {
			{day: "2026-01-01", score: fig(8), note: "Premier essai"},
			{day: "2026-02-01", score: fig(7), note: "Plus lent", want: "2026-02-01 8 > 7 (Plus lent)"},
			{day: "2026-02-02", score: fig(7), note: "Plus lent", want: "2026-02-01 8 > 7 (Plus lent)"},
		},
		"the changes of one day are one, with the last note": {
			{day: "2026-01-01", score: fig(8)},
			{day: "2026-02-01", score: fig(7), note: "Plus lent", want: "2026-02-01 8 > 7 (Plus lent)"},
			{day: "2026-02-01", score: fig(6), want: "2026-02-01 8 > 6 (Plus lent)"},
			{day: "2026-02-01", score: fig(6), note: "Bien plus lent", want: "2026-02-01 8 > 6 (Bien plus lent)"},
		},
		"a typo corrected on the same day leaves no trace": {
			{day: "2026-01-01", score: fig(8)},
			{day: "2026-02-01", score: fig(0.8), want: "2026-02-01 8 > 0.8"},
			{day: "2026-02-01", score: fig(8)},
		},
		"a first and a withdrawn score are changes": {
			{day: "2026-01-01"},
			{day: "2026-02-01", score: fig(8), want: "2026-02-01 - > 8"},
			{day: "2026-03-01", want: "2026-03-01 8 > -, 2026-02-01 - > 8"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := &Catalog{}
			for _, s := range steps {
				next := with(tool("a", func(t *Tool) { t.Score, t.ScoreNote = s.score, s.note }))
				publish(t, now, next, s.day)
				if got := scores(next, "a"); got != s.want {
					t.Fatalf("on %s: %q, want %q", s.day, got, s.want)
				}
				now = next
			}
		})
	}
}

func TestAFileMayReplaceTheScoreHistory(t *testing.T) {
	listed := func(day string, from, to float64) []ScoreChange {
		return []ScoreChange{{ChangedAt: day, OldScore: fig(from), NewScore: fig(to), OldVerifiability: fig(6), NewVerifiability: fig(6)}}
	}
	now := &Catalog{}
	for _, s := range []struct {
		day     string
		score   float64
		mode    HistoryMode
		written []ScoreChange
		want    string
	}{
		{"2026-01-01", 8, HistoryAdd, listed("2025-01-01", 7, 8), "2025-01-01 7 > 8"},
		{"2026-03-01", 3, HistoryAdd, nil, "2026-03-01 8 > 3, 2025-01-01 7 > 8"},
		{"2026-03-02", 8, HistoryAdd, nil, "2026-03-02 3 > 8, 2026-03-01 8 > 3, 2025-01-01 7 > 8"},
		{"2026-03-03", 8, HistoryReplace, listed("2025-01-01", 7, 8), "2025-01-01 7 > 8"},
		{"2026-03-04", 8, HistoryReplace, nil, ""},
		{"2026-03-05", 9, HistoryReplace, nil, "2026-03-05 8 > 9"},
		{"2026-03-06", 9, HistoryReplace, listed("2026-03-05", 8, 9), "2026-03-05 8 > 9"},
		{"2026-03-07", 9, HistoryReplace, nil, ""},
	} {
		next := with(tool("a", func(t *Tool) { t.Score, t.ScoreHistoryMode, t.ScoreHistory = &s.score, s.mode, s.written }))
		publish(t, now, next, s.day)
		if got := scores(next, "a"); got != s.want {
			t.Fatalf("on %s: %q, want %q", s.day, got, s.want)
		}
		now = next
	}
}

func TestVerifiabilityAndObsolescenceBelongToTheScoreHistory(t *testing.T) {
	first := with(tool("a"))
	publish(t, &Catalog{}, first, "2026-01-01")
	next := with(tool("a", func(t *Tool) { t.Verifiability, t.Obsolescence = fig(9), fig(2) }))
	publish(t, first, next, "2026-01-02")
	want := []ScoreChange{{
		ChangedAt: "2026-01-02", OldScore: fig(7), NewScore: fig(7), OldVerifiability: fig(6), NewVerifiability: fig(9),
		NewObsolescence: fig(2), Automatic: true,
	}}
	if diff := cmp.Diff(want, next.Tools[0].ScoreHistory); diff != "" {
		t.Error(diff)
	}
}

func TestAToolRestoredWithAnotherScoreGetsAnEntry(t *testing.T) {
	first, gone, back := with(tool("a"), tool("b")), with(tool("b")), with(tool("a", func(t *Tool) { t.Score = fig(5) }), tool("b"))
	publish(t, &Catalog{}, first, "2026-01-01")
	publish(t, first, gone, "2026-01-02")
	publish(t, gone, back, "2026-01-03")
	if got, want := scores(back, "a"), "2026-01-03 7 > 5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSettingsAuthorsAndPicturesAreChanges(t *testing.T) {
	for name, change := range map[string]func(*Catalog){
		"a setting":               func(c *Catalog) { c.Settings.Headline = "Titre" },
		"the order of a category": func(c *Catalog) { c.Categories[0].Position, c.Categories[1].Position = 1, 0 },
		"an alias of a category":  func(c *Catalog) { c.Categories[0].Aliases = []string{"x"} },
		"an author":               func(c *Catalog) { c.Authors = []Author{{Slug: "ada", Name: "Ada"}} },
		"a picture":               func(c *Catalog) { c.Pictures = map[string]Picture{"images/a.png": {Path: "images/a.png", Hash: "1"}} },
	} {
		first, next := with(tool("a")), with(tool("a"))
		for _, c := range []*Catalog{first, next} {
			c.Categories = append(c.Categories, Category{Slug: "image", Label: "Image", Position: 1})
		}
		publish(t, &Catalog{}, first, "2026-01-01")
		change(next)
		if got := publish(t, first, next, "2026-01-02"); len(got) != 1 || got[0] != CatalogUpdated {
			t.Errorf("%s: %v", name, got)
		}
		if d := Compare(next, first, oneSection); d.Empty() {
			t.Errorf("%s: taking it back changes nothing", name)
		}
	}
}

func TestTheNoteOfAScoreChangeCanBeCorrected(t *testing.T) {
	first := with(tool("a", func(t *Tool) { t.Score = fig(8) }))
	publish(t, &Catalog{}, first, "2026-01-01")
	changed := with(tool("a", func(t *Tool) { t.Score, t.ScoreNote = fig(7), "Fote" }))
	publish(t, first, changed, "2026-02-01")
	for _, day := range []string{"2026-02-01", "2026-02-02"} {
		listed := changed.Tool("a").ScoreHistory[0]
		listed.Note, listed.Automatic = "Faute", false
		next := with(tool("a", func(t *Tool) {
			t.Score, t.ScoreNote, t.ScoreHistory = fig(7), "Fote", []ScoreChange{listed}
		}))
		if len(publish(t, changed, next, day)) == 0 {
			t.Errorf("on %s: nothing changed", day)
		}
		if got, want := scores(next, "a"), "2026-02-01 8 > 7 (Faute)"; got != want {
			t.Errorf("on %s: %q, want %q", day, got, want)
		}
	}
}

func TestARetiredToolThatIsAbsorbedIsRemovedAndItsHistoryIsNotJoined(t *testing.T) {
	first := with(tool("a"), tool("b", history(entry("2025-02-01", "9 €/mois", "10 €/mois"))))
	publish(t, &Catalog{}, first, "2026-01-01")
	retired := with(tool("a"))
	retired.Retired = []Retired{{Slug: "b", Name: "B", Category: "code", Reason: "mort", RetiredAt: "2026-01-02"}}
	publish(t, first, retired, "2026-01-02")
	merged := with(tool("a", func(t *Tool) { t.Aliases = []string{"b"} }))
	expect(t, publish(t, retired, merged, "2026-01-03"), "tool.updated a updated_at", "tool.removed b")
	if got := prices(merged, "a"); len(got) > 0 {
		t.Errorf("the price history of a has %v", got)
	}
}

func TestAHistoryIsNotThatOfARemovedToolWithTheSameSlug(t *testing.T) {
	first := with(tool("a", history(entry("2025-01-01", "8 €/mois", "10 €/mois"))), tool("b"))
	publish(t, &Catalog{}, first, "2026-01-01")
	second := with(tool("b"))
	publish(t, first, second, "2026-01-02")
	third := with(tool("a", func(t *Tool) { t.Aliases = []string{"b"} }))
	publish(t, second, third, "2026-01-03")
	if got := prices(third, "a"); len(got) > 0 {
		t.Errorf("the tool that b was has the history %q", got)
	}
}

func TestARetiredToolRemembersWhatItHad(t *testing.T) {
	score := 7.5
	tool := func(price string) *Tool {
		return &Tool{
			Slug: "plume", Category: "code", Pricing: "payant", Price: price, Score: &score, Usages: []string{"relire", "ranger"},
			ScoreHistory: []ScoreChange{{ChangedAt: "2026-01-05", NewScore: &score}},
		}
	}
	categories := []Category{{Slug: "code", Usages: []Usage{{Slug: "relire"}}}} // ranger is no longer declared
	old := &Catalog{Categories: categories, Tools: []*Tool{tool("12 €/mois")}}
	next := &Catalog{Categories: categories, Tools: []*Tool{tool("15 €/mois")}}
	CarryOver(old, next, "2026-02-01")
	for range 2 { // a second publication changes nothing
		retired := &Catalog{Categories: categories, Retired: []Retired{{Slug: "plume", Category: "code"}, {Slug: "scie", Category: "code", LastPrice: "3 €/mois"}}}
		CarryOver(next, retired, "2026-03-01")
		want := Retired{
			Slug: "plume", Category: "code", LastScore: &score, LastPrice: "15 €/mois", Usages: []string{"relire"}, ScoreHistory: tool("").ScoreHistory,
			PriceHistory: []PriceChange{{ChangedAt: "2026-02-01", OldPricing: "payant", OldPrice: "12 €/mois", NewPricing: "payant", NewPrice: "15 €/mois"}},
		}
		if diff := cmp.Diff(want, retired.Retired[0]); diff != "" {
			t.Error(diff)
		}
		next = retired
	}
	hidden := &Catalog{Categories: categories, Retired: []Retired{{Slug: "plume", Category: "code"}}}
	if CarryOver(&Catalog{Tools: []*Tool{tool("0 €/mois")}}, hidden, "2026-03-01"); hidden.Retired[0].LastPrice != "" {
		t.Errorf("a price that was not public became %q", hidden.Retired[0].LastPrice)
	}
}
