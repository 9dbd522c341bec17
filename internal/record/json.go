package record

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/catalog"
)

// slugField is the first field of every record; that of a catalogue is in no table.
const slugField = "slug"

// Append appends the canonical form of the record to b, without a line feed. images are
// those of Images.
func (r Record) Append(b []byte, images []Image) []byte {
	return r.AppendOnly(b, images, func(string) bool { return true })
}

// AppendOnly appends the canonical form of the record with some of its fields.
func (r Record) AppendOnly(b []byte, images []Image, isWanted func(field string) bool) []byte {
	b = append(b, '{')
	start := len(b)
	if r.Kind == catalog.CatalogueKind && isWanted(slugField) {
		b = appendString(appendName(b, slugField), r.Slug)
	}
	for i := range r.Kind.Fields {
		if f := &r.Kind.Fields[i]; !r.lacks(f) && isWanted(f.Name) {
			b = appendField(b, start, f, r.value)
		}
	}
	if len(images) > 0 && isWanted(ImagesField.Name) {
		b = appendField(b, start, &ImagesField, &images)
	}
	return append(b, '}')
}

// appendField appends a field to an object whose fields begin at start.
func appendField(b []byte, start int, f *catalog.Field, record any) []byte {
	if len(b) > start {
		b = append(b, ',')
	}
	b = appendName(b, f.Name)
	switch p := f.In(record).(type) {
	case *string:
		if f.IsHidden(record) {
			return append(b, "null"...)
		}
		return appendString(b, *p)
	case *bool:
		return strconv.AppendBool(b, *p)
	case *catalog.HistoryMode:
		return appendString(b, p.String())
	case *int:
		return strconv.AppendInt(b, int64(*p), 10)
	case **float64:
		return appendNumber(b, **p)
	case *[]string:
		return appendList(b, len(*p), func(b []byte, i int) []byte { return appendString(b, (*p)[i]) })
	case *catalog.Values:
		return appendValues(b, *p)
	default:
		if f.Form == catalog.Single {
			return appendObject(b, f.List.Fields, f.List.At(p, 0))
		}
		return appendList(b, f.List.Len(p), func(b []byte, i int) []byte {
			return appendObject(b, f.List.Fields, f.List.At(p, i))
		})
	}
}

func appendValues(b []byte, values catalog.Values) []byte {
	b = append(b, '{')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendName(b, v.Name)
		if v.IsFlag {
			b = strconv.AppendBool(b, v.Number != 0)
		} else {
			b = appendNumber(b, v.Number)
		}
	}
	return append(b, '}')
}

func appendObject(b []byte, fields []catalog.Field, object any) []byte {
	b = append(b, '{')
	start := len(b)
	for i := range fields {
		if f := &fields[i]; !f.IsEmpty(object) {
			b = appendField(b, start, f, object)
		}
	}
	return append(b, '}')
}

func appendList(b []byte, n int, appendItem func(b []byte, i int) []byte) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendItem(b, i)
	}
	return append(b, ']')
}

// appendName appends a name that needs no escapes.
func appendName(b []byte, name string) []byte {
	b = append(b, '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

// appendString appends a string as RFC 8785 3.2.2.2 says. (wire escapes U+2028 and U+2029 as
// well.)
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // content and store accept no text that is not UTF-8
	return b
}

// appendNumber appends a number as RFC 8785 3.2.2.3 says, which is how ECMAScript does.
func appendNumber(b []byte, x float64) []byte {
	x += 0 // -0 is 0
	return append(b, jsontext.Float(x).String()...)
}
