package site

import (
	"strings"

	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/reference"
	"palmares/internal/snapshot"
)

const llmsPath = "/llms.txt"

// llmsTools is how many tools and articles llms.txt names; the lists have the rest.
const llmsTools = 10

// llms describes the site to programs (llmstxt.org). Links are absolute, since the
// file is often read outside its site.
func (s *Site) llms(r *request) (*response, error) {
	l := llmsFile{base: s.baseURL(r)}
	l.introduce(r)
	l.section("Catalogue")
	l.link("Outils", "/outils.md", "tous les outils par note ; paramètres q, category, score_min, obsolescence_max, "+
		"sort, page, limit")
	l.link("Comparatifs", "/comparatifs.md", "les face-à-face, du plus récent au plus ancien")
	l.link("Comparer", comparePath+markdownSuffix, "deux à quatre outils côte à côte ; paramètre outils : "+
		"leurs slugs, séparés par des virgules")
	l.link("Prix", "/prix.md", "le prix de chaque outil et son dernier changement")
	l.link("Carte", mapPath+markdownSuffix, "note et prix par mois de chaque outil, et ceux qu’aucun autre ne bat ; "+
		"paramètres category, pricing ; aussi en JSON et en CSV")
	l.link("Tendances", trendsPath+markdownSuffix, "douze mois de prix, de notes, d’arrivées et de départs ; "+
		"aussi en JSON")
	l.link("À venir", upcomingPath+markdownSuffix, "les prix et les fermetures que les éditeurs ont annoncés, par date")
	l.link("Cimetière", "/cimetiere.md", "les outils disparus, pourquoi, et vers quoi se tourner")
	if len(r.categories) > 0 {
		l.section("Catégories")
		for _, category := range r.categories {
			l.link(category.Label, "/categories/"+category.Slug+markdownSuffix,
				french.Plural(category.ToolCount, "outil", "outils"))
		}
	}
	if best := r.rows(r.snap.Tools(snapshot.ToolQuery{}, firstItems(llmsTools)).IDs()); len(best) > 0 {
		l.section("Les mieux notés")
		for _, row := range best {
			path := "/outils/" + row.Slug + markdownSuffix
			if row.Reviewed {
				path = "/avis/" + row.Slug + markdownSuffix
			}
			l.link(row.Name, path, row.Tagline)
		}
	}
	l.section("API")
	l.link("Documentation", "/docs.md", "opérations, erreurs, quotas, exemples ; JSON, sans clé sous /api/v1")
	for _, p := range s.reference.Pages() {
		l.link(p.Title, p.Path+markdownSuffix, p.About)
	}
	l.link("Assistants", assistantsPath+markdownSuffix, "le serveur MCP : outils, configurations, quotas")
	l.link("Description OpenAPI 3.0.3", reference.DocumentPath, "pour les machines")
	if r.pro() {
		l.link("Webhooks", webhooksPath+markdownSuffix, "événements, signatures, récepteurs à copier, "+
			"nouvelles tentatives")
	}
	if r.snap.Catalog.HasDataset() {
		l.link("Copier le catalogue", dataPath+markdownSuffix, "flux des changements, fichiers, recherche, historiques, "+
			"chiffres")
		l.link("Données", datasetPath+markdownSuffix, "tout le catalogue en fichiers JSON, CSV et SQLite")
	}
	l.link("Statistiques", "/api/v1/stats", "les chiffres du catalogue, en JSON")
	if len(r.articles) > 0 {
		l.section("Articles")
		l.link("Tous les articles", articlesPath+markdownSuffix, "les plus récents d’abord")
		for _, row := range r.articleRows(r.articles, llmsTools) {
			to := articleLink(row.Slug, row.Title, row.Sponsored)
			l.link(to.Text, to.Href+markdownSuffix, row.Text)
		}
	}
	if people := r.snap.Catalog.Authors; len(people) > 0 {
		l.section("Auteurs")
		for i := range people[:min(len(people), llmsTools)] {
			l.link(people[i].Name, "/auteurs/"+people[i].Slug+markdownSuffix, people[i].Role)
		}
	}
	if pages := r.snap.Catalog.Pages; len(pages) > 0 {
		l.section("Pages")
		for i := range pages {
			l.link(pages[i].Title, "/"+pages[i].Slug+markdownSuffix, pages[i].Description)
		}
	}
	l.section("Optional")
	if r.menus.Licence == "" {
		l.link("Licence", "/licence.md", "la ligne à afficher, et ce qu’elle permet")
	}
	l.link("Flux Atom", "/flux.atom", "les dernières modifications")
	l.link("Plan du site", "/sitemap.xml", "")
	return newResponse(textType, []byte(l.String())), nil
}

// llmsFile is the file while it is written.
type llmsFile struct {
	strings.Builder
	base string
}

func (l *llmsFile) section(title string) { l.WriteString("\n## " + title + "\n\n") }

func (l *llmsFile) link(text, path, note string) {
	l.WriteString("- [" + markdown.Escape(text) + "](" + l.base + path + ")")
	if note != "" {
		l.WriteString(": " + markdown.Escape(markdown.NoBreak(note))) // no space before the colon: programs parse this
	}
	l.WriteString("\n")
}

// introduce says what the catalogue is, and on what terms it may be used.
func (l *llmsFile) introduce(r *request) {
	c := r.snap.Catalog
	l.WriteString("# " + markdown.Escape(c.Name) + "\n\n> Un catalogue d’outils notés et suivis\u00a0: " +
		french.Plural(r.stats.ToolsTotal, "outil", "outils") + ", " + french.Plural(r.stats.ComparisonsTotal, "comparatif",
		"comparatifs") +
		", les prix en euros avec leur histoire, et " + french.Plural(r.stats.ToolsRetired, "outil disparu",
		"outils disparus") +
		". En français.")
	if r.updatedAt != "" {
		l.WriteString(" Catalogue du " + french.Date(r.updatedAt) + ".")
	}
	l.WriteString("\n\n")
	if about := c.Settings.Description; about != "" {
		l.WriteString(markdown.Escape(markdown.NoBreak(about)) + "\n\n")
	}
	if r.demo {
		l.WriteString(demoSentence + "\n\n")
	}
	terms := "Données libres de droits, à condition d’afficher"
	if r.menus.Licence != "" {
		terms = "Réutilisation\u00a0: " + markdown.Escape(r.menus.Licence) + ", " + l.base + "/licence.md. Qui cite les données affiche"
	}
	if c.DeniesTraining() {
		terms = "L’usage pour entraîner des modèles est refusé. " + terms
	}
	l.WriteString(terms + " la ligne «\u00a0" + markdown.Escape(c.CreditLine()) +
		"\u00a0». Les listes ci-dessous, les fiches (`/outils/…`), avis (`/avis/…`), " +
		"alternatives (`/alternatives/…`), catégories (`/categories/…`), comparatifs (`/comparatifs/…`), articles (`/articles/…`), auteurs (`/auteurs/…`) et outils disparus " +
		"(`/cimetiere/…`) existent " +
		"aussi en Markdown\u00a0: ajoutez `.md` à leur adresse. Pour chercher\u00a0: `" + l.base + "/outils.md?q=…`. " +
		"Pour les assistants\u00a0: serveur MCP, sans clé, à `" + l.base + "/mcp`.\n")
}

const demoSentence = "Démonstration\u00a0: outils, notes, prix et domaines, tout ce que vous lisez ici est inventé."
