package content

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
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
			d.report(d.lineOf(list.name), "too-many-items", d.label(list.name), list.has, list.most)
		}
	}
	for i, u := range c.Usages {
		if slices.ContainsFunc(c.Usages[:i], func(o catalog.Usage) bool { return u.Slug != "" && o.Slug == u.Slug }) {
			d.report(d.lineOf("usages"), "usage-declared-twice", u.Slug, d.within)
		}
	}
	for i, x := range c.Criteria {
		if slices.ContainsFunc(c.Criteria[:i], func(o catalog.Criterion) bool { return x.Slug != "" && o.Slug == x.Slug }) {
			d.report(d.lineOf("criteria"), "criterion-declared-twice", x.Slug, d.within)
		}
	}
	for _, p := range c.Profiles {
		for _, w := range p.Weights {
			if c.Criterion(w.Name) == nil {
				d.report(d.lineOf("profiles"), "profile-weighs-unknown", p.Label, w.Name, d.within, criteriaOf(c))
			}
		}
	}
}

// checkCriterion checks that the parts of a criterion fit together.
func (d *decoder) checkCriterion(c *catalog.Criterion) {
	hasScale := c.Worst != nil || c.Best != nil
	switch is := c.Is(); {
	case is != catalog.KindMeasure && (hasScale || c.Unit != "" || c.Better != ""):
		what := problem.New("kind-mark")
		if is == catalog.KindYesNo {
			what = problem.New("kind-yes-no")
		}
		d.report(d.line, "criterion-with-scale", c.Slug, what)
	case is != catalog.KindMeasure:
	case c.Worst == nil || c.Best == nil:
		d.report(d.line, "criterion-without-scale", c.Slug)
	case *c.Worst == *c.Best:
		d.report(d.line, "criterion-flat", c.Slug)
	case c.Better == catalog.BetterLower && *c.Best > *c.Worst, c.Better == catalog.BetterHigher && *c.Best < *c.Worst:
		d.report(d.line, "criterion-upside-down", c.Slug, c.Better, figure(*c.Best), figure(*c.Worst))
	}
}

// criteriaOf and usagesOf name what a category declares, for messages.
func criteriaOf(c *catalog.Category) problem.Text {
	return slugsOf(c.Criteria, func(x catalog.Criterion) string { return x.Slug })
}

func usagesOf(c *catalog.Category) problem.Text {
	return slugsOf(c.Usages, func(u catalog.Usage) string { return u.Slug })
}

func slugsOf[E any](list []E, slug func(E) string) problem.Text {
	if len(list) == 0 {
		return problem.New("none")
	}
	all := make([]string, len(list))
	for i, e := range list {
		all[i] = slug(e)
	}
	return problem.Words(strings.Join(all, ", "))
}

// checkTest checks what a tool says about its test against its category.
func (d *decoder) checkTest(t *catalog.Tool) {
	c := d.declared[t.Category]
	if c == nil {
		return // catalogue.yaml could not be read, or the category was reported
	}
	d.checkUsages(c, t.Usages)
	for _, v := range t.Criteria {
		d.checkValue(c, v)
	}
}

// checkUsages checks the usages of a record against its category; nil if that is not known.
func (d *decoder) checkUsages(c *catalog.Category, usages []string) {
	for _, u := range usages {
		if c != nil && !c.HasUsage(u) {
			d.report(d.lineOf("usages"), "undeclared-usage", u, c.Slug, usagesOf(c))
		}
	}
}

// checkValue checks the value of a criterion against the category.
func (d *decoder) checkValue(c *catalog.Category, v catalog.Value) {
	x, line := c.Criterion(v.Name), d.lineIn("criteria", v.Name)
	at := label{name: v.Name, within: problem.New("in", "criteria")}
	switch {
	case x == nil:
		d.report(line, "undeclared-criterion", v.Name, c.Slug, criteriaOf(c))
	case x.Is() == catalog.KindYesNo && !v.IsFlag:
		d.report(line, "not-flag", at, v)
	case x.Is() != catalog.KindYesNo && v.IsFlag:
		d.report(line, "not-number", at, v)
	case x.Is() == catalog.KindMark && (v.Number < 0 || v.Number > 10):
		d.report(line, "not-mark", at, v, catalog.SettingsFile)
	}
}

// lineIn returns the line of a member of a mapping.
func (d *decoder) lineIn(name, member string) int {
	if f := d.find(name); f != nil {
		if own := tree.Named(f.Value.Fields, member); own != nil {
			return own.Line
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
		d.warn(d.lineOf("score"), "score-without-summary")
	}
	if t.Access == "" {
		d.warn(d.lineOf("score"), "score-without-access")
	}
	c := d.declared[t.Category]
	if c == nil {
		return
	}
	if version, isCurrent := c.TestedUnder(t); !isCurrent {
		under := problem.New("former-protocol")
		if version != "" {
			under = problem.New("named-protocol", tree.Quoted(version))
		}
		d.warn(d.lineOf("tested_at"), "other-protocol", under, tree.Quoted(c.Protocol[0].Version))
	}
}
