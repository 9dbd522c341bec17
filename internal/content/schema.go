package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"palmares/internal/catalog"
	canonical "palmares/internal/record"
)

// A schemaNode is a JSON Schema (draft-07) of a value.
//
// There is no second list of fields: a decoder that has a schemaNode instead of a record
// runs the same rules over nothing, and the node records what they ask for.
type schemaNode struct {
	Schema      string        `json:"$schema,omitempty"`
	Title       string        `json:"title,omitempty"`
	Type        string        `json:"type,omitempty"`
	Enum        []any         `json:"enum,omitempty"`
	Const       any           `json:"const,omitempty"`
	Pattern     string        `json:"pattern,omitempty"`
	MaxLength   int           `json:"maxLength,omitempty"`
	Minimum     *float64      `json:"minimum,omitempty"`
	Maximum     *float64      `json:"maximum,omitempty"`
	Items       *schemaNode   `json:"items,omitempty"`
	MinItems    int           `json:"minItems,omitempty"`
	UniqueItems bool          `json:"uniqueItems,omitempty"`
	Properties  *properties   `json:"properties,omitempty"`
	Required    []string      `json:"required,omitempty"`
	NoOthers    *bool         `json:"additionalProperties,omitempty"`
	AnyOf       []*schemaNode `json:"anyOf,omitempty"`
	AllOf       []*schemaNode `json:"allOf,omitempty"`
	Not         *schemaNode   `json:"not,omitempty"`
	If          *schemaNode   `json:"if,omitempty"`
	Then        *schemaNode   `json:"then,omitempty"`
	Else        *schemaNode   `json:"else,omitempty"`
	mayLackWhen []*schemaNode // required fields may be missing then
}

// properties are the fields of an object in the order of the rules, which is the order
// in which editors with forms show them.
type properties struct {
	names []string
	nodes map[string]*schemaNode
}

// MarshalJSON keeps the order.
func (p *properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, name := range p.names {
		if i > 0 {
			b.WriteByte(',')
		}
		node, err := encode(p.nodes[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", name, node)
	}
	return []byte("{" + b.String() + "}"), nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// Schemas lists the kinds of records that Schema knows.
var Schemas = []string{"outil", "comparatif", "cimetiere", "page", "catalogue"}

// Schema returns the JSON Schema of the front matter of a kind of record, or of its JSON
// lines, or of catalogue.yaml. It says what one record may hold; what other records and
// files decide, such as whether a tool exists, only Read knows.
func Schema(kind string, isJSONLines bool) ([]byte, error) {
	root, err := takeDown(kind, isJSONLines)
	if err != nil {
		return nil, err
	}
	root.finish()
	return root.text()
}

// RecordSchema returns the JSON Schema of a kind of record as the dataset has it: in its
// canonical form, whose fields are in the order of the properties.
func RecordSchema(kind canonical.Kind) ([]byte, error) {
	root, err := takeDown(string(kind), true)
	if err != nil {
		return nil, err
	}
	root.Properties.names = slices.DeleteFunc(canonical.Names(kind), func(name string) bool {
		return name == "draft" || name == "published" // what is served is neither
	})
	if root.Properties.nodes["author"] != nil {
		root.Properties.nodes["author"] = &schemaNode{Type: "array", Items: lineForm(), MinItems: 1}
	}
	root.Required = slices.DeleteFunc(slices.Clone(root.Properties.names), func(name string) bool {
		return !slices.Contains(root.Required, name) && !slices.Contains(effective[kind], name)
	})
	text, err := root.text()
	return []byte(portable.Replace(string(text))), err
}

// portable replaces the Unicode classes in the patterns of a schema, which not every
// program that validates records understands, by classes that exclude only what is not a
// letter, or a digit, in ASCII.
var portable = strings.NewReplacer(
	`[\\p{L}\\p{Nd}-]`, `[^\\s!-,./:-@\\[-`+"`"+`{-~]`,
	`[\\p{L}\\p{Nd}]`, `[^\\s!-/:-@\\[-`+"`"+`{-~]`,
	`\\p{L}`, `[^\\s!-@\\[-`+"`"+`{-~]`,
)

// effective are the fields that records of the dataset always have, although their
// editors may leave them out.
var effective = map[canonical.Kind][]string{
	canonical.Tool:       {"icp", "tier", "updated_at", "canonical_url", "alternatives_url"},
	canonical.Comparison: {"updated_at"},
	canonical.Page:       {"menu"},
	canonical.Catalogue:  {"slug"},
}

// takeDown runs the rules of a kind over nothing.
func takeDown(kind string, isJSONLines bool) (*schemaNode, error) {
	root := newObject()
	root.Schema, root.Title = "http://json-schema.org/draft-07/schema#", kind
	d := &decoder{
		schema: root, isMarkdown: !isJSONLines, isRecord: isJSONLines, problems: new([]Problem), warnings: new([]Warning), slug: "slug",
	}
	switch kind {
	case "outil":
		d.tool()
	case "comparatif":
		d.comparison()
	case "cimetiere":
		d.retired()
	case "page":
		d.customPage()
	case "catalogue":
		d.catalogue()
	default:
		return nil, fmt.Errorf("%q is not a kind of record: expected %s", kind, strings.Join(Schemas, ", "))
	}
	return root, nil
}

// text returns the schema as it is printed.
func (n *schemaNode) text() ([]byte, error) {
	text, err := encode(n)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "  ")
	b.WriteByte('\n')
	return b.Bytes(), err
}

// A formFunc returns the form of a value. It is called only for a schema.
type formFunc func() *schemaNode

// expect records that a field is asked for, and what it must be.
func (d *decoder) expect(name string, isRequired bool, form formFunc) {
	if d.schema == nil {
		return
	}
	p := d.schema.Properties
	if p.nodes[name] == nil {
		p.names = append(p.names, name)
		p.nodes[name] = form()
	}
	if isRequired && !slices.Contains(d.schema.Required, name) {
		d.schema.Required = append(d.schema.Required, name)
	}
}

// expectList records a list whose elements have the form. The one element that it
// returns for a list of mappings records the fields of each.
func (d *decoder) expectList(name string, form formFunc) []item {
	if form != nil {
		d.expect(name, optional, func() *schemaNode { return &schemaNode{Type: "array", Items: form()} })
		return nil
	}
	each := newObject()
	d.expect(name, optional, func() *schemaNode { return &schemaNode{Type: "array", Items: each} })
	return []item{{decoder: &decoder{schema: each, problems: d.problems, warnings: d.warnings}}}
}

// expectSome records that a list is required and not empty.
func (d *decoder) expectSome(list string) {
	if d.schema != nil {
		d.expect(list, required, nil)
		d.schema.Properties.nodes[list].MinItems = 1
	}
}

func newObject() *schemaNode {
	no := false
	return &schemaNode{Type: "object", Properties: &properties{nodes: map[string]*schemaNode{}}, NoOthers: &no}
}

// finish turns what was taken down of an object into a schema: optional fields may be
// empty, and so may those of a draft.
func (n *schemaNode) finish() {
	strict := &properties{nodes: map[string]*schemaNode{}}
	for _, name := range n.Properties.names {
		form := n.Properties.nodes[name]
		if form.Items != nil && form.Items.Properties != nil {
			form.Items.finish()
		}
		if slices.Contains(n.Required, name) {
			if len(n.mayLackWhen) == 0 {
				continue
			}
			strict.names = append(strict.names, name)
			strict.nodes[name] = &schemaNode{Not: &schemaNode{AnyOf: emptyForms()}}
		}
		n.Properties.nodes[name] = &schemaNode{AnyOf: append([]*schemaNode{form}, emptyForms()...)}
	}
	if len(n.mayLackWhen) > 0 {
		n.If, n.Then = &schemaNode{AnyOf: n.mayLackWhen}, &schemaNode{}
		n.Else = &schemaNode{Required: n.Required, Properties: strict}
		n.Required = nil
	}
}

// mayLackWhen says that required fields may be missing if a field has a value.
func (d *decoder) mayLackWhen(name string, value bool) {
	if d.schema != nil {
		d.schema.mayLackWhen = append(d.schema.mayLackWhen, &schemaNode{
			Required: []string{name}, Properties: &properties{names: []string{name}, nodes: map[string]*schemaNode{name: {Enum: []any{value}}}},
		})
	}
}

// The forms of values. Patterns are those of ECMA-262 with Unicode classes.

// emptyForms are what counts as no value.
func emptyForms() []*schemaNode {
	return []*schemaNode{{Type: "null"}, {Type: "string", Pattern: `^\s*$`}}
}

func lineForm() *schemaNode {
	return &schemaNode{Type: "string", AllOf: []*schemaNode{{Pattern: `\S`}, {Pattern: `^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$`}}}
}

func shortForm() *schemaNode {
	form := lineForm()
	form.MaxLength = maxShort
	return form
}

func proseForm() *schemaNode {
	// A carriage return before a line feed is part of the line ending.
	return &schemaNode{Type: "string", AllOf: []*schemaNode{{Pattern: `\S`}, {Pattern: `^(?:[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\r)*$`}}}
}

func namesForm() *schemaNode {
	return &schemaNode{AnyOf: []*schemaNode{lineForm(), {Type: "array", Items: lineForm()}}}
}

func slugForm() *schemaNode {
	return &schemaNode{Type: "string", Pattern: `^[a-z0-9]+(?:-[a-z0-9]+)*$`, MaxLength: catalog.MaxSlug}
}

func dateForm() *schemaNode {
	const long, short = `(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])`, `(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)`
	const leap = `(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29`
	return &schemaNode{Type: "string", Pattern: `^(?:[0-9]{4}-(?:` + long + `|` + short + `|02-(?:0[1-9]|1[0-9]|2[0-8]))|` + leap + `)$`}
}

func priceForm() *schemaNode {
	return &schemaNode{Type: "string", Pattern: `^(?:[0-9]+|[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+)(?:,[0-9]+)? €/\p{L}+(?:/\p{L}+)*$`}
}

func domainForm() *schemaNode {
	const label = `[\p{L}\p{Nd}](?:[\p{L}\p{Nd}-]{0,61}[\p{L}\p{Nd}])?`
	return &schemaNode{Type: "string", Pattern: `^(?:` + label + `\.)+(?![0-9])` + label + `$`, MaxLength: 253}
}

func urlForm(use urlUse) *schemaNode {
	plain := `!#$&-;=?-\[\]_a-z~`
	switch use {
	case page:
		plain = `!$&-;=?-\[\]_a-z~`
	case site:
		plain = `!$&-;=@-\[\]_a-z~`
	}
	return &schemaNode{Type: "string", Pattern: `^[hH][tT][tT][pP][sS]?://(?![/?#@:])(?:[` + plain + `]|%[0-9a-fA-F]{2})+$`}
}

func contactForm() *schemaNode {
	return &schemaNode{AnyOf: []*schemaNode{urlForm(address), {Type: "string", Pattern: `^[^\s@<>,;:"()]+@[^\s@<>,;:"()]+$`}}}
}

func pictureForm() *schemaNode {
	const segment = `(?!\.{1,2}(?:/|$))[^/\\\u0000-\u001f\u007f-\u009f\u2028\u2029]+`
	return &schemaNode{Type: "string", Pattern: `^` + imageFolder + `/` + segment + `(?:/` + segment + `)*$`, MaxLength: maxImagePath}
}

func digestForm() *schemaNode { return &schemaNode{Type: "string", Pattern: `^[0-9a-f]{64}$`} }

func figureForm() *schemaNode {
	lowest, highest := 0.0, 10.0
	return &schemaNode{Type: "number", Minimum: &lowest, Maximum: &highest}
}

func oneOf[T any](values ...T) *schemaNode {
	form := &schemaNode{}
	for _, v := range values {
		form.Enum = append(form.Enum, v)
	}
	return form
}
