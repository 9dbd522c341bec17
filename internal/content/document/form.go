package document

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
)

// A Group is a part of the form of a record.
type Group struct {
	Label  string // in French
	Fields []Field
}

// A Field is a field of a form, or a column of one with rows. Labels and rules are in French.
type Field struct {
	Name, Label string
	Rule        string // a sentence
	Input       Input
	Required    bool
	Choices     []Choice // of a select, and of a list whose items are chosen
	Columns     []Field
	Of          *catalog.Kind // of the record whose slug it is
	From        string        // Choices are those of the catalogue: see Complete
}

// A Choice is a value that can be chosen.
type Choice struct{ Value, Label string }

// Input is what a field is filled in with.
type Input string

// The inputs.
const (
	InputText     Input = "text"
	InputArea     Input = "textarea"
	InputNumber   Input = "number"
	InputDate     Input = "date"
	InputTime     Input = "datetime"
	InputSelect   Input = "select"
	InputCheckbox Input = "checkbox"
	InputLines    Input = "lines"  // one item each
	InputRows     Input = "rows"   // of Columns
	InputObject   Input = "object" // one row of Columns
	InputYAML     Input = "yaml"   // what no other input can show
)

// What the choices of a field are From.
const (
	FromAuthors    = "authors" // who wrote something; others may be named
	FromCategories = "categories"
	FromUsages     = "usages"   // of the category
	FromCriteria   = "criteria" // of the category; the choices are those of the column of names
)

// Form returns the fields of a kind of record, in groups. Every field of its table is there once.
func Form(kind *catalog.Kind) []Group {
	var groups []Group
	for _, g := range formTexts[kind] {
		group := Group{Label: g.label}
		for _, t := range g.fields {
			if f := (&Document{kind: kind}).field(t.name); f != nil {
				group.Fields = append(group.Fields, formField(f, t))
			}
		}
		groups = append(groups, group)
	}
	return groups
}

func formField(f *catalog.Field, t fieldText) Field {
	field := Field{
		Name: f.Name, Label: t.label, Rule: t.rule, Input: cmp.Or(inputs[f.Form], InputText),
		Required: f.Use.Has(catalog.Required),
	}
	values := f.Values
	switch f.Form {
	case catalog.Tier:
		values = []string{"1", "2", "3"}
	case catalog.Names:
		field.From = FromAuthors
	case catalog.InCategory:
		field.From = FromCategories
	case catalog.UsageSlugs:
		field.From = FromUsages
	case catalog.ToolSlug, catalog.ToolSlugs:
		field.Of = catalog.ToolKind
	case catalog.PageSlug:
		field.Of = catalog.PageKind
	case catalog.Marks, catalog.Weights:
		field.From = FromCriteria
		field.Columns = []Field{
			{Name: nameColumn, Label: "Critère", Input: InputSelect, Required: true},
			{Name: valueColumn, Label: "Valeur", Rule: valueRule, Input: InputText, Required: true},
		}
	}
	if field.Input == InputSelect && !field.Required && defaultText(f) == "" {
		field.Choices = append(field.Choices, Choice{})
	}
	for _, v := range values {
		field.Choices = append(field.Choices, Choice{v, choiceTexts[v].label})
	}
	for i := 0; f.List != nil && i < len(f.List.Fields); i++ {
		g := &f.List.Fields[i]
		field.Columns = append(field.Columns, formField(g, cmp.Or(columnTexts[f.Name+"."+g.Name], columnTexts[g.Name])))
	}
	return field
}

// inputs are what the fields of a form are filled in with; the others with a text.
var inputs = map[catalog.Form]Input{
	catalog.Summary: InputArea, catalog.Prose: InputArea, catalog.Markdown: InputArea, catalog.Body: InputArea,
	catalog.Figure: InputNumber, catalog.Number: InputNumber, catalog.Days: InputNumber, catalog.Date: InputDate, catalog.Time: InputTime,
	catalog.PublishAt: InputTime, catalog.InCategory: InputSelect, catalog.Enum: InputSelect, catalog.Option: InputSelect,
	catalog.Tier: InputSelect, catalog.Flag: InputCheckbox, catalog.Draft: InputCheckbox, catalog.Published: InputCheckbox,
	catalog.Names: InputLines, catalog.Links: InputLines, catalog.Slugs: InputLines, catalog.Lines: InputLines,
	catalog.UsageSlugs: InputLines, catalog.ToolSlugs: InputLines, catalog.Marks: InputRows, catalog.Weights: InputRows, catalog.Objects: InputRows,
	catalog.Single: InputObject,
}

// InputFor returns the input that can show a value as it is: that of the field, or one for any text.
// Browsers drop what their own inputs for numbers and times cannot show.
func (f *Field) InputFor(v Value) Input {
	isShown := true
	switch f.Input {
	case InputLines, InputRows, InputObject:
		if v.Text != "" {
			return InputYAML
		}
	case InputArea:
	case InputNumber:
		isShown = tree.IsNumber(v.Text)
	case InputDate:
		isShown = catalog.IsDate(v.Text)
	case InputTime:
		_, err := time.Parse("2006-01-02T15:04", v.Text)
		isShown = err == nil
	case InputSelect:
		isShown = slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == v.Text })
	case InputCheckbox:
		isShown = v.Text == "true" || v.Text == "false"
	}
	switch {
	case strings.Contains(v.Text, "\n"):
		return InputArea
	case v.Text != "" && !isShown || f.Input == InputSelect && len(f.Choices) == 0:
		return InputText
	}
	return f.Input
}

// Complete fills in the choices that a catalogue decides, for a record of a category, which may be "".
func Complete(groups []Group, c *catalog.Catalog, category string) {
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
				f.Choices = append(f.Choices, categories...)
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
