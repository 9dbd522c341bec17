package assistant

import (
	_ "embed"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tool is one that assistants can call.
type tool struct {
	Name        string
	Title       string
	Description string
	Input       json.RawMessage // the properties of its arguments, JSON Schema
	Required    []string
	Output      json.RawMessage // the schema of what it returns; nil for none
	call        func(*call) (any, error)
	schema      *jsonschema.Resolved // of the arguments, as it is listed
}

// toolsFile describes the tools. Models read its texts before every question, so they are short.
//
//go:embed tools.json
var toolsFile []byte

// tools are all of them.
var tools = readTools()

func readTools() (all []tool) {
	if err := json.Unmarshal(toolsFile, &all); err != nil {
		panic("assistant: tools.json: " + err.Error())
	}
	calls := map[string]func(*call) (any, error){
		"search": searchTools, "fetch": fetchText, "categories": listCategories, "compare": compareTools, "prices": listPrices,
		"changes": listChanges,
	}
	for i := range all {
		t := &all[i]
		t.call = calls[t.Name]
		var listed jsonschema.Schema
		err := json.Unmarshal(t.definition("").InputSchema.(json.RawMessage), &listed)
		if err == nil {
			t.schema, err = listed.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
		}
		if err != nil {
			panic("assistant: the schema of " + t.Name + ": " + err.Error())
		}
	}
	return all
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

// definition returns a tool as the protocol lists it. Its description names the catalogue, because an assistant chooses among
// the tools of many servers by these.
func (t *tool) definition(catalogue string) *mcp.Tool {
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": t.Input,
		"required": append([]string{}, t.Required...), "additionalProperties": false,
	})
	if err != nil {
		panic("assistant: the schema of " + t.Name + ": " + err.Error())
	}
	listed := &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: clip(catalogue, 120) + "\u00a0: " + t.Description,
		InputSchema: json.RawMessage(schema),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)},
	}
	if t.Output != nil { // an interface that holds nil would be a schema
		listed.OutputSchema = t.Output
	}
	return listed
}
