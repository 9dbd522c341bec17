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
		{"a x 9 100000 €/mois; b x 5 8 €/mois; c x 7.5 33 €/mois; d x 7 20 €/mois", "a", "c", "", ""}, // nothing is near the best
		{"a x 9.5 2 €/minute; b x 8.9 20 €/mois", "a", "b", "b", ""},                                  // the best is not on the map
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

func TestAnEmptyCatalogueHasAnEmptyMap(t *testing.T) {
	if m := market.NewMaps(&catalog.Catalog{}).Of("", ""); m.Len() != 0 || m.BestValue() != nil || m.BestFree() != nil {
		t.Errorf("%+v", m)
	}
}
