package content

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	canonical "palmares/internal/record"
)

// A record is one record of the folder, with what is needed to check it against
// the others. Exactly one of tool, comparison, retired and page is set, or none
// if the record could not be read.
type record struct {
	file string
	line int
	slug string // "" if it has no valid one
	*references

	tested bool // a score is given, valid or not

	keyLine     int // of the domain of a tool, of the winner of a comparison
	updatedLine int // of updated_at; 0 if the record does not give it

	tool       *catalog.Tool
	comparison *catalog.Comparison
	retired    *catalog.Retired
	page       *catalog.Page
}

// references are what a record refers to. Most tools have none.
type references struct {
	refs    []reference // aliases of a tool, sides of a comparison, successor of a retired tool
	aliases []reference // of a comparison

	links, pictures []mention   // of the body
	fieldPictures   []reference // of fields
}

// noReferences are those of all records that have none.
var noReferences = &references{}

func (r *references) isEmpty() bool {
	return len(r.refs)+len(r.aliases)+len(r.links)+len(r.pictures)+len(r.fieldPictures) == 0
}

// A reference is a slug of another record, a former slug of this one, or the path of a
// picture.
type reference struct {
	field string
	slug  string
	line  int
}

// The rules of each kind of record. Missing fields are reported in the order of
// the fields here.

func (d *decoder) tool() record {
	d.isDraft = d.boolean("draft", false)
	d.mayLackWhen("draft", true)
	t := &catalog.Tool{
		Slug:            d.ownSlug(),
		Name:            d.oneLine("name", required),
		Domain:          d.checked("domain", required, domainForm, isDomain, "a host name such as outil.example"),
		Category:        d.category(),
		ICP:             cmp.Or(enum(d, "icp", optional, catalog.ICPs), catalog.EveryICP),
		Pricing:         enum(d, "pricing", required, catalog.Pricings),
		Price:           d.price("price"),
		PriceDisplay:    d.short("price_display", optional),
		Tagline:         d.oneLine("tagline", required),
		Authors:         d.names("author"),
		Logo:            d.picture("logo"),
		Image:           d.picture("image"),
		Score:           d.figure("score"),
		Verifiability:   d.figure("verifiability"),
		Obsolescence:    d.figure("obsolescence"),
		Tier:            d.tier(),
		Mainstream:      d.boolean("mainstream", false),
		UpdatedAt:       d.date("updated_at", optional),
		CanonicalURL:    d.url("canonical_url", page),
		ReviewURL:       d.url("avis_url", page),
		AlternativesURL: d.url("alternatives_url", page),
		TestedAt:        d.date("tested_at", optional),
		PriceCheckedAt:  d.date("price_checked_at", optional),
		ScoreNote:       d.prose("score_note", optional),
		Draft:           d.isDraft,
	}
	for _, item := range d.list("sources", func() *schemaNode { return urlForm(address) }) {
		t.Sources = append(t.Sources, item.urlOf(item.label(), item.value, address))
	}
	r := record{file: d.file, line: d.line, slug: t.Slug, references: &references{}, tool: t, tested: d.field("score", optional) != nil}
	t.Aliases, r.refs = d.aliases()
	t.Plans = d.plans()
	t.PriceHistory = d.priceHistory()
	if enum(d, "price_history_mode", optional, []catalog.HistoryMode{"add", catalog.HistoryReplace}) == catalog.HistoryReplace {
		t.PriceHistoryMode = catalog.HistoryReplace
	}
	t.ScoreHistory = d.scoreHistory()
	t.Body = d.ownBody(markdown.CheckSections)
	d.images()
	d.rejectOthers()
	return r
}

// aliases returns the former slugs of a record, sorted.
func (d *decoder) aliases() (slugs []string, refs []reference) {
	for _, item := range d.list("aliases", slugForm) {
		switch alias := item.slugOf(item.label(), item.value); {
		case alias == "":
		case slices.Contains(slugs, alias):
			d.report(item.value.line, "alias %q is listed already; remove one of the two", alias)
		default:
			slugs = append(slugs, alias)
			refs = append(refs, reference{"aliases", alias, item.value.line})
		}
	}
	if d.schema != nil {
		d.schema.Properties.nodes["aliases"].UniqueItems = true
	}
	slices.Sort(slugs)
	return slugs, refs
}

func (d *decoder) plans() (plans []catalog.PlanRow) {
	for _, item := range d.list("plans", nil) {
		if entry, ok := item.mapping(); ok {
			plans = append(plans, catalog.PlanRow{
				Name:  entry.oneLine("name", required),
				Price: entry.short("price", required),
				Note:  entry.oneLine("note", optional),
			})
			entry.rejectOthers()
		}
	}
	return plans
}

func (d *decoder) priceHistory() (history []catalog.PriceChange) {
	items := d.list("price_history", nil)
	history = slices.Grow(history, len(items))
	for _, item := range items {
		if entry, ok := item.mapping(); ok {
			history = append(history, catalog.PriceChange{
				ChangedAt:  entry.date("changed_at", required),
				OldPricing: enum(entry, "old_pricing", required, catalog.Pricings),
				OldPrice:   entry.price("old_price"),
				NewPricing: enum(entry, "new_pricing", required, catalog.Pricings),
				NewPrice:   entry.price("new_price"),
			})
			entry.rejectOthers()
		}
	}
	return history
}

func (d *decoder) scoreHistory() (history []catalog.ScoreChange) {
	for _, item := range d.list("score_history", nil) {
		if entry, ok := item.mapping(); ok {
			history = append(history, catalog.ScoreChange{
				ChangedAt: entry.date("changed_at", required),
				OldScore:  entry.figure("old_score"), NewScore: entry.figure("new_score"),
				OldVerifiability: entry.figure("old_verifiability"), NewVerifiability: entry.figure("new_verifiability"),
				OldObsolescence: entry.figure("old_obsolescence"), NewObsolescence: entry.figure("new_obsolescence"),
				Note: entry.prose("note", optional),
			})
			entry.rejectOthers()
		}
	}
	return history
}

func (d *decoder) comparison() record {
	isDraft, published := d.boolean("draft", false), d.boolean("published", true)
	d.isDraft = isDraft || !published
	d.mayLackWhen("draft", true)
	d.mayLackWhen("published", false)
	x := &catalog.Comparison{
		Slug:       d.ownSlug(),
		Title:      d.oneLine("title", required),
		ToolA:      d.slugField("tool_a", required),
		ToolB:      d.slugField("tool_b", required),
		Winner:     d.slugField("winner", required),
		WinnerNote: d.prose("winner_note", required),
		Published:  published,
		UpdatedAt:  d.date("updated_at", optional),
		Authors:    d.names("author"),
		Image:      d.picture("image"),
		Draft:      isDraft,
	}
	r := record{file: d.file, line: d.line, slug: x.Slug, references: &references{}, comparison: x}
	x.Aliases, r.aliases = d.aliases()
	x.Body = d.ownBody(markdown.Check)
	d.images()
	d.rejectOthers()
	if x.Title == "" || x.ToolA == "" || x.ToolB == "" || x.Winner == "" || x.WinnerNote == "" {
		x.Draft = true // unpublished and incomplete
	}
	if x.ToolA != "" && x.ToolA == x.ToolB {
		d.report(d.lineOf("tool_b"), "tool_a and tool_b are both %q; compare two different tools", x.ToolA)
	}
	if x.Winner != "" && x.ToolA != "" && x.ToolB != "" && x.Winner != x.ToolA && x.Winner != x.ToolB {
		d.report(d.lineOf("winner"), "winner must be tool_a or tool_b, that is %q or %q, not %q", x.ToolA, x.ToolB, x.Winner)
	}
	for _, side := range []struct{ field, slug string }{{"tool_a", x.ToolA}, {"tool_b", x.ToolB}} {
		if side.slug != "" {
			r.refs = append(r.refs, reference{side.field, side.slug, d.lineOf(side.field)})
		}
	}
	return r
}

func (d *decoder) retired() record {
	d.isDraft = d.boolean("draft", false)
	d.mayLackWhen("draft", true)
	o := &catalog.Retired{
		Slug:      d.ownSlug(),
		Name:      d.oneLine("name", required),
		Category:  d.category(),
		Reason:    enum(d, "reason", required, catalog.Reasons),
		RetiredAt: d.date("retired_at", required),
		Successor: d.slugField("successor", optional),
		Body:      d.ownBody(markdown.Check),
		Draft:     d.isDraft,
	}
	d.images()
	d.rejectOthers()
	o.Note = markdown.Plain(o.Body)
	if o.Note == "" && !d.isDraft && !d.headsOnly {
		d.inBody(1, "the note is empty; say why the tool was retired")
	}
	r := record{file: d.file, line: d.line, slug: o.Slug, references: &references{}, retired: o}
	if o.Successor != "" {
		r.refs = []reference{{"successor", o.Successor, d.lineOf("successor")}}
	}
	return r
}

func (d *decoder) customPage() record {
	d.isDraft = d.boolean("draft", false)
	d.mayLackWhen("draft", true)
	p := &catalog.Page{
		Slug:        d.ownSlug(),
		Title:       d.oneLine("title", required),
		Menu:        cmp.Or(enum(d, "menu", optional, catalog.Menus), catalog.MenuFooter),
		Description: d.oneLine("description", optional),
		Image:       d.picture("image"),
		Body:        d.ownBody(markdown.CheckSections),
		Draft:       d.isDraft,
	}
	d.images()
	d.rejectOthers()
	if catalog.IsReservedPage(p.Slug) {
		d.report(d.line, "the slug %q is used by the site itself; rename the page", p.Slug)
	}
	return record{file: d.file, line: d.line, slug: p.Slug, references: &references{}, page: p}
}

// categories is the set of declared slugs; nil if catalogue.yaml could not be
// read.
type categories map[string]bool

func (d *decoder) catalogue() (catalog.Catalog, categories) {
	if d.isRecord {
		enum(d, "slug", optional, []canonical.Kind{canonical.Catalogue})
	}
	c := catalog.Catalog{Name: d.oneLine("name", required)}
	d.expect("url", required, func() *schemaNode { return urlForm(site) })
	if v := d.field("url", required); v != nil {
		c.URL = strings.TrimSuffix(d.urlOf("url", v, site), "/")
		d.site = c.URL
	}
	c.Settings = catalog.Settings{
		Headline:     d.oneLine("headline", optional),
		Introduction: d.markdown("introduction"),
		Description:  d.oneLine("description", optional),
		Contact:      d.checked("contact", optional, contactForm, isContact, "a mail address or an http or https URL"),
		Publisher:    d.oneLine("publisher", optional),
		Logo:         d.picture("logo"),
	}
	if enum(d, "pro", optional, []string{"show", catalog.ProHide}) == catalog.ProHide {
		c.Settings.Pro = catalog.ProHide
	}
	if dataset := enum(d, "dataset", optional, []string{"full", catalog.DatasetHead, catalog.DatasetOff}); dataset != "full" {
		c.Settings.Dataset = dataset
	}
	declared := d.categories(&c)
	if d.isRecord {
		d.images()
	}
	d.rejectOthers()
	return c, declared
}

func (d *decoder) categories(c *catalog.Catalog) categories {
	declared, taken := categories{}, map[string]string{}
	given := d.field("categories", required) != nil
	items := d.list("categories", nil)
	d.expectSome("categories")
	if given && len(items) == 0 {
		d.report(d.lineOf("categories"), "categories must list at least one category, with slug and label")
	}
	var former []reference
	for i, item := range items {
		entry, ok := item.mapping()
		if !ok {
			continue
		}
		category := catalog.Category{
			Slug: entry.slugField("slug", required), Label: entry.oneLine("label", required),
			Description: entry.markdown("description"), Position: i,
		}
		var refs []reference
		category.Aliases, refs = entry.aliases()
		entry.rejectOthers()
		if category.Slug != "" && declared[category.Slug] {
			entry.report(entry.lineOf("slug"), "category %q is declared twice", category.Slug)
		}
		declared[category.Slug] = true
		former = append(former, refs...)
		d.links, d.pictures = append(d.links, entry.links...), append(d.pictures, entry.pictures...)
		c.Categories = append(c.Categories, category)
	}
	for _, alias := range former {
		switch {
		case declared[alias.slug]:
			d.report(alias.line, "alias %q is taken: it is a category", alias.slug)
		case taken[alias.slug] != "":
			d.report(alias.line, "alias %q is given twice", alias.slug)
		}
		taken[alias.slug] = alias.slug
	}
	return declared
}

// markdown returns an optional text in Markdown, and reports what is wrong in it.
func (d *decoder) markdown(name string) string {
	text, skipped := trimBlankLines(d.prose(name, optional))
	found := markdown.Check(text)
	at := func(line int) mention {
		if f := d.find(name); f != nil && f.value.isBlock {
			return mention{line: f.value.line + skipped + line, prefix: d.label(name) + ": "}
		}
		return mention{line: d.lineOf(name), prefix: fmt.Sprintf("%s, line %d: ", d.label(name), line)}
	}
	for _, p := range found.Problems {
		d.report(at(p.Line).line, "%s%s", at(p.Line).prefix, p.Text)
	}
	d.mention(text, found, at)
	return text
}
