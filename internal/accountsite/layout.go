package accountsite

import (
	"embed"

	"palmares/internal/forms"
)

//go:embed templates/*.html
var templateFiles embed.FS

var render = forms.Renderer(templateFiles)

// page is what surrounds the content of every page; the data of each page embeds it.
type page struct {
	forms.Page      // its menu is empty if nobody is signed in
	Offer      bool // the Pro plan may be mentioned
	Guide      bool // the site has /docs/webhooks
}

// menu is the same on every page of an owner.
var menu = []forms.Entry{
	{Href: homePath, Text: "Compte"},
	{Href: keysPath, Text: "Clés"},
	{Href: usagePath, Text: "Usage"},
	{Href: endpointsPath, Text: "Webhooks", Below: []string{deliveriesPath + "/"}},
	{Href: planPath, Text: "Formule"},
	{Href: sessionsPath, Text: "Sessions"},
	{Href: dataPath, Text: "Données", Below: []string{deletionPath}},
}

// page fills in what surrounds a page.
func (r *request) page(title string) page {
	var shown []forms.Entry
	for _, e := range menu {
		if r.owner != nil && (r.offer || e.Href != endpointsPath && e.Href != planPath) {
			shown = append(shown, e)
		}
	}
	return page{Page: r.Page(title, notices, shown), Offer: r.offer, Guide: r.guide}
}
