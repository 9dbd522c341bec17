package site

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"palmares/internal/chart"
	"palmares/internal/chronicle"
	"palmares/internal/markdown"
)

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
	// The feed of a tool goes on when it is retired: whoever follows it learns that from the feed.
	if slug, ok := strings.CutSuffix(r.PathValue("slug"), feedSuffix); ok {
		f, ok := chronicle.Find(r.snap, slug)
		switch {
		case !ok:
			return nil, notFound("Aucun outil n’est connu sous ce nom.")
		case f.Slug != slug:
			return redirect("/outils/"+f.Slug+feedSuffix, ""), nil
		}
		path := "/outils/" + slug + feedSuffix
		return r.kept(path, func() (*response, error) {
			return r.atom(path, f.Path, r.snap.Catalog.Name+"\u00a0: "+f.Name, "Les dernières modifications "+of(f.Name),
				chronicle.On(r.snap, f.Topic()))
		})
	}
	t, redirect, err := r.tool("/outils/")
	if t == nil {
		return redirect, err
	}
	row := r.row(t)
	p := s.page(r, markdown.NoBreak(cmp.Or(t.TitleTag, t.Name+" : note, prix et fiche")),
		markdown.NoBreak(cmp.Or(t.Description, t.Name+" : "+t.Tagline)), "/outils/"+t.Slug)
	p.Canonical = r.snap.Catalog.CanonicalURLOf(t)
	p.Draft, p.Feed, p.JSON = row.Draft, feedOf("/outils/"+t.Slug, t.Name), "/api/v1/tools/"+t.Slug
	p.share(cmp.Or(r.shared(t.Image), r.sharedCard("outils", t.Slug)))
	p.JSONLD = []object{
		append(inContext(r.jsonldTool(t)), "review", r.jsonldReview(t, nil)),
		r.crumbs(link{"/outils", "Outils"}, t.Category, t.Name, p.Canonical),
	}
	return render(r, "tool", p, &row), nil
}

// Articles returns those about the tool.
func (t *toolRow) Articles() []articleRow {
	return t.view.articleRows(t.view.articlesOf[t.Tool.Slug], toolArticles)
}

// Chart returns the history of the price; nil if it never changed.
func (t *toolRow) Chart() *chart.Chart {
	return chart.OfPrice(t.Tool, t.view.snap.UpdatedAt, chart.Large)
}

// Figures returns the measures of a tool besides its score.
func (t *toolRow) Figures() (list []bar) {
	w := &t.view.words
	if x := t.Tool.Verifiability; x != nil {
		hint := ""
		if w.own.Verifiability == "" {
			hint = "ce que l’éditeur affirme se contrôle-t-il\u202f?"
		}
		list = append(list, newBar(w.figures["verifiability"], x, hint))
	}
	if x := t.Tool.Obsolescence; x != nil {
		hint := lessIsBetter
		if w.own.Obsolescence == "" {
			hint = "le risque d’être dépassé\u202f; " + lessIsBetter
		}
		risk := newBar(w.figures["obsolescence"], x, hint)
		risk.Risk = true
		list = append(list, risk)
	}
	return list
}

const lessIsBetter = "moins, c’est mieux"

// byline names several: "A, B et C".
func byline(names []string) string {
	n := len(names)
	if n < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n-1], ", ") + " et " + names[n-1]
}

// Audience says who a tool is for; "" if the catalogue makes no difference.
func (t *toolRow) Audience() string {
	if !t.view.snap.HasProfiles {
		return ""
	}
	return t.view.words.audiences[t.Tool.ICP]
}

// Sources returns the sources of a tool, and that of its price if it is not among them.
func (t *toolRow) Sources() []source {
	list := each(t.Tool.Sources, newSource)
	if price := t.Tool.PriceSource; price != "" && !slices.Contains(t.Tool.Sources, price) {
		list = append(list, newSource(price))
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
