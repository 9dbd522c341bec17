package site

import (
	"html/template"
	"strings"

	"palmares/internal/reference"
)

type docsPage struct {
	Page     page
	Content  template.HTML
	Markdown string
}

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
	data := docsPage{Page: s.page(r, about.Title, about.About, about.Path)}
	data.Page.Markdown = about.Path + markdownSuffix
	data.Page.MoreStyle, data.Page.MoreScript = s.assets.paths["docs.css"], s.assets.paths["docs.js"]
	if r.markdown {
		data.Markdown = r.words.inDocs.Replace(ref.Markdown(about.Path, r.snap, s.baseURL(r)))
		return render(r, "docs", data.Page, data), nil
	}
	data.Content = template.HTML(r.words.inDocs.Replace(string(ref.HTML(about.Path, r.snap, s.baseURL(r)))))
	return render(r, "embedded", data.Page, data), nil
}

// baseURL is where callers find the API.
func (s *Site) baseURL(r *request) string {
	if s.cfg.BaseURL != "" {
		return strings.TrimSuffix(s.cfg.BaseURL, "/")
	}
	return r.snap.Catalog.URL
}
