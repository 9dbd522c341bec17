package content

import (
	"reflect"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// A record is one record of the folder, with what is needed to check it against
// the others.
type record struct {
	file string
	line int
	slug string // "" if it has no valid one
	*references

	isMarked  bool   // as a draft
	publishAt string // its hour; "" for none
	end       string // the hour at which it ends; "" for none
	isNext    bool   // it replaces another record at its hour
	isAbsent  bool   // see folder.settle
	isHidden  bool   // visitors do not see it; see folder.settle
	hasEnded  bool   // its unpublish_at has passed

	tested bool // a score is given, valid or not

	keyLine     int // of the domain of a tool, of the winner of a comparison
	updatedLine int // of updated_at; 0 if the record does not give it
	authorLine  int

	priceLine, scoreLine, checkedLine int // of a tool

	of any // what was read: a *catalog.Tool or another record of kinds; nil if it could not be read
}

// valueOf returns what was read if it is a T, otherwise nil.
func valueOf[T any](r *record) *T {
	of, _ := r.of.(*T)
	return of
}

func (r *record) tool() *catalog.Tool             { return valueOf[catalog.Tool](r) }
func (r *record) comparison() *catalog.Comparison { return valueOf[catalog.Comparison](r) }
func (r *record) retired() *catalog.Retired       { return valueOf[catalog.Retired](r) }
func (r *record) page() *catalog.Page             { return valueOf[catalog.Page](r) }
func (r *record) article() *catalog.Article       { return valueOf[catalog.Article](r) }
func (r *record) author() *catalog.Author         { return valueOf[catalog.Author](r) }

// clone returns a copy whose value may be changed.
func (r record) clone() record {
	if r.of != nil {
		r.of = copied(r.of)
	}
	return r
}

// copied returns a pointer to a copy of what a pointer points to.
func copied(of any) any {
	p := reflect.New(reflect.TypeOf(of).Elem())
	p.Elem().Set(reflect.ValueOf(of).Elem())
	return p.Interface()
}

// references are what a record refers to. Most tools have none.
type references struct {
	refs    []reference // aliases of a tool, sides of a comparison, successor of a retired tool, tools of an article, pages of catalogue.yaml
	aliases []reference // of other records

	links, pictures []mention // of the body
	fieldPictures   []fieldPicture
	affiliateLine   int // of affiliate_url; 0 for none
}

// noReferences are those of all records that have none.
var noReferences = &references{}

func (r *references) isEmpty() bool {
	return len(r.refs)+len(r.aliases)+len(r.links)+len(r.pictures)+len(r.fieldPictures)+r.affiliateLine == 0
}

// A reference is a slug of another record, or a former slug of this one.
type reference struct {
	field string
	slug  string
	line  int
}

// A fieldPicture is a picture of a field.
type fieldPicture struct {
	at   problem.Text // the label of the field
	path string
	line int
}

// isDraft reports whether visitors do not see a record.
func (r *record) isDraft() bool {
	return r.isHidden || r.isMarked || r.comparison() != nil && !r.comparison().Published
}

// status says why visitors do not see a record.
func (r *record) status() problem.Text {
	switch {
	case r.hasEnded:
		return problem.New("is-hidden-now")
	case r.isHidden && r.publishAt != "":
		return problem.New("is-hidden-before", r.publishAt)
	}
	return problem.New("is-draft")
}

// draft returns a copy of a record that is marked as a draft.
func (r *record) draft() *record {
	marked := r.clone()
	*catalog.ValueOf[bool](catalog.KindOf(marked.of).Fields, catalog.Draft, marked.of) = true
	return &marked
}
