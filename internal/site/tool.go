package site

import (
	"net/url"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// toolPage is the card of one tool.
type toolPage struct {
	Page    page
	Row     toolRow
	Tool    *catalog.Tool
	Reader  string // for whom it is made
	Figures []bar
	Sources []source
	Excerpt string // how the review begins
	Minutes int    // to read it
	History []catalog.PriceChange
	Chart   *chart
	Rivals  []rival
	Matches []match
}

// A source is where something was read; it is a link only when it may be one.
type source struct {
	Text string
	Href string
}

// rivalsShown is how many alternatives a card names.
const rivalsShown = 3

func (s *Site) showTool(r *request) (*answer, error) {
	t, elsewhere, err := r.tool("/outils/")
	if t == nil {
		return elsewhere, err
	}
	v := toolPage{
		Row: r.row(t), Tool: t, Reader: readerNames[t.ICP], Figures: figures(t), Sources: sources(t),
		Excerpt: nobreak(excerpt(t.Body)), Minutes: minutes(t.Body),
		History: t.PriceHistory, Chart: priceChart(t, r.snap.UpdatedAt, largeChart),
		Matches: r.matchesOf(t),
	}
	v.Rivals, _ = r.rivals(t, rivalsShown)
	title := t.Name + "\u00a0: note, prix et fiche"
	v.Page = s.page(r, title, nobreak(t.Name+" : "+t.Tagline), "/outils/"+t.Slug)
	v.Page.Canonical = r.snap.Catalog.CanonicalURLOf(t)
	linked := r.linkedTool(t)
	linked.Context, linked.Review = schema, r.linkedReview(t)
	v.Page.Linked = linked
	return render(r, "tool", v.Page, v), nil
}

// figures are the three measures of a tool.
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

// excerpt is the first paragraph of a review as plain text, "" when it has none.
// Only the beginning is parsed: the card must not cost what the review does.
func excerpt(body string) string {
	for block := range strings.SplitSeq(body, "\n\n") {
		block = strings.TrimSpace(block)
		for strings.HasPrefix(block, "#") { // a heading needs no blank line after it
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

// minutes is how long a text takes to read, at 230 words a minute, rounded up.
func minutes(body string) int {
	words := 0
	inside := false
	for i := range len(body) {
		blank := body[i] <= ' '
		if inside && blank {
			words++
		}
		inside = !blank
	}
	return words/230 + 1
}
