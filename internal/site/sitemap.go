package site

import (
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
	"/", "/outils", "/comparatifs", "/prix", mapPath, trendsPath, upcomingPath, "/cimetiere", "/docs",
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

// sitemaps are the files of the sitemap of one version. A large catalogue has tens of
// megabytes of them, so they are kept compressed.
type sitemaps struct {
	main  *response   // of /sitemap.xml: the only part, or the index of all parts
	parts []*response // of /sitemap-1.xml and so on
}

// buildSitemaps writes all parts in one pass over the catalogue.
func (v *view) buildSitemaps() sitemaps {
	var all sitemaps
	var part *packedWriter
	urls := 0
	finish := func() {
		part.WriteString("</urlset>")
		all.parts = append(all.parts, part.response(xmlType))
	}
	v.eachURL(func(url, day string) {
		if urls%maxURLs == 0 {
			if part != nil {
				finish()
			}
			part = newPackedWriter()
			part.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
		}
		writeEntry(part, "url", url, day)
		urls++
	})
	finish() // there are always the fixed pages
	if len(all.parts) == 1 {
		all.main = all.parts[0]
		return all
	}
	index := newPackedWriter()
	index.WriteString(xml.Header + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for i := range all.parts {
		writeEntry(index, "sitemap", v.snap.Catalog.URL+"/sitemap-"+strconv.Itoa(i+1)+".xml", v.snap.UpdatedAt)
	}
	index.WriteString("</sitemapindex>")
	all.main = index.response(xmlType)
	return all
}

// sitemap lists all pages, or the parts of the sitemap if there are too many.
func (s *Site) sitemap(r *request) (*response, error) { return r.sitemaps().main, nil }

// sitemapPart returns the part of the sitemap with a file name, sitemap-1.xml and so
// on, or nil.
func (v *view) sitemapPart(file string) *response {
	name, ok := strings.CutPrefix(file, "sitemap-")
	number, xml := strings.CutSuffix(name, ".xml")
	part, err := strconv.Atoi(number)
	if !ok || !xml || err != nil || strconv.Itoa(part) != number {
		return nil
	}
	if parts := v.sitemaps().parts; part >= 1 && part <= len(parts) {
		return parts[part-1]
	}
	return nil
}

func writeEntry(w *packedWriter, element, url, day string) {
	w.WriteString("<" + element + "><loc>")
	_ = xml.EscapeText(w, []byte(url)) // to memory: cannot fail
	w.WriteString("</loc>")
	if day != "" {
		w.WriteString("<lastmod>" + day + "</lastmod>")
	}
	w.WriteString("</" + element + ">")
}
