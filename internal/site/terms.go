package site

// terms shows a page about the service itself, in our words. The publisher may replace it with a page of the same
// address.
func (s *Site) terms(r *request, name, title, description, slug string) (*response, error) {
	if own := r.snap.Catalog.Page(slug); own != nil {
		return s.customPage(r, own)
	}
	_, elsewhere := r.snap.Catalog.Terms()
	return render(r, name, s.page(r, title, description, "/"+slug), elsewhere), nil
}

func (s *Site) plans(r *request) (*response, error) {
	description := "Trois formules pour l’API\u00a0: sans inscription, gratuite avec une clé, et Pro."
	if !r.pro() {
		description = "Deux formules pour l’API, gratuites\u00a0: sans inscription, et avec une clé."
	}
	return s.terms(r, "plans", "Tarifs de l’API", description, "tarifs")
}

func (s *Site) licence(r *request) (*response, error) {
	description := "Les données sont libres de droits, à condition d’en citer la source."
	if name, _ := r.snap.Catalog.Terms(); name != "" {
		description = "Réutilisation\u00a0: " + name + "."
	}
	return s.terms(r, "licence", "Licence", description, "licence")
}

func (s *Site) privacy(r *request) (*response, error) {
	return s.terms(r, "privacy", "Confidentialité", "Ce que ce service sait de ses visiteurs\u00a0: presque rien.",
		"confidentialite")
}

// pro reports whether the site mentions the Pro plan.
func (v *view) pro() bool { return v.snap.Catalog.ShowsPro() }
