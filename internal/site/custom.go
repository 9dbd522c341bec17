package site

import (
	"cmp"
	"html/template"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// customPage is a page that the publisher wrote.
type customPage struct {
	Page    page
	Byline  signature
	Date    string // "" for none
	Image   *img   // nil for none
	HTML    template.HTML
	Body    string // the same in Markdown
	Licence bool   // the page shows the line that reuse requires
	Credit  string
}

// showPage serves the paths of one segment that no other page has: the publisher's
// pages and the parts of the sitemap, since the mux cannot match part of a segment.
func (s *Site) showPage(r *request) (*response, error) {
	slug := r.PathValue("slug")
	if p := r.snap.Catalog.Page(slug); p != nil {
		return s.customPage(r, p)
	}
	if part := r.sitemapPart(slug); part != nil {
		return part, nil
	}
	if other := slugOf(slug); r.snap.Catalog.Page(other) != nil {
		return redirect(r.sameForm("/"+other), r.URL.RawQuery), nil
	}
	if current, ok := r.snap.Aliases[catalog.PageKind][slug]; ok {
		return redirect(r.sameForm("/"+current), r.URL.RawQuery), nil
	}
	if r.ended()["pages/"+slug] {
		return nil, pageGone()
	}
	return s.notFound(r)
}

func (s *Site) customPage(r *request, p *catalog.Page) (*response, error) {
	c := r.snap.Catalog
	data := customPage{
		Image: r.hero(p.Image, pageSizes), HTML: r.html("pages", p.Body, ""), Body: r.bodyOf("pages", p.Body),
		Byline: r.signature(p.Authors), Date: p.Date, Licence: p.Slug == "licence", Credit: c.CreditLine(),
	}
	description := markdown.NoBreak(cmp.Or(p.Description, beginning(markdown.Excerpt(p.Body)), c.Settings.Description,
		p.Title))
	data.Page = s.page(r, markdown.NoBreak(p.Title), description, "/"+p.Slug)
	data.Page.Draft = r.mark(p.Draft, "pages/"+p.Slug)
	data.Page.Markdown = "/" + p.Slug + markdownSuffix
	data.Page.share(r.shared(p.Image))
	data.Page.JSONLD = &jsonldText{
		Context: schemaOrg, Type: "WebPage", Name: p.Title, URL: data.Page.Canonical, Publisher: r.organization(),
		Language: "fr",
	}
	return render(r, "page", data.Page, data), nil
}

// beginning returns the first words of a text, as many as search engines show.
func beginning(text string) string {
	const most = 160
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	cut := string([]rune(text)[:most])
	if space := strings.LastIndexByte(cut, ' '); space > 0 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:.") + "…"
}
