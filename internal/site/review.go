package site

import (
	"html/template"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

type reviewPage struct {
	Page        page
	Row         toolRow
	Tool        *catalog.Tool
	Audience    string
	Sections    []section
	Figures     []bar
	Sources     []source
	Minutes     int
	Comparisons []comparisonRow
}

// A section is a part of a text. Its ID is the anchor that the API's embeddings
// link to.
type section struct {
	ID      string
	Heading string        // "" before the first heading
	HTML    template.HTML // sanitized by package markdown
}

func sections(body string) []section {
	parts := markdown.HTML(body, nil, "")
	list := make([]section, len(parts))
	for i, p := range parts {
		list[i] = section{p.ID, markdown.NoBreak(p.Heading), template.HTML(p.HTML)}
	}
	return list
}

func (s *Site) showReview(r *request) (*answer, error) {
	t, redirect, err := r.tool("/avis/")
	if t == nil {
		return redirect, err
	}
	if t.Body == "" {
		return nil, notReviewed(t)
	}
	data := reviewPage{
		Row: r.row(t), Tool: t, Audience: audiences[t.ICP], Sections: sections(t.Body), Figures: figures(t), Sources: sources(t),
		Minutes: minutes(t.Body), Comparisons: r.comparisonsWith(t),
	}
	data.Page = s.page(r, t.Name+"\u00a0: notre avis", markdown.NoBreak("Notre avis sur "+t.Name+" : "+t.Tagline), "/avis/"+t.Slug)
	data.Page.Canonical, data.Page.Article = r.snap.Catalog.ReviewURLOf(t), true
	if review := r.jsonldReview(t); review != nil {
		review.Context, review.Item = schemaOrg, r.jsonldTool(t)
		data.Page.JSONLD = review
	}
	return render(r, "review", data.Page, data), nil
}

func notReviewed(t *catalog.Tool) *failure {
	f := notFound("Nous n’avons pas encore publié d’avis sur " + t.Name + ".")
	f.title = "Pas encore d’avis"
	f.link = &link{"/outils/" + t.Slug, "La fiche de " + t.Name}
	return f
}
