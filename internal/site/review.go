package site

import (
	"html/template"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// reviewPage is the review of one tool.
type reviewPage struct {
	Page     page
	Row      toolRow
	Tool     *catalog.Tool
	Reader   string // for whom it is made
	Sections []section
	Figures  []bar
	Sources  []source
	Minutes  int
	Matches  []match
}

// A section is a part of a text; its anchor is that of its chunk in the
// embeddings of the API.
type section struct {
	ID      string
	Heading string        // "" for what comes before the first heading
	HTML    template.HTML // made safe by package markdown
}

func sections(body string) []section {
	parts := markdown.HTML(body)
	list := make([]section, len(parts))
	for i, p := range parts {
		list[i] = section{p.ID, nobreak(p.Heading), template.HTML(p.HTML)}
	}
	return list
}

func (s *Site) showReview(r *request) (*answer, error) {
	t, elsewhere, err := r.tool("/avis/")
	if t == nil {
		return elsewhere, err
	}
	if t.Body == "" {
		return nil, notReviewed(t)
	}
	c := r.snap.Catalog
	v := reviewPage{
		Row: r.row(t), Tool: t, Reader: readerNames[t.ICP], Sections: sections(t.Body), Figures: figures(t), Sources: sources(t),
		Minutes: minutes(t.Body), Matches: r.matchesOf(t),
	}
	v.Page = s.page(r, t.Name+"\u00a0: notre avis", nobreak("Notre avis sur "+t.Name+" : "+t.Tagline), "/avis/"+t.Slug)
	v.Page.Canonical, v.Page.Article = c.ReviewURLOf(t), true
	if linked := r.linkedReview(t); linked != nil {
		linked.Context, linked.Item = schema, r.linkedTool(t)
		v.Page.Linked = linked
	}
	return render(r, "review", v.Page, v), nil
}

func notReviewed(t *catalog.Tool) *failure {
	f := notFound("Nous n’avons pas encore publié d’avis sur " + t.Name + ".")
	f.title = "Pas encore d’avis"
	f.link = &link{"/outils/" + t.Slug, "La fiche de " + t.Name}
	return f
}
