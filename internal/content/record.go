package content

import (
	"reflect"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/markdown"
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

// readKind reads a record of a kind.
func (d *decoder) readKind(k *catalog.Kind) record {
	of := k.New()
	if k != catalog.ComparisonKind && k != catalog.RetiredKind {
		d.checkBody = markdown.CheckSections
	}
	d.readRecord(k.Fields, of)
	refs := &references{aliases: d.former}
	r := record{slug: k.Slug(of), of: of, references: refs}
	switch x := of.(type) {
	case *catalog.Tool:
		refs.refs, refs.aliases = d.former, nil
		r.tested = d.isGiven("score")
		d.checkTool(x)
		if x.AffiliateURL != "" {
			refs.affiliateLine = d.lineOf("affiliate_url")
		}
	case *catalog.Comparison:
		d.checkComparison(x)
		refs.refs = slices.Concat(d.reference("tool_a", x.ToolA), d.reference("tool_b", x.ToolB))
	case *catalog.Retired:
		d.checkRetired(x)
		refs.refs = d.reference("successor", x.Successor)
	case *catalog.Page:
		d.checkPage(x)
	case *catalog.Article:
		d.checkArticle(x)
		refs.refs = d.tools
	}
	return d.newRecord(r)
}

// The rules of each kind of record, beside those of its fields.

func (d *decoder) checkTool(t *catalog.Tool) {
	d.checkTest(t)
	d.checkAnnounced(t)
	d.checkQuote(t.PriceQuote, t.Pricing, t.Price, t.PriceDisplay)
	d.checkDisplay(t)
}

func (d *decoder) checkComparison(x *catalog.Comparison) {
	if x.Title == "" || x.ToolA == "" || x.ToolB == "" || x.Winner == "" || x.WinnerNote == "" {
		x.Draft = true // unpublished and incomplete
	}
	if x.ToolA != "" && x.ToolA == x.ToolB {
		d.report(d.lineOf("tool_b"), "same-sides", x.ToolA)
	}
	if x.Winner != "" && x.ToolA != "" && x.ToolB != "" && x.Winner != x.ToolA && x.Winner != x.ToolB {
		d.report(d.lineOf("winner"), "winner-elsewhere", x.ToolA, x.ToolB, x.Winner)
	}
}

func (d *decoder) checkRetired(o *catalog.Retired) {
	o.Note = markdown.Plain(o.Body)
	if o.Note == "" && !d.isDraft {
		d.inBody(1, problem.New("note-empty"))
	}
	d.checkUsages(d.declared[o.Category], o.Usages)
}

func (d *decoder) checkPage(p *catalog.Page) {
	if catalog.IsReservedPage(p.Slug) {
		d.report(d.line, "slug-reserved", p.Slug)
	}
	for _, alias := range d.former {
		if catalog.IsReservedPage(alias.slug) {
			d.report(alias.line, "alias-reserved", alias.slug)
		}
	}
	d.checkEnd(p.PublishAt, p.UnpublishAt)
}

func (d *decoder) checkArticle(a *catalog.Article) {
	d.checkEnd(a.PublishAt, a.UnpublishAt)
	if a.Body == "" && !d.isDraft {
		d.inBody(1, problem.New("article-no-text"))
	}
	if d.isDraft && (a.PublishAt != "" || a.UnpublishAt != "") {
		d.warn(d.lineOf("draft"), "draft-with-hours")
	}
}

func (d *decoder) checkEnd(publishAt, unpublishAt string) {
	if unpublishAt != "" && unpublishAt <= publishAt {
		d.report(d.lineOf("unpublish_at"), "ends-before-begin")
	}
}

// reference returns the reference to another record that a field holds, if it holds one.
func (d *decoder) reference(field, slug string) []reference {
	if slug == "" {
		return nil
	}
	return []reference{{field, slug, d.lineOf(field)}}
}

// newRecord completes a record that was read.
func (d *decoder) newRecord(r record) record {
	r.file, r.line, r.isNext = d.file, d.line, d.isNext
	fields := catalog.KindOf(r.of).Fields
	r.isMarked = *catalog.ValueOf[bool](fields, catalog.Draft, r.of)
	if hour := catalog.ValueOf[string](fields, catalog.PublishAt, r.of); hour != nil {
		r.publishAt, *hour = *hour, ""
	}
	if end := catalog.ValueOf[string](fields, catalog.Time, r.of); end != nil {
		r.end = *end
	}
	return r
}

// categories are those that are declared, by slug; nil if catalogue.yaml could not be
// read.
type categories map[string]*catalog.Category

func (d *decoder) catalogue() (catalog.Catalog, categories) {
	if d.IsRecord {
		d.text(&ownKind)
	}
	d.ownCategories = categories{}
	var c catalog.Catalog
	d.read(catalog.CatalogueFields, &c)
	d.ignored = ignoredBy(&c)
	for _, kind := range d.ignored {
		if !slices.Contains(WarningKinds, kind) {
			d.warn(d.lineOf("warnings"), "unknown-warning", tree.Quoted(kind), strings.Join(WarningKinds, ", "))
		}
	}
	d.checkRights(&c.Settings)
	for i := range c.Categories {
		c.Categories[i].Position = i
	}
	taken := map[string]bool{}
	for _, alias := range d.former {
		switch {
		case d.ownCategories[alias.slug] != nil:
			d.report(alias.line, "alias-is-category", alias.slug)
		case taken[alias.slug]:
			d.report(alias.line, "category-alias-twice", alias.slug)
		}
		taken[alias.slug] = true
	}
	if d.IsRecord {
		d.images()
	}
	d.rejectOthers()
	return c, d.ownCategories
}

// ownKind is the slug of a catalogue as a record.
var ownKind = catalog.Field{
	Name: "slug", Form: catalog.Enum, Use: catalog.Always, Values: []string{catalog.CatalogueKind.Name},
}

// declare keeps a category that was read by entry, and what it mentions.
func (d *decoder) declare(c *catalog.Category, entry *decoder) {
	if c.Slug != "" && d.ownCategories[c.Slug] != nil {
		entry.report(entry.lineOf("slug"), "category-twice", c.Slug)
	}
	d.ownCategories[c.Slug] = new(*c) // the catalogue sorts its own
	entry.checkLists(c)
	d.former, d.pages = append(d.former, entry.former...), append(d.pages, entry.pages...)
	d.links, d.pictures = append(d.links, entry.links...), append(d.pictures, entry.pictures...)
}
