package site

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// A verdict is what decides: the score in a word, the conclusion of the test, how it was done, and
// what it found. Each part is there only if it is known.
type verdict struct {
	Word      string // the score in a word
	Range     string // the scores that have this word
	Legend    string // path of the page that explains scores; "" for none
	Summary   string
	Movement  string // of the price: +20 % depuis mars 2026
	Tested    string // a sentence: when, which version, who paid, and the author
	Interests string
	Pros      []string
	Cons      []string
	Criteria  []criterionRow
	Protocol  string // under which the criteria were measured
	IsFormer  bool   // Protocol is no longer in force
}

// A criterionRow is the value of a criterion, beside those of the category.
type criterionRow struct {
	Label, Description string
	Value              string // "" if it was not measured
	HasScale           bool   // Place and Median are valid
	Place              int    // from 0, the worst, to 100
	Median             int    // place of the median of the category; -1 if it has none
	MedianValue        string
	Better             bool // than the one it is compared with
}

// Verdict returns the verdict on a tool.
func (row *toolRow) Verdict() verdict {
	v, t := row.view, row.Tool
	d := verdict{
		Summary: markdown.NoBreak(t.Summary), Movement: movement(t), Tested: v.tested(t),
		Interests: markdown.NoBreak(t.Interests), Pros: each(t.Pros, markdown.NoBreak), Cons: each(t.Cons, markdown.NoBreak),
	}
	if t.Score != nil {
		grade := gradeOf(*t.Score)
		d.Word, d.Range = grade.word, grade.scope
	}
	c := v.category(t.Category)
	if c == nil {
		return d
	}
	d.Legend = v.legend(c)
	if len(t.Criteria) == 0 {
		return d
	}
	for i := range c.Criteria {
		d.Criteria = append(d.Criteria, v.criterion(c, &c.Criteria[i], t))
	}
	version, isCurrent := c.TestedUnder(t)
	d.Protocol, d.IsFormer = version, !isCurrent
	return d
}

func (v *view) category(slug string) *catalog.Category { return v.snap.Catalog.Category(slug) }

// legend returns the path of the page that says how the tools of a category are tested: that of its
// protocol, or the method of the whole catalogue; "" if the publisher wrote neither.
func (v *view) legend(c *catalog.Category) string {
	candidates := []string{"methode"}
	if len(c.Protocol) > 0 {
		candidates = []string{c.Protocol[0].Page, "methode"}
	}
	for _, slug := range candidates {
		if slices.ContainsFunc(v.snap.Catalog.Pages, func(p catalog.Page) bool { return p.Slug == slug }) {
			return "/" + slug
		}
	}
	return ""
}

// movement says how the price last changed; "" if the two cannot be compared.
func movement(t *catalog.Tool) string {
	if !t.HasDatedPrice() {
		return ""
	}
	last := &t.PriceHistory[0]
	before, now, ok := last.Asked()
	percent := math.Round((now - before) / before * 100)
	if before <= 0 || now <= 0 || !ok || percent == 0 {
		return ""
	}
	sign := "+"
	if percent < 0 {
		sign = "−"
	}
	day, err := time.Parse(time.DateOnly, last.ChangedAt)
	if err != nil {
		return ""
	}
	return sign + french.Count(int(math.Abs(percent))) + "\u00a0% depuis " + french.Month(day)
}

// The ways in which the testers had access: to a plan, and to a tool without naming one.
var accesses = map[catalog.Access][2]string{
	"paid":    {"payée par nous", "accès payé par nous"},
	"lent":    {"prêtée", "accès prêté"},
	"free":    {"gratuite", "accès gratuit"},
	"offered": {"offerte", "accès offert"},
}

// tested returns the date and the means of the test of a tool, without its author, or "" if it was not tested.
func (v *view) tested(t *catalog.Tool) string {
	if t.TestedAt == "" {
		return ""
	}
	parts := []string{"Testé le " + french.Date(t.TestedAt)}
	if months := monthsBetween(t.TestedAt, v.updatedAt); months > 12 {
		parts = append(parts, "il y a "+strconv.Itoa(months)+"\u00a0mois")
	}
	if t.TestedVersion != "" {
		parts = append(parts, "version "+markdown.NoBreak(t.TestedVersion))
	}
	access := accesses[t.Access]
	switch {
	case t.TestedPlan != "":
		parts = append(parts, "offre "+markdown.NoBreak(t.TestedPlan))
		if access[0] != "" {
			parts = append(parts, access[0])
		}
	case access[1] != "":
		parts = append(parts, access[1])
	}
	return strings.Join(parts, ", ")
}

// monthsBetween returns how many whole months lie between two days; 0 if one is unknown.
func monthsBetween(from, to string) int {
	a, err := time.Parse(time.DateOnly, from)
	b, err2 := time.Parse(time.DateOnly, to)
	if err != nil || err2 != nil || b.Before(a) {
		return 0
	}
	months := (b.Year()-a.Year())*12 + int(b.Month()-a.Month())
	if b.Day() < a.Day() {
		months--
	}
	return months
}

func (v *view) criterion(c *catalog.Category, x *catalog.Criterion, t *catalog.Tool) criterionRow {
	row := criterionRow{
		Label: markdown.NoBreak(x.Label), Description: markdown.NoBreak(x.Description),
		HasScale: x.Is() != catalog.KindYesNo, Median: -1,
	}
	if value, ok := t.Criteria.Of(x.Slug); ok {
		row.Value, row.Place = criterionValue(x, value), int(math.Round(x.Place(value)*100))
	}
	if middle, ok := v.medians()[[2]string{c.Slug, x.Slug}]; ok && row.HasScale {
		row.Median, row.MedianValue = int(math.Round(x.Place(middle)*100)), criterionValue(x, middle)
	}
	return row
}

// criterionValue returns a value of a criterion as pages show it.
func criterionValue(x *catalog.Criterion, v catalog.Value) string {
	switch {
	case v.IsFlag && v.Number != 0:
		return "oui"
	case v.IsFlag:
		return "non"
	case x.Unit != "":
		return french.Number(v.Number) + "\u00a0" + markdown.NoBreak(x.Unit)
	case x.Is() == catalog.KindMark:
		return french.Number(v.Number) + "\u00a0sur\u00a010"
	default:
		return french.Number(v.Number)
	}
}

// newMedians returns the medians of the criteria of all categories, by category and criterion. One
// that fewer than three tools have has none.
func newMedians(c *catalog.Catalog) map[[2]string]catalog.Value {
	const fewest = 3
	all := map[[2]string][]float64{}
	for _, t := range c.Tools {
		for _, v := range t.Criteria {
			if !v.IsFlag {
				key := [2]string{t.Category, v.Name}
				all[key] = append(all[key], v.Number)
			}
		}
	}
	medians := map[[2]string]catalog.Value{}
	for key, numbers := range all {
		if n := len(numbers); n >= fewest {
			slices.Sort(numbers)
			medians[key] = catalog.Value{Name: key[1], Number: (numbers[(n-1)/2] + numbers[n/2]) / 2}
		}
	}
	return medians
}
