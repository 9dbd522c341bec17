package site

import (
	"strings"

	"palmares/internal/webhook"
)

const (
	dataPath       = "/docs/donnees"
	assistantsPath = "/docs/assistants"
)

// A guide is a text below /docs, in Markdown in both forms; examples and receivers, which only that to webhooks has,
// are shown beside it in HTML, and in it in Markdown.
type guide struct {
	Deck      string
	Sections  []guideSection
	Examples  []webhook.Example
	Receivers []receiver
}

// A guideSection is a part of the text, with what follows it.
type guideSection struct {
	section
	Examples  []webhook.Example
	Receivers []receiver
}

// HTML reports whether the page is requested in HTML.
func (r *request) HTML() bool { return !r.markdown }

// guide shows the guide whose text is in a template of Markdown.
func (s *Site) guide(r *request, name string, p page, data guide) (*response, error) {
	p.Markdown = strings.TrimSuffix(r.URL.Path, markdownSuffix) + markdownSuffix
	if r.markdown {
		return render(r, name, p, data), nil
	}
	p.Of, p.MoreStyle = data, s.assets.paths["docs.css"]
	var text strings.Builder
	if err := textTemplates()[name+markdownSuffix].ExecuteTemplate(&text, "text", &p); err != nil {
		panic(err) // the template does not fit its data; tests render every page
	}
	for _, one := range newSections(text.String(), nil) {
		part := guideSection{section: one}
		switch one.ID {
		case "evenements":
			part.Examples = data.Examples
		case "recevoir":
			part.Receivers = data.Receivers
		}
		data.Sections = append(data.Sections, part)
	}
	return render(r, "guide", p, data), nil
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
	return s.guide(r, "guide-data", s.page(r, "Copier le catalogue", "Tenir une copie exacte du catalogue, et y "+
		"chercher\u00a0: flux des changements, fichiers, historiques.", dataPath), guide{Deck: deck})
}

// assistantsGuide shows how assistants use the catalogue.
func (s *Site) assistantsGuide(r *request) (*response, error) {
	return s.guide(r, "guide-assistants", s.page(r, "Assistants", "Consulter le catalogue depuis un assistant, par le "+
		"protocole MCP\u00a0: outils, configurations, quotas.", assistantsPath),
		guide{Deck: "Un assistant cherche, lit et compare lui-même, par le protocole MCP, sans clé."})
}
