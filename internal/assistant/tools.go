package assistant

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tool is one that assistants can call.
type tool struct {
	name        string
	title       string
	description string
	input       string // the properties of its arguments, JSON Schema
	required    []string
	call        func(*call) (any, error)
}

// tools are all of them. Models read these texts before every question, so they are short.
var tools = []tool{
	{
		name: "search", title: "Chercher des outils",
		description: "Cherche des outils par une demande en français ou en anglais\u00a0: un besoin, une tâche, un nom, " +
			"une catégorie. Renvoie les meilleurs d’abord, avec l’extrait qui répond\u202f; lisez la suite avec fetch.",
		input: `{
			"query": {"type": "string", "description": "La demande, par exemple «\u00a0transcrire une réunion\u00a0»\u202f; sans elle, les filtres seuls."},
			"category": {"type": "string", "description": "Une catégorie, voir categories."},
			"exclude_category": {"type": "string", "description": "Une catégorie à écarter."},
			"usage": {"type": "string", "description": "Un usage, voir categories."},
			"alternatives_to": {"type": "string", "description": "L’outil à remplacer, même disparu."},
			"score_min": {"type": "number", "description": "Note sur 10 au moins."},
			"price_max": {"type": "number", "description": "Euros par mois au plus."},
			"sort": {"type": "string", "enum": ["relevance", "score", "price"]},
			"pricing": {"type": "string", "enum": ["gratuit", "freemium", "payant"], "description": "«\u00a0gratuit\u00a0» comprend les formules gratuites."},
			"limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 8},
			"next": {"type": "integer", "description": "Le next de la réponse précédente, pour la suite."}
		}`,
		call: searchTools,
	},
	{
		name: "fetch", title: "Lire un avis",
		description: "Lit l’avis sur un outil, ou une de ses sections, avec son prix et sa note. Si next est donné, " +
			"l’avis continue sous cet id.",
		input: `{
			"id": {"type": "string", "description": "Un id de search\u00a0: «\u00a0outil\u00a0» ou «\u00a0outil#section\u00a0»\u202f; ou le nom d’un outil, ou son adresse."}
		}`,
		required: []string{"id"}, call: fetchText,
	},
	{
		name: "categories", title: "Catégories, usages et critères",
		description: "Donne les catégories, leurs usages, et les critères de leurs essais avec leurs unités.",
		input: `{
			"category": {"type": "string", "description": "Une seule."},
			"next": {"type": "integer", "description": "Le next de la réponse précédente."}
		}`,
		call: listCategories,
	},
	{
		name: "compare", title: "Comparer des outils",
		description: "Met de deux à cinq outils côte à côte, avec le verdict de la rédaction quand elle les a " +
			"comparés.",
		input: `{
			"tools": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 5, "description": "Leurs id."},
			"next": {"type": "integer", "description": "Le next de la réponse précédente."}
		}`,
		required: []string{"tools"}, call: compareTools,
	},
	{
		name: "prices", title: "Prix et leur histoire",
		description: "Donne le prix d’outils avec son histoire, ou tous les changements de prix depuis un jour\u00a0: " +
			"l’un ou l’autre.",
		input: `{
			"tools": {"type": "array", "items": {"type": "string"}, "maxItems": 10, "description": "Leurs id."},
			"since": {"type": "string", "format": "date", "description": "AAAA-MM-JJ."},
			"next": {"type": "integer", "description": "Le next de la réponse précédente."}
		}`,
		call: listPrices,
	},
	{
		name: "changes", title: "Ce qui a changé",
		description: "Dit quels outils et comparatifs sont nouveaux, modifiés ou retirés depuis un jour, " +
			"après une position, ou les deux.",
		input: `{
			"since": {"type": "string", "format": "date", "description": "AAAA-MM-JJ."},
			"after": {"type": "integer", "description": "Une position\u00a0: le next de la réponse précédente, avec le même since."}
		}`,
		call: listChanges,
	},
}

// definitions returns the tools as the protocol lists them.
func definitions() []*mcp.Tool {
	list := make([]*mcp.Tool, len(tools))
	for i := range tools {
		list[i] = tools[i].definition()
	}
	return list
}

// instructionsOf tell a model what the server of a catalogue is for.
func instructionsOf(name string) string { return clip(name, 120) + "\u00a0: " + instructions }

const instructions = "un catalogue d’outils essayés et notés sur 10 par une rédaction, en français, " +
	"avec leurs prix en euros. " +
	"Pour répondre à «\u00a0quel outil pour…\u00a0», appelez search avec le besoin en quelques mots, " +
	"puis fetch sur les meilleurs id pour vérifier\u202f; compare met côte à côte, " +
	"prices donne les prix et leur histoire, categories les catégories et leurs critères, changes ce qui a changé. " +
	"score est la note sur 10, null si l’outil n’est pas essayé. " +
	"Citez l’adresse (url) de ce que vous reprenez, et la ligne credit."

// definition returns a tool as the protocol lists it.
func (t *tool) definition() *mcp.Tool {
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": json.RawMessage(t.input),
		"required": append([]string{}, t.required...), "additionalProperties": false,
	})
	if err != nil {
		panic("assistant: the schema of " + t.name + " is not JSON: " + err.Error())
	}
	closed := false
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: json.RawMessage(schema),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
	}
}
