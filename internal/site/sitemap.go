package site

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/markdown"
)

// maxURLs is how many URLs one sitemap may hold (sitemaps.org).
const maxURLs = 50_000

// fixedPages are the pages that every catalogue has.
var fixedPages = []string{
	"/", "/outils", "/comparatifs", "/prix", mapPath, upcomingPath, "/cimetiere", "/docs",
	"/docs/outils", "/docs/comparatifs", "/docs/prix", "/docs/cimetiere", "/docs/categories", "/docs/statistiques",
	"/docs/embeddings", "/docs/description", "/docs/erreurs", "/docs/en-tetes", assistantsPath,
	"/tarifs", "/licence", "/confidentialite",
}

// ownPages calls yield for every page that is not about a record, with its path and, for the
// publisher's pages, its title.
func (v *view) ownPages(yield func(path string, to link) bool) {
	paths := fixedPages
	if v.pro() {
		paths = append(slices.Clip(paths), webhooksPath)
	}
	if len(v.articles) > 0 {
		paths = append(slices.Clip(paths), articlesPath)
	}
	if len(v.snap.Catalog.Authors) > 0 {
		paths = append(slices.Clip(paths), authorsPath)
	}
	if v.snap.Catalog.HasDataset() {
		paths = append(slices.Clip(paths), datasetPath, dataPath)
	}
	for _, p := range paths {
		if !yield(p, link{p, p}) {
			return
		}
	}
	for i := range v.snap.Catalog.Pages {
		own := &v.snap.Catalog.Pages[i]
		p := "/" + own.Slug
		if !slices.Contains(fixedPages, p) && !yield(p, link{p, markdown.NoBreak(own.Title)}) {
			return
		}
	}
}

// eachURL calls visit for every page with the day of its last change, "" if
// unknown. A record whose canonical page is elsewhere is left out.
func (v *view) eachURL(visit func(url, day string)) {
	c := v.snap.Catalog
	for p := range v.ownPages {
		visit(c.URL+p, "")
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
		t := c.Tools[i]
		ours(c.CanonicalURLOf(t), "/outils/"+t.Slug, t.UpdatedAt)
		ours(c.AlternativesURLOf(t), "/alternatives/"+t.Slug, t.UpdatedAt)
		if t.Body != "" {
			ours(c.ReviewURLOf(t), "/avis/"+t.Slug, t.UpdatedAt)
		}
	}
	for _, x := range v.snap.Published {
		visit(c.ComparisonURLOf(x.Slug), x.UpdatedAt)
	}
	for _, a := range v.articles {
		visit(c.ArticleURLOf(a.Slug), a.Date)
	}
	for i := range c.Authors {
		visit(c.URL+"/auteurs/"+c.Authors[i].Slug, "")
	}
	for i := range c.Retired {
		visit(c.RetiredURLOf(c.Retired[i].Slug), "")
	}
}

// sitemap lists all pages, or the parts of the sitemap if there are too many.
func (s *Site) sitemap(r *request) (*response, error) {
	if r.parts() == 1 {
		return r.urlSet(1), nil
	}
	var index bytes.Buffer
	index.WriteString(xml.Header + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for part := range r.parts() {
		writeEntry(&index, "sitemap", r.snap.Catalog.URL+"/sitemap-"+strconv.Itoa(part+1)+".xml", r.snap.UpdatedAt)
	}
	index.WriteString("</sitemapindex>")
	return newResponse(xmlType, index.Bytes()), nil
}

// countParts returns how many parts the sitemap has: at least one, as there are always the fixed pages.
func (v *view) countParts() int {
	n := 0
	v.eachURL(func(string, string) { n++ })
	return (n + maxURLs - 1) / maxURLs
}

// urlSet returns a part of the sitemap, from 1.
func (v *view) urlSet(part int) *response {
	var set bytes.Buffer
	set.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	n := 0
	v.eachURL(func(url, day string) {
		if n/maxURLs == part-1 {
			writeEntry(&set, "url", url, day)
		}
		n++
	})
	set.WriteString("</urlset>")
	return newResponse(xmlType, bytes.Clone(set.Bytes())) // without the spare room
}

// sitemapPart returns the part of the sitemap with a file name, sitemap-1.xml and so
// on, or nil.
func (v *view) sitemapPart(file string) *response {
	name, ok := strings.CutPrefix(file, "sitemap-")
	number, xml := strings.CutSuffix(name, ".xml")
	part, err := strconv.Atoi(number)
	if !ok || !xml || err != nil || strconv.Itoa(part) != number || part < 1 || part > v.parts() {
		return nil
	}
	return v.urlSet(part)
}

func writeEntry(w *bytes.Buffer, element, url, day string) {
	w.WriteString("<" + element + "><loc>")
	_ = xml.EscapeText(w, []byte(url)) // to memory: cannot fail
	w.WriteString("</loc>")
	if day != "" {
		w.WriteString("<lastmod>" + day + "</lastmod>")
	}
	w.WriteString("</" + element + ">")
}
