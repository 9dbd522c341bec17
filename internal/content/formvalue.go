package content

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"palmares/internal/catalog"
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
func shown(f *catalog.Field, v *value) (Value, bool) {
	isScalar := v.kind < isList
	switch {
	case v.isEmpty():
		return Value{}, true
	case f.Form == catalog.Names && isScalar:
		return Value{Items: []string{v.text}}, true
	case !f.Form.IsList():
		return Value{Text: v.text}, isScalar
	case isNamed(f):
		var rows []Row
		for i := range v.fields {
			if v.fields[i].value.kind >= isList {
				return Value{}, false
			}
			rows = append(rows, Row{nameColumn: {Text: v.fields[i].name}, valueColumn: {Text: v.fields[i].value.text}})
		}
		return Value{Rows: rows}, v.kind == isMapping
	case f.Form == catalog.Single:
		row, isRow := shownRow(f, longForm(f, v))
		return Value{Rows: []Row{row}}, isRow
	case f.Form == catalog.Objects:
		var rows []Row
		for i := range v.items {
			row, isRow := shownRow(f, &v.items[i])
			if !isRow {
				return Value{}, false
			}
			rows = append(rows, row)
		}
		return Value{Rows: rows}, v.kind == isList
	}
	var items []string
	for i := range v.items {
		if v.items[i].kind >= isList {
			return Value{}, false
		}
		items = append(items, v.items[i].text)
	}
	return Value{Items: items}, v.kind == isList
}

func shownRow(f *catalog.Field, v *value) (Row, bool) {
	row := Row{}
	for i := range v.fields {
		cell, isShown := Value{}, false
		if g := fieldOf(f.List.Fields, v.fields[i].name); g != nil {
			cell, isShown = shown(g, &v.fields[i].value)
		}
		if !isShown {
			return nil, false
		}
		row[v.fields[i].name] = cell
	}
	return row, v.kind == isMapping || v.isEmpty()
}

// isNamed reports whether the values of a field are a mapping, of which a form shows the names as a column.
func isNamed(f *catalog.Field) bool { return f.Form == catalog.Marks || f.Form == catalog.Weights }

// cleanText returns what a browser sent as a file has it.
func cleanText(s string) string { return normalizeNewlines(strings.ToValidUTF8(s, "\ufffd")) }

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
			return &EditError{Text: problem.New("value-without-name", v.Rows[i][valueColumn].Text, f.Name)}
		case taken[name]:
			return &EditError{Text: problem.New("name-twice", name, f.Name)}
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
func (v Value) wanted(f *catalog.Field, old *value) value {
	switch {
	case len(v.Rows) > 0 && f.List != nil:
		list := value{kind: isList}
		for _, row := range v.Rows {
			object := value{kind: isMapping}
			for i := range f.List.Fields {
				g := &f.List.Fields[i]
				before := cmp.Or(old.find(g.Name), &value{})
				cell := row[g.Name].wanted(g, before)
				if cell.kind == isNull && before.text != "" && before.text == defaultText(g) {
					cell = *before
				}
				if cell.kind != isNull {
					object.fields = append(object.fields, field{name: g.Name, value: cell})
				}
			}
			list.items = append(list.items, object)
		}
		switch object := list.items[0]; {
		case f.Form == catalog.Objects:
			return list
		case len(f.Words()) > 0 && len(object.fields) == 1 && object.fields[0].name == f.List.Fields[0].Name:
			return object.fields[0].value
		default:
			return object
		}
	case len(v.Rows) > 0:
		mapping := value{kind: isMapping}
		for _, row := range v.Rows {
			mapping.fields = append(mapping.fields, field{name: row[nameColumn].Text, value: scalar(f.Form, row[valueColumn].Text)})
		}
		return mapping
	case f.Form == catalog.Names && len(v.Items) == 1:
		return scalar(f.Form, v.Items[0])
	case len(v.Items) > 0:
		list := value{kind: isList}
		for _, item := range v.Items {
			list.items = append(list.items, scalar(f.Form, item))
		}
		return list
	case v.Text == "":
		return value{}
	}
	return scalar(f.Form, v.Text)
}

// scalar returns a text as the value of a form. What the form does not allow stays text, so that it is
// reported and not lost.
func scalar(form catalog.Form, text string) value {
	switch form {
	case catalog.Figure, catalog.Number, catalog.Days, catalog.Tier, catalog.Marks, catalog.Weights:
		if number := strings.Replace(text, ",", ".", 1); isPlainNumber(number) {
			return value{kind: isNumber, text: number}
		}
	}
	switch form {
	case catalog.Flag, catalog.Draft, catalog.Published, catalog.Marks:
		if text == "true" || text == "false" {
			return value{kind: isBool, text: text}
		}
	}
	return value{kind: isText, text: text}
}
