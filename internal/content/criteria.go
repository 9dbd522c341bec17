package content

import (
	"fmt"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// The rules of tests: what categories declare, and what tools say by it.

// checkLists checks what a category declares for the tests of its tools.
func (d *decoder) checkLists(c *catalog.Category) {
	for _, list := range []struct {
		name      string
		has, most int
	}{
		{"usages", len(c.Usages), maxUsages},
		{"criteria", len(c.Criteria), maxCriteria},
		{"profiles", len(c.Profiles), maxProfiles},
	} {
		if list.has > list.most {
			d.report(d.lineOf(list.name), "%s has %d items; keep at most %d", d.label(list.name), list.has, list.most)
		}
	}
	for i, u := range c.Usages {
		if slices.ContainsFunc(c.Usages[:i], func(o catalog.Usage) bool { return u.Slug != "" && o.Slug == u.Slug }) {
			d.report(d.lineOf("usages"), "usage %q is declared twice%s; keep one", u.Slug, d.within)
		}
	}
	for i, x := range c.Criteria {
		if slices.ContainsFunc(c.Criteria[:i], func(o catalog.Criterion) bool { return x.Slug != "" && o.Slug == x.Slug }) {
			d.report(d.lineOf("criteria"), "criterion %q is declared twice%s; keep one", x.Slug, d.within)
		}
	}
	for _, p := range c.Profiles {
		for _, w := range p.Weights {
			if c.Criterion(w.Name) == nil {
				d.report(d.lineOf("profiles"), "profile %q weighs %q, which is not a criterion%s (declared: %s)",
					p.Label, w.Name, d.within, criteriaOf(c))
			}
		}
	}
}

// checkCriterion checks that the parts of a criterion fit together.
func (d *decoder) checkCriterion(c *catalog.Criterion) {
	hasScale := c.Worst != nil || c.Best != nil
	switch is := c.Is(); {
	case is != catalog.KindMeasure && (hasScale || c.Unit != "" || c.Better != ""):
		what := "a mark from 0 to 10"
		if is == catalog.KindYesNo {
			what = "answered with yes or no"
		}
		d.report(d.line, "criterion %q is %s, which has no unit, better, worst or best; delete them, or give worst and best "+
			"to make it a measure", c.Slug, what)
	case is != catalog.KindMeasure:
	case c.Worst == nil || c.Best == nil:
		d.report(d.line, "criterion %q is a measure, which needs worst and best: the values that count as 0 and as 10", c.Slug)
	case *c.Worst == *c.Best:
		d.report(d.line, "criterion %q has the same worst and best; they must differ", c.Slug)
	case c.Better == catalog.BetterLower && *c.Best > *c.Worst, c.Better == catalog.BetterHigher && *c.Best < *c.Worst:
		d.report(d.line, "criterion %q says that %s is better, but its best is %s and its worst %s; correct one of them",
			c.Slug, c.Better, figure(*c.Best), figure(*c.Worst))
	}
}

// criteriaOf and usagesOf name what a category declares, for messages.
func criteriaOf(c *catalog.Category) string {
	return slugsOf(c.Criteria, func(x catalog.Criterion) string { return x.Slug })
}

func usagesOf(c *catalog.Category) string {
	return slugsOf(c.Usages, func(u catalog.Usage) string { return u.Slug })
}

func slugsOf[E any](list []E, slug func(E) string) string {
	if len(list) == 0 {
		return "none"
	}
	all := make([]string, len(list))
	for i, e := range list {
		all[i] = slug(e)
	}
	return strings.Join(all, ", ")
}

// checkTest checks what a tool says about its test against its category.
func (d *decoder) checkTest(t *catalog.Tool) {
	c := d.declared[t.Category]
	if c == nil {
		return // catalogue.yaml could not be read, or the category was reported
	}
	d.checkUsages(c, t.Usages)
	for _, v := range t.Criteria {
		if problem := misfit(c, v); problem != "" {
			d.report(d.lineIn("criteria", v.Name), "%s", problem)
		}
	}
}

// checkUsages checks the usages of a record against its category; nil if that is not known.
func (d *decoder) checkUsages(c *catalog.Category, usages []string) {
	for _, u := range usages {
		if c != nil && !c.HasUsage(u) {
			d.report(d.lineOf("usages"), "usage %q is not declared for the category %q (declared: %s)",
				u, c.Slug, usagesOf(c))
		}
	}
}

// misfit says what is wrong with the value of a criterion; "" for nothing.
func misfit(c *catalog.Category, v catalog.Value) string {
	x := c.Criterion(v.Name)
	if x == nil {
		return fmt.Sprintf("%q is not a criterion of the category %q (declared: %s)", v.Name, c.Slug, criteriaOf(c))
	}
	switch is := x.Is(); {
	case is == catalog.KindYesNo && !v.IsFlag:
		return fmt.Sprintf("%s in criteria must be true or false, not %s", v.Name, v)
	case is != catalog.KindYesNo && v.IsFlag:
		return fmt.Sprintf("%s in criteria must be a number, not %s", v.Name, v)
	case is == catalog.KindMark && (v.Number < 0 || v.Number > 10):
		return fmt.Sprintf("%s in criteria must be a number from 0 to 10, not %s; a measure has worst and best in %s",
			v.Name, v, catalogueFile)
	}
	return ""
}

// lineIn returns the line of a member of a mapping.
func (d *decoder) lineIn(name, member string) int {
	if f := d.find(name); f != nil {
		if own := named(f.value.fields, member); own != nil {
			return own.line
		}
	}
	return d.lineOf(name)
}

// warnTest warns about what readers of a test will miss.
func (d *decoder) warnTest(t *catalog.Tool) {
	if t.Score == nil {
		return
	}
	if t.Summary == "" {
		d.warn(d.lineOf("score"), "score is given without summary; say the verdict in a sentence of at most 300 characters")
	}
	if t.Access == "" {
		d.warn(d.lineOf("score"), "score is given without access; say who paid for the test: paid, lent, free or offered")
	}
	c := d.declared[t.Category]
	if c == nil {
		return
	}
	if version, isCurrent := c.TestedUnder(t); !isCurrent {
		under := "a former protocol"
		if version != "" {
			under = "protocol " + quoted(version)
		}
		d.warn(d.lineOf("tested_at"), "the tool was tested under %s, and the category is now tested under %s; test it again",
			under, quoted(c.Protocol[0].Version))
	}
}
