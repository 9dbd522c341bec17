package content

import (
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
)

// appendMarkdown appends a record as a Markdown file and returns the length of its
// front matter.
func appendMarkdown(b []byte, fields []catalog.Field, record any) (file []byte, yaml int) {
	b = append(b, "---\n"...)
	start := len(b)
	b = appendYAML(b, fields, record, "")
	yaml = len(b) - start
	b = append(b, "---\n"...)
	for i := range fields {
		if f := &fields[i]; f.Form == catalog.Body && !f.IsEmpty(record) {
			b = append(b, "\n"+*f.In(record).(*string)+"\n"...)
		}
	}
	return b, yaml
}

// appendYAML appends the fields of a record that its file has, with every line after the first
// indented. One author is written as a name, not as a list of one.
func appendYAML(b []byte, fields []catalog.Field, record any, indent string) []byte {
	isFirst := true
	for i := range fields {
		f := &fields[i]
		if f.IsEmpty(record) || f.Form == catalog.Body || f.Form == catalog.OwnSlug && indent == "" {
			continue
		}
		if !isFirst {
			b = append(b, indent...)
		}
		isFirst = false
		b = append(b, f.Name+":"...)
		switch p := f.In(record).(type) {
		case *string:
			if f.IsHidden(record) {
				b = append(b, " "+catalog.OnRequest...)
			} else {
				b = tree.AppendText(append(b, ' '), *p)
			}
		case **float64:
			b = strconv.AppendFloat(append(b, ' '), **p, 'f', -1, 64) // YAML may not know exponents
		case *catalog.HistoryMode:
			b = append(append(b, ' '), p.String()...)
		case *int:
			b = strconv.AppendInt(append(b, ' '), int64(*p), 10)
		case *bool:
			b = strconv.AppendBool(append(b, ' '), *p)
		case *[]string:
			if f.Form == catalog.Names && len(*p) == 1 {
				b = tree.AppendText(append(b, ' '), (*p)[0])
				break
			}
			for _, s := range *p {
				b = tree.AppendText(append(b, "\n"+indent+"  - "...), s)
			}
		case *catalog.Values:
			for _, v := range *p {
				b = tree.AppendText(append(b, "\n"+indent+"  "...), v.Name)
				b = append(b, ": "+v.String()...)
			}
		default:
			mark, within := "  - ", indent+"    "
			if f.Form == catalog.Single {
				mark, within = "  ", indent+"  "
			}
			for i := range f.List.Len(p) {
				b = append(b, "\n"+indent+mark...)
				b = appendYAML(b, f.List.Fields, f.List.At(p, i), within)
				b = b[:len(b)-1] // the next line begins like this one
			}
		}
		b = append(b, '\n')
	}
	return b
}
