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
	usages, criteria := v.declared("")
	q.Usage = among("usage", "Usage", func(value string) bool { return hasValue(usages, value) })
	q.Criterion = among("criterion", "Critère", func(value string) bool { return hasValue(criteria, value) })
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

// declared returns the usages, and the criteria that are answered with yes or no, of a category, or of
// all: one option for each slug.
func (v *view) declared(category string) (usages, criteria []option) {
	add := func(options []option, slug, label string) []option {
		if hasValue(options, slug) {
			return options
		}
		return append(options, option{Value: slug, Label: label})
	}
	for i := range v.snap.Catalog.Categories {
		c := &v.snap.Catalog.Categories[i]
		if category != "" && c.Slug != category {
			continue
		}
		for _, usage := range c.Usages {
			usages = add(usages, usage.Slug, usage.Label)
		}
		for k := range c.Criteria {
			if one := &c.Criteria[k]; one.Is() == catalog.KindYesNo {
				criteria = add(criteria, one.Slug, one.Label)
			}
		}
	}
	return usages, criteria
}

// A tally holds how many tools each value of a filter would show, by filter and value.
type tally map[[2]string]int

// addFacets adds the fields of these filters, with the number of tools that each value would show.
// Those that most visitors do without are apart.
func (f *filters) addFacets(v *view, found *snapshot.Found, q *snapshot.SearchQuery) {
	counts := tally{}
	found.Count(func(i int, but string) { counts.add(v, i, but) })
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
	usages, criteria := v.declared(q.Category)
	category, score, obsolescence, order := f.Fields[0], f.Fields[1], f.Fields[2], f.Fields[3]
	f.Fields = slices.Concat([]field{category}, f.facet("pricing", "Modèle", "Tous", models, counts),
		f.facet("price_max", "Prix max.", "Tous", prices, counts), []field{score, order})
	f.More = slices.Concat(f.facet("usage", "Usage", "Tous", usages, counts), f.facet("criterion", "Critère", "Tous", criteria, counts),
		f.facet("tested_since", "Testé depuis", "Toujours", years, counts), f.facet("icp", "Pour qui", "Tous", profiles, counts),
		[]field{obsolescence})
}

func priceValue(euros float64) string { return strconv.FormatFloat(euros, 'f', -1, 64) }

// add counts a tool that passes all filters, or all but one.
func (c tally) add(v *view, i int, but string) {
	t := v.snap.Catalog.Tools[i]
	add := func(name, value string) {
		if but == "" || but == name {
			c[[2]string{name, value}]++
		}
	}
	add("pricing", string(t.Pricing))
	add("icp", string(t.ICP))
	if t.TestedAt != "" {
		add("tested_since", t.TestedAt[:4]+"-01-01")
	}
	for _, usage := range t.Usages {
		add("usage", usage)
	}
	for _, value := range t.Criteria {
		if value.IsFlag && value.Number == 1 {
			add("criterion", value.Name)
		}
	}
	for _, euros := range priceSteps {
		if v.snap.Index.Meets(i, search.Constraint{PriceMax: euros}) {
			add("price_max", priceValue(euros))
		}
	}
}

// facet returns the field of a filter, or none if it has nothing to choose from. Values that would
// show nothing are left out, unless they are chosen.
func (f *filters) facet(name, label, all string, options []option, counts tally) []field {
	if len(options) == 0 {
		return nil
	}
	const longest = 24 // characters, which fit on the narrowest phone
	given := f.given.Get(name)
	shown := []option{{Label: all}}
	for _, o := range options {
		if label := []rune(o.Label); len(label) > longest {
			o.Label = strings.TrimRight(string(label[:longest-1]), " ") + "…"
		}
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
