package site

import (
	"cmp"
	"html/template"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

type reviewPage struct {
	Page        page
	Row         toolRow
	Tool        *catalog.Tool
	Byline      signature
	Image       *img // nil for none
	Audience    string
	Sections    []section
	Body        string // the text in Markdown
	Figures     []bar
	Sources     []source
	Freshness   *freshness // nil if nothing is known
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

// sections renders a text of a folder of the catalogue, section by section.
func (v *view) sections(folder, body string) []section {
	return each(markdown.HTML(body, inText{v.addresses.In(folder), v}, ""), func(p markdown.Part) section {
		return section{p.ID, markdown.NoBreak(p.Heading), template.HTML(p.HTML)}
	})
}

// html renders a text of a folder of the catalogue as a whole. prefix is put before
// the ids in it, if a page shows several texts.
func (v *view) html(folder, body, prefix string) template.HTML {
	var b strings.Builder
	for _, p := range markdown.HTML(body, inText{v.addresses.In(folder), v}, prefix) {
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
	data := reviewPage{
		Row: r.row(t), Tool: t, Byline: r.signature(t.Authors), Image: r.hero(t.Image, heroSizes), Audience: r.audience(t),
		Sections: r.sections("outils", t.Body), Figures: r.words.bars(t), Sources: sourcesOf(t), Freshness: r.freshness(t),
		Minutes: minutes(t.Body), Body: r.bodyOf("outils", t.Body), Comparisons: r.comparisonsWith(t),
	}
	data.Page = s.page(r, t.Name+"\u00a0: notre avis", markdown.NoBreak("Notre avis sur "+t.Name+" : "+t.Tagline),
		"/avis/"+t.Slug)
	data.Page.Draft = r.mark(t.Draft, "outils/"+t.Slug)
	data.Page.Canonical, data.Page.Article = r.snap.Catalog.ReviewURLOf(t), true
	data.Page.share(cmp.Or(r.shared(t.Image), r.sharedCard("avis", t.Slug)))
	data.Page.JSONLD = inContext(r.jsonldReview(t, r.jsonldTool(t)))
	return render(r, "review", data.Page, data), nil
}

func notReviewed(t *catalog.Tool) *failure {
	f := notFound("Nous n’avons pas encore publié d’avis sur " + t.Name + ".")
	f.title = "Pas encore d’avis"
	f.link = &link{"/outils/" + t.Slug, "La fiche de " + t.Name}
	return f
}
