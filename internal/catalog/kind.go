package catalog

// A Kind is a kind of record of which a catalogue has a list. Kinds are the only list of them: whatever treats
// all records alike goes through it, as what treats their fields alike goes through the tables of fields.go.
type Kind struct {
	Name   string // in the canonical form
	Folder string // of its files; "" if it has none
	Fields []Field
	New    func() any // returns a pointer to an empty record
	Len    func(c *Catalog) int
	At     func(c *Catalog, i int) any // returns a pointer to a record

	is  func(record any) bool
	add func(c *Catalog, record any)
	put func(c *Catalog, record any) // see Catalog.Put
}

// Kinds are in the order in which records need each other: comparisons need their tools, and obituaries
// the end of comparisons.
var Kinds = []Kind{
	newKind("outil", "outils", ToolFields, func(c *Catalog) *[]*Tool { return &c.Tools },
		func(entry **Tool) *Tool { return *entry }, func(t *Tool) *Tool { return t }),
	newPlainKind("comparatif", "comparatifs", ComparisonFields, func(c *Catalog) *[]Comparison { return &c.Comparisons }),
	newPlainKind("cimetiere", "cimetiere", RetiredFields, func(c *Catalog) *[]Retired { return &c.Retired }),
	newPlainKind("page", "pages", PageFields, func(c *Catalog) *[]Page { return &c.Pages }),
	newPlainKind("article", "articles", ArticleFields, func(c *Catalog) *[]Article { return &c.Articles }),
	newPlainKind("author", "auteurs", AuthorFields, func(c *Catalog) *[]Author { return &c.Authors }),
	newPlainKind("preuve", "", ProofFields, func(c *Catalog) *[]Proof { return &c.Proofs }),
}

// newKind returns the kind of the records *T, of which a catalogue has the entries of a list.
func newKind[T, E any](name, folder string, fields []Field, list func(*Catalog) *[]E, of func(*E) *T, entry func(*T) E) Kind {
	slug := func(e *E) string { return *fields[0].of(of(e)).(*string) }
	return Kind{
		Name: name, Folder: folder, Fields: fields,
		New: func() any { return new(T) },
		Len: func(c *Catalog) int { return len(*list(c)) },
		At:  func(c *Catalog, i int) any { return of(&(*list(c))[i]) },
		is:  func(record any) bool { _, ok := record.(*T); return ok },
		add: func(c *Catalog, record any) { *list(c) = append(*list(c), entry(record.(*T))) },
		put: func(c *Catalog, record any) { *list(c) = put(*list(c), entry(record.(*T)), slug) },
	}
}

// newPlainKind returns a kind whose records are themselves in the list.
func newPlainKind[T any](name, folder string, fields []Field, list func(*Catalog) *[]T) Kind {
	return newKind(name, folder, fields, list, func(entry *T) *T { return entry }, func(record *T) T { return *record })
}

// KindOf returns the kind of a record, given a pointer to it; nil if it is none of Kinds.
func KindOf(record any) *Kind {
	for i := range Kinds {
		if Kinds[i].is(record) {
			return &Kinds[i]
		}
	}
	return nil
}

// Slug returns the slug of a record of the kind.
func (k *Kind) Slug(record any) string { return *k.Fields[0].of(record).(*string) }
