package site

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

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

func (s *Site) customPage(r *request, own *catalog.Page) (*response, error) {
	description := markdown.NoBreak(cmp.Or(own.Description, beginning(markdown.Excerpt(own.Body)),
		r.snap.Catalog.Settings.Description, own.Title))
	p := s.page(r, markdown.NoBreak(own.Title), description, "/"+own.Slug)
	p.Draft, p.Markdown = r.mark(own.Draft, "pages/"+own.Slug), "/"+own.Slug+markdownSuffix
	p.share(r.shared(own.Image))
	p.JSONLD = inContext(object{
		"@type", "WebPage", "name", own.Title, "url", p.Canonical, "publisher", r.organization(), "inLanguage", "fr",
	})
	return render(r, "page", p, own), nil
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
