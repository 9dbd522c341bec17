package catalog

import "slices"

// A Field is one field of a kind of record. The tables of fields.go are the only lists of
// fields: whatever treats all of them alike (comparing records, reading and writing them,
// their schemas, the columns of exports and imports) goes through them.
type Field struct {
	Name    string // in content folders and in the canonical form
	Form    Form
	Use     Use
	Values  []string // of an Enum or an Option; of a Name, those with a meaning, which may stand for its object
	Default string   // of an Enum that is left out
	List    *List    // for Objects and Single

	// Model returns the model beside a price, which says whether it is public; nil for other fields.
	Model func(record any) *Pricing

	of func(record any) any
}

// A Form is what the value of a field may be.
type Form uint8

// The forms, with the type of the value in parentheses; a text is a string.
const (
	Line       Form = iota // a text of one line
	Name                   // a name, which stands in lists and titles
	Short                  // a short text of one line, which stands where a price does
	Quote                  // words of a page, 3 to 300 characters of one line
	Summary                // a sentence or two
	Prose                  // a text of several lines
	Markdown               // a text in Markdown
	Body                   // the Markdown below the other fields
	OwnSlug                // the slug of the record
	ToolSlug               // the slug of a tool
	PageSlug               // the slug of a page
	InCategory             // the slug of the category of the record
	Domain                 // a host name
	Price                  // see IsPrice
	Date                   // YYYY-MM-DD
	Time                   // an instant, as FormatTime returns it
	Zone                   // the name of a time zone
	Link                   // the URL of a page
	Site                   // the URL of the catalogue's site
	Contact                // a mail address or a URL
	Image                  // the path of a picture
	Digest                 // a SHA-256 in hexadecimal
	Colour                 // a # and six hexadecimal digits
	Enum                   // one of Values
	Option                 // one of Values, of which the first stands for ""
	Figure                 // a number from 0 to 10, or none (*float64)
	Number                 // a number, or none (*float64)
	Days                   // a number of days, or none (*float64)
	Tier                   // 1, 2 or 3 (int)
	Flag                   // false unless given (bool)
	Draft                  // a Flag: the public does not see the record
	PublishAt              // a Time before which the public does not see the record
	Published              // true unless given (bool): the public sees the record
	Names                  // a Name, or a list of them ([]string)
	Links                  // a list of URLs ([]string)
	Slugs                  // a list of former slugs ([]string)
	Lines                  // a few texts of one line ([]string)
	ToolSlugs              // slugs of tools, in an order ([]string)
	UsageSlugs             // slugs of usages of the record's category ([]string)
	Marks                  // values of criteria, by slug (Values)
	Weights                // weights of criteria, by slug (Values)
	Single                 // an object, or none, see List
	Objects                // a list of objects, see List
)

// IsStatus reports whether a field only says if the public sees the record.
func (f Form) IsStatus() bool { return f == Draft || f == PublishAt || f == Published }

// IsList reports whether values are lists or objects.
func (f Form) IsList() bool { return f >= Names }

// Use says more about a field.
type Use uint8

const (
	Required Use = 1 << iota // editors must give it, except in drafts
	Always                   // the canonical form has it, even if the editors left it out
	InAPI                    // the API shows it, so that events report its changes
	Kept                     // of a tool: it is kept once the tool is inactive
)

// Has reports whether u has all of some uses.
func (u Use) Has(some Use) bool { return u&some == some }

// NewField returns a field of the records of a type. of returns a pointer to its value:
// a *string, *bool, *HistoryMode, *int, **float64, *[]string or *Values, as the form says.
func NewField[T any](name string, form Form, use Use, of func(*T) any) Field {
	return Field{Name: name, Form: form, Use: use, of: func(record any) any { return of(record.(*T)) }}
}

// newPrice returns a field with a price that may not be public, which the model beside it says.
func newPrice[T any](name string, use Use, of func(*T) (*Pricing, *string)) Field {
	f := NewField(name, Price, use, func(record *T) any { _, price := of(record); return price })
	f.Model = func(record any) *Pricing { model, _ := of(record.(*T)); return model }
	return f
}

// oneOf returns the field with the values that it may have, and that of an Enum that is left
// out.
func oneOf[E ~string](f Field, fallback E, values ...E) Field {
	f.Default = string(fallback)
	for _, v := range values {
		f.Values = append(f.Values, string(v))
	}
	return f
}

// In returns a pointer to the value of the field in a record, which is a pointer itself.
func (f *Field) In(record any) any { return f.of(record) }

// IsHidden reports whether the field has a price that is not public.
func (f *Field) IsHidden(record any) bool {
	return f.Model != nil && !f.IsEmpty(record) && !IsPublic(*f.Model(record), *f.of(record).(*string))
}

// IsEmpty reports whether a record has no value for the field: the canonical form leaves
// it out.
func (f *Field) IsEmpty(record any) bool {
	switch p := f.of(record).(type) {
	case *string:
		return *p == ""
	case *bool:
		return *p == (f.Form == Published)
	case *HistoryMode:
		return *p == HistoryAdd
	case **float64:
		return *p == nil
	case *[]string:
		return len(*p) == 0
	case *Values:
		return len(*p) == 0
	case *int:
		return false
	default:
		return f.List.Len(p) == 0
	}
}

// Words returns the texts that may stand for an object of the field: its first field then has that value.
func (f *Field) Words() []string {
	if f.List != nil && f.List.Fields[0].Form == Name {
		return f.List.Fields[0].Values
	}
	return nil
}

// ValueOf returns a pointer to the value of the first field of a form in a record, as Field.In does; nil if there
// is no such field.
func ValueOf[T any](fields []Field, form Form, record any) *T {
	for i := range fields {
		if fields[i].Form == form {
			return fields[i].of(record).(*T)
		}
	}
	return nil
}

// valueIn is ValueOf with the zero value if there is no such field.
func valueIn[T any](fields []Field, form Form, record any) (value T) {
	if p := ValueOf[T](fields, form, record); p != nil {
		value = *p
	}
	return value
}

// isSame reports whether two records have the same value.
func (f *Field) isSame(record, other any) bool {
	switch a := f.of(record).(type) {
	case *string:
		return *a == *f.of(other).(*string)
	case *bool:
		return *a == *f.of(other).(*bool)
	case *HistoryMode:
		return *a == *f.of(other).(*HistoryMode)
	case *int:
		return *a == *f.of(other).(*int)
	case **float64:
		return sameFigure(*a, *f.of(other).(**float64))
	case *[]string:
		return slices.Equal(*a, *f.of(other).(*[]string))
	case *Values:
		return slices.Equal(*a, *f.of(other).(*Values))
	default:
		return f.List.isSame(a, f.of(other))
	}
}

// isSame reports whether two records have the same fields, except for some.
func isSame(fields []Field, record, other any, except ...string) bool {
	for i := range fields {
		if f := &fields[i]; !f.isSame(record, other) && !slices.Contains(except, f.Name) {
			return false
		}
	}
	return true
}

// A List gives access to the lists of a field whose values are lists of objects. A list is
// what Field.In returns: a pointer to a slice.
type List struct {
	Fields []Field // of an object
	Len    func(list any) int
	Grow   func(list any, n int)     // makes room for n more objects
	At     func(list any, i int) any // returns a pointer to an object
	Add    func(list any) any        // adds an empty object, and returns a pointer to it
}

// NewList returns a field whose values are lists of objects with the given fields.
func NewList[T, E any](name string, use Use, of func(*T) *[]E, fields []Field) Field {
	f := NewField(name, Objects, use, func(record *T) any { return of(record) })
	f.List = &List{
		Fields: fields,
		Len:    func(list any) int { return len(*list.(*[]E)) },
		Grow:   func(list any, n int) { *list.(*[]E) = slices.Grow(*list.(*[]E), n) },
		At:     func(list any, i int) any { return &(*list.(*[]E))[i] },
		Add: func(list any) any {
			objects := append(*list.(*[]E), *new(E))
			*list.(*[]E) = objects
			return &objects[len(objects)-1]
		},
	}
	return f
}

// NewObject returns a field whose values are single objects with the given fields: lists of one,
// or of none.
func NewObject[T, E any](name string, use Use, of func(*T) *[]E, fields []Field) Field {
	f := NewList(name, use, of, fields)
	f.Form = Single
	return f
}

func (l *List) isSame(list, other any) bool {
	n := l.Len(list)
	if n != l.Len(other) {
		return false
	}
	for i := range n {
		if !isSame(l.Fields, l.At(list, i), l.At(other, i)) {
			return false
		}
	}
	return true
}

// tenths are the usual figures, which records share.
var tenths = func() (list [101]float64) {
	for i := range list {
		list[i] = float64(i) / 10
	}
	return list
}()

// SharedFigure returns a pointer to a figure from 0 to 10, the same one for all records if
// the figure is a usual one.
func SharedFigure(x float64) *float64 {
	x += 0 // -0 is 0
	if tenth := int(x*10 + 0.5); tenth >= 0 && tenth < len(tenths) && tenths[tenth] == x {
		return &tenths[tenth]
	}
	return &x
}
