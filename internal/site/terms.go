package site

// termsPage is a page about the service itself, in our words. The publisher may
// replace it with a page of the same address.
type termsPage struct {
	Page   page
	Credit string // the line that reuse requires
	Pro    bool   // the Pro plan may be mentioned
	Counts bool   // views of pages are counted

	Terms    string // address of the publisher's own terms, if they are elsewhere
	Reserved bool   // all rights
	Training bool   // models may be trained
}

func (s *Site) terms(r *request, name, title, description, slug string) (*response, error) {
	if p := r.snap.Catalog.Page(slug); p != nil {
		return s.customPage(r, p)
	}
	c := r.snap.Catalog
	data := termsPage{
		Page: s.page(r, title, description, "/"+slug), Credit: c.CreditLine(), Pro: r.pro(),
		Reserved: c.IsReserved(), Training: !c.DeniesTraining(), Counts: c.CountsReaders(),
	}
	_, data.Terms = c.Terms()
	return render(r, name, data.Page, data), nil
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
