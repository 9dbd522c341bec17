package site

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/search"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// priceSteps are the highest prices that the list offers, in euros a month.
var priceSteps = []float64{10, 20, 50, 100}

// readFacets reads the filters whose values the page counts.
func (f *filters) readFacets(v *view, q *snapshot.SearchQuery) {
	among := func(name, label string, exists func(value string) bool) string {
		value := f.value(name)
		if value != "" && !exists(value) {
			f.refuse(name, "«\u00a0"+label+"\u00a0»\u00a0: cette valeur n’existe pas.")
			return ""
		}
		return value
	}
	q.Pricing = catalog.Pricing(among("pricing", "Modèle", func(value string) bool {
		return slices.Contains(catalog.Pricings, catalog.Pricing(value))
	}))
	q.ICP = catalog.ICP(among("icp", "Pour qui", func(value string) bool { return slices.Contains(catalog.ICPs, catalog.ICP(value)) }))
	all := v.facets()
	declared := func(name, label string, all *meanings) (slug string, categories []string) {
		chosen := all.find(among(name, label, func(value string) bool { return all.find(value, "") != nil }), q.Category)
		if chosen == nil {
			return "", nil
		}
		f.given.Set(name, chosen.Value)
		return chosen.slug, chosen.categories
	}
	q.Usage, q.UsageIn = declared("usage", "Usage", &all.usages)
	q.Criterion, q.CriterionIn = declared("criterion", "Critère", &all.criteria)
	if given := f.value("price_max"); given != "" {
		if most, ok := web.ParseNumber(strings.Replace(given, ",", ".", 1)); ok && most >= 0 {
			q.PriceMax = &most
			f.given.Set("price_max", strconv.FormatFloat(most, 'f', -1, 64))
		} else {
			f.refuse("price_max", "«\u00a0Prix max.\u00a0» attend un nombre d’euros par mois, par exemple 20.")
		}
	}
	if given := f.value("tested_since"); given != "" {
		if _, err := time.Parse(time.DateOnly, given); err == nil {
			q.TestedSince = given
		} else {
			f.refuse("tested_since", "«\u00a0Testé depuis\u00a0» attend une date, par exemple 2026-01-31.")
		}
	}
}

func hasValue(options []option, value string) bool {
	return slices.ContainsFunc(options, func(o option) bool { return o.Value == value })
}

// A tally holds how many tools each value of a filter would show, by filter and value.
type tally map[[2]string]int

// addFacets adds the fields of these filters, with the number of tools that each value would show.
// Those that most visitors do without are apart.
func (f *filters) addFacets(v *view, found *snapshot.Found, q *snapshot.SearchQuery) {
	all := v.facets()
	counts := all.count(found)
	var models, profiles, prices, years []option
	for _, model := range catalog.Pricings {
		models = append(models, option{Value: string(model), Label: french.Capital(string(model))})
	}
	if v.snap.HasProfiles {
		for _, icp := range catalog.ICPs {
			label := audiences[icp]
			if icp == catalog.EveryICP {
				label = "Les deux profils"
			}
			profiles = append(profiles, option{Value: string(icp), Label: label})
		}
	}
	for _, euros := range priceSteps {
		prices = append(prices, option{Value: priceValue(euros), Label: french.Euros(euros) + " par mois"})
	}
	if q.PriceMax != nil && !hasValue(prices, priceValue(*q.PriceMax)) {
		prices = append(prices, option{Value: priceValue(*q.PriceMax), Label: french.Euros(*q.PriceMax) + " par mois"})
	}
	for key := range counts {
		if key[0] == "tested_since" {
			years = append(years, option{Value: key[1], Label: key[1][:4]})
		}
	}
	slices.SortFunc(years, func(a, b option) int { return cmp.Compare(b.Value, a.Value) })
	total := 0
	for i := range years {
		total += counts[[2]string{"tested_since", years[i].Value}]
		counts[[2]string{"tested_since", years[i].Value}] = total
	}
	if q.TestedSince != "" && !hasValue(years, q.TestedSince) {
		years = append(years, option{Value: q.TestedSince, Label: french.Date(q.TestedSince)})
	}
	usages := all.usages.options(q.Category, f.given.Get("usage"))
	criteria := all.criteria.options(q.Category, f.given.Get("criterion"))
	category, score, obsolescence, order := f.Fields[0], f.Fields[1], f.Fields[2], f.Fields[3]
	f.Fields = slices.Concat([]field{category}, f.facet("pricing", "Modèle", "Tous", models, counts),
		f.facet("price_max", "Prix max.", "Tous", prices, counts), []field{score, order})
	f.More = slices.Concat(f.facet("usage", "Usage", "Tous", usages, counts), f.facet("criterion", "Critère", "Tous", criteria, counts),
		f.facet("tested_since", "Testé depuis", "Toujours", years, counts), f.facet("icp", "Pour qui", "Tous", profiles, counts),
		[]field{obsolescence})
}

func priceValue(euros float64) string { return strconv.FormatFloat(euros, 'f', -1, 64) }

// facets are the values of filters that tools have: numbered, so that a hundred thousand of them are
// counted in milliseconds.
type facets struct {
	usages, criteria meanings
	values           [][2]string // filter and value
	start            []uint32    // those of tool i are of[start[i]:start[i+1]]
	of               []uint32
}

func (v *view) newFacets() *facets {
	f := &facets{start: make([]uint32, 1, len(v.snap.Catalog.Tools)+1)}
	f.usages, f.criteria = v.declared()
	numbers := map[[2]string]uint32{}
	add := func(name, value string) {
		key := [2]string{name, value}
		n, ok := numbers[key]
		if !ok {
			n = uint32(len(f.values))
			numbers[key], f.values = n, append(f.values, key)
		}
		f.of = append(f.of, n)
	}
	for i, t := range v.snap.Catalog.Tools {
		add("pricing", string(t.Pricing))
		add("icp", string(t.ICP))
		if t.TestedAt != "" {
			add("tested_since", t.TestedAt[:4]+"-01-01")
		}
		for _, usage := range t.Usages {
			if o := f.usages.of(t.Category, usage); o != nil {
				add("usage", o.Value)
			}
		}
		for _, value := range t.Criteria {
			if o := f.criteria.of(t.Category, value.Name); o != nil && value.IsFlag && value.Number == 1 {
				add("criterion", o.Value)
			}
		}
		for _, euros := range priceSteps {
			if v.snap.Index.Meets(i, &search.Constraint{PriceMax: euros}) {
				add("price_max", priceValue(euros))
			}
		}
		f.start = append(f.start, uint32(len(f.of)))
	}
	return f
}

// count returns how many tools each value would show.
func (f *facets) count(found *snapshot.Found) tally {
	counts := make([]int, len(f.values))
	found.Count(func(i int, but string) {
		for _, n := range f.of[f.start[i]:f.start[i+1]] {
			if but == "" || f.values[n][0] == but {
				counts[n]++
			}
		}
	})
	all := tally{}
	for n, count := range counts {
		if count > 0 {
			all[f.values[n]] = count
		}
	}
	return all
}

// facet returns the field of a filter, or none if it has nothing to choose from. Values that would
// show nothing are left out, unless they are chosen.
func (f *filters) facet(name, label, all string, options []option, counts tally) []field {
	if len(options) == 0 {
		return nil
	}
	given := f.given.Get(name)
	shown := []option{{Label: all}}
	for _, o := range options {
		if n := counts[[2]string{name, o.Value}]; n > 0 {
			o.Label += "\u00a0(" + french.Count(n) + ")"
		} else if o.Value != given {
			continue
		}
		o.Selected = o.Value == given
		shown = append(shown, o)
	}
	return []field{{Name: name, Label: label, Value: given, Options: shown}}
}
