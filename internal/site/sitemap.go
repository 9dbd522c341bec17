package site

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
)

// maxURLs is how many URLs one sitemap may hold (sitemaps.org).
const maxURLs = 50_000

// fixedPages are the pages that every catalogue has.
var fixedPages = []string{"/", "/outils", "/comparatifs", "/prix", "/cimetiere", "/docs", "/tarifs", "/licence", "/confidentialite"}

// eachURL calls visit for every page with the day of its last change, "" if
// unknown. A record whose canonical page is elsewhere is left out.
func (v *view) eachURL(visit func(url, day string)) {
	c := v.snap.Catalog
	for _, p := range fixedPages {
		visit(c.URL+p, "")
	}
	for i := range c.Pages {
		if p := "/" + c.Pages[i].Slug; !slices.Contains(fixedPages, p) {
			visit(c.URL+p, "")
		}
	}
	for _, cat := range v.categories {
		visit(c.URL+"/categories/"+cat.Slug, "")
	}
	ours := func(url, path, day string) {
		if url == c.URL+path {
			visit(url, day)
		}
	}
	for i := range c.Tools {
		t := &c.Tools[i]
		ours(c.CanonicalURLOf(t), "/outils/"+t.Slug, t.UpdatedAt)
		ours(c.AlternativesURLOf(t), "/alternatives/"+t.Slug, t.UpdatedAt)
		if t.Body != "" {
			ours(c.ReviewURLOf(t), "/avis/"+t.Slug, t.UpdatedAt)
		}
	}
	for _, x := range v.published {
		visit(c.ComparisonURLOf(x.Slug), x.UpdatedAt)
	}
}

// sitemap lists all pages, or the parts of the sitemap if there are too many.
func (s *Site) sitemap(r *request) (*answer, error) {
	total := 0
	r.eachURL(func(string, string) { total++ })
	if total <= maxURLs {
		return r.sitemapOf(1), nil
	}
	var b bytes.Buffer
	b.WriteString(xml.Header + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for part := 1; (part-1)*maxURLs < total; part++ {
		writeEntry(&b, "sitemap", r.snap.Catalog.URL+"/sitemap-"+strconv.Itoa(part)+".xml", r.snap.UpdatedAt)
	}
	b.WriteString("</sitemapindex>")
	return newAnswer(xmlType, b.Bytes()), nil
}

// sitemapPart returns the part of the sitemap with a file name, sitemap-1.xml and so
// on, or nil.
func (v *view) sitemapPart(file string) *answer {
	name, ok := strings.CutPrefix(file, "sitemap-")
	number, xml := strings.CutSuffix(name, ".xml")
	part, err := strconv.Atoi(number)
	if ok && xml && err == nil && part >= 1 && strconv.Itoa(part) == number {
		return v.sitemapOf(part)
	}
	return nil
}

// sitemapOf returns one part of the sitemap, or nil.
func (v *view) sitemapOf(part int) *answer {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	n, written := 0, 0
	v.eachURL(func(url, day string) {
		if n/maxURLs == part-1 {
			writeEntry(&b, "url", url, day)
			written++
		}
		n++
	})
	if written == 0 {
		return nil
	}
	b.WriteString("</urlset>")
	return newAnswer(xmlType, b.Bytes())
}

func writeEntry(b *bytes.Buffer, element, url, day string) {
	b.WriteString("<" + element + "><loc>")
	_ = xml.EscapeText(b, []byte(url)) // a buffer does not fail
	b.WriteString("</loc>")
	if day != "" {
		b.WriteString("<lastmod>" + day + "</lastmod>")
	}
	b.WriteString("</" + element + ">")
}

// robots lets crawlers in everywhere: the API is for machines, and pages that are
// not worth indexing say so themselves.
func (s *Site) robots(r *request) (*answer, error) {
	return newAnswer(textType, []byte("User-agent: *\nAllow: /\n\nSitemap: "+r.snap.Catalog.URL+"/sitemap.xml\n")), nil
}
