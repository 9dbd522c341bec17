package market_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/market"
)

func score(x float64) *float64 { return &x }

// tools returns a catalogue of tools written as « name category score price », separated by
// commas; a score of – is none. All are freemium, except those whose name is upper case.
func tools(list string) *catalog.Catalog {
	c := &catalog.Catalog{}
	for line := range strings.SplitSeq(list, ";") {
		part := strings.SplitN(strings.TrimSpace(line), " ", 4)
		t := &catalog.Tool{Slug: strings.ToLower(part[0]), Name: part[0], Category: part[1], Pricing: "freemium", Price: part[3]}
		if t.Slug != t.Name {
			t.Pricing = "payant"
		}
		if part[2] != "–" {
			var x float64
			if _, err := fmt.Sscan(part[2], &x); err != nil {
				panic(err)
			}
			t.Score = &x
		}
		c.Tools = append(c.Tools, t)
	}
	c.Sort()
	return c
}

func names(points []market.Point) string {
	var list []string
	for _, p := range points {
		list = append(list, p.Tool.Name)
	}
	return strings.Join(list, " ")
}

func nameOf(t *catalog.Tool) string {
	if t == nil {
		return ""
	}
	return t.Name
}

func valueOf(p *market.Point) string {
	if p == nil {
		return ""
	}
	return p.Tool.Name
}

func TestTheFrontierHasTheToolsThatNoOtherBeats(t *testing.T) {
	for _, test := range []struct{ tools, frontier string }{
		{"a x 5 10 €/mois", "a"},
		{"a x 5 0 €/mois; b x 6 0 €/mois; c x 6 1 €/mois; d x 7 2 €/mois", "b d"},
		{"a x 5 120 €/an; b x 5 10 €/mois", "a b"},                   // the same price and score: neither beats the other
		{"a x 5 10 €/mois; b x 5 9 €/mois; c x 4,9 8 €/mois", "c b"}, // cheaper at the same score
		{"a x 8 10 €/mois; b x 9 10 €/utilisateur/mois; c x 9 20 €/mois", "b"},
		{"a x 8 10 €/minute; b x 9 0 €/minute; c x – 0 €/mois", "b"},
		{"a x 0 100000 €/mois", "a"},
	} {
		m := market.NewMaps(tools(strings.ReplaceAll(test.tools, ",", "."))).Of("", "")
		if got := names(m.Frontier()); got != test.frontier {
			t.Errorf("%s: the frontier is %s, not %s", test.tools, got, test.frontier)
		}
	}
}

func TestTheFrontierAgreesWithTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		c := &catalog.Catalog{}
		for i := range random.IntN(60) {
			x := float64(random.IntN(20)) / 2
			c.Tools = append(c.Tools, &catalog.Tool{
				Slug: fmt.Sprint(i), Category: fmt.Sprint(random.IntN(3)), Pricing: catalog.Pricings[random.IntN(3)],
				Price: fmt.Sprintf("%d €/%s", random.IntN(15), []string{"mois", "an", "minute"}[random.IntN(3)]), Score: &x,
			})
		}
		c.Sort()
		maps := market.NewMaps(c)
		for _, category := range []string{"", "0", "1", "unknown"} {
			for _, pricing := range append(catalog.Pricings, "") {
				m := maps.Of(category, pricing)
				if !slices.IsSortedFunc(m.Points, func(a, b market.Point) int { return int(1000 * (a.Euros - b.Euros)) }) {
					t.Fatal("the points are not sorted by price")
				}
				for _, p := range m.Points {
					beaten := slices.ContainsFunc(m.Points, func(o market.Point) bool {
						return o.Score >= p.Score && o.Euros <= p.Euros && (o.Score > p.Score || o.Euros < p.Euros)
					})
					if p.Frontier == beaten {
						t.Fatalf("%s with %g for %g €: on the frontier %t, beaten %t", p.Tool.Slug, p.Score, p.Euros, p.Frontier, beaten)
					}
					if category != "" && p.Tool.Category != category || pricing != "" && p.Tool.Pricing != pricing {
						t.Fatalf("%v is on the map of %q, %q", p.Tool, category, pricing)
					}
				}
				if value := m.BestValue(); value != nil && !value.Frontier {
					t.Fatalf("the best value %s is not on the frontier", value.Tool.Slug)
				}
			}
		}
	}
}

func TestEveryToolIsOnTheMapOrBesideIt(t *testing.T) {
	maps := market.NewMaps(tools("a x 5 10 €/mois; b x 6 2 €/minute; c x – 3 €/mois; d y 7 0 €/minute; E y 8 120 €/an; F y – 1 €/requête"))
	for _, test := range []struct {
		category string
		pricing  catalog.Pricing
		points   string
		apart    int
		unscored int
	}{
		{"", "", "d E a", 1, 2},
		{"x", "", "a", 1, 1},
		{"y", "", "d E", 0, 1},
		{"y", "payant", "E", 0, 1},
		{"x", "payant", "", 0, 0},
		{"z", "", "", 0, 0},
	} {
		m := maps.Of(test.category, test.pricing)
		if got := names(m.Points); got != test.points || len(m.Apart) != test.apart || len(m.Unscored) != test.unscored {
			t.Errorf("%s %s: %s, %d apart, %d unscored", test.category, test.pricing, got, len(m.Apart), len(m.Unscored))
		}
	}
	if euros := maps.Of("y", "payant").Points[0].Euros; euros != 10 {
		t.Errorf("120 € a year are %g a month", euros)
	}
}

func TestTheThreeAnswers(t *testing.T) {
	for _, test := range []struct{ tools, best, next, value, free string }{
		{"a x – 10 €/mois", "", "", "", ""},
		{"a x 5 10 €/mois", "a", "", "", ""}, // the best is not its own alternative
		{"a x 9 50 €/mois; b x 8 20 €/mois; c x 7.9 10 €/mois; d x 6 0 €/mois; e x 5 0 €/mois", "a", "b", "b", "d"},
		{"a x 9 50 €/mois; b x 9 20 €/mois", "b", "a", "", ""},                         // the cheaper of two
		{"a x 9.5 2 €/minute; b x 8.9 20 €/mois; c x 7.9 5 €/mois", "a", "b", "c", ""}, // value is relative to what can be compared
		{"a x 4.4 30 €/mois; b x 3.4 0 €/mois", "a", "b", "b", "b"},                    // exactly one point, in binary fractions
		{"a x 7 0 €/mois; b x 7 0 €/mois", "a", "b", "", "a"},
		{"a x 9 100000 €/mois; b x 5 8 €/mois; c x 7.5 33 €/mois; d x 7 20 €/mois", "a", "c", "c", ""}, // the best for half the price
		{"a x 9 50 €/mois; b x 7 26 €/mois", "a", "b", "", ""},                                         // neither near nor half the price
		{"a x 9.5 2 €/minute; b x 8.9 20 €/mois", "a", "b", "b", ""},                                   // the best is not on the map
	} {
		m := market.NewMaps(tools(test.tools)).Of("x", "")
		best, next, _ := m.BestScore()
		got := []string{nameOf(best), nameOf(next), valueOf(m.BestValue()), valueOf(m.BestFree())}
		if want := []string{test.best, test.next, test.value, test.free}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", test.tools, got, want)
		}
	}
}

func TestEqualScoresAreCounted(t *testing.T) {
	for list, want := range map[string]int{
		"a x 9 5 €/mois": 0, "a x 9 5 €/mois; b x 9 6 €/mois; c x 8 1 €/mois": 1, "a x 9 5 €/mois; b x 9 5 €/minute; c x 9 5 €/mois": 2, "a x 8 0 €/mois; b x 8 0 €/mois; c x 9 5 €/mois": 0,
	} {
		if _, _, equal := market.NewMaps(tools(list)).Of("", "").BestScore(); equal != want {
			t.Errorf("%s: %d are equal to the best, want %d", list, equal, want)
		}
	}
}

func TestToolsWithoutDatesAreNotCalledOld(t *testing.T) {
	y := market.NewTrends(tools("a x 5 10 €/mois; b x 6 11 €/mois; c x 7 12 €/mois"), "2026-06-30")
	if y.New.Total != 0 || !y.New.Unclear {
		t.Errorf("new: %+v", y.New)
	}
}

func TestMediansBeginOnTheDayBeforeTheTwelveMonths(t *testing.T) {
	c := tools("a x 5 20 €/mois; b x 5 20 €/mois; c x 5 20 €/mois; d x 5 20 €/mois; e x 5 20 €/mois")
	for i := range c.Tools { // after the first day, and before the end of its month
		c.Tools[i].PriceHistory = []catalog.PriceChange{change("2025-06-20", "10 €/mois", "20 €/mois")}
	}
	points := market.NewTrends(c, "2026-06-15").Medians[0].Points
	if len(points) != 14 || points[0] != (market.MedianPoint{Day: "2025-06-15", Tools: 5, Euros: 10}) || points[1].Day != "2025-06-30" || points[1].Euros != 20 {
		t.Errorf("%+v", points)
	}
}

func change(day, old, now string) catalog.PriceChange {
	return catalog.PriceChange{ChangedAt: day, OldPricing: "freemium", OldPrice: old, NewPricing: "freemium", NewPrice: now}
}

// year is a catalogue whose trends are computed by hand below, up to 2026-06-30.
func year() *catalog.Catalog {
	c := tools("a x 7 20 €/mois; b x 6 240 €/an; c x 5 30 €/utilisateur/mois; d x 4 2 €/minute; e x 8 0 €/mois; f y 8 40 €/mois; g x – 50 €/mois; h x 3 60 €/mois")
	set := func(slug string, history ...catalog.PriceChange) { c.Tool(slug).PriceHistory = history }
	set("a", change("2026-06-30", "10 €/mois", "20 €/mois"), change("2025-06-30", "1 €/mois", "10 €/mois")) // +100 %; the older is out
	set("b", change("2026-01-15", "25 €/mois", "240 €/an"))                                                 // −20 %
	set("c", change("2026-02-01", "30 €/mois", "30 €/utilisateur/mois"))                                    // another unit
	set("d", change("2026-03-01", "1 €/minute", "2 €/minute"), change("2025-07-01", "0 €/mois", "1 €/minute"))
	set("e", change("2026-04-01", "5 €/mois", "0 €/mois"))
	set("f", change("2026-05-01", "40 €/mois", "40 €/mois")) // another model
	c.Tool("a").ScoreHistory = []catalog.ScoreChange{
		{ChangedAt: "2026-05-01", OldScore: score(6), NewScore: score(7)},
		{ChangedAt: "2025-08-01", OldScore: nil, NewScore: score(6)},
	}
	c.Tool("b").ScoreHistory = []catalog.ScoreChange{{ChangedAt: "2026-05-02", OldScore: score(8.5), NewScore: score(6)}}
	c.Tool("c").ScoreHistory = []catalog.ScoreChange{{ChangedAt: "2026-05-03", OldScore: score(5), NewScore: score(5), OldObsolescence: score(1)}}
	c.Tool("a").TestedAt, c.Tool("g").TestedAt, c.Tool("h").TestedAt = "2026-05-01", "2026-06-01", "2025-06-30"
	c.Tool("g").PriceCheckedAt = "2025-06-30"
	c.Retired = []catalog.Retired{
		{Slug: "p", RetiredAt: "2026-06-30", Reason: "mort"},
		{Slug: "q", RetiredAt: "2025-06-30", Reason: "mort"},
		{Slug: "r", RetiredAt: "2026-06-29", Reason: "pivot"},
		{Slug: "s", RetiredAt: "2026-07-01", Reason: "mort"},
	}
	return c
}

func TestTheChangesOfTwelveMonthsAreCountedAndOrdered(t *testing.T) {
	y := market.NewTrends(year(), "2026-06-30")
	p := &y.Prices
	got := fmt.Sprint(y.Since, y.Until, p.Changes, p.Up, p.Down, p.BecamePaid, p.BecameFree, p.SamePrice, p.OtherUnit)
	if want := fmt.Sprint("2025-06-30", "2026-06-30", 7, 3, 2, 1, 1, 1, 1); got != want {
		t.Errorf("prices: %s, not %s", got, want)
	}
	moves := func(list []market.PriceMove) (s string) {
		for _, m := range list {
			s += fmt.Sprintf("%s %.3f ", m.Tool.Slug, m.Share)
		}
		return s
	}
	if got := moves(p.Rises) + "| " + moves(p.Falls) + "| " + moves(p.Paid) + "| " + moves(p.Free); got != "a 1.000 d 1.000 | b -0.200 | d 0.000 | e 0.000 " {
		t.Errorf("moves: %s", got)
	}
	if len(p.Months) != 13 || p.Months[0] != (market.PriceMonth{Month: "2025-06"}) || p.Months[1] != (market.PriceMonth{"2025-07", 1, 0}) || p.Months[12] != (market.PriceMonth{"2026-06", 1, 0}) {
		t.Errorf("months: %v", p.Months)
	}
	s := &y.Scores
	if s.Changes != 2 || s.Up != 1 || s.Down != 1 || s.First != 1 || s.Largest[0].Tool.Slug != "b" || s.Largest[1].Tool.Slug != "a" {
		t.Errorf("scores: %+v", s)
	}
	var fresh []string
	for _, n := range y.New.Tools {
		fresh = append(fresh, n.Tool.Slug+" "+n.Day)
	}
	// a changed its price before, h was tested before.
	if want := "g 2026-06-01, f 2026-05-01, e 2026-04-01, c 2026-02-01, b 2026-01-15, d 2025-07-01"; y.New.Total != 6 || !y.New.Unclear || strings.Join(fresh, ", ") != want {
		t.Errorf("new: %d %v, not %s", y.New.Total, fresh, want)
	}
	r := &y.Retired
	if r.Total != 2 || r.Tools[0].Slug != "p" || r.Tools[1].Slug != "r" || r.Reasons["mort"] != 1 || r.Reasons["pivot"] != 1 {
		t.Errorf("retired: %+v", r)
	}
}

func TestMediansFollowThePricesOfTodaysTools(t *testing.T) {
	y := market.NewTrends(year(), "2026-06-30")
	all, x := y.Medians[0], y.Medians[1]
	if all.Category != "" || x.Category != "x" || len(y.Medians) != 3 {
		t.Fatalf("medians: %+v", y.Medians)
	}
	// In June 2025 (until the 30th): a 10, b 25, c 30, e 5, g 50, h 60; d cost nothing. Today: a 20, b 20, c 30, g 50, h 60.
	if len(x.Points) != 13 || x.Points[0] != (market.MedianPoint{"2025-06-30", 6, 27.5}) || x.Points[12] != (market.MedianPoint{"2026-06-30", 5, 30}) {
		t.Errorf("x: %+v", x)
	}
	// After January: a 10, b 20, c 30 (per user from February on), e 5, g 50, h 60.
	if x.Points[7] != (market.MedianPoint{"2026-01-31", 6, 25}) || x.Tools != 5 || x.Euros != 30 {
		t.Errorf("x: %+v", x)
	}
	if category := y.Medians[2]; category.Points != nil || category.Tools != 1 || category.Euros != 40 {
		t.Errorf("a line through one price: %+v", category)
	}
}

func TestATooYoungPriceSaysNothingOfAYearAgo(t *testing.T) {
	c := tools("a x 5 20 €/mois; b x 5 20 €/mois; c x 5 20 €/mois; d x 5 20 €/mois; e x 5 20 €/mois; f x 5 90 €/mois; g x 5 90 €/mois")
	for _, tool := range c.Tools[:5] {
		tool.PriceHistory = []catalog.PriceChange{change("2026-05-01", "10 €/mois", "20 €/mois")}
	}
	c.Tool("f").TestedAt, c.Tool("g").AddedAt = "2026-01-01", "2026-02-01"
	m := market.NewTrends(c, "2026-06-30").Medians[0]
	if m.Tools != 7 || m.Points[0] != (market.MedianPoint{Day: "2025-06-30", Tools: 5, Euros: 10}) || m.Points[12].Tools != 5 {
		t.Errorf("%+v", m)
	}
	c.Tool("a").PriceHistory = nil // published today
	m = market.NewTrends(c, "2026-06-30").Medians[0]
	if m.Tools != 7 || m.Points != nil {
		t.Errorf("a line of prices that nobody knew: %+v", m)
	}
}

func TestListsAreBoundedAndTotalsAreNot(t *testing.T) {
	c := &catalog.Catalog{}
	for i := range 50 {
		tool := &catalog.Tool{
			Slug: fmt.Sprintf("t%02d", i), Category: "x", Price: "20 €/mois", TestedAt: "2026-06-01", Score: score(5),
			PriceHistory: []catalog.PriceChange{change("2026-06-01", "10 €/mois", "20 €/mois")},
			ScoreHistory: []catalog.ScoreChange{{ChangedAt: "2026-06-01", OldScore: score(4), NewScore: score(5)}},
		}
		c.Tools = append(c.Tools, tool)
		c.Retired = append(c.Retired, catalog.Retired{Slug: fmt.Sprintf("r%02d", i), RetiredAt: "2026-06-02", Reason: "mort"})
	}
	y := market.NewTrends(c, "2026-06-30")
	for what, n := range map[string][2]int{
		"rises": {len(y.Prices.Rises), y.Prices.Up}, "new": {len(y.New.Tools), y.New.Total},
		"scores": {len(y.Scores.Largest), y.Scores.Changes}, "retired": {len(y.Retired.Tools), y.Retired.Total},
	} {
		if n != [2]int{market.ListSize, 50} {
			t.Errorf("%s: %d of %d", what, n[0], n[1])
		}
	}
	if y.Prices.Rises[0].Tool.Slug != "t00" || y.Retired.Tools[1].Slug != "r01" {
		t.Error("equal entries are not in the order of their slugs")
	}
}

func TestAnEmptyCatalogueHasTrends(t *testing.T) {
	y := market.NewTrends(&catalog.Catalog{}, "1970-01-01")
	if y.Prices.Changes != 0 || len(y.Medians) != 0 || len(y.Prices.Months) != 13 {
		t.Errorf("%+v", y)
	}
	if m := market.NewMaps(&catalog.Catalog{}).Of("", ""); m.Len() != 0 || m.BestValue() != nil || m.BestFree() != nil {
		t.Errorf("%+v", m)
	}
}

// What it costs is not known, but it is no longer free.
func TestAToolBecomesPaidWhateverItCosts(t *testing.T) {
	hidden := func(old, now catalog.Pricing, before, after string) catalog.PriceChange {
		return catalog.PriceChange{ChangedAt: "2026-06-01", OldPricing: old, OldPrice: before, NewPricing: now, NewPrice: after}
	}
	for _, test := range []struct {
		change                             catalog.PriceChange
		up, down, paid, free, same, others int
	}{
		{hidden("gratuit", catalog.Paid, "0 €/mois", catalog.NoPrice), 1, 0, 1, 0, 0, 0},
		{hidden(catalog.Paid, "gratuit", catalog.NoPrice, "0 €/mois"), 0, 1, 0, 1, 0, 0},
		{hidden("freemium", catalog.Paid, "5 €/mois", catalog.NoPrice), 0, 0, 0, 0, 0, 1},
		{hidden(catalog.Paid, catalog.Paid, catalog.NoPrice, "5 €/mois"), 0, 0, 0, 0, 0, 1},
		{hidden(catalog.Paid, catalog.Paid, catalog.NoPrice, catalog.NoPrice), 0, 0, 0, 0, 0, 1},
	} {
		c := tools("a x 7 20 €/mois")
		c.Tool("a").PriceHistory = []catalog.PriceChange{test.change}
		p := market.NewTrends(c, "2026-06-30").Prices
		got := fmt.Sprint(p.Up, p.Down, p.BecamePaid, p.BecameFree, p.SamePrice, p.OtherUnit)
		if want := fmt.Sprint(test.up, test.down, test.paid, test.free, test.same, test.others); got != want || len(p.Rises)+len(p.Falls) > 0 {
			t.Errorf("%+v counts as %s, not %s", test.change, got, want)
		}
	}
}
