package site

// termsPage is a page about the service itself.
type termsPage struct {
	Page   page
	Credit string // the line that reuse requires
}

func (s *Site) terms(r *request, name, title, description, path string) (*answer, error) {
	data := termsPage{Page: s.page(r, title, description, path), Credit: r.snap.Catalog.CreditLine()}
	return render(r, name, data.Page, data), nil
}

func (s *Site) plans(r *request) (*answer, error) {
	return s.terms(r, "plans", "Tarifs de l’API", "Trois formules pour l’API\u00a0: sans inscription, gratuite avec une clé, et Pro.", "/tarifs")
}

func (s *Site) licence(r *request) (*answer, error) {
	return s.terms(r, "licence", "Licence", "Les données sont libres de droits, à condition d’en citer la source.", "/licence")
}

func (s *Site) privacy(r *request) (*answer, error) {
	return s.terms(r, "privacy", "Confidentialité", "Ce que ce service sait de ses visiteurs\u00a0: presque rien.", "/confidentialite")
}
