package site

import (
	"html/template"
	"strings"

	"palmares/internal/reference"
)

// docs shows a page of the API reference.
func (s *Site) docs(r *request) (*response, error) {
	ref := s.reference
	if !r.pro() {
		ref = s.withoutPro()
	}
	about := reference.Page{
		Path: strings.TrimSuffix(r.URL.Path, markdownSuffix), Title: "Documentation de l’API",
		About: "La référence de l’API\u00a0: opérations, paramètres, erreurs, quotas, exemples à copier " +
			"et appels à essayer sur place.",
	}
	for _, p := range ref.Pages() {
		if p.Path == about.Path {
			about = p
		}
	}
	p := s.page(r, about.Title, about.About, about.Path)
	p.Markdown = about.Path + markdownSuffix
	p.MoreStyle, p.MoreScript = s.assets.paths["docs.css"], s.assets.paths["docs.js"]
	if r.markdown {
		return render(r, "docs", p, r.words.inDocs.Replace(ref.Markdown(about.Path, r.snap, s.baseURL(r)))), nil
	}
	text := r.words.inDocs.Replace(string(ref.HTML(about.Path, r.snap, s.baseURL(r))))
	return render(r, "embedded", p, template.HTML(text)), nil //nolint:gosec // package reference made it
}

// baseURL is where callers find the API.
func (s *Site) baseURL(r *request) string {
	if s.cfg.BaseURL != "" {
		return strings.TrimSuffix(s.cfg.BaseURL, "/")
	}
	return r.snap.Catalog.URL
}
