package site

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/search"
	"palmares/internal/snapshot"
)

const comparePath = "/comparer"

// How many tools a visitor may compare, and what is read of a choice.
const (
	minCompared   = 2
	maxCompared   = 4
	maxChoice     = 2000 // bytes of the parameters
	maxChoiceName = 100  // characters of a name
	maxNames      = 200  // tools whose names the form proposes before anything is typed
)

// comparePage shows tools that a visitor chose side by side, or the form to choose them.
type comparePage struct {
	Page      page
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
	MoreNames bool     // the script looks for others while one is typed
}

// A sameLine says the same of all tools.
type sameLine struct{ Label, Text string }

// A compareField is a control of the form.
type compareField struct {
	Number   int
	Value    string
	Optional bool
}

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
	data := comparePage{Problems: chosen.problems, Retired: chosen.retired, Fields: chosen.fields(r.view)}
	for _, t := range chosen.same {
		data.Twins = append(data.Twins, r.row(t))
	}
	path := comparePath
	data.Heading = "Comparer des outils"
	switch {
	case chosen.isValid():
		if !chosen.isNormal {
			return redirectTo(r.sameForm(compareHref(chosen.tools) + chosen.suffix())), nil
		}
		data.show(r, chosen)
		sorted := slices.SortedFunc(slices.Values(chosen.tools),
			func(a, b *catalog.Tool) int { return strings.Compare(a.Slug, b.Slug) })
		path = compareHref(sorted)
	case len(chosen.tools) >= minCompared:
		data.Instead = &link{compareHref(chosen.tools), "Comparer " + byline(namesOf(chosen.tools))}
	}
	if !r.markdown {
		best := r.snap.Tools(snapshot.ToolQuery{}, firstItems(maxNames))
		data.MoreNames = best.Total > maxNames
		for _, i := range best.IDs() {
			data.Names = append(data.Names, r.fieldOf(r.snap.Catalog.Tools[i]))
		}
	}
	title := data.Heading
	if len(data.Tools) > 0 {
		title += "\u00a0: comparaison"
	}
	data.Page = s.page(r, title, "Deux à quatre outils côte à côte\u00a0: notes, prix, points forts et verdicts.",
		path)
	data.Page.Section, data.Page.NoIndex, data.Page.MoreStyle = "/comparatifs", true, s.assets.paths["market.css"]
	if len(chosen.problems) > 0 {
		data.Page.Canonical = ""
	}
	a := render(r, "compare", data.Page, data)
	if len(chosen.problems) > 0 {
		a.status, a.cache = chosen.status, noStore
	}
	return a, nil
}

// show sets what a comparison of tools shows.
func (p *comparePage) show(r *request, chosen *choice) {
	tools := chosen.tools
	p.Heading, p.IsFair, p.Only = byline(namesOf(tools)), shareCategory(tools), chosen.differences
	p.Tools, p.Verdicts = r.columns(tools), r.verdicts(tools)
	p.Toggle = compareHref(tools)
	if !p.Only {
		p.Toggle += onlyDifferences
	}
	for _, line := range append(r.comparisonLines(tools), reviewLines(tools)...) {
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

// onlyDifferences ends the address of a comparison without the lines that say the same of all.
const onlyDifferences = "&differences=1"

// compareHref returns the address of a comparison.
func compareHref(tools []*catalog.Tool) string {
	slugs := make([]string, len(tools))
	for i, t := range tools {
		slugs[i] = t.Slug
	}
	return comparePath + "?outils=" + strings.Join(slugs, ",")
}

func namesOf(tools []*catalog.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

// A choice is what the parameters of a request ask for.
type choice struct {
	tools    []*catalog.Tool // known, each once, at most maxCompared; with guesses if there are problems
	given    []string        // what the parameters name, at most maxCompared; names of tools where they are known
	same     []*catalog.Tool // that share a name that was given
	retired  []retiredTool
	problems []string
	status   int  // if there are problems
	isNormal bool // the parameters are those of compareHref
	asks     bool // there are parameters

	differences bool // lines that say the same of all are left out
}

// suffix returns what follows the tools in the address.
func (c *choice) suffix() string {
	if c.differences {
		return onlyDifferences
	}
	return ""
}

func (c *choice) isValid() bool { return c.asks && len(c.problems) == 0 }

// refuse adds a problem. Not to be found weighs more than not to be well put.
func (c *choice) refuse(status int, sentence string) {
	c.problems, c.status = append(c.problems, sentence), max(c.status, status)
}

// readChoice reads the tools of a request: slugs, separated by commas or in a parameter each,
// as forms send them. Former slugs and names lead to slugs.
func readChoice(r *request) *choice {
	c := &choice{}
	if len(r.query) > maxChoice {
		c.asks = true
		c.refuse(http.StatusBadRequest, "Cette adresse est trop longue. Choisissez de deux à quatre outils.")
		return c
	}
	parameters, err := url.ParseQuery(r.query)
	if err != nil {
		c.asks = true
		c.refuse(http.StatusBadRequest,
			"Cette adresse est mal écrite. Séparez les outils par des virgules\u00a0: "+comparePath+"?outils=a,b.")
		return c
	}
	values := parameters["outils"]
	c.asks, c.differences = len(values) > 0, parameters.Get("differences") == "1"
	count := 0
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.TrimSpace(strings.ToValidUTF8(name, ""))
			if name == "" {
				continue
			}
			if count++; count <= maxCompared {
				if t := c.add(r, name); t != nil {
					name = r.fieldOf(t)
				}
				c.given = append(c.given, name)
			}
		}
	}
	switch {
	case !c.asks || len(c.problems) > 0 && count > 1 && count <= maxCompared:
	case count == 0:
		c.refuse(http.StatusBadRequest, "Choisissez au moins deux outils.")
	case count == 1:
		c.refuse(http.StatusBadRequest, "Il faut deux outils au moins, et vous n’en avez choisi qu’un.")
	case count > maxCompared:
		c.refuse(http.StatusBadRequest,
			"Quatre outils au plus tiennent côte à côte, et vous en avez choisi "+french.Count(count)+".")
	}
	if c.isValid() {
		c.isNormal = len(values) == 1 && comparePath+"?outils="+values[0] == compareHref(c.tools)
	}
	return c
}

// add adds the tool that has a slug, had it, or has a name, and returns it; nil if there is
// none, or several.
func (c *choice) add(r *request, given string) *catalog.Tool {
	slug := normalize(given)
	t := r.snap.Catalog.Tool(slug)
	if current, ok := r.snap.Aliases[slug]; ok && t == nil {
		t = r.snap.Catalog.Tool(current)
	}
	if retired := r.snap.RetiredNamed(given); t == nil && len(retired) > 0 {
		c.retired = append(c.retired, r.retiredTool(retired[0]))
		c.refuse(http.StatusNotFound, retired[0].Name+" a quitté le catalogue\u00a0: sa notice est ci-dessous.")
		return nil
	}
	if t == nil {
		exact, near := r.named(given)
		switch {
		case len(exact) == 1:
			t = exact[0]
		case len(exact) > 1:
			c.same = append(c.same, exact...)
			c.refuse(http.StatusBadRequest, "Plusieurs outils s’appellent «\u00a0"+exact[0].Name+"\u00a0»\u00a0: "+
				"choisissez par leur adresse.")
			return nil
		default:
			sentence := "Aucun outil n’est connu sous le nom «\u00a0" + clip(given, maxChoiceName) + "\u00a0»."
			if near != nil {
				sentence += " Vouliez-vous dire " + near.Name + "\u202f?"
				if !slices.Contains(c.tools, near) {
					c.tools = append(c.tools, near)
				}
			}
			c.refuse(http.StatusNotFound, sentence)
			return nil
		}
	}
	if slices.Contains(c.tools, t) {
		c.refuse(http.StatusBadRequest, t.Name+" est nommé deux fois.")
		return t
	}
	c.tools = append(c.tools, t)
	return t
}

// named returns the tools with a name, or else the one that a search finds first; nil for
// none.
func (v *view) named(name string) (exact []*catalog.Tool, near *catalog.Tool) {
	if utf8.RuneCountInString(name) > maxChoiceName {
		return nil, nil
	}
	hits := v.snap.Index.Search(search.Query{Text: name, Limit: 10}).Hits
	for _, hit := range hits {
		if t := v.snap.Catalog.Tools[hit.Tool]; normalize(t.Name) == normalize(name) {
			exact = append(exact, t)
		}
	}
	if len(exact) > 0 || len(hits) == 0 {
		return exact, nil
	}
	return nil, v.snap.Catalog.Tools[hits[0].Tool]
}

// fields returns the values of the form: what was chosen, then empty ones.
func (c *choice) fields(v *view) []compareField {
	fields := make([]compareField, maxCompared)
	for i := range fields {
		fields[i] = compareField{Number: i + 1, Optional: i >= minCompared}
		switch {
		case c.isValid() && i < len(c.tools):
			fields[i].Value = v.fieldOf(c.tools[i])
		case i < len(c.given):
			fields[i].Value = clip(c.given[i], maxChoiceName)
		}
	}
	return fields
}

// fieldOf returns what the form shows for a tool: its name, or its slug if the name leads to another
// tool or to none.
func (v *view) fieldOf(t *catalog.Tool) string {
	slug := normalize(t.Name)
	if slug == t.Slug {
		return t.Name
	}
	_, isAlias := v.snap.Aliases[slug]
	i, isOne := v.snap.Index.Named(t.Name)
	if isAlias || !isOne || v.snap.Catalog.Tools[i] != t || v.snap.Catalog.Tool(slug) != nil ||
		len(v.snap.RetiredNamed(t.Name)) > 0 || strings.Contains(t.Name, ",") {
		return t.Slug
	}
	return t.Name
}

// clip returns the first characters of a text.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
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
	slices.SortStableFunc(list, func(a, b comparisonRow) int { return strings.Compare(b.UpdatedAt, a.UpdatedAt) })
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
	text := french.ShortEuros(euros)
	if each := chart.Each(t.Price); each != "" {
		text += " par " + each
	}
	return text
}

// A reviewPart is what a test says, or a review under a heading that many reviews have. Without items
// and text, it is a table or the like, which is read there.
type reviewPart struct {
	Items []string // of a list
	Text  string   // of a paragraph
	More  string   // address of the section; "" if it is all here
}

func (p reviewPart) IsEmpty() bool { return len(p.Items) == 0 && p.Text == "" && p.More == "" }

// maxPoints is how many items of a list are shown.
const maxPoints = 5

// reviewKinds are the headings that are compared, as normalize writes them. Such a heading
// may go on: « Limites pratiques ».
var reviewKinds = []struct {
	label    string
	headings []string
}{
	{"Points forts", []string{
		"points-forts", "forces", "atouts", "avantages", "qualites", "on-aime",
		"ce-que-nous-avons-aime", "ce-que-l-on-aime", "ce-qui-nous-a-plu",
	}},
	{"Points faibles", []string{
		"points-faibles", "faiblesses", "limites", "inconvenients", "defauts", "on-aime-moins",
		"ce-qui-nous-a-genes", "ce-que-l-on-aime-moins", "ce-qui-manque",
	}},
	{"Verdict", []string{"verdict", "notre-verdict", "notre-avis", "avis-final", "conclusion"}},
}

// verdictKind is the index of the last of reviewKinds, which is a sentence rather than a list.
const verdictKind = 2

// reviewLines returns what tests and reviews of tools say of the same things, and where to read them.
// The points and the conclusion of a test go before what a review says under such a heading.
func reviewLines(tools []*catalog.Tool) []comparisonLine {
	lines := make([]comparisonLine, len(reviewKinds))
	for i, kind := range reviewKinds {
		lines[i] = comparisonLine{Label: kind.label, Points: make([]reviewPart, len(tools))}
	}
	for column, t := range tools {
		if t.Summary != "" {
			lines[verdictKind].Points[column] = reviewPart{Text: markdown.NoBreak(t.Summary)}
		}
		for kind, points := range [][]string{t.Pros, t.Cons} {
			if len(points) > 0 {
				lines[kind].Points[column] = reviewPart{Items: noBreak(points)}
			}
		}
		for _, gist := range markdown.Gists(t.Body) {
			kind := kindOf(gist.ID, gist.Heading)
			if kind >= 0 && lines[kind].Points[column].IsEmpty() {
				lines[kind].Points[column] = newReviewPart(gist, kind == verdictKind, "/avis/"+t.Slug+"#"+url.PathEscape(gist.ID))
			}
		}
	}
	lines = slices.DeleteFunc(lines, func(l comparisonLine) bool {
		return !slices.ContainsFunc(l.Points, func(p reviewPart) bool { return !p.IsEmpty() })
	})
	reviews := comparisonLine{Label: "Avis", Links: make([]link, len(tools))}
	for column, t := range tools {
		if t.Body != "" {
			reviews.Links[column] = link{"/avis/" + t.Slug, "Lire l’avis, " + strconv.Itoa(minutes(t.Body)) + "\u00a0min"}
		}
	}
	return append(lines, reviews)
}

// kindOf returns the index in reviewKinds of a section, or -1. The longest heading decides:
// « On aime moins » is not « On aime ».
func kindOf(id, heading string) int {
	heading = strings.TrimPrefix(strings.TrimPrefix(normalize(heading), "les-"), "ses-")
	kind, length := -1, 0
	for i, k := range reviewKinds {
		for _, known := range k.headings {
			if rest, ok := strings.CutPrefix(heading,
				known); (ok && (rest == "" || rest[0] == '-' && !strings.HasPrefix(rest, "-et-")) || id == known) &&
				len(known) > length {
				kind, length = i, len(known)
			}
		}
	}
	return kind
}

// newReviewPart shortens what a section says: its list, or its paragraph, which comes first if a
// sentence is wanted.
func newReviewPart(gist markdown.Gist, sentence bool, more string) reviewPart {
	p := reviewPart{More: more}
	if gist.Paragraph != "" && (sentence || len(gist.Items) == 0) {
		p.Text = markdown.NoBreak(beginning(gist.Paragraph))
		return p
	}
	for _, item := range gist.Items[:min(len(gist.Items), maxPoints)] {
		p.Items = append(p.Items, markdown.NoBreak(beginning(item)))
	}
	return p
}
