package catalog

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// A Kind is a kind of record. Kinds are the only list of them: whatever treats all records alike goes through it, as
// what treats their fields alike goes through the tables of fields.go.
type Kind struct {
	Name    string // the French singular, as in the canonical form and under /data/v1: auteur
	Folder  string // of its files; also the word of addresses, of files of the export and of tables: auteurs
	Noun    string // in English: author
	Label   string // for readers: Auteur; "" for a kind whose records nobody writes
	Address string // of the page of a record, before its slug; "" for none
	Fields  []Field

	List       string // the path of the page with all records; "" for none
	About      string // what the file of the export is, in French
	Summary    string // the field that tells a record in a line; "" for none
	IsFeminine bool   // the name, in French

	isText bool                 // the chronicle tells records as texts: they are texters
	first  func(record any) any // FirstSlug; nil for a kind without
	list
}

// The kinds. There is one record of the kind CatalogueKind, and its slug is the name of the kind.
var (
	ToolKind = newKind(Kind{
		Name: "outil", Folder: "outils", Noun: "tool", Label: "Outil", Address: "/outils/", List: "/outils",
		Fields: ToolFields, Summary: "tagline", About: "les outils, un enregistrement JSON par ligne",
	}, func(c *Catalog) *[]*Tool { return &c.Tools }, func(entry **Tool) *Tool { return *entry }, func(t *Tool) *Tool { return t })
	ComparisonKind = newPlainKind(Kind{
		Name: "comparatif", Folder: "comparatifs", Noun: "comparison", Label: "Comparatif", Address: "/comparatifs/",
		List: "/comparatifs", Fields: ComparisonFields, Summary: "winner_note", About: "les comparatifs, de même",
	}, func(c *Catalog) *[]Comparison { return &c.Comparisons })
	RetiredKind = newPlainKind(Kind{
		Name: "cimetiere", Folder: "cimetiere", Noun: "retired tool", Label: "Outil disparu", Address: "/cimetiere/",
		List: "/cimetiere", Fields: RetiredFields, About: "les outils retirés, de même",
	}, func(c *Catalog) *[]Retired { return &c.Retired })
	PageKind = newPlainKind(Kind{
		Name: "page", Folder: "pages", Noun: "page", Label: "Page", IsFeminine: true, Address: "/",
		Fields: PageFields, Summary: "description", About: "les pages de l’éditeur, de même",
	}, func(c *Catalog) *[]Page { return &c.Pages })
	ArticleKind = newPlainKind(Kind{
		Name: "article", Folder: "articles", Noun: "article", Label: "Article", Address: "/articles/", List: "/articles",
		Fields: ArticleFields, Summary: "description", About: "les articles, de même",
	}, func(c *Catalog) *[]Article { return &c.Articles })
	AuthorKind = newPlainKind(Kind{
		Name: "auteur", Folder: "auteurs", Noun: "author", Label: "Auteur", Address: "/auteurs/", List: "/auteurs",
		Fields: AuthorFields, Summary: "role", About: "celles et ceux qui écrivent, de même",
	}, func(c *Catalog) *[]Author { return &c.Authors })
	ProofKind = newPlainKind(Kind{ // of the price of a tool, whose slug it has
		Name: "preuve", Folder: "preuves", Noun: "proof", Fields: ProofFields,
		About: "ce qui a été vu des prix, à leurs sources, de même",
	}, func(c *Catalog) *[]Proof { return &c.Proofs })
	CatalogueKind = &Kind{
		Name: "catalogue", Noun: "catalogue", Fields: CatalogueFields, list: settings{},
		About: "le nom, l’adresse et les catégories du catalogue",
	}
)

// Kinds are in the order in which records need each other: comparisons need their tools, and obituaries
// the end of comparisons. WrittenKinds have a folder with a file for each record.
var (
	Kinds = []*Kind{
		ToolKind, ComparisonKind, RetiredKind, PageKind, ArticleKind, AuthorKind, ProofKind, CatalogueKind,
	}
	WrittenKinds = slices.DeleteFunc(slices.Clone(Kinds), func(k *Kind) bool { return k.Label == "" })
)

// KindNames returns the names of kinds.
func KindNames(kinds []*Kind) (names []string) {
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// KindNamed returns the kind of a name; nil if there is none.
func KindNamed(name string) *Kind {
	return kindWith(Kinds, func(k *Kind) bool { return k.Name == name })
}

// KindIn returns the kind whose records are files of a folder; nil if there is none.
func KindIn(folder string) *Kind {
	return kindWith(WrittenKinds, func(k *Kind) bool { return k.Folder == folder })
}

// KindOf returns the kind of a record, given a pointer to it; nil if it is none of Kinds.
func KindOf(record any) *Kind { return kindWith(Kinds, func(k *Kind) bool { return k.is(record) }) }

// LaterKind returns a kind of a later release, which no catalogue has records of.
func LaterKind(name string) *Kind {
	return newPlainKind(Kind{Name: name, Fields: ProofFields[:1]}, func(*Catalog) *[]Proof { return new([]Proof) })
}

func kindWith(kinds []*Kind, isWanted func(*Kind) bool) *Kind {
	if i := slices.IndexFunc(kinds, isWanted); i >= 0 {
		return kinds[i]
	}
	return nil
}

// String returns the name of the kind; "" for nil, which stands for all kinds.
func (k *Kind) String() string {
	if k == nil {
		return ""
	}
	return k.Name
}

// Equal reports whether two kinds are one: each name has one kind.
func (k *Kind) Equal(o *Kind) bool { return k == o }

// Slug returns the slug of a record of the kind.
func (k *Kind) Slug(record any) string {
	if k == CatalogueKind {
		return k.Name
	}
	return *k.Fields[0].of(record).(*string)
}

// Title returns the name of the field with the name or the title of records.
func (k *Kind) Title() string { return k.Fields[1].Name }

// Body returns the text of a record of the kind; "" for none.
func (k *Kind) Body(record any) string { return valueIn[string](k.Fields, Body, record) }

// First returns the oldest slug of a record of the kind, which no other one of the kind ever had as its oldest.
func (k *Kind) First(record any) string {
	if k.first == nil {
		return k.Slug(record)
	}
	return firstOf(k.Slug(record), *k.first(record).(*string), k.Aliases(record))
}

// setFirst makes a slug the oldest one of a record. It is recorded unless other fields say it.
func (k *Kind) setFirst(record any, first string) {
	own := k.first(record).(*string)
	if *own = ""; k.First(record) != first {
		*own = first
	}
}

// Aliases returns the former slugs of a record of the kind.
func (k *Kind) Aliases(record any) []string { return valueIn[[]string](k.Fields, Slugs, record) }

// Authors returns the names of who wrote a record of the kind.
func (k *Kind) Authors(record any) []string { return valueIn[[]string](k.Fields, Names, record) }

// IsText reports whether the chronicle tells records of the kind, which may be nil, as texts.
func (k *Kind) IsText() bool { return k != nil && k.isText }

// IsPublic reports whether nothing in a record says that the public does not see it.
func (k *Kind) IsPublic(record any) bool {
	for i := range k.Fields {
		if f := &k.Fields[i]; f.Form.IsStatus() && !f.IsEmpty(record) {
			return false
		}
	}
	return true
}

// IsUnpublished reports whether a record says that it is not published.
func (k *Kind) IsUnpublished(record any) bool {
	published := ValueOf[bool](k.Fields, Published, record)
	return published != nil && !*published
}

// Find returns the index of the record of a slug in a sorted catalogue.
func (k *Kind) Find(c *Catalog, slug string) (i int, found bool) {
	return sort.Find(k.Len(c), func(i int) int { return strings.Compare(slug, k.Slug(k.At(c, i))) })
}

// find returns the record of a slug in a sorted catalogue, or nil.
func (k *Kind) find(c *Catalog, slug string) any {
	if i, found := k.Find(c, slug); found {
		return k.At(c, i)
	}
	return nil
}

// A list gives access to the records of a kind in a catalogue, by pointers to them.
type list interface {
	New() any // an empty record
	Len(c *Catalog) int
	At(c *Catalog, i int) any
	// Join adds the records of other to those of c, which need not be sorted.
	Join(c, other *Catalog)
	// Replace gives next the records of old without those of some slugs, and with those of fresh, which are
	// among them.
	Replace(next, old, fresh *Catalog, slugs []string) Step

	is(record any) bool
	add(c *Catalog, record any)
	put(c *Catalog, record any) // see Catalog.Put
	sort(c *Catalog)
	// keep makes a new list of the records that are wanted.
	keep(c *Catalog, isWanted func(record any) bool)
}

// entries are the records *T of a list of a catalogue with the elements E.
type entries[T, E any] struct {
	in    func(*Catalog) *[]E
	of    func(*E) *T
	entry func(*T) E
	slug  func(*E) string
}

func newKind[T, E any](k Kind, in func(*Catalog) *[]E, of func(*E) *T, entry func(*T) E) *Kind {
	own := k.Fields[0].of
	k.list = entries[T, E]{in, of, entry, func(e *E) string { return *own(of(e)).(*string) }}
	if i := slices.IndexFunc(k.Fields, func(f Field) bool { return f.Name == firstField }); i >= 0 {
		k.first = k.Fields[i].of
	}
	_, k.isText = any(new(T)).(texter)
	return &k
}

// newPlainKind returns a kind whose records are themselves in the list.
func newPlainKind[T any](k Kind, in func(*Catalog) *[]T) *Kind {
	return newKind(k, in, func(entry *T) *T { return entry }, func(record *T) T { return *record })
}

func (l entries[T, E]) New() any                   { return new(T) }
func (l entries[T, E]) Len(c *Catalog) int         { return len(*l.in(c)) }
func (l entries[T, E]) At(c *Catalog, i int) any   { return l.of(&(*l.in(c))[i]) }
func (l entries[T, E]) Join(c, other *Catalog)     { *l.in(c) = append(*l.in(c), *l.in(other)...) }
func (l entries[T, E]) is(record any) bool         { _, ok := record.(*T); return ok }
func (l entries[T, E]) add(c *Catalog, record any) { *l.in(c) = append(*l.in(c), l.entry(record.(*T))) }

func (l entries[T, E]) Replace(next, old, fresh *Catalog, slugs []string) (step Step) {
	*l.in(next), step = replace(*l.in(old), *l.in(fresh), slugs, l.slug)
	return step
}

func (l entries[T, E]) put(c *Catalog, record any) {
	all, entry := l.in(c), l.entry(record.(*T))
	i, found := sort.Find(len(*all), func(i int) int { return cmp.Compare(l.slug(&entry), l.slug(&(*all)[i])) })
	if found {
		(*all)[i] = entry
	} else {
		*all = slices.Insert(*all, i, entry)
	}
}

func (l entries[T, E]) sort(c *Catalog) {
	all := *l.in(c)
	sort.Slice(all, func(i, j int) bool { return l.slug(&all[i]) < l.slug(&all[j]) })
}

func (l entries[T, E]) keep(c *Catalog, isWanted func(record any) bool) {
	all, kept := *l.in(c), []E(nil)
	for i := range all {
		if isWanted(l.of(&all[i])) {
			kept = append(kept, all[i])
		}
	}
	*l.in(c) = kept
}

// settings is the list with the catalogue itself, whose record is all but its records.
type settings struct{}

func (settings) New() any                      { return new(Catalog) }
func (settings) At(c *Catalog, _ int) any      { return c }
func (settings) is(record any) bool            { _, ok := record.(*Catalog); return ok }
func (settings) sort(*Catalog)                 {}
func (settings) keep(*Catalog, func(any) bool) {}
func (s settings) add(c *Catalog, record any)  { s.put(c, record) }

func (settings) Len(c *Catalog) int {
	if c.Name == "" && c.URL == "" { // nothing has been published
		return 0
	}
	return 1
}

func (settings) put(c *Catalog, record any) {
	from := record.(*Catalog)
	c.Name, c.URL, c.Settings, c.Categories = from.Name, from.URL, from.Settings, from.Categories
}

func (s settings) Join(c, other *Catalog) {
	if s.Len(other) > 0 {
		s.put(c, other)
	}
}

func (s settings) Replace(next, old, fresh *Catalog, slugs []string) Step {
	s.put(next, old)
	if len(slugs) > 0 {
		s.put(next, fresh)
	}
	return Step{}
}
