package content

import (
	"regexp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
	"palmares/internal/theme"
)

// The rules of catalogue.yaml, beside those of its fields.

// readCatalogue reads catalogue.yaml. If its categories cannot be read, those of
// the records are not checked.
func (f *folder) readCatalogue() {
	text, failure := readFile(f.fsys, catalog.SettingsFile)
	if failure != nil {
		f.tell(catalog.SettingsFile, 1, failure)
		return
	}
	var found findings
	d := newDecoder(catalog.SettingsFile, basis{}, &found)
	file, ok := tree.ParseSettings(text, d.tell)
	if ok {
		d.File, d.fields = file, file.Fields
		f.catalogue, f.declared = d.catalogue()
		f.site, f.zone, f.silenced = f.catalogue.URL, f.catalogue.Zone(), silencedBy(&f.catalogue)
		d.warnPictures()
		f.settings = record{file: d.file, references: &d.references}
	}
	f.add(found)
}

func (d *decoder) catalogue() (catalog.Catalog, categories) {
	if d.IsRecord {
		d.text(&ownKind)
	}
	d.ownCategories = categories{}
	var c catalog.Catalog
	d.read(catalog.CatalogueFields, &c)
	for _, kind := range silencedBy(&c) {
		if !slices.Contains(WarningKinds, kind) {
			d.warn("warnings", "unknown-warning", tree.Quoted(kind), strings.Join(WarningKinds, ", "))
		}
	}
	d.checkRights(&c.Settings)
	for i := range c.Categories {
		c.Categories[i].Position = i
	}
	taken := map[string]bool{}
	for _, alias := range d.aliases {
		switch {
		case d.ownCategories[alias.slug] != nil:
			d.report(alias.line, "alias-is-category", alias.slug)
		case taken[alias.slug]:
			d.report(alias.line, "category-alias-twice", alias.slug)
		}
		taken[alias.slug] = true
	}
	if d.IsRecord {
		d.finish()
	} else {
		d.rejectOthers()
	}
	return c, d.ownCategories
}

// ownKind is the slug of a catalogue as a record.
var ownKind = catalog.Field{
	Name: "slug", Form: catalog.Enum, Use: catalog.Always, Values: []string{catalog.CatalogueKind.Name},
}

// checkLists checks what a category declares for the tests of its tools.
func (o *object) checkLists(c *catalog.Category) {
	for _, list := range []struct {
		name      string
		has, most int
	}{
		{"usages", len(c.Usages), maxUsages},
		{"criteria", len(c.Criteria), maxCriteria},
		{"profiles", len(c.Profiles), maxProfiles},
	} {
		if list.has > list.most {
			o.report(o.lineOf(list.name), "too-many-items", o.label(list.name), list.has, list.most)
		}
	}
	for i, u := range c.Usages {
		if slices.ContainsFunc(c.Usages[:i], func(o catalog.Usage) bool { return u.Slug != "" && o.Slug == u.Slug }) {
			o.report(o.lineOf("usages"), "usage-declared-twice", u.Slug, o.within)
		}
	}
	for i, x := range c.Criteria {
		if slices.ContainsFunc(c.Criteria[:i], func(o catalog.Criterion) bool { return x.Slug != "" && o.Slug == x.Slug }) {
			o.report(o.lineOf("criteria"), "criterion-declared-twice", x.Slug, o.within)
		}
	}
	for _, p := range c.Profiles {
		for _, w := range p.Weights {
			if c.Criterion(w.Name) == nil {
				o.report(o.lineOf("profiles"), "profile-weighs-unknown", p.Label, w.Name, o.within, criteriaOf(c))
			}
		}
	}
}

// checkCriterion checks that the parts of a criterion fit together.
func (o *object) checkCriterion(c *catalog.Criterion) {
	hasScale := c.Worst != nil || c.Best != nil
	switch is := c.Is(); {
	case is != catalog.KindMeasure && (hasScale || c.Unit != "" || c.Better != ""):
		what := problem.New("kind-mark")
		if is == catalog.KindYesNo {
			what = problem.New("kind-yes-no")
		}
		o.report(o.line, "criterion-with-scale", c.Slug, what)
	case is != catalog.KindMeasure:
	case c.Worst == nil || c.Best == nil:
		o.report(o.line, "criterion-without-scale", c.Slug)
	case *c.Worst == *c.Best:
		o.report(o.line, "criterion-flat", c.Slug)
	case c.Better == catalog.BetterLower && *c.Best > *c.Worst, c.Better == catalog.BetterHigher && *c.Best < *c.Worst:
		o.report(o.line, "criterion-upside-down", c.Slug, c.Better, figure(*c.Best), figure(*c.Worst))
	}
}

// criteriaOf and usagesOf name what a category declares, for messages.
func criteriaOf(c *catalog.Category) problem.Text {
	return slugsOf(c.Criteria, func(x catalog.Criterion) string { return x.Slug })
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

// checkRights checks what is said about reuse, and drops what is so by default.
func (d *decoder) checkRights(s *catalog.Settings) {
	const open = "open"
	for _, l := range s.Licence {
		isWord := l.Name == open || l.Name == catalog.Reserved
		given := d.find("licence")
		if given.Kind == tree.Mapping && l.URL == "" && !isWord {
			if given.Find("url") == nil { // another problem says what is wrong with one that is given
				d.report(given.Line, "licence-without-url")
			}
		} else if l.Name != "" && l.URL == "" && !isWord {
			d.report(d.lineOf("licence"), "licence-unknown", tree.Quoted(l.Name))
		} else if l.URL != "" && isWord {
			d.report(d.lineOf("licence"), "licence-with-url", l.Name)
		}
	}
	if len(s.Licence) > 0 && s.Licence[0].Name == open {
		s.Licence = nil
	}
	for i, line := range s.Robots {
		if !robotsLine.MatchString(line) {
			d.warn("robots", "robots-line", i+1, tree.Quoted(line))
		}
	}
}

var robotsLine = regexp.MustCompile(`^(?:#.*|[A-Za-z-]+: ?.*)$`)

// checkTheme reports colours in which text is hard to read.
func (o *object) checkTheme(t *catalog.Theme) {
	for _, check := range []struct {
		field, given string
		mode         *theme.Mode
	}{{"accent", t.Accent, &theme.Light}, {"accent_dark", t.AccentDark, &theme.Dark}} {
		if c, ok := theme.Parse(check.given); ok && check.mode.Contrast(c) < theme.MinContrast {
			o.report(o.lineOf(check.field), "hard-to-read", o.label(check.field), c, check.mode.Nearest(c))
		}
	}
}
