package site

import (
	"slices"

	"palmares/internal/catalog"
)

// A meaning is a usage, or a criterion that is answered with yes or no, as some categories call it: the
// same slug may mean something else in another category.
type meaning struct {
	option     // the value is the slug, after a category if the slug has several meanings
	slug       string
	categories []string
}

// meanings are those of a catalogue, in its order.
type meanings struct {
	all []meaning
	at  map[[2]string]int // by category and slug
}

// declared returns the usages and the criteria answered with yes or no of the catalogue.
func (v *view) declared() (usages, criteria meanings) {
	usages.at, criteria.at = map[[2]string]int{}, map[[2]string]int{}
	for i := range v.snap.Catalog.Categories {
		c := &v.snap.Catalog.Categories[i]
		for _, usage := range c.Usages {
			usages.add(c.Slug, usage.Slug, usage.Label)
		}
		for k := range c.Criteria {
			if one := &c.Criteria[k]; one.Is() == catalog.KindYesNo {
				criteria.add(c.Slug, one.Slug, one.Label)
			}
		}
	}
	return usages, criteria
}

func (m *meanings) add(category, slug, label string) {
	value := slug
	for i := range m.all {
		one := &m.all[i]
		if one.slug != slug {
			continue
		}
		if one.Label == label {
			one.categories = append(one.categories, category)
			m.at[[2]string{category, slug}] = i
			return
		}
		one.Value, value = one.categories[0]+"."+slug, category+"."+slug
	}
	m.at[[2]string{category, slug}] = len(m.all)
	m.all = append(m.all, meaning{option{Value: value, Label: label}, slug, []string{category}})
}

// of returns what a slug means in a category, or nil.
func (m *meanings) of(category, slug string) *meaning {
	if i, ok := m.at[[2]string{category, slug}]; ok {
		return &m.all[i]
	}
	return nil
}

// find returns what a value of a filter means, or nil. A slug alone means what the category calls it,
// or else what the first category does.
func (m *meanings) find(value, category string) *meaning {
	if one := m.of(category, value); one != nil {
		return one
	}
	i := slices.IndexFunc(m.all, func(one meaning) bool { return one.Value == value || one.slug == value })
	if i < 0 {
		return nil
	}
	return &m.all[i]
}
