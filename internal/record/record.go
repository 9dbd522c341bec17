// Package record is the canonical form of the records of a catalogue: one JSON object
// each, the same bytes on every machine and in every release that has this Format, with
// a hash that names them.
//
// A record is the JSON object that a content folder has on one line of outils.jsonl or another such file, or instead
// of catalogue.yaml, with the values that are in effect where an editor gave none. Its fields are in the order
// of the tables in catalog; a field without a value (an empty text or list, false, no figure) is
// left out. Strings and numbers are written as RFC 8785 says, which is what
// JSON.stringify does: whoever parses a record and writes it again, keeping the order,
// gets the same bytes.
//
// The hash of a record is stored when it is published and never computed again, so the
// form of records must not change by accident: whatever changes the bytes of a record
// that did not change needs a new Format.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"

	"palmares/internal/catalog"
)

// Format is the number of the canonical form.
const Format = 2

// A Record is one record, ready to be encoded. The functions that return one do not copy
// what they are given, which must not change.
type Record struct {
	Kind   *catalog.Kind
	Slug   string
	value  any // a pointer to a record of the kind with the values that are in effect
	isHead bool
}

// Of returns a record of c, or that of c itself, by a pointer to it.
func Of(c *catalog.Catalog, value any) Record {
	k := catalog.KindOf(value)
	slug := k.Slug(value)
	switch x := value.(type) {
	case *catalog.Tool:
		effective := *x
		effective.CanonicalURL = c.CanonicalURLOf(x)
		effective.ReviewURL = c.ReviewURLOf(x)
		effective.AlternativesURL = c.AlternativesURLOf(x)
		value = &effective
	case *catalog.Catalog:
		value = x.InOrder()
	}
	return Record{Kind: k, Slug: slug, value: value}
}

// Served returns the record as the publisher of c gives it away: without its body if the
// dataset is heads only.
func (r Record) Served(c *catalog.Catalog) Record {
	if c.Settings.Dataset == catalog.DatasetHead {
		return r.Head()
	}
	return r
}

// Head returns the record without its body.
func (r Record) Head() Record {
	r.isHead = true
	return r
}

// Names returns the names of all fields that a record of a kind may have, in their order.
func Names(kind *catalog.Kind) (names []string) {
	if kind == catalog.CatalogueKind {
		names = append(names, slugField)
	}
	for i := range kind.Fields {
		names = append(names, kind.Fields[i].Name)
	}
	return append(names, ImagesField.Name)
}

// Value returns a pointer to the value of a field, as Public does, or nil if there is no field of
// that name.
func (r Record) Value(name string) any {
	for i := range r.Kind.Fields {
		f := &r.Kind.Fields[i]
		if f.Name == name && !(r.isHead && f.Form == catalog.Body) {
			return Public(f, r.value)
		}
	}
	return nil
}

// Public returns a pointer to the value of a field, as catalog.Field.In does, or nil for a price that
// is not public.
func Public(f *catalog.Field, of any) any {
	if f.IsHidden(of) {
		return nil
	}
	return f.In(of)
}

// lacks reports whether the record leaves a field out.
func (r Record) lacks(f *catalog.Field) bool {
	return r.isHead && f.Form == catalog.Body || f.IsEmpty(r.value)
}

// Hash returns the hash of a record in its canonical form.
func Hash(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hashText(sum[:])
}

func hashText(sum []byte) string { return "sha256-" + hex.EncodeToString(sum) }

// Each yields the records of a kind that the public sees, as they are served, by slug. c
// must be sorted.
func Each(c *catalog.Catalog, kind *catalog.Kind) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for i := range kind.Len(c) {
			if value := kind.At(c, i); kind.IsPublic(value) && !yield(Of(c, value).Served(c)) {
				return
			}
		}
	}
}

// Find returns the record of a kind and a slug as it is served, and whether the public
// sees one. c must be sorted.
func Find(c *catalog.Catalog, kind *catalog.Kind, slug string) (Record, bool) {
	i, found := kind.Find(c, slug)
	if !found || !kind.IsPublic(kind.At(c, i)) {
		return Record{}, false
	}
	return Of(c, kind.At(c, i)).Served(c), true
}
