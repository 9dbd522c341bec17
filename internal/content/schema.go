package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"palmares/internal/catalog"
	canonical "palmares/internal/record"
)

// A schemaNode is a JSON Schema (draft-07) of a value.
type schemaNode = jsonschema.Schema

// addProperty adds a field to an object. They are in the order of the tables in catalog, in which editors with
// forms show them.
func addProperty(object *schemaNode, name string, form *schemaNode) {
	if object.Properties == nil {
		object.Properties = map[string]*schemaNode{}
	}
	object.PropertyOrder = append(object.PropertyOrder, name)
	object.Properties[name] = form
}

// Schema returns the JSON Schema of the front matter of a kind of record, or of its JSON
// lines, or of catalogue.yaml. It says what one record may hold; what other records and
// files decide, such as whether a tool exists, only Read knows.
func Schema(kind string, isJSONLines bool) ([]byte, error) {
	k := catalog.KindNamed(kind)
	if k == nil {
		return nil, fmt.Errorf("%q is not a kind of record: expected %s", kind, strings.Join(catalog.KindNames(catalog.Kinds), ", "))
	}
	all := k.Fields
	if isJSONLines {
		all = lineFields(k)
	}
	var status, fields []catalog.Field
	for _, f := range all {
		switch {
		case f.Form.IsStatus():
			status = append(status, f)
		case isJSONLines || f.Form != catalog.OwnSlug && f.Form != catalog.Body:
			fields = append(fields, f)
		}
	}
	root := objectForm(append(status, fields...)) // forms begin with whether the record is a draft
	if isJSONLines {
		allowNull(root, fields)
	}
	var hidden []*schemaNode // what says that a record is not public, so that required fields may be missing
	for _, f := range status {
		if f.Form != catalog.PublishAt {
			says := &schemaNode{Required: []string{f.Name}}
			addProperty(says, f.Name, &schemaNode{Enum: []any{f.Form == catalog.Draft}})
			hidden = append(hidden, says)
		}
	}
	finishSchema(root, hidden)
	return schemaText(root, kind)
}

// lineFields returns the fields of a JSON line.
func lineFields(kind *catalog.Kind) []catalog.Field {
	fields := kind.Fields
	if kind == catalog.CatalogueKind {
		fields = append([]catalog.Field{ownKind}, fields...)
	}
	return append(slices.Clone(fields), canonical.ImagesField)
}

// RecordSchema returns the JSON Schema of a kind of record as the dataset has it: in its
// canonical form, whose fields are in the order of the properties.
func RecordSchema(kind *catalog.Kind) ([]byte, error) {
	fields := slices.DeleteFunc(lineFields(kind), func(f catalog.Field) bool {
		return f.Form.IsStatus() // what is served is neither a draft nor unpublished
	})
	for i := range fields {
		if f := &fields[i]; f.Use.Has(catalog.Always) {
			f.Use |= catalog.Required
		}
	}
	root := objectForm(fields)
	allowNull(root, fields)
	if root.Properties["author"] != nil {
		root.Properties["author"] = &schemaNode{Type: "array", Items: lineForm(catalog.Names), MinItems: new(1)}
	}
	text, err := schemaText(root, kind.Name)
	return []byte(portable.Replace(string(text))), err
}

// portable replaces the Unicode classes in the patterns of a schema, which not every
// program that validates records understands, by classes that exclude only what is not a
// letter, or a digit, in ASCII. Characters above U+FFFF are not excluded.
var portable = strings.NewReplacer(
	`[\\p{L}\\p{Nd}-]`, `[^\\s!-,./:-@\\[-`+"`"+`{-~]`,
	`[\\p{L}\\p{Nd}]`, `[^\\s!-/:-@\\[-`+"`"+`{-~]`,
	strings.ReplaceAll(beforeSelector, `\`, `\\`), `\\S`,
	strings.ReplaceAll(farHidden, `\`, `\\`), ``,
	`(?:[sS]ur devis|`, `(?:`,
	`\\p{L}`, `[^\\s!-@\\[-`+"`"+`{-~]`,
)

func objectForm(fields []catalog.Field) *schemaNode {
	object := &schemaNode{Type: "object"}
	for i := range fields {
		f := &fields[i]
		addProperty(object, f.Name, formOf(f))
		if f.Use.Has(catalog.Required) {
			object.Required = append(object.Required, f.Name)
		}
	}
	return object
}

// schemaText returns the schema of a kind of record as it is printed.
func schemaText(n *schemaNode, kind string) ([]byte, error) {
	n.Schema, n.Title = "http://json-schema.org/draft-07/schema#", kind
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(n)
	return b.Bytes(), err
}

// finishSchema makes the schema that of records which people write: optional fields may be empty,
// and so may those of a draft; an unknown field is a mistake. Readers of records must accept
// fields that a later release adds.
func finishSchema(n *schemaNode, hidden []*schemaNode) {
	n.AdditionalProperties = &schemaNode{Not: &schemaNode{}}
	strict := &schemaNode{Required: n.Required}
	for _, name := range n.PropertyOrder {
		form := n.Properties[name]
		for _, object := range append([]*schemaNode{form, form.Items}, form.AnyOf...) {
			if object != nil && object.Properties != nil {
				finishSchema(object, nil)
			}
		}
		if slices.Contains(n.Required, name) {
			if len(hidden) == 0 {
				continue
			}
			empty := emptyForms()
			if n := len(form.AnyOf); n > 0 && form.AnyOf[n-1].Type == empty[0].Type {
				empty = empty[1:]
			}
			addProperty(strict, name, &schemaNode{Not: &schemaNode{AnyOf: empty}})
		}
		n.Properties[name] = &schemaNode{AnyOf: append([]*schemaNode{form}, emptyForms()...)}
	}
	if len(hidden) > 0 {
		n.If, n.Then, n.Else = &schemaNode{AnyOf: hidden}, &schemaNode{}, strict
		n.Required = nil
	}
}

// allowNull makes null a price that is not public, which records have instead of one.
func allowNull(n *schemaNode, fields []catalog.Field) {
	for i := range fields {
		form := n.Properties[fields[i].Name]
		switch {
		case fields[i].Model != nil:
			n.Properties[fields[i].Name] = &schemaNode{AnyOf: []*schemaNode{form, {Type: "null"}}}
		case fields[i].Form == catalog.Objects:
			allowNull(form.Items, fields[i].List.Fields)
		}
	}
}

// The forms of values. Patterns are those of ECMA-262 with Unicode classes.

func formOf(f *catalog.Field) *schemaNode {
	switch f.Form {
	case catalog.Body:
		return &schemaNode{Type: "string"}
	case catalog.Line, catalog.Name, catalog.Short, catalog.Summary, catalog.Quote:
		return lineForm(f.Form)
	case catalog.Prose:
		return textForm(visible(controlInLines))
	case catalog.Markdown:
		return textForm(`^[^` + controlInLines + `]*$`)
	case catalog.Contact:
		part := `[^\s@<>,;:"()` + unprintable + `]+`
		mail := &schemaNode{Type: "string", Pattern: `^` + part + `@` + part + `$`}
		return &schemaNode{AnyOf: []*schemaNode{patternForm(catalog.Links), mail}}
	case catalog.Enum, catalog.Option:
		return enumForm(f.Values...)
	case catalog.Figure:
		return numberForm(0, 10)
	case catalog.Number:
		return numberForm(-maxNumber, maxNumber)
	case catalog.Days:
		return numberForm(1, maxDays)
	case catalog.Tier:
		return enumForm(1, 2, 3)
	case catalog.Flag, catalog.Draft, catalog.Published:
		return &schemaNode{Type: "boolean"}
	case catalog.Names:
		return &schemaNode{AnyOf: []*schemaNode{lineForm(f.Form), {Type: "array", Items: lineForm(f.Form)}}}
	case catalog.Links:
		return &schemaNode{Type: "array", Items: patternForm(f.Form)}
	case catalog.Slugs:
		return &schemaNode{Type: "array", Items: patternForm(f.Form), UniqueItems: true}
	case catalog.Lines:
		return &schemaNode{Type: "array", Items: lineForm(f.Form), MaxItems: new(maxLines)}
	case catalog.UsageSlugs:
		return &schemaNode{Type: "array", Items: patternForm(f.Form), UniqueItems: true, MaxItems: new(maxUsages)}
	case catalog.ToolSlugs:
		return &schemaNode{Type: "array", Items: patternForm(f.Form), UniqueItems: true, MaxItems: new(maxTools)}
	case catalog.Marks, catalog.Weights:
		value := &schemaNode{AnyOf: []*schemaNode{numberForm(-maxNumber, maxNumber), {Type: "boolean"}}}
		if f.Form == catalog.Weights {
			value = numberForm(0, catalog.MaxWeight)
		}
		return &schemaNode{
			Type: "object", PropertyNames: patternForm(f.Form), AdditionalProperties: value, MaxProperties: new(maxCriteria),
		}
	case catalog.Single:
		if known := f.Words(); len(known) > 0 {
			word, named := objectForm(f.List.Fields), objectForm(f.List.Fields)
			word.Properties[f.List.Fields[0].Name] = enumForm(known...)
			named.Required = append(named.Required, "url")
			return &schemaNode{AnyOf: []*schemaNode{enumForm(known...), word, named}}
		}
		return objectForm(f.List.Fields)
	case catalog.Objects:
		form := &schemaNode{Type: "array", Items: objectForm(f.List.Fields)}
		if f.Use.Has(catalog.Required) {
			form.MinItems = new(1)
		}
		return form
	default:
		return patternForm(f.Form)
	}
}

func numberForm(lowest, highest float64) *schemaNode {
	return &schemaNode{Type: "number", Minimum: &lowest, Maximum: &highest}
}

// emptyForms are what counts as no value.
func emptyForms() []*schemaNode {
	return []*schemaNode{{Type: "null"}, {Type: "string", Pattern: `^\s*$`}}
}

// textForm returns the form of a text that is not blank and has a pattern.
func textForm(pattern string) *schemaNode {
	return &schemaNode{Type: "string", AllOf: []*schemaNode{{Pattern: `\S`}, {Pattern: pattern}}}
}

func lineForm(form catalog.Form) *schemaNode {
	n := textForm(visible(control))
	n.MaxLength = mostOf(form)
	if form == catalog.Quote {
		n.MinLength = new(catalog.MinQuote)
		n.AllOf = append(n.AllOf, &schemaNode{Pattern: quoteForm.String()})
	}
	return n
}

// visible returns the pattern of a text without some control characters and without hidden ones; see
// hiddenCharacter.
func visible(control string) string {
	return `^(?:[^` + control + hiddenClass + `]|` + beforeSelector + `[\ufe0e\ufe0f])*$`
}

// hiddenClass is hidden as part of a class of characters; all above U+FFFF are at its end, as farHidden.
var hiddenClass, farHidden = func() (all, far string) {
	for _, span := range hidden {
		if span[1] > 0xffff {
			far += fmt.Sprintf(`\u{%x}-\u{%x}`, span[0], span[1])
		} else {
			all += fmt.Sprintf(`\u%04x-\u%04x`, span[0], span[1])
		}
	}
	return all + far, far
}()

// unprintable are the characters that no name of a file or address has.
var (
	unprintable = control + hiddenClass
	pathSegment = `(?!\.{1,2}(?:/|$))[^/\\` + unprintable + `]+`
)

// The parts of the patterns. tooMuch is an amount above maxPrice.
const (
	slugPattern = `^[a-z0-9]+(?:-[a-z0-9]+)*$`
	hostLabel   = `[\p{L}\p{Nd}](?:[\p{L}\p{Nd}-]{0,61}[\p{L}\p{Nd}])?`
	longMonth   = `(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])`
	shortMonth  = `(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)`
	february    = `02-(?:0[1-9]|1[0-9]|2[0-8])`
	leapDay     = `(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29`
	anyDay      = `(?:[0-9]{4}-(?:` + longMonth + `|` + shortMonth + `|` + february + `)|` + leapDay + `)`
	twoDigits   = `:[0-5][0-9]`
	timePattern = `^` + anyDay + `(?:[Tt](?:[01][0-9]|2[0-3])` + twoDigits + `(?:` + twoDigits + `(?:[.,][0-9]+)?)?` +
		`(?:[Zz]|[+-](?:[01][0-9]|2[0-4])` + twoDigits + `)?)?$`
	beforeSelector = `[\p{S}\p{P}0-9]`
	control        = `\u0000-\u001f\u007f-\u009f`
	// A carriage return before a line feed is part of the line ending.
	controlInLines = `\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f`
	tooMuch        = `[0 \u00a0\u202f]*(?!1(?:[ \u00a0\u202f]?0){7}(?:,0+)? )[1-9](?:[ \u00a0\u202f]?[0-9]){7}`
	amount         = `(?:[0-9]+|[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+)(?:,[0-9]+)?`
	urlStart       = `^[hH][tT][tT][pP][sS]?://(?![/?#@:])(?:[`
	urlEnd         = `]|%[0-9a-fA-F]{2})+$`
)

// patterns are the patterns of the texts of a form, and of those in a list.
var patterns = map[catalog.Form]string{
	catalog.OwnSlug:    slugPattern,
	catalog.ToolSlug:   slugPattern,
	catalog.PageSlug:   slugPattern,
	catalog.InCategory: slugPattern,
	catalog.Slugs:      slugPattern,
	catalog.ToolSlugs:  slugPattern,
	catalog.UsageSlugs: slugPattern,
	catalog.Marks:      slugPattern,
	catalog.Weights:    slugPattern,
	catalog.Domain:     `^(?:` + hostLabel + `\.)+(?![0-9])` + hostLabel + `$`,
	catalog.Price:      `^(?:[sS]ur devis|(?!` + tooMuch + `)` + amount + ` €/\p{L}+(?:/\p{L}+)*)$`,
	catalog.Date:       `^` + anyDay + `$`,
	catalog.Time:       timePattern,
	catalog.PublishAt:  timePattern,
	catalog.Zone:       zonePattern,
	catalog.Links:      urlStart + `!#$&-;=?-\[\]_a-z~` + urlEnd,
	catalog.Link:       urlStart + `!$&-;=?-\[\]_a-z~` + urlEnd,
	catalog.Site:       urlStart + `!$&-;=@-\[\]_a-z~` + urlEnd,
	catalog.Image:      `^` + imageFolder + `/` + pathSegment + `(?:/` + pathSegment + `)*$`,
	catalog.Colour:     `^#[0-9a-fA-F]{6}$`,
	catalog.Digest:     `^[0-9a-f]{64}$`,
}

func patternForm(form catalog.Form) *schemaNode {
	return &schemaNode{Type: "string", Pattern: patterns[form], MaxLength: mostOf(form)}
}

// mostOf returns how many characters a text of a form may have; nil for any number.
func mostOf(form catalog.Form) *int {
	if most, ok := longest[form]; ok {
		return &most
	}
	return nil
}

func enumForm[T any](values ...T) *schemaNode {
	form := &schemaNode{}
	for _, v := range values {
		form.Enum = append(form.Enum, v)
	}
	return form
}
