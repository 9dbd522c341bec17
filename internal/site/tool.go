package site

import (
	"net/url"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

type toolPage struct {
	Page         page
	Row          toolRow
	Tool         *catalog.Tool
	Audience     string
	Figures      []bar
	Sources      []source
	Excerpt      string // the first paragraph of the review
	Minutes      int    // to read the review
	History      []catalog.PriceChange
	Chart        *chart
	Alternatives []alternative
	Comparisons  []comparisonRow
}

// A source is where a fact comes from. Href is "" unless it is a valid URL.
type source struct {
	Text string
	Href string
}

// toolAlternatives is how many alternatives the page of a tool shows.
const toolAlternatives = 3

func (s *Site) showTool(r *request) (*answer, error) {
	t, redirect, err := r.tool("/outils/")
	if t == nil {
		return redirect, err
	}
	data := toolPage{
		Row: r.row(t), Tool: t, Audience: audiences[t.ICP], Figures: figures(t), Sources: sources(t),
		Excerpt: markdown.NoBreak(excerpt(t.Body)), Minutes: minutes(t.Body),
		History: t.PriceHistory, Chart: priceChart(t, r.snap.UpdatedAt, largeChart),
		Comparisons: r.comparisonsWith(t),
	}
	data.Alternatives, _ = r.alternatives(t, toolAlternatives)
	data.Page = s.page(r, t.Name+"\u00a0: note, prix et fiche", markdown.NoBreak(t.Name+" : "+t.Tagline), "/outils/"+t.Slug)
	data.Page.Canonical = r.snap.Catalog.CanonicalURLOf(t)
	tool := r.jsonldTool(t)
	tool.Context, tool.Review = schemaOrg, r.jsonldReview(t)
	data.Page.JSONLD = tool
	return render(r, "tool", data.Page, data), nil
}

// figures returns the three measures of a tool.
func figures(t *catalog.Tool) []bar {
	return []bar{
		newBar("Note", t.Score, "sur 10, après essai"),
		newBar("Vérifiabilité", t.Verifiability, "ce que l’éditeur affirme se contrôle-t-il\u00a0?"),
		newBar("Obsolescence", t.Obsolescence, "le risque d’être dépassé\u00a0; moins, c’est mieux"),
	}
}

func sources(t *catalog.Tool) []source {
	list := make([]source, len(t.Sources))
	for i, raw := range t.Sources {
		list[i] = source{Text: raw}
		if u, err := url.Parse(raw); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
			list[i] = source{Text: strings.TrimSuffix(u.Host+u.Path, "/"), Href: raw}
		}
	}
	return list
}

// excerpt returns the first paragraph of a review as plain text, or "". It parses no
// more than that, to cost less than the whole review.
func excerpt(body string) string {
	for block := range strings.SplitSeq(body, "\n\n") {
		block = strings.TrimSpace(block)
		for strings.HasPrefix(block, "#") { // no blank line is required after a heading
			_, block, _ = strings.Cut(block, "\n")
			block = strings.TrimSpace(block)
		}
		if block == "" || block[0] == '|' || block[0] == '`' {
			continue
		}
		if text := markdown.Plain(block); text != "" {
			return text
		}
	}
	return ""
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
