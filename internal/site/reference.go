package site

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// A docsReference is what the document says, ready to be shown.
type docsReference struct {
	version string
	guide   []docsChapter
	groups  []docsGroup
	headers []docsHeader
	exceed  template.HTML
}

// newReference takes from the document all that the page shows of it.
func newReference(raw []byte) docsReference {
	d := readDocument(raw)
	ref := docsReference{version: d.Info.Version}
	for _, part := range sections(d.Info.Description) {
		if part.Heading != "" {
			ref.guide = append(ref.guide, docsChapter{part, chapterSource(d.Info.Description, part.Heading)})
		}
	}
	collect := headerCollector{document: d, places: map[string]int{}}
	for _, tag := range d.Tags {
		group := docsGroup{ID: "operations-" + sections("## " + tag.Name)[0].ID, Name: tag.Name, Text: nobreak(tag.Description)}
		for _, path := range d.Paths {
			if op := path.Value.Get; slices.Contains(op.Tags, tag.Name) {
				group.Operations = append(group.Operations, d.operation(path.Name, op))
				collect.add(op)
			}
		}
		ref.groups = append(ref.groups, group)
	}
	ref.headers = collect.all()
	ref.exceed = highlight(d.Components.Examples["QuotaAnonymous"].Value)
	return ref
}

// chapterSource is the Markdown of a chapter, for those who read Markdown.
func chapterSource(description, heading string) string {
	for part := range strings.SplitSeq("\n"+description, "\n## ") {
		if title, text, ok := strings.Cut(part, "\n"); ok && nobreak(title) == heading {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

func (d *apiDocument) operation(path string, op *apiOperation) docsOperation {
	o := docsOperation{
		ID: op.OperationID, Path: path, Summary: nobreak(op.Summary), Text: op.Description, HTML: block(op.Description),
		Keyed: !slices.ContainsFunc(op.Security, func(s map[string][]string) bool { return len(s) == 0 }),
	}
	for _, p := range op.Parameters {
		o.Parameters = append(o.Parameters, d.parameter(o.ID, p.in(d.Components.Parameters)))
	}
	for _, answer := range op.Responses {
		response := answer.Value.in(d.Components.Responses)
		status := docsStatus{Status: answer.Name, Text: response.Description, HTML: inline(response.Description)}
		content := response.Content["application/json"]
		var examples []docsExample
		for _, e := range content.Examples {
			example := e.Value.in(d.Components.Examples)
			examples = append(examples, docsExample{inline(example.Summary), highlight(example.Value)})
			var problem struct{ Code string }
			_ = json.Unmarshal(example.Value, &problem) // an answer without a code has none
			if anchor := errorAnchor(problem.Code); problem.Code != "" && !slices.Contains(status.Codes, anchor) {
				status.Codes = append(status.Codes, anchor)
			}
		}
		switch answer.Name {
		case "200":
			o.Schema = d.fields(content.Schema.in(d.Components.Schemas), 0)
			o.Examples = examples
			for _, h := range response.Headers {
				o.Headers = append(o.Headers, headerAnchor(h.Name))
			}
		case "429":
			o.Counted = true
			status.Examples = examples
		default:
			status.Examples = examples
		}
		o.Statuses = append(o.Statuses, status)
	}
	return o
}

var places = map[string]string{"path": "chemin", "query": "requête", "header": "en-tête"}

func (d *apiDocument) parameter(operation string, p *apiParameter) docsParameter {
	schema := p.Schema.in(d.Components.Schemas)
	v := docsParameter{
		ID: "essai." + operation + "." + p.Name, Name: p.Name, In: p.In, Place: places[p.In], Type: typeWords(schema), Required: p.Required,
		Bounds: bounds(schema), Pattern: schema.Pattern, Text: p.Description, HTML: inline(p.Description), Control: "text",
	}
	if p.Example != nil {
		v.Hint = fmt.Sprint(p.Example)
	}
	if schema.Default != nil {
		v.Default = fmt.Sprint(schema.Default)
		v.Hint = v.Default
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

// fields lists the fields of an object, nested ones after the field that holds them.
func (d *apiDocument) fields(s *apiSchema, depth int) []docsField {
	var list []docsField
	for _, property := range s.Properties {
		schema := property.Value.in(d.Components.Schemas)
		f := docsField{Depth: depth, Name: property.Name, Type: typeWords(schema), Null: schema.Nullable, Text: schema.Description, HTML: inline(schema.Description)}
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

// A headerCollector gathers the headers of all answers, each once.
type headerCollector struct {
	document *apiDocument
	headers  []docsHeader
	places   map[string]int
	longest  []int // length of the description shown
}

func (c *headerCollector) add(op *apiOperation) {
	for _, answer := range op.Responses {
		for _, named := range answer.Value.in(c.document.Components.Responses).Headers {
			h := named.Value.in(c.document.Components.Headers)
			i, known := c.places[named.Name]
			if !known {
				i = len(c.headers)
				c.places[named.Name] = i
				c.headers = append(c.headers, docsHeader{ID: headerAnchor(named.Name).ID, Name: named.Name})
				c.longest = append(c.longest, 0)
			}
			// Of one header that two answers explain, the fuller words are for both.
			if len(h.Description) > c.longest[i] {
				c.longest[i] = len(h.Description)
				c.headers[i].HTML, c.headers[i].Example = inline(h.Description), fmt.Sprint(h.Example)
			}
			if !slices.Contains(c.headers[i].Statuses, answer.Name) {
				c.headers[i].Statuses = append(c.headers[i].Statuses, answer.Name)
				slices.Sort(c.headers[i].Statuses)
			}
		}
	}
}

// all gives the headers; those of every status are set apart from the others.
func (c *headerCollector) all() []docsHeader {
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

func headerAnchor(name string) docsAnchor {
	return docsAnchor{"en-tete-" + strings.ToLower(name), name}
}

// typeWords names the type of a value.
func typeWords(s *apiSchema) string {
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

// largest is the largest integer that all readers of JSON keep exact: a bound that
// no reader needs to hear of.
const largest = "9007199254740991"

// bounds says what limits a value has.
func bounds(s *apiSchema) string {
	switch {
	case s.Minimum != nil && s.Maximum != nil && s.Maximum.String() == largest:
		return "à partir de " + grouped(s.Minimum)
	case s.Minimum != nil && s.Maximum != nil:
		return grouped(s.Minimum) + " à " + grouped(s.Maximum)
	case s.Minimum != nil:
		return "au moins " + grouped(s.Minimum)
	case s.Maximum != nil:
		return "au plus " + grouped(s.Maximum)
	case s.MaxLength > 0:
		return plural(s.MaxLength, "caractère", "caractères") + " au plus"
	case s.MinLength > 0:
		return "non vide"
	}
	return ""
}

func grouped(n *json.Number) string {
	if whole, err := n.Int64(); err == nil {
		return count(int(whole))
	}
	return n.String()
}
