package dataapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/wire"
)

// recordType is where the document has the schema of a kind of record.
var recordType = regexp.MustCompile(`\{ "x-record": "(\w+)" \}`)

// withRecordTypes returns a document with the schemas of records, which are made from the tables of their fields. All that a
// response has at least is the slug: a caller may ask for some fields, and a publisher keep the texts.
func withRecordTypes(document []byte) []byte {
	return recordType.ReplaceAllFunc(document, func(place []byte) []byte {
		kind := catalog.KindNamed(string(recordType.FindSubmatch(place)[1]))
		text, err := content.RecordSchema(kind)
		var schema jsonschema.Schema
		if err == nil {
			err = json.Unmarshal(text, &schema)
		}
		if err != nil {
			panic(fmt.Sprintf("dataapi: the schema of %s: %v", kind.Name, err))
		}
		schema.Required = []string{"slug"}
		form := typeOf(&schema)
		form["description"] = "Un enregistrement de la sorte `" + kind.Name + "`\u202f; `/data/v1/schema/" + kind.Name +
			".json` en a toutes les règles."
		return wire.AppendJSON(nil, form)
	})
}

// typeOf returns the types of a JSON Schema as OpenAPI 3.0 writes them, of which generators make fields: without its
// patterns and limits.
func typeOf(s *jsonschema.Schema) map[string]any {
	form := map[string]any{}
	switch {
	case s.AnyOf != nil:
		var forms []any
		for _, one := range s.AnyOf {
			next := typeOf(one)
			isKnown := slices.ContainsFunc(forms, func(other any) bool { return reflect.DeepEqual(other, any(next)) })
			switch {
			case one.Type == "null":
				form["nullable"] = true
			case !isKnown:
				forms = append(forms, next)
			}
		}
		if len(forms) > 1 {
			form["anyOf"] = forms
			return form
		}
		maps.Copy(form, forms[0].(map[string]any))
	case s.Enum != nil:
		form["type"], form["enum"] = "string", s.Enum
		if _, isNumber := s.Enum[0].(float64); isNumber {
			form["type"] = "integer"
		}
	case s.Type == "array":
		form["type"], form["items"] = s.Type, typeOf(s.Items)
	case s.Type == "object":
		form["type"] = s.Type
		if s.Required != nil {
			form["required"] = s.Required
		}
		if s.AdditionalProperties != nil {
			form["additionalProperties"] = typeOf(s.AdditionalProperties)
		}
		fields := map[string]any{}
		for name, field := range s.Properties {
			fields[name] = typeOf(field)
		}
		if len(fields) > 0 {
			form["properties"] = fields
		}
	default:
		form["type"] = s.Type
	}
	return form
}
