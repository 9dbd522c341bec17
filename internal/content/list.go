package content

import "fmt"

// An item is one element of a list, with the decoder of the list's record.
type item struct {
	*decoder
	list  string
	index int
	value *value
}

func (i item) label() string { return fmt.Sprintf("item %d of %s", i.index+1, i.list) }

// list returns the elements of an optional list, which have the form; those of a list of
// mappings have nil.
func (d *decoder) list(name string, form formFunc) []item {
	if d.schema != nil {
		return d.expectList(name, form)
	}
	v := d.field(name, optional)
	if v == nil {
		return nil
	}
	if v.kind != isList {
		d.report(v.line, "%s must be a list, not %s", d.label(name), v.describe())
		return nil
	}
	items := make([]item, len(v.items))
	for i := range v.items {
		items[i] = item{d, name, i, &v.items[i]}
	}
	return items
}

// mapping returns a decoder for the fields of an element.
func (i item) mapping() (*decoder, bool) {
	if i.schema != nil {
		return i.decoder, true
	}
	if i.value.kind != isMapping {
		i.report(i.value.line, "%s must be a mapping, not %s", i.label(), i.value.describe())
		return nil, false
	}
	return &decoder{
		file: i.file, line: i.value.line, within: " in " + i.label(),
		fields: i.value.fields, basis: i.basis, problems: i.problems, warnings: i.warnings,
	}, true
}
