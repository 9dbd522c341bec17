package content

import (
	"palmares/internal/catalog"
	canonical "palmares/internal/record"
)

// A FormGroup is a part of the form of a record.
type FormGroup struct {
	Label  string // in French
	Fields []FormField
}

// A FormField is a field of a form, or a column of one with rows. Labels and rules are in French.
type FormField struct {
	Name, Label string
	Rule        string // a sentence
	Input       Input
	Required    bool
	MaxLength   int      // in characters, of a text or an item; 0 for no limit of its own
	MaxItems    int      // of a list; 0 for no limit of its own
	Min, Max    *float64 // of a number
	Choices     []Choice // of a select, and of a list whose items are chosen
	Columns     []FormField
	Of          canonical.Kind // of a reference
	From        string         // Choices are those of the catalogue: see Complete
}

// A Choice is a value that can be chosen.
type Choice struct{ Value, Label string }

// Input is what a field is filled in with.
type Input string

// The inputs.
const (
	InputText      Input = "text"
	InputArea      Input = "textarea"
	InputNumber    Input = "number"
	InputDate      Input = "date"
	InputTime      Input = "datetime"
	InputSelect    Input = "select"
	InputCheckbox  Input = "checkbox"
	InputLines     Input = "lines" // one item each
	InputRows      Input = "rows"  // of Columns
	InputPicture   Input = "picture"
	InputReference Input = "reference" // the slug of a record of the kind Of
	InputYAML      Input = "yaml"
)

// What the choices of a field are From.
const (
	FromCategories = "categories"
	FromUsages     = "usages"   // of the category
	FromCriteria   = "criteria" // of the category; the choices are those of the column of names
)

// Form returns the fields of a kind of record, in groups. Every field of its table is there once.
func Form(kind canonical.Kind) []FormGroup {
	var groups []FormGroup
	for _, g := range formTexts[kind] {
		group := FormGroup{Label: g.label}
		for _, t := range g.fields {
			if f := (&Document{kind: kind}).field(t.name); f != nil {
				group.Fields = append(group.Fields, formField(f, t))
			}
		}
		groups = append(groups, group)
	}
	return groups
}

func formField(f *catalog.Field, t fieldText) FormField {
	field := FormField{
		Name: f.Name, Label: t.label, Rule: t.rule, Input: inputOf(f), Required: f.Use.Has(catalog.Required),
	}
	form := formOf(f)
	if len(form.AnyOf) > 0 && f.Form == catalog.Names {
		form = form.AnyOf[1]
	}
	field.MaxItems, field.Min, field.Max = form.MaxItems, form.Minimum, form.Maximum
	if form.Items != nil {
		form = form.Items
	}
	field.MaxLength = form.MaxLength
	if f.Name == "announced" {
		field.MaxItems = maxAnnounced
	}
	values := f.Values
	switch f.Form {
	case catalog.Tier:
		values = []string{"1", "2", "3"}
	case catalog.InCategory:
		field.From = FromCategories
	case catalog.UsageSlugs:
		field.From = FromUsages
	case catalog.ToolSlug:
		field.Of = canonical.Tool
	case catalog.PageSlug:
		field.Of = canonical.Page
	case catalog.Marks, catalog.Weights:
		field.From, field.MaxItems = FromCriteria, maxCriteria
		field.Columns = []FormField{
			{Name: nameColumn, Label: "Critère", Input: InputSelect, Required: true},
			{Name: valueColumn, Label: "Valeur", Rule: valueRule, Input: InputText, Required: true},
		}
	}
	if field.Input == InputSelect && !field.Required && defaultText(f) == "" {
		field.Choices = append(field.Choices, Choice{})
	}
	for _, v := range values {
		field.Choices = append(field.Choices, Choice{v, choiceLabels[v]})
	}
	if field.Input == InputRows && f.List != nil {
		for i := range f.List.Fields {
			g := &f.List.Fields[i]
			field.Columns = append(field.Columns, formField(g, columnTexts[g.Name]))
		}
	}
	return field
}

// inputOf returns what a field is filled in with.
func inputOf(f *catalog.Field) Input {
	if isNested(f) {
		return InputYAML
	}
	switch f.Form {
	case catalog.Summary, catalog.Prose, catalog.Markdown, catalog.Body:
		return InputArea
	case catalog.Figure, catalog.Number:
		return InputNumber
	case catalog.Date:
		return InputDate
	case catalog.Time, catalog.PublishAt:
		return InputTime
	case catalog.InCategory, catalog.Enum, catalog.Option, catalog.Tier:
		return InputSelect
	case catalog.Flag, catalog.Draft, catalog.Published:
		return InputCheckbox
	case catalog.Image:
		return InputPicture
	case catalog.ToolSlug, catalog.PageSlug:
		return InputReference
	case catalog.Names, catalog.Links, catalog.Slugs, catalog.Lines, catalog.UsageSlugs:
		return InputLines
	case catalog.Marks, catalog.Weights, catalog.Objects:
		return InputRows
	default:
		return InputText
	}
}

// Complete fills in the choices that a catalogue decides, for a record of a category, which may be "".
func Complete(groups []FormGroup, c *catalog.Catalog, category string) {
	of := &catalog.Category{}
	var categories []Choice
	for _, own := range c.InOrder().Categories {
		categories = append(categories, Choice{own.Slug, own.Label})
		if own.Slug == category {
			of = &own
		}
	}
	for _, g := range groups {
		for i := range g.Fields {
			switch f := &g.Fields[i]; f.From {
			case FromCategories:
				f.Choices = categories
			case FromUsages:
				f.Choices = nil
				for _, u := range of.Usages {
					f.Choices = append(f.Choices, Choice{u.Slug, u.Label})
				}
			case FromCriteria:
				f.Columns[0].Choices = nil
				for _, x := range of.Criteria {
					f.Columns[0].Choices = append(f.Columns[0].Choices, Choice{x.Slug, x.Label})
				}
			}
		}
	}
}
