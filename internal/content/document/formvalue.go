package document

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// Between the values of a file and those of a form.

// The columns of the rows of a mapping.
const (
	nameColumn  = "name"
	valueColumn = "value"
)

// defaultText returns what a field that is left out means; "" if that is nothing.
func defaultText(f *catalog.Field) string {
	switch f.Form {
	case catalog.Option:
		return f.Values[0]
	case catalog.Tier:
		return "3"
	case catalog.Flag, catalog.Draft:
		return "false"
	case catalog.Published:
		return "true"
	default:
		return f.Default
	}
}

// shown returns a value as a form shows it, if it can.
func shown(f *catalog.Field, v *tree.Value) (Value, bool) {
	isScalar := v.Kind < tree.List
	switch {
	case v.IsEmpty():
		return Value{}, true
	case f.Form == catalog.Names && isScalar:
		return Value{Items: []string{v.Text}}, true
	case !f.Form.IsList():
		return Value{Text: v.Text}, isScalar
	case isNamed(f):
		var rows []Row
		for i := range v.Fields {
			if v.Fields[i].Value.Kind >= tree.List {
				return Value{}, false
			}
			rows = append(rows, Row{nameColumn: {Text: v.Fields[i].Name}, valueColumn: {Text: v.Fields[i].Value.Text}})
		}
		return Value{Rows: rows}, v.Kind == tree.Mapping
	case f.Form == catalog.Single:
		row, isRow := shownRow(f, tree.LongForm(f, v))
		return Value{Rows: []Row{row}}, isRow
	case f.Form == catalog.Objects:
		var rows []Row
		for i := range v.Items {
			row, isRow := shownRow(f, &v.Items[i])
			if !isRow {
				return Value{}, false
			}
			rows = append(rows, row)
		}
		return Value{Rows: rows}, v.Kind == tree.List
	}
	var items []string
	for i := range v.Items {
		if v.Items[i].Kind >= tree.List {
			return Value{}, false
		}
		items = append(items, v.Items[i].Text)
	}
	return Value{Items: items}, v.Kind == tree.List
}

func shownRow(f *catalog.Field, v *tree.Value) (Row, bool) {
	row := Row{}
	for i := range v.Fields {
		cell, isShown := Value{}, false
		if g := fieldOf(f.List.Fields, v.Fields[i].Name); g != nil {
			cell, isShown = shown(g, &v.Fields[i].Value)
		}
		if !isShown {
			return nil, false
		}
		row[v.Fields[i].Name] = cell
	}
	return row, v.Kind == tree.Mapping || v.IsEmpty()
}

// isNamed reports whether the values of a field are a mapping, of which a form shows the names as a column.
func isNamed(f *catalog.Field) bool { return f.Form == catalog.Marks || f.Form == catalog.Weights }

// cleanText returns what a browser sent as a file has it.
func cleanText(s string) string { return tree.NormalizeNewlines(strings.ToValidUTF8(s, "\ufffd")) }

// checkNames checks that the rows of a mapping have different names.
func (v Value) checkNames(f *catalog.Field) error {
	taken := map[string]bool{}
	for _, row := range v.Rows {
		for name, cell := range row {
			if err := cell.checkNames(column(f, name)); err != nil {
				return err
			}
		}
	}
	for i := 0; i < len(v.Rows) && isNamed(f); i++ {
		switch name := v.Rows[i][nameColumn].Text; {
		case name == "":
			return &Error{Text: problem.New("value-without-name", v.Rows[i][valueColumn].Text, f.Name)}
		case taken[name]:
			return &Error{Text: problem.New("name-twice", name, f.Name)}
		default:
			taken[name] = true
		}
	}
	return nil
}

// tidy returns a value as it is written: without the space around texts, empty items and empty rows.
func (v Value) tidy(f *catalog.Field) Value {
	clean := func(s string) string { return strings.TrimSpace(cleanText(s)) }
	tidied := Value{Text: clean(v.Text)}
	for _, item := range v.Items {
		item = clean(item)
		if item != "" {
			tidied.Items = append(tidied.Items, item)
		}
	}
	for _, given := range v.Rows {
		row := Row{}
		for name, cell := range given {
			cell = cell.tidy(column(f, name))
			if !cell.same(Value{}) {
				row[name] = cell
			}
		}
		if len(row) > 0 && !(isNamed(f) && row[valueColumn].Text == "") { // what was not measured
			tidied.Rows = append(tidied.Rows, row)
		}
	}
	if tidied.Text == defaultText(f) {
		tidied.Text = ""
	}
	return tidied
}

func column(f *catalog.Field, name string) *catalog.Field {
	if f.List == nil {
		return &catalog.Field{Name: name}
	}
	return cmp.Or(fieldOf(f.List.Fields, name), &catalog.Field{Name: name})
}

func (v Value) same(o Value) bool {
	sameRow := func(a, b Row) bool { return maps.EqualFunc(a, b, Value.same) }
	return v.Text == o.Text && slices.Equal(v.Items, o.Items) && slices.EqualFunc(v.Rows, o.Rows, sameRow)
}

// wanted returns a tidied value as a file has it, which had another one. An object that says what it need not
// keeps that.
func (v Value) wanted(f *catalog.Field, old *tree.Value) tree.Value {
	switch {
	case len(v.Rows) > 0 && f.List != nil:
		list := tree.Value{Kind: tree.List}
		for _, row := range v.Rows {
			object := tree.Value{Kind: tree.Mapping}
			for i := range f.List.Fields {
				g := &f.List.Fields[i]
				before := cmp.Or(old.Find(g.Name), &tree.Value{})
				cell := row[g.Name].wanted(g, before)
				if cell.Kind == tree.Null && before.Text != "" && before.Text == defaultText(g) {
					cell = *before
				}
				if cell.Kind != tree.Null {
					object.Fields = append(object.Fields, tree.Field{Name: g.Name, Value: cell})
				}
			}
			list.Items = append(list.Items, object)
		}
		switch object := list.Items[0]; {
		case f.Form == catalog.Objects:
			return list
		case len(f.Words()) > 0 && len(object.Fields) == 1 && object.Fields[0].Name == f.List.Fields[0].Name:
			return object.Fields[0].Value
		default:
			return object
		}
	case len(v.Rows) > 0:
		mapping := tree.Value{Kind: tree.Mapping}
		for _, row := range v.Rows {
			mapping.Fields = append(mapping.Fields, tree.Field{Name: row[nameColumn].Text, Value: scalar(f.Form, row[valueColumn].Text)})
		}
		return mapping
	case f.Form == catalog.Names && len(v.Items) == 1:
		return scalar(f.Form, v.Items[0])
	case len(v.Items) > 0:
		list := tree.Value{Kind: tree.List}
		for _, item := range v.Items {
			list.Items = append(list.Items, scalar(f.Form, item))
		}
		return list
	case v.Text == "":
		return tree.Value{}
	}
	return scalar(f.Form, v.Text)
}

// scalar returns a text as the value of a form. What the form does not allow stays text, so that it is
// reported and not lost.
func scalar(form catalog.Form, text string) tree.Value {
	switch form {
	case catalog.Figure, catalog.Number, catalog.Days, catalog.Tier, catalog.Marks, catalog.Weights:
		if number := strings.Replace(text, ",", ".", 1); tree.IsNumber(number) {
			return tree.Value{Kind: tree.Number, Text: number}
		}
	}
	switch form {
	case catalog.Flag, catalog.Draft, catalog.Published, catalog.Marks:
		if text == "true" || text == "false" {
			return tree.Value{Kind: tree.Bool, Text: text}
		}
	}
	return tree.Value{Kind: tree.Text, Text: text}
}
