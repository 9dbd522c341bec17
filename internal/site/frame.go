package site

import (
	"html/template"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// A Framed is a page that is made elsewhere and shown in the layout of the site:
// the pages of accounts, which know of a database and of who is asking, as nothing
// here does.
type Framed struct {
	Status  int
	Title   string
	Content template.HTML // inside <main>
	// FormsTo are other sites that a form of the page may lead to in the end: browsers
	// hold a redirection after a form to the same rule as the form.
	FormsTo []string
}

type framedPage struct {
	Page    page
	Content template.HTML
}

// Frame answers with such a page. It is for one reader: kept by no cache, listed by
// no search engine, and not compressed, since a page that holds both a secret and
// what a stranger sent would tell the one by its length.
func (s *Site) Frame(w http.ResponseWriter, r *http.Request, f Framed) {
	req := &request{Request: r, edition: s.edition()}
	p := s.page(req, f.Title, "L’espace des utilisateurs de l’API.", r.URL.Path)
	p.Canonical, p.NoIndex, p.MoreStyle = "", true, s.assets.paths["account.css"]
	a := render(req, "framed", p, framedPage{Page: p, Content: f.Content})
	h := w.Header()
	for name, value := range s.headers {
		h[name] = value
	}
	// The address of a page may hold the token of a link: no more than the site's name
	// goes with a request from it. With no-referrer browsers would send `Origin: null`
	// beside our own forms, and the oldest that we serve would be taken for strangers.
	h.Set("Referrer-Policy", "strict-origin")
	if len(f.FormsTo) > 0 {
		h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), formsHere, formsHere+" "+strings.Join(f.FormsTo, " "), 1))
	}
	h.Set("Cache-Control", noStore)
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Content-Type", a.kind)
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(f.Status)
	_, _ = w.Write(a.body) // the reader is gone: nobody is left to tell
}

// Functions are what templates of framed pages may call, for the same typography.
func Functions() template.FuncMap { return maps.Clone(functions) }
