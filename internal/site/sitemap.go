package site

import (
	"bytes"
	"encoding/xml"
	"strconv"
	"strings"
)

// maxURLs is how many addresses one sitemap may hold (sitemaps.org).
const maxURLs = 50_000

// mapped are the pages that every catalogue has.
var mapped = []string{"/", "/outils", "/comparatifs", "/prix", "/cimetiere", "/docs", "/tarifs", "/licence", "/confidentialite"}

// eachURL visits the addresses of all pages with the day they last changed, ""
// when that is unknown. A record whose own address is elsewhere is not ours to list.
func (e *edition) eachURL(visit func(url, day string)) {
	c := e.snap.Catalog
	for _, p := range mapped {
		visit(c.URL+p, "")
	}
	for _, cat := range e.categories {
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
	for _, x := range e.published {
		visit(c.ComparisonURLOf(x.Slug), x.UpdatedAt)
	}
}

// sitemap lists all pages, or past the limit the parts that do.
func (s *Site) sitemap(r *request) (*answer, error) {
	total := 0
	r.eachURL(func(string, string) { total++ })
	if total <= maxURLs {
		return r.sitemapOf(1), nil
	}
	var b bytes.Buffer
	b.WriteString(xml.Header + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for part := 1; (part-1)*maxURLs < total; part++ {
		entry(&b, "sitemap", r.snap.Catalog.URL+"/sitemap-"+strconv.Itoa(part)+".xml", r.snap.UpdatedAt)
	}
	b.WriteString("</sitemapindex>")
	return found(xmlType, b.Bytes()), nil
}

// sitemapPart answers /sitemap-1.xml and so on; the mux cannot match a part of a
// segment, so this is where all other unknown names end as well.
func (s *Site) sitemapPart(r *request) (*answer, error) {
	name, ok := strings.CutPrefix(r.PathValue("file"), "sitemap-")
	number, xml := strings.CutSuffix(name, ".xml")
	part, err := strconv.Atoi(number)
	if ok && xml && err == nil && part >= 1 && strconv.Itoa(part) == number {
		if a := r.sitemapOf(part); a != nil {
			return a, nil
		}
	}
	return s.missing(r)
}

// sitemapOf is one part, nil when there is none of that number.
func (e *edition) sitemapOf(part int) *answer {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	n, written := 0, 0
	e.eachURL(func(url, day string) {
		if n/maxURLs == part-1 {
			entry(&b, "url", url, day)
			written++
		}
		n++
	})
	if written == 0 {
		return nil
	}
	b.WriteString("</urlset>")
	return found(xmlType, b.Bytes())
}

func entry(b *bytes.Buffer, element, url, day string) {
	b.WriteString("<" + element + "><loc>")
	_ = xml.EscapeText(b, []byte(url)) // into memory: cannot fail
	b.WriteString("</loc>")
	if day != "" {
		b.WriteString("<lastmod>" + day + "</lastmod>")
	}
	b.WriteString("</" + element + ">")
}
