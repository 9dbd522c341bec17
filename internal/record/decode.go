package record

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A Decoder decodes records that this program encoded. It ignores the fields that it does
// not know: a later release may have written them. The zero Decoder is ready to use; one
// that decodes many records lets them share texts.
type Decoder struct {
	json   jsontext.Decoder
	source bytes.Buffer      // of json
	text   []byte            // of a string, without quotes
	seen   map[string]string // texts that many records have
}

// Decode decodes a record into what a pointer of its kind, such as a *catalog.Tool, points to, and returns the pictures
// of the record. The URLs of a tool are those that are in effect; catalog.DropDefaultURLs empties those that
// are the default.
func (d *Decoder) Decode(kind *catalog.Kind, document []byte, to any) ([]Image, error) {
	switch to := to.(type) {
	case *catalog.Comparison:
		to.Published = true
	case *catalog.Catalog:
		return d.catalogue(document, to)
	}
	images, err := d.decode(kind, document, to)
	if r, ok := to.(*catalog.Retired); ok {
		r.Note = markdown.Plain(r.Body)
	}
	return images, err
}

// catalogue decodes the name, the URL, the settings and the categories of a catalogue, and
// returns the pictures of the record.
func (d *Decoder) catalogue(document []byte, to *catalog.Catalog) ([]Image, error) {
	images, err := d.decode(catalog.CatalogueKind, document, to)
	for i := range to.Categories {
		to.Categories[i].Position = i
	}
	slices.SortFunc(to.Categories, func(a, b catalog.Category) int { return cmp.Compare(a.Slug, b.Slug) })
	return images, err
}

func (d *Decoder) decode(kind *catalog.Kind, document []byte, to any) ([]Image, error) {
	if d.seen == nil {
		d.seen = map[string]string{}
	}
	d.source = *bytes.NewBuffer(document)
	d.json.Reset(&d.source, jsontext.AllowDuplicateNames(true)) // to look for them takes time
	var images []Image
	err := d.object(kind.Fields, to, func(name []byte) error {
		if string(name) == `"`+ImagesField.Name+`"` {
			return d.value(&ImagesField, &images)
		}
		return d.json.SkipValue()
	})
	if err == nil {
		_, err = d.json.ReadToken()
		if err == io.EOF {
			return images, nil
		}
	}
	return nil, fmt.Errorf("the stored %s cannot be decoded: %w", kind, err)
}

// object decodes an object. Fields that it does not have go to other, with their names in
// quotes.
func (d *Decoder) object(fields []catalog.Field, to any, other func(name []byte) error) error {
	if err := d.begin('{'); err != nil {
		return err
	}
	next := 0
	for d.json.PeekKind() != '}' {
		name, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		f := findField(fields, &next, name)
		if f != nil {
			err = d.value(f, to)
		} else {
			err = other(name)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.json.ReadToken()
	return err
}

// findField returns the field of a name in quotes, or nil. It begins at next, since records
// have their fields in the order of the tables.
func findField(fields []catalog.Field, next *int, name []byte) *catalog.Field {
	for range fields {
		if *next == len(fields) {
			*next = 0
		}
		f := &fields[*next]
		*next++
		if string(name[1:len(name)-1]) == f.Name {
			return f
		}
	}
	return nil
}

func (d *Decoder) begin(kind jsontext.Kind) error {
	token, err := d.json.ReadToken()
	if err == nil && token.Kind() != kind {
		err = fmt.Errorf("a %s at offset %d instead of a %s", token.Kind(), d.json.InputOffset(), kind)
	}
	return err
}

func (d *Decoder) value(f *catalog.Field, record any) (err error) {
	switch p := f.In(record).(type) {
	case *string:
		*p, err = d.string(f.Form)
		return err
	case *[]string:
		return d.list(func() error {
			s, err := d.string(f.Form)
			*p = append(*p, s)
			return err
		})
	case *catalog.HistoryMode:
		s, err := d.string(f.Form)
		*p = s != ""
		return err
	case *bool, *int, **float64:
		return d.scalar(f, p)
	case *catalog.Values:
		return d.values(p)
	default:
		if f.Form == catalog.Single {
			return d.object(f.List.Fields, f.List.Add(p), func([]byte) error { return d.json.SkipValue() })
		}
		return d.list(func() error {
			return d.object(f.List.Fields, f.List.Add(p), func([]byte) error { return d.json.SkipValue() })
		})
	}
}

func (d *Decoder) list(item func() error) error {
	if err := d.begin('['); err != nil {
		return err
	}
	for d.json.PeekKind() != ']' {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := d.json.ReadToken()
	return err
}

// values decodes values by name, which are in order.
func (d *Decoder) values(to *catalog.Values) error {
	if err := d.begin('{'); err != nil {
		return err
	}
	for d.json.PeekKind() != '}' {
		name, err := d.string(catalog.Enum) // many records have the same
		if err != nil {
			return err
		}
		raw, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		v := catalog.Value{Name: name}
		switch raw.Kind() {
		case 't':
			v.Number, v.IsFlag = 1, true
		case 'f':
			v.IsFlag = true
		default:
			v.Number, err = strconv.ParseFloat(string(raw), 64)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*to = append(*to, v)
	}
	_, err := d.json.ReadToken()
	return err
}

func (d *Decoder) string(form catalog.Form) (string, error) {
	raw, err := d.json.ReadValue()
	if err != nil {
		return "", err
	}
	var text []byte
	if raw.Kind() == 'n' && form == catalog.Price {
		return catalog.NoPrice, nil
	}
	if raw.Kind() == '"' && bytes.IndexByte(raw, '\\') < 0 {
		text = raw[1 : len(raw)-1]
	} else {
		d.text, err = jsontext.AppendUnquote(d.text[:0], raw)
		text = d.text
	}
	if err != nil {
		return "", err
	}
	switch form {
	case catalog.Enum, catalog.Option, catalog.InCategory, catalog.Price, catalog.Date, catalog.Names, catalog.UsageSlugs:
		s, ok := d.seen[string(text)]
		if !ok {
			s = string(text)
			d.seen[s] = s
		}
		return s, nil
	}
	return string(text), nil
}

// scalar decodes a boolean or a number.
func (d *Decoder) scalar(f *catalog.Field, p any) error {
	raw, err := d.json.ReadValue()
	if err != nil {
		return err
	}
	switch p := p.(type) {
	case *bool:
		*p, err = strconv.ParseBool(string(raw))
	case *int:
		*p, err = strconv.Atoi(string(raw))
	case **float64:
		var x float64
		x, err = strconv.ParseFloat(string(raw), 64)
		*p = catalog.SharedFigure(x)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}
