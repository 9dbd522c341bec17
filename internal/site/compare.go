package site

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/snapshot"
)

// comparePage shows tools that a visitor chose side by side, or the form to choose them.
type comparePage struct {
	Heading   string
	Tools     []comparedTool // none if the choice cannot be shown
	Contrasts []string       // how each two of them differ, in a sentence
	IsFair    bool           // they share a category: some can be better than others
	Lines     comparisonLines
	Same      []sameLine
	Only      bool            // Same is left out
	Toggle    string          // address of the page with Same, or without
	Verdicts  []comparisonRow // published comparisons of any two of them
	Problems  []string
	Retired   []retiredTool // among the chosen
	Twins     []toolRow     // that share a name that was given
	Instead   *link         // to a valid choice; nil for none
	Fields    []compareField
	Names     []string // proposed by the form
}

// A sameLine says the same of all tools.
type sameLine struct{ Label, Text string }

// A comparedTool is a column.
type comparedTool struct {
	toolRow
	Without string // address of the comparison without it; "" if too few would remain
}

// compare shows the tools in the order of the address. There are too many choices to keep
// their pages; search engines are told that the order makes no difference and that the page
// is not for them.
func (s *Site) compare(r *request) (*response, error) {
	chosen := readChoice(r)
	data := comparePage{
		Problems: chosen.problems, Retired: chosen.retired, Fields: chosen.fields(r.view), Twins: each(chosen.same, r.row),
	}
	path := comparePath
	data.Heading = "Comparer des outils"
	switch {
	case chosen.isValid():
		if !chosen.isNormal {
			to := compareHref(chosen.tools)
			if chosen.differences {
				to += onlyDifferences
			}
			return redirectTo(r.sameForm(to)), nil
		}
		data.show(r, chosen)
		sorted := slices.SortedFunc(slices.Values(chosen.tools),
			func(a, b *catalog.Tool) int { return strings.Compare(a.Slug, b.Slug) })
		path = compareHref(sorted)
	case len(chosen.tools) >= minCompared:
		data.Instead = &link{compareHref(chosen.tools), "Comparer " + byline(namesOf(chosen.tools))}
	}
	if !r.markdown {
		best := r.snap.Tools(snapshot.ToolQuery{}, firstItems(maxNames)).IDs()
		data.Names = each(best, func(i int32) string { return r.fieldOf(r.snap.Catalog.Tools[i]) })
	}
	title := data.Heading
	if len(data.Tools) > 0 {
		title += "\u00a0: comparaison"
	}
	p := s.page(r, title, "Deux à quatre outils côte à côte\u00a0: notes, prix, points forts et verdicts.",
		path)
	p.Section, p.NoIndex, p.MoreStyle = "/comparatifs", true, s.assets.paths["market.css"]
	if len(chosen.problems) > 0 {
		p.Canonical = ""
	}
	a := render(r, "compare", p, data)
	if len(chosen.problems) > 0 {
		a.status, a.cache = chosen.status, noStore
	}
	return a, nil
}

func (p *comparePage) show(r *request, chosen *choice) {
	tools := chosen.tools
	p.Heading, p.IsFair, p.Only = byline(namesOf(tools)), shareCategory(tools), chosen.differences
	p.Tools, p.Verdicts = r.columns(tools), r.verdicts(tools)
	p.Toggle = compareHref(tools)
	if !p.Only {
		p.Toggle += onlyDifferences
	}
	for _, line := range append(r.comparisonLines(tools), testLines(tools)...) {
		if text, isSame := line.same(); isSame {
			p.Same = append(p.Same, sameLine{line.Label, text})
		} else {
			p.Lines = append(p.Lines, line)
		}
	}
	for i, a := range tools {
		for _, b := range tools[i+1:] {
			p.Contrasts = append(p.Contrasts, r.contrast(a, b))
		}
	}
}

// A testPart is what a test says of its points, or its conclusion.
type testPart struct {
	Items []string
	Text  string
}

func (p testPart) IsEmpty() bool { return len(p.Items) == 0 && p.Text == "" }

// testLines returns what the tests of tools say of the same things, and where their reviews are.
func testLines(tools []*catalog.Tool) (lines []comparisonLine) {
	add := func(label string, of func(t *catalog.Tool) testPart) {
		parts := each(tools, of)
		if slices.ContainsFunc(parts, func(p testPart) bool { return !p.IsEmpty() }) {
			lines = append(lines, comparisonLine{Label: label, Points: parts})
		}
	}
	add("Points forts", func(t *catalog.Tool) testPart { return testPart{Items: each(t.Pros, markdown.NoBreak)} })
	add("Points faibles", func(t *catalog.Tool) testPart { return testPart{Items: each(t.Cons, markdown.NoBreak)} })
	add("Verdict", func(t *catalog.Tool) testPart { return testPart{Text: markdown.NoBreak(t.Summary)} })
	return append(lines, comparisonLine{Label: "Avis", Links: each(tools, func(t *catalog.Tool) (to link) {
		if t.Body != "" {
			to = link{"/avis/" + t.Slug, "Lire l’avis, " + strconv.Itoa(minutes(t.Body)) + "\u00a0min"}
		}
		return to
	})})
}

// contrast says in a sentence how b differs from a. Figures of tests are compared only within a
// category.
func (v *view) contrast(a, b *catalog.Tool) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, inside(text))
		}
	}
	if a.Category == b.Category {
		add(scoreDifference(a, b))
		add(v.criterionDifference(a, b))
	}
	add(priceDifference(a, b))
	if a.Pricing != b.Pricing {
		add(string(b.Pricing) + " plutôt que " + string(a.Pricing))
	}
	if len(parts) == 0 {
		add("rien ne les distingue dans ce tableau")
	}
	return b.Name + " face à " + a.Name + "\u00a0: " + strings.Join(parts, ", ") + "."
}

// criterionDifference names the criterion in which b differs most from a; "" if none differs by a tenth
// of its scale.
func (v *view) criterionDifference(a, b *catalog.Tool) string {
	c := v.category(a.Category)
	if c == nil {
		return ""
	}
	most, text := 0.1, ""
	for i := range c.Criteria {
		x := &c.Criteria[i]
		mine, ok := a.Criteria.Of(x.Slug)
		its, both := b.Criteria.Of(x.Slug)
		gap := x.Place(its) - x.Place(mine)
		if !ok || !both || math.Abs(gap) <= most {
			continue
		}
		most, text = math.Abs(gap), "meilleur"
		if gap < 0 {
			text = "moins bon"
		}
		text += " en «\u00a0" + markdown.NoBreak(x.Label) + "\u00a0» (" + criterionValue(x, its) + " contre " + criterionValue(x, mine) + ")"
	}
	return text
}

func namesOf(tools []*catalog.Tool) []string {
	return each(tools, func(t *catalog.Tool) string { return t.Name })
}

func (v *view) columns(tools []*catalog.Tool) []comparedTool {
	list := make([]comparedTool, len(tools))
	for i, t := range tools {
		list[i].toolRow = v.row(t)
		if len(tools) > minCompared {
			list[i].Without = compareHref(slices.Delete(slices.Clone(tools), i, i+1))
		}
	}
	return list
}

// verdicts returns the published comparisons of any two of the tools, newest first.
func (v *view) verdicts(tools []*catalog.Tool) []comparisonRow {
	isChosen := func(slug string) bool {
		return slices.ContainsFunc(tools, func(t *catalog.Tool) bool { return t.Slug == slug })
	}
	var list []comparisonRow
	for _, t := range tools {
		for _, x := range v.comparisons[t.Slug] {
			if x.ToolA == t.Slug && isChosen(x.ToolB) { // not again from the other side
				list = append(list, v.comparisonRow(x))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b comparisonRow) int { return strings.Compare(b.Record.UpdatedAt, a.Record.UpdatedAt) })
	return list
}

// monthly returns what a tool costs per month, or that it cannot be said.
func monthly(t *catalog.Tool) string {
	euros, ok := catalog.Monthly(t.Pricing, t.Price)
	switch {
	case !catalog.IsPublic(t.Pricing, t.Price):
		return "—"
	case !ok:
		return "ne se ramène pas au mois"
	case euros == 0:
		return "0\u00a0€"
	}
	text := chart.About(t, french.ShortEuros(euros), false)
	if each := chart.Each(t.Price); each != "" {
		text += " par " + each
	}
	return text
}
