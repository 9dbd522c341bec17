package site

import (
	"cmp"
	"maps"
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

// A facetValue is a value of a filter whose tools are counted.
type facetValue struct {
	name string // of the filter
	option
}

// facets are the values of filters that tools have: numbered, so that a hundred thousand of them are
// counted in milliseconds.
type facets struct {
	usages, criteria meanings
	values           []facetValue // in the order of the page
	start            []uint32     // those of tool i are of[start[i]:start[i+1]]
	of               []uint32
}

func (v *view) newFacets() *facets {
	f := &facets{start: make([]uint32, 1, len(v.snap.Catalog.Tools)+1)}
	f.usages, f.criteria = v.declared()
	numbers := map[[2]string]uint32{}
	offer := func(name, value, label string) {
		numbers[[2]string{name, value}] = uint32(len(f.values))
		f.values = append(f.values, facetValue{name, option{Value: value, Label: label}})
	}
	for _, model := range catalog.Pricings {
		offer("pricing", string(model), french.Capital(string(model)))
	}
	for _, icp := range catalog.ICPs {
		offer("icp", string(icp), cmp.Or(map[catalog.ICP]string{catalog.EveryICP: v.words.everybody}[icp], v.words.audiences[icp]))
	}
	for _, euros := range priceSteps {
		offer("price_max", priceValue(euros), priceLabel(euros))
	}
	for _, one := range f.usages.all {
		offer("usage", one.Value, one.Label)
	}
	for _, one := range f.criteria.all {
		offer("criterion", one.Value, one.Label)
	}
	years := map[string]bool{}
	for _, t := range v.snap.Catalog.Tools {
		if t.TestedAt != "" {
			years[t.TestedAt[:4]] = true
		}
	}
	since := slices.Sorted(maps.Keys(years))
	for _, year := range slices.Backward(since) {
		offer("tested_since", year+"-01-01", year)
	}
	for i, t := range v.snap.Catalog.Tools {
		add := func(name, value string) {
			if n, ok := numbers[[2]string{name, value}]; ok {
				f.of = append(f.of, n)
			}
		}
		add("pricing", string(t.Pricing))
		if v.snap.HasProfiles && v.words.audiences != nil {
			add("icp", string(t.ICP))
		}
		for _, year := range since {
			if year <= t.TestedAt {
				add("tested_since", year+"-01-01")
			}
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

// addFacets adds the fields of these filters, with the number of tools that each value would show.
// Those that most visitors do without are apart.
func (f *filters) addFacets(v *view, found *snapshot.Found, q *snapshot.SearchQuery) {
	all := v.facets()
	counts := make([]int, len(all.values))
	found.Count(func(i int, but string) {
		for _, n := range all.of[all.start[i]:all.start[i+1]] {
			if but == "" || all.values[n].name == but {
				counts[n]++
			}
		}
	})
	facet := func(name, label, every string) []field {
		given, isShown := f.given.Get(name), false
		shown := []option{{Label: every}}
		for n, value := range all.values {
			if value.name != name || counts[n] == 0 && value.Value != given {
				continue // it would show nothing
			}
			o := value.option
			o.Selected = o.Value == given
			if isShown = isShown || o.Selected; counts[n] > 0 {
				o.Label += "\u00a0(" + french.Count(counts[n]) + ")"
			}
			shown = append(shown, o)
		}
		switch {
		case given != "" && !isShown && q.PriceMax != nil && name == "price_max":
			shown = append(shown, option{given, priceLabel(*q.PriceMax), true})
		case given != "" && !isShown && name == "tested_since":
			shown = append(shown, option{given, french.Date(given), true})
		case len(shown) == 1:
			return nil
		}
		return []field{{Name: name, Label: label, Value: given, Options: shown}}
	}
	category, score, obsolescence, order := f.Fields[0], f.Fields[1], f.Fields[2], f.Fields[3]
	f.Fields = slices.Concat([]field{category}, facet("pricing", "Modèle", "Tous"), facet("price_max", "Prix max.", "Tous"), []field{score, order})
	f.More = slices.Concat(facet("usage", "Usage", "Tous"), facet("criterion", "Critère", "Tous"),
		facet("tested_since", "Testé depuis", "Toujours"), facet("icp", "Pour qui", "Tous"), []field{obsolescence})
}

func priceValue(euros float64) string { return strconv.FormatFloat(euros, 'f', -1, 64) }

func priceLabel(euros float64) string { return french.Euros(euros) + " par mois" }
