package site

import (
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

// An AccountPage is a page of the account or of the desk, made by package accountsite or desk, which
// knows the database and who is signed in, and shown in the layout of the site.
type AccountPage struct {
	Status  int
	Title   string
	Content template.HTML // inside <main>
	// FormsTo are other sites to which submitting a form of the page may redirect:
	// browsers apply form-action to redirects too.
	FormsTo []string
	// Desk says that it is a page of the desk, which has a script and shows other pages of ours in frames.
	Desk bool
}

// OffersPro reports whether pages may mention the Pro plan: the publisher decides.
func (s *Site) OffersPro() bool { return s.current.Load().pro() }

// CountsReaders reports whether the views of pages are counted.
func (s *Site) CountsReaders() bool {
	return s.cfg.Readers != nil && s.current.Load().snap.Catalog.CountsReaders()
}

// ServeAccountPage writes a page of the account. It is for one reader: neither
// cached nor indexed, and not compressed, because the length of a compressed page
// that holds both a secret and attacker-supplied text leaks the secret.
func (s *Site) ServeAccountPage(w http.ResponseWriter, r *http.Request, account AccountPage) {
	req := &request{Request: r, view: s.current.Load()}
	description := "L’espace des utilisateurs de l’API."
	switch {
	case account.Desk:
		description = "La rédaction du catalogue."
	case !strings.HasPrefix(r.URL.Path, "/compte"):
		description = "Suivre le catalogue par courriel, ou y signaler une erreur."
	}
	p := s.page(req, account.Title, description, r.URL.Path)
	p.Canonical, p.NoIndex, p.MoreStyle = "", true, s.assets.paths["account.css"]
	if account.Desk {
		p.Preview = nil // nobody who writes wants to see her page reload
		p.DeskStyle, p.MoreScript = s.assets.paths["desk.css"], s.assets.paths["desk.js"]
	}
	a := render(req, "embedded", p, account.Content)
	h := w.Header()
	for name, value := range s.headers {
		h[name] = value
	}
	// The address of a page may hold the token of a link, so only the origin is sent
	// as referrer. With no-referrer, browsers would send `Origin: null` with our own
	// forms, and old ones would fail the cross-origin check.
	h.Set("Referrer-Policy", "strict-origin")
	if account.Desk {
		h.Set("Content-Security-Policy", "frame-src 'self'; "+h.Get("Content-Security-Policy"))
	}
	if len(account.FormsTo) > 0 {
		h.Set("Content-Security-Policy",
			strings.Replace(h.Get("Content-Security-Policy"), formAction, formAction+" "+strings.Join(account.FormsTo, " "), 1))
	}
	h.Set("Cache-Control", noStore)
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Content-Type", a.kind)
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(account.Status)
	_, _ = w.Write(a.body) // fails only when the client is gone
}
