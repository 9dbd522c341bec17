// Package record is the canonical form of the records of a catalogue: one JSON object
// each, the same bytes on every machine and in every release that has this Format, with
// a hash that names them.
//
// A record is the JSON object that a content folder has on one line of outils.jsonl,
// comparatifs.jsonl, cimetiere.jsonl, pages.jsonl, articles.jsonl or auteurs.jsonl, or instead of catalogue.yaml, with
// the values that are in effect where an editor gave none. Its fields are in the order
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
	"sort"

	"palmares/internal/catalog"
)

// Format is the number of the canonical form.
const Format = 2

// A Kind is a kind of record.
type Kind string

// The kinds. There is one record of the kind Catalogue, and its slug is its kind.
const (
	Tool       Kind = "outil"
	Comparison Kind = "comparatif"
	Retired    Kind = "cimetiere"
	Page       Kind = "page"
	Article    Kind = "article"
	Author     Kind = "author"
	Proof      Kind = "preuve" // of the price of a tool, whose slug it has
	Catalogue  Kind = "catalogue"
)

// Kinds lists them, in the order of the documents.
var Kinds = []Kind{Tool, Comparison, Retired, Page, Article, Author, Proof, Catalogue}

// A Record is one record, ready to be encoded. The functions that return one do not copy
// what they are given, which must not change.
type Record struct {
	Kind   Kind
	Slug   string
	value  any // a *catalog.Tool, *catalog.Comparison, …, with the values that are in effect
	isHead bool
}

// kinds are the kinds of which a catalogue has lists, Tables the fields of all kinds, and Folders where the files of
// those are that have files; the paths in a text start from there.
var kinds, Tables, Folders = tablesByName()

func tablesByName() (kinds map[Kind]*catalog.Kind, tables map[Kind][]catalog.Field, folders map[Kind]string) {
	kinds, folders = map[Kind]*catalog.Kind{}, map[Kind]string{}
	tables = map[Kind][]catalog.Field{Catalogue: catalog.CatalogueFields}
	for i := range catalog.Kinds {
		k := &catalog.Kinds[i]
		kinds[Kind(k.Name)], tables[Kind(k.Name)] = k, k.Fields
		if k.Folder != "" {
			folders[Kind(k.Name)] = k.Folder
		}
	}
	return kinds, tables, folders
}

// Of returns a record of c, or that of c itself, by a pointer to it.
func Of(c *catalog.Catalog, value any) Record {
	k := catalog.KindOf(value)
	if k == nil {
		return Record{Kind: Catalogue, Slug: string(Catalogue), value: c.InOrder()}
	}
	slug := k.Slug(value)
	if t, ok := value.(*catalog.Tool); ok {
		effective := *t
		effective.CanonicalURL = c.CanonicalURLOf(t)
		effective.ReviewURL = c.ReviewURLOf(t)
		effective.AlternativesURL = c.AlternativesURLOf(t)
		value = &effective
	}
	return Record{Kind: Kind(k.Name), Slug: slug, value: value}
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
func Names(kind Kind) (names []string) {
	if kind == Catalogue {
		names = append(names, slugField)
	}
	for i := range Tables[kind] {
		names = append(names, Tables[kind][i].Name)
	}
	return append(names, ImagesField.Name)
}

// Value returns a pointer to the value of a field, as Public does, or nil if there is no field of
// that name.
func (r Record) Value(name string) any {
	for i := range Tables[r.Kind] {
		f := &Tables[r.Kind][i]
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

// live yields the records of c that the public sees, as kind and index: kinds in their
// order, records by slug.
func live(c *catalog.Catalog) iter.Seq2[Kind, int] {
	return func(yield func(Kind, int) bool) {
		for _, kind := range Kinds {
			for i := range Count(c, kind) {
				if isLive(c, kind, i) && !yield(kind, i) {
					return
				}
			}
		}
	}
}

// Each yields the records of a kind that the public sees, as they are served, by slug. c
// must be sorted.
func Each(c *catalog.Catalog, kind Kind) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for i := range Count(c, kind) {
			if isLive(c, kind, i) && !yield(recordAt(c, kind, i)) {
				return
			}
		}
	}
}

// Count returns how many records of a kind a catalogue has.
func Count(c *catalog.Catalog, kind Kind) int {
	if k := kinds[kind]; k != nil {
		return k.Len(c)
	}
	if kind == Catalogue && (c.Name != "" || c.URL != "") { // something has been published
		return 1
	}
	return 0
}

// At returns a pointer to a record of a catalogue by its index, or the catalogue itself, as the kind says.
func At(c *catalog.Catalog, kind Kind, i int) any {
	if k := kinds[kind]; k != nil {
		return k.At(c, i)
	}
	return c
}

func isLive(c *catalog.Catalog, kind Kind, i int) bool {
	for j := range Tables[kind] {
		if f := &Tables[kind][j]; f.Form.IsStatus() && !f.IsEmpty(At(c, kind, i)) {
			return false
		}
	}
	return true
}

func slugAt(c *catalog.Catalog, kind Kind, i int) string {
	if kind == Catalogue {
		return string(Catalogue)
	}
	return *Tables[kind][0].In(At(c, kind, i)).(*string)
}

func recordAt(c *catalog.Catalog, kind Kind, i int) Record { return Of(c, At(c, kind, i)).Served(c) }

// Find returns the record of a kind and a slug as it is served, and whether the public
// sees one. c must be sorted.
func Find(c *catalog.Catalog, kind Kind, slug string) (Record, bool) {
	n := Count(c, kind)
	i := sort.Search(n, func(i int) bool { return slugAt(c, kind, i) >= slug })
	if i == n || slugAt(c, kind, i) != slug || !isLive(c, kind, i) {
		return Record{}, false
	}
	return recordAt(c, kind, i), true
}
