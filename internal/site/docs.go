package site

import (
	"html/template"
	"strings"
)

type docsPage struct {
	Page     page
	Content  template.HTML
	Markdown string
}

// docs shows the API reference.
func (s *Site) docs(r *request) (*response, error) {
	const about = "La référence de l’API\u00a0: opérations, paramètres, erreurs, quotas, exemples à copier " +
		"et appels à essayer sur place."
	data := docsPage{Page: s.page(r, "Documentation de l’API", about, "/docs")}
	data.Page.Markdown = "/docs" + markdownSuffix
	data.Page.MoreStyle, data.Page.MoreScript = s.assets.paths["docs.css"], s.assets.paths["docs.js"]
	ref := s.reference
	if !r.pro() {
		ref = s.withoutPro()
	}
	if r.markdown {
		data.Markdown = ref.Markdown(r.snap, s.baseURL(r))
		return render(r, "docs", data.Page, data), nil
	}
	data.Content = ref.HTML(r.snap, s.baseURL(r))
	return render(r, "embedded", data.Page, data), nil
}

// baseURL is where callers find the API.
func (s *Site) baseURL(r *request) string {
	if s.cfg.BaseURL != "" {
		return strings.TrimSuffix(s.cfg.BaseURL, "/")
	}
	return r.snap.Catalog.URL
}
