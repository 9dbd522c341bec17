package site

import (
	"cmp"
	"html/template"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A section is a part of a text. Its ID is the anchor that the API's embeddings
// link to.
type section struct {
	ID      string
	Heading string        // "" before the first heading
	HTML    template.HTML // sanitized by package markdown
}

// sections renders a text of a folder of the catalogue, section by section.
func (v *view) sections(folder, body string) []section {
	return newSections(body, inText{v.addresses.In(folder), v})
}

func newSections(body string, links markdown.Resolver) []section {
	return each(markdown.HTML(body, links, ""), func(p markdown.Part) section {
		return section{p.ID, markdown.NoBreak(p.Heading), template.HTML(p.HTML)} //nolint:gosec // package markdown made it
	})
}

// Text renders a text of a folder of the catalogue as a whole, in the form of the page. prefix is put before the ids
// in it, if a page shows several texts.
func (r *request) Text(folder, body, prefix string) template.HTML {
	if r.markdown {
		if prefix != "" {
			body = markdown.Below(body, strings.TrimSuffix(prefix, "."))
		}
		return template.HTML(r.source(folder, body)) //nolint:gosec // a page in Markdown
	}
	var b strings.Builder
	for _, p := range markdown.HTML(body, inText{r.addresses.In(folder), r.view}, prefix) {
		if p.Heading == "" {
			b.WriteString(`<section id="` + p.ID + `">` + p.HTML + `</section>`)
		} else {
			b.WriteString(p.HTML)
		}
	}
	return template.HTML(b.String())
}

func (s *Site) showReview(r *request) (*response, error) {
	t, redirect, err := r.tool("/avis/")
	if t == nil {
		return redirect, err
	}
	if t.Body == "" {
		return nil, notReviewed(t)
	}
	row := r.row(t)
	p := s.page(r, t.Name+"\u00a0: notre avis", markdown.NoBreak("Notre avis sur "+t.Name+" : "+t.Tagline), "/avis/"+t.Slug)
	p.Draft, p.Canonical, p.Article = row.Draft, r.snap.Catalog.ReviewURLOf(t), true
	p.share(cmp.Or(r.shared(t.Image), r.sharedCard("avis", t.Slug)))
	p.JSONLD = inContext(r.jsonldReview(t, r.jsonldTool(t)))
	return render(r, "review", p, &row), nil
}

// Sections returns the review.
func (t *toolRow) Sections() []section { return t.view.sections("outils", t.Tool.Body) }

func notReviewed(t *catalog.Tool) *failure {
	f := notFound("Nous n’avons pas encore publié d’avis sur " + t.Name + ".")
	f.title = "Pas encore d’avis"
	f.Link = &link{"/outils/" + t.Slug, "La fiche de " + t.Name}
	return f
}
