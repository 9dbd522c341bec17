package site

import (
	"html/template"
	"strings"

	"palmares/internal/markdown"
	"palmares/internal/webhook"
)

const (
	dataPath       = "/docs/donnees"
	assistantsPath = "/docs/assistants"
)

// A guidePage is a guide below /docs. Its text is Markdown in both forms; what is shown
// beside it differs.
type guidePage struct {
	Page     page
	HTML     bool // examples and receivers are shown beside the text, not in it
	Deck     string
	Base     string // where callers find the API
	Sections []guideSection

	// Of the guide to webhooks.
	Examples  []webhook.Example
	Receivers []receiver
}

// A guideSection is a part of the text, with what follows it.
type guideSection struct {
	ID, Heading string
	HTML        template.HTML
	Examples    []webhook.Example
	Receivers   []receiver
}

// guide shows the guide whose text is in a template of Markdown.
func (s *Site) guide(r *request, name string, data guidePage) *response {
	data.Page.Markdown = strings.TrimSuffix(r.URL.Path, markdownSuffix) + markdownSuffix
	data.HTML, data.Base = !r.markdown, s.baseURL(r)
	if r.markdown {
		return render(r, name, data.Page, data)
	}
	data.Page.MoreStyle = s.assets.paths["docs.css"]
	var text strings.Builder
	if err := textTemplates()[name+markdownSuffix].ExecuteTemplate(&text, "text", data); err != nil {
		panic(err) // the template does not fit its data; tests render every page
	}
	for _, part := range markdown.HTML(text.String(), nil, "") {
		//nolint:gosec // package markdown made it
		section := guideSection{ID: part.ID, Heading: markdown.NoBreak(part.Heading), HTML: template.HTML(part.HTML)}
		switch part.ID {
		case "evenements":
			section.Examples = data.Examples
		case "recevoir":
			section.Receivers = data.Receivers
		}
		data.Sections = append(data.Sections, section)
	}
	return render(r, "guide", data.Page, data)
}

// dataGuide shows how to search and to keep a copy. A publisher who does not offer the dataset hides it.
func (s *Site) dataGuide(r *request) (*response, error) {
	if !r.snap.Catalog.HasDataset() {
		return nil, noDataset()
	}
	deck := "Une copie entière coûte une requête, la tenir à jour une par jour, et une empreinte prouve les deux."
	if r.snap.Catalog.IsReserved() {
		deck = "Tous droits réservés\u00a0: une copie demande l’accord de qui publie ce site. " + deck
	}
	return s.guide(r, "guide-data", guidePage{
		Page: s.page(r, "Copier le catalogue", "Tenir une copie exacte du catalogue, et y chercher\u00a0: "+
			"flux des changements, fichiers, historiques.", dataPath),
		Deck: deck,
	}), nil
}

// assistantsGuide shows how assistants use the catalogue.
func (s *Site) assistantsGuide(r *request) (*response, error) {
	return s.guide(r, "guide-assistants", guidePage{
		Page: s.page(r, "Assistants", "Consulter le catalogue depuis un assistant, par le protocole MCP : outils, "+
			"configurations, quotas.", assistantsPath),
		Deck: "Un assistant cherche, lit et compare lui-même, par le protocole MCP, sans clé.",
	}), nil
}
