package content

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// Between the values of a file and those of a form.

// The columns of the rows of a mapping.
const (
	nameColumn  = "name"
	valueColumn = "value"
)

// isNested reports whether the values of a field are objects with lists in them, which a form shows
// as YAML.
func isNested(f *catalog.Field) bool {
	return f.Form == catalog.Single || f.Form == catalog.Objects &&
		slices.ContainsFunc(f.List.Fields, func(g catalog.Field) bool { return g.Form.IsList() })
}

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
	case isNested(f):
		return Value{}, false
	case f.Form == catalog.Names && isScalar:
		return Value{Items: []string{v.text}}, true
	case !f.Form.IsList():
		return Value{Text: v.text}, isScalar
	case isNamed(f):
		var rows []map[string]string
		for i := range v.fields {
			if v.fields[i].value.kind >= isList {
				return Value{}, false
			}
			rows = append(rows, map[string]string{nameColumn: v.fields[i].name, valueColumn: v.fields[i].value.text})
		}
		return Value{Rows: rows}, v.kind == isMapping
	case f.Form == catalog.Objects:
		return shownRows(f, v)
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

func shownRows(f *catalog.Field, v *value) (Value, bool) {
	var rows []map[string]string
	for i := range v.items {
		row := map[string]string{}
		for _, cell := range v.items[i].fields {
			isColumn := slices.ContainsFunc(f.List.Fields, func(g catalog.Field) bool { return g.Name == cell.name })
			if !isColumn || cell.value.kind >= isList {
				return Value{}, false
			}
			row[cell.name] = cell.value.text
		}
		if v.items[i].kind != isMapping && !v.items[i].isEmpty() {
			return Value{}, false
		}
		rows = append(rows, row)
	}
	return Value{Rows: rows}, v.kind == isList
}

// isNamed reports whether the values of a field are a mapping, of which a form shows the names as a column.
func isNamed(f *catalog.Field) bool { return f.Form == catalog.Marks || f.Form == catalog.Weights }

// cleanText returns what a browser sent as a file has it.
func cleanText(s string) string { return normalizeNewlines(strings.ToValidUTF8(s, "\ufffd")) }

// checkNames checks that the rows of a mapping have different names.
func (v Value) checkNames(f *catalog.Field) error {
	taken := map[string]bool{}
	for i := 0; i < len(v.Rows) && isNamed(f); i++ {
		switch name := v.Rows[i][nameColumn]; {
		case name == "":
			return &EditError{Text: fmt.Sprintf("the value %q of %s has no name; choose one", v.Rows[i][valueColumn], f.Name)}
		case taken[name]:
			return &EditError{Text: fmt.Sprintf("%q is twice in %s; keep one", name, f.Name)}
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
		row := map[string]string{}
		for name, cell := range given {
			cell = clean(cell)
			if cell != "" {
				row[name] = cell
			}
		}
		if len(row) > 0 && !(isNamed(f) && row[valueColumn] == "") { // what was not measured
			tidied.Rows = append(tidied.Rows, row)
		}
	}
	if tidied.Text == defaultText(f) {
		tidied.Text = ""
	}
	return tidied
}

func (v Value) same(o Value) bool {
	return v.Text == o.Text && slices.Equal(v.Items, o.Items) && slices.EqualFunc(v.Rows, o.Rows, maps.Equal)
}

// wanted returns a tidied value as a file has it.
func (v Value) wanted(f *catalog.Field) value {
	switch {
	case len(v.Rows) > 0 && f.Form == catalog.Objects:
		list := value{kind: isList}
		for _, row := range v.Rows {
			object := value{kind: isMapping}
			for i := range f.List.Fields {
				if g := &f.List.Fields[i]; row[g.Name] != "" {
					object.fields = append(object.fields, field{name: g.Name, value: scalar(g.Form, row[g.Name])})
				}
			}
			list.items = append(list.items, object)
		}
		return list
	case len(v.Rows) > 0:
		mapping := value{kind: isMapping}
		for _, row := range v.Rows {
			mapping.fields = append(mapping.fields, field{name: row[nameColumn], value: scalar(f.Form, row[valueColumn])})
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
