package site

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/markdown"
)

type toolPage struct {
	Page         page
	Row          toolRow
	Tool         *catalog.Tool
	Byline       signature
	Articles     []articleRow // about it
	Image        *img         // nil for none
	Audience     string       // "" if the catalogue makes no difference
	Figures      []bar
	Sources      []source
	Excerpt      string // the first paragraph of the review
	Minutes      int    // to read the review
	Plans        []catalog.PlanRow
	PlanNotes    bool // some plan has a note
	History      []catalog.PriceChange
	Chart        *chart.Chart
	Scores       *scoreHistory // nil if they never changed
	Alternatives []alternative
	Comparisons  []comparisonRow
	Verdict      verdict
	Announced    []announcement
	Freshness    *freshness // nil if nothing is known
}

// A source is where a fact comes from. Href is "" unless it is a valid URL.
type source struct {
	Text string
	Href string
}

// How many alternatives and articles the page of a tool shows.
const (
	toolAlternatives = 3
	toolArticles     = 6
)

func (s *Site) showTool(r *request) (*response, error) {
	if slug, ok := strings.CutSuffix(r.PathValue("slug"), feedSuffix); ok {
		return r.toolFeed(slug)
	}
	t, redirect, err := r.tool("/outils/")
	if t == nil {
		return redirect, err
	}
	data := toolPage{
		Row: r.row(t), Tool: t, Byline: r.signature(t.Authors), Image: r.hero(t.Image, columnSizes), Audience: r.audience(t),
		Figures: r.words.bars(t), Sources: sourcesOf(t),
		Excerpt: markdown.NoBreak(markdown.Excerpt(t.Body)), Minutes: minutes(t.Body),
		History: t.PriceHistory, Chart: chart.OfPrice(t, r.snap.UpdatedAt, chart.Large),
		Plans: plans(t), PlanNotes: slices.ContainsFunc(t.Plans, func(p catalog.PlanRow) bool { return p.Note != "" }),
		Scores: r.words.scoreHistory(t, r.snap.UpdatedAt), Comparisons: r.comparisonsWith(t),
		Verdict: r.verdict(t), Announced: r.announcements(t), Freshness: r.freshness(t),
	}
	data.Alternatives, _ = r.alternatives(t, toolAlternatives)
	data.Articles = r.articleRows(r.articlesOf[t.Slug], toolArticles)
	data.Page = s.page(r, markdown.NoBreak(cmp.Or(t.TitleTag, t.Name+" : note, prix et fiche")),
		markdown.NoBreak(cmp.Or(t.Description, t.Name+" : "+t.Tagline)), "/outils/"+t.Slug)
	data.Page.Canonical = r.snap.Catalog.CanonicalURLOf(t)
	data.Page.Draft, data.Page.Feed = r.mark(t.Draft, "outils/"+t.Slug), feedOf("/outils/"+t.Slug, t.Name)
	data.Page.share(cmp.Or(r.shared(t.Image), r.sharedCard("outils", t.Slug)))
	data.Page.JSONLD = []object{append(inContext(r.jsonldTool(t)), property{"review", r.jsonldReview(t, nil)}), r.crumbs(link{"/outils", "Outils"}, t.Category, t.Name, data.Page.Canonical)}
	return render(r, "tool", data.Page, data), nil
}

// bars returns the three measures of a tool.
func (w *words) bars(t *catalog.Tool) []bar {
	hint := "sur 10"
	if t.TestedAt != "" {
		hint = "sur 10, après essai"
	}
	verifiability, obsolescence := "ce que l’éditeur affirme se contrôle-t-il\u202f?", "le risque d’être dépassé\u202f; "+lessIsBetter
	if w.own.Verifiability != "" {
		verifiability = ""
	}
	if w.own.Obsolescence != "" {
		obsolescence = lessIsBetter
	}
	list := []bar{
		newBar("Note", t.Score, hint),
		newBar(w.figures["verifiability"], t.Verifiability, verifiability),
		newBar(w.figures["obsolescence"], t.Obsolescence, obsolescence),
	}
	list[2].Risk = true
	return list
}

const lessIsBetter = "moins, c’est mieux"

// plans returns the plans of a tool with French typography.
func plans(t *catalog.Tool) []catalog.PlanRow {
	return each(t.Plans, func(p catalog.PlanRow) catalog.PlanRow {
		return catalog.PlanRow{Name: markdown.NoBreak(p.Name), Price: markdown.NoBreak(p.Price), Note: markdown.NoBreak(p.Note)}
	})
}

// byline names several: "A, B et C".
func byline(names []string) string {
	n := len(names)
	if n < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n-1], ", ") + " et " + names[n-1]
}

// audience says who a tool is for; "" if the catalogue makes no difference.
func (v *view) audience(t *catalog.Tool) string {
	if !v.snap.HasProfiles {
		return ""
	}
	return v.words.audiences[t.ICP]
}

// sourcesOf returns the sources of a tool, and that of its price if it is not among them.
func sourcesOf(t *catalog.Tool) []source {
	list := each(t.Sources, newSource)
	if t.PriceSource != "" && !slices.Contains(t.Sources, t.PriceSource) {
		list = append(list, newSource(t.PriceSource))
	}
	return list
}

func newSource(raw string) source {
	if u, err := url.Parse(raw); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return source{Text: strings.TrimSuffix(u.Host+u.Path, "/"), Href: raw}
	}
	return source{Text: raw}
}

// minutes returns how long a text takes to read at 230 words a minute, rounded up.
func minutes(body string) int {
	words, inside := 0, false
	for i := range len(body) {
		blank := body[i] <= ' '
		if inside && blank {
			words++
		}
		inside = !blank
	}
	return words/230 + 1
}
