package site

import (
	"strings"

	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/reference"
	"palmares/internal/snapshot"
)

// llmsTools is how many tools llms.txt names; the list has the rest.
const llmsTools = 10

// llms describes the site to programs (llmstxt.org). Links are absolute, since the
// file is often read outside its site.
func (s *Site) llms(r *request) (*answer, error) {
	c, base := r.snap.Catalog, s.baseURL(r)
	var b strings.Builder
	b.WriteString("# " + markdown.Escape(c.Name) + "\n\n> Des outils d’IA essayés, notés et suivis\u00a0: " +
		french.Plural(r.stats.ToolsTotal, "outil", "outils") + ", " + french.Plural(r.stats.ComparisonsTotal, "comparatif", "comparatifs") +
		", les prix en euros avec leur histoire, et " + french.Plural(r.stats.ToolsRetired, "outil disparu", "outils disparus") +
		". En français.")
	if r.updatedAt != "" {
		b.WriteString(" Catalogue du " + french.Date(r.updatedAt) + ".")
	}
	b.WriteString("\n\n")
	if r.demo {
		b.WriteString(demoSentence + "\n\n")
	}
	b.WriteString("Données libres de droits, à condition d’afficher la ligne «\u00a0" + markdown.Escape(c.CreditLine()) +
		"\u00a0». Les listes ci-dessous, les fiches (`/outils/…`), avis (`/avis/…`), alternatives (`/alternatives/…`), catégories (`/categories/…`) et comparatifs (`/comparatifs/…`) existent aussi en Markdown\u00a0: ajoutez `.md` à leur adresse. Pour chercher\u00a0: `" + base + "/outils.md?q=…`.\n")
	section := func(title string) { b.WriteString("\n## " + title + "\n\n") }
	link := func(text, path, note string) {
		b.WriteString("- [" + markdown.Escape(text) + "](" + base + path + ")")
		if note != "" {
			b.WriteString(": " + markdown.Escape(note)) // no space before the colon: programs parse this
		}
		b.WriteString("\n")
	}
	section("Catalogue")
	link("Outils", "/outils.md", "tous les outils par note ; paramètres q, category, score_min, obsolescence_max, sort, page, limit")
	link("Comparatifs", "/comparatifs.md", "les face-à-face, du plus récent au plus ancien")
	link("Prix", "/prix.md", "le prix de chaque outil et son dernier changement")
	link("Cimetière", "/cimetiere.md", "les outils disparus, pourquoi, et vers quoi se tourner")
	if len(r.categories) > 0 {
		section("Catégories")
		for _, category := range r.categories {
			link(category.Label, "/categories/"+category.Slug+markdownSuffix, french.Plural(category.ToolCount, "outil", "outils"))
		}
	}
	if best := r.rows(r.snap.Tools(snapshot.ToolQuery{}, firstItems(llmsTools)).IDs()); len(best) > 0 {
		section("Les mieux notés")
		for _, row := range best {
			path := "/outils/" + row.Slug + markdownSuffix
			if row.Reviewed {
				path = "/avis/" + row.Slug + markdownSuffix
			}
			link(row.Name, path, row.Tagline)
		}
	}
	section("API")
	link("Documentation", "/docs.md", "opérations, erreurs, quotas, exemples ; JSON, sans clé sous /api/v1")
	link("Description OpenAPI 3.0.3", reference.DocumentPath, "pour les machines")
	link("Statistiques", "/api/v1/stats", "les chiffres du catalogue, en JSON")
	section("Optional")
	link("Licence", "/licence.md", "la ligne à afficher, et ce qu’elle permet")
	link("Flux Atom", "/flux.atom", "les dernières modifications")
	link("Plan du site", "/sitemap.xml", "")
	return newAnswer(textType, []byte(b.String())), nil
}

const demoSentence = "Démonstration\u00a0: outils, notes, prix et domaines, tout ce que vous lisez ici est inventé."
