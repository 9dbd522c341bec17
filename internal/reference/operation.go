package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/web"
)

// operation takes one operation from the document.
func (d *document) operation(path string, op *operationObject) operation {
	o := operation{
		ID: op.OperationID, Path: path, Summary: markdown.NoBreak(op.Summary),
		Text: op.Description, HTML: block(op.Description),
		Keyed: !slices.ContainsFunc(op.Security, func(s map[string][]string) bool { return len(s) == 0 }),
	}
	for _, p := range op.Parameters {
		o.Parameters = append(o.Parameters, d.parameter(o.ID, p))
	}
	for _, r := range op.Responses {
		response := r.Value.in(d.Components.Responses)
		content := response.Content["application/json"]
		s := status{Status: r.Name, Text: response.Description, HTML: inline(response.Description)}
		var examples []example
		examples, s.Codes = d.examples(content.Examples)
		if r.Name == "200" {
			o.Schema = d.fields(content.Schema.in(d.Components.Schemas), 0)
			o.Examples = examples
			for _, h := range response.Headers {
				o.Headers = append(o.Headers, headerAnchor(h.Name))
			}
		} else {
			s.Examples = examples
		}
		o.Counted = o.Counted || r.Name == "429"
		o.Statuses = append(o.Statuses, s)
	}
	return o
}

// examples returns the examples of a response and the error codes in them.
func (d *document) examples(refs pairs[ref[exampleObject]]) (examples []example, codes []string) {
	for _, e := range refs {
		object := e.Value.in(d.Components.Examples)
		examples = append(examples, example{inline(object.Summary), highlight(object.Value)})
		var problem struct{ Code string }
		_ = json.Unmarshal(object.Value, &problem) // a response without a code is not an error
		if problem.Code != "" && !slices.Contains(codes, problem.Code) {
			codes = append(codes, problem.Code)
		}
	}
	return examples, codes
}

var places = map[string]string{"path": "chemin", "query": "requête", "header": "en-tête"}

func (d *document) parameter(operation string, named ref[parameterObject]) parameter {
	p := named.in(d.Components.Parameters)
	schema := p.Schema.in(d.Components.Schemas)
	v := parameter{
		ID: "essai." + operation + "." + p.Name, Name: p.Name, In: p.In, Place: places[p.In], Type: typeName(schema),
		Required: p.Required,
		Bounds:   bounds(schema), Pattern: schema.Pattern, Text: p.Description, HTML: inline(p.Description),
		Control: "text", component: named.name,
	}
	if p.Example != nil {
		v.Placeholder = fmt.Sprint(p.Example)
	}
	if schema.Default != nil {
		v.Default = fmt.Sprint(schema.Default)
		v.Placeholder = v.Default
	}
	for _, one := range schema.Enum {
		v.Enum = append(v.Enum, fmt.Sprint(one))
		v.Control = "select"
	}
	if schema.Type == "integer" || schema.Type == "number" {
		v.Control = "number"
		if schema.Minimum != nil {
			v.Min = schema.Minimum.String()
		}
		if schema.Maximum != nil {
			v.Max = schema.Maximum.String()
		}
	}
	return v
}

// fields returns the fields of an object; nested ones follow the field that holds them.
func (d *document) fields(s *schemaObject, depth int) []field {
	var list []field
	for _, property := range s.Properties {
		schema := property.Value.in(d.Components.Schemas)
		f := field{
			Depth: depth, Name: property.Name, Type: typeName(schema), Null: schema.Nullable, Text: schema.Description,
			HTML: inline(schema.Description),
		}
		for _, one := range schema.Enum {
			f.Enum = append(f.Enum, fmt.Sprint(one))
		}
		inner := schema
		if schema.Items != nil {
			inner = schema.Items.in(d.Components.Schemas)
			f.Name += "[]"
		}
		list = append(append(list, f), d.fields(inner, depth+1)...)
	}
	return list
}

// A headerCollector collects the headers of all responses, each once.
type headerCollector struct {
	document *document
	headers  []header
}

func (c *headerCollector) add(op *operationObject) {
	for _, r := range op.Responses {
		for _, named := range r.Value.in(c.document.Components.Responses).Headers {
			h := named.Value.in(c.document.Components.Headers)
			i := slices.IndexFunc(c.headers, func(known header) bool { return known.Name == named.Name })
			if i < 0 {
				i = len(c.headers)
				c.headers = append(c.headers, header{ID: headerAnchor(named.Name).ID, Name: named.Name})
			}
			shown := &c.headers[i]
			// If two responses describe a header, the longer description is shown.
			if len(h.Description) > len(shown.Text) {
				shown.Text, shown.HTML = h.Description, inline(h.Description)
				shown.Example = fmt.Sprint(h.Example)
			}
			if !slices.Contains(shown.Statuses, r.Name) {
				shown.Statuses = append(shown.Statuses, r.Name)
				slices.Sort(shown.Statuses)
			}
		}
	}
}

// all returns the headers. A header of every status gets no statuses.
func (c *headerCollector) all() []header {
	most := 0
	for _, h := range c.headers {
		most = max(most, len(h.Statuses))
	}
	for i := range c.headers {
		if len(c.headers[i].Statuses) == most {
			c.headers[i].Statuses = nil
		}
	}
	return c.headers
}

func headerAnchor(name string) anchor {
	return anchor{"en-tete-" + strings.ToLower(name), name}
}

// typeName returns the French name of a type.
func typeName(s *schemaObject) string {
	switch s.Type {
	case "integer":
		return "entier"
	case "number":
		return "nombre"
	case "array":
		return "liste"
	case "object":
		return "objet"
	}
	switch s.Format {
	case "date":
		return "date"
	case "date-time":
		return "date et heure"
	case "uri":
		return "adresse"
	}
	return "texte"
}

// bounds describes the limits of a value.
func bounds(s *schemaObject) string {
	switch {
	// not worth showing
	case s.Minimum != nil && s.Maximum != nil && s.Maximum.String() == strconv.FormatInt(web.MaxInteger, 10):
		return "à partir de " + grouped(s.Minimum)
	case s.Minimum != nil && s.Maximum != nil:
		return grouped(s.Minimum) + " à " + grouped(s.Maximum)
	case s.Minimum != nil:
		return "au moins " + grouped(s.Minimum)
	case s.Maximum != nil:
		return "au plus " + grouped(s.Maximum)
	case s.MaxLength > 0:
		return french.Plural(s.MaxLength, "caractère", "caractères") + " au plus"
	case s.MinLength > 0:
		return "non vide"
	}
	return ""
}

func grouped(n *json.Number) string {
	if whole, err := n.Int64(); err == nil {
		return french.Count(int(whole))
	}
	return n.String()
}
