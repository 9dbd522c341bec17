package content

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A record is one record of the folder, with what is needed to check it against
// the others. Exactly one of tool, comparison and retired is set, or none if the
// record could not be read.
type record struct {
	file string
	line int
	slug string // "" if it has no valid one
	refs []reference

	tested bool // a score is given, valid or not

	links, pictures []mention // of the body

	keyLine     int // of the domain of a tool, of the winner of a comparison
	updatedLine int // of updated_at; 0 if the record does not give it

	tool       *catalog.Tool
	comparison *catalog.Comparison
	retired    *catalog.Retired
}

// A reference is a slug of another record, or a former slug of this one.
type reference struct {
	field string
	slug  string
	line  int
}

// The rules of each kind of record. Missing fields are reported in the order of
// the fields here.

func (d *decoder) tool() record {
	t := &catalog.Tool{
		Slug:            d.ownSlug(),
		Name:            d.oneLine("name", required),
		Domain:          d.checked("domain", required, isDomain, "a host name such as outil.example"),
		Category:        d.category(),
		ICP:             enum(d, "icp", catalog.ICPs),
		Pricing:         enum(d, "pricing", catalog.Pricings),
		Price:           d.price("price"),
		Tagline:         d.oneLine("tagline", required),
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
	}
	for _, item := range d.list("sources") {
		t.Sources = append(t.Sources, item.urlOf(item.label(), item.value, address))
	}
	score := d.field("score", optional)
	r := record{file: d.file, line: d.line, slug: t.Slug, tool: t, tested: score != nil && score.kind != isNull}
	for _, item := range d.list("aliases") {
		if alias := item.slugOf(item.label(), item.value); alias != "" {
			t.Aliases = append(t.Aliases, alias)
			r.refs = append(r.refs, reference{"aliases", alias, item.value.line})
		}
	}
	slices.Sort(t.Aliases)
	for _, item := range d.list("price_history") {
		if entry, ok := item.mapping(); ok {
			t.PriceHistory = append(t.PriceHistory, catalog.PriceChange{
				ChangedAt:  entry.date("changed_at", required),
				OldPricing: enum(entry, "old_pricing", catalog.Pricings),
				OldPrice:   entry.price("old_price"),
				NewPricing: enum(entry, "new_pricing", catalog.Pricings),
				NewPrice:   entry.price("new_price"),
			})
			entry.rejectOthers()
		}
	}
	t.Body = d.ownBody(markdown.CheckSections)
	d.rejectOthers()
	return r
}

func (d *decoder) comparison() record {
	x := &catalog.Comparison{
		Slug:       d.ownSlug(),
		Title:      d.oneLine("title", required),
		ToolA:      d.slugField("tool_a", required),
		ToolB:      d.slugField("tool_b", required),
		Winner:     d.slugField("winner", required),
		WinnerNote: d.prose("winner_note"),
		Published:  d.boolean("published", true),
		UpdatedAt:  d.date("updated_at", optional),
		Body:       d.ownBody(markdown.Check),
	}
	d.rejectOthers()
	if x.ToolA != "" && x.ToolA == x.ToolB {
		d.report(d.lineOf("tool_b"), "tool_a and tool_b are both %q; compare two different tools", x.ToolA)
	}
	if x.Winner != "" && x.ToolA != "" && x.ToolB != "" && x.Winner != x.ToolA && x.Winner != x.ToolB {
		d.report(d.lineOf("winner"), "winner must be tool_a or tool_b, that is %q or %q, not %q", x.ToolA, x.ToolB, x.Winner)
	}
	r := record{file: d.file, line: d.line, slug: x.Slug, comparison: x}
	for _, side := range []struct{ field, slug string }{{"tool_a", x.ToolA}, {"tool_b", x.ToolB}} {
		if side.slug != "" {
			r.refs = append(r.refs, reference{side.field, side.slug, d.lineOf(side.field)})
		}
	}
	return r
}

func (d *decoder) retired() record {
	o := &catalog.Retired{
		Slug:      d.ownSlug(),
		Name:      d.oneLine("name", required),
		Category:  d.category(),
		Reason:    enum(d, "reason", catalog.Reasons),
		RetiredAt: d.date("retired_at", required),
		Successor: d.slugField("successor", optional),
		Body:      d.ownBody(markdown.Check),
	}
	d.rejectOthers()
	o.Note = markdown.Plain(o.Body)
	if o.Note == "" {
		d.inBody(1, "the note is empty; say why the tool was retired")
	}
	r := record{file: d.file, line: d.line, slug: o.Slug, retired: o}
	if o.Successor != "" {
		r.refs = []reference{{"successor", o.Successor, d.lineOf("successor")}}
	}
	return r
}

// categories is the set of declared slugs; nil if catalogue.yaml could not be
// read.
type categories map[string]bool

func (d *decoder) catalogue() (catalog.Catalog, categories) {
	c := catalog.Catalog{Name: d.oneLine("name", required)}
	if v := d.field("url", required); v != nil {
		c.URL = strings.TrimSuffix(d.urlOf("url", v, site), "/")
	}
	declared := categories{}
	given := d.field("categories", required) != nil
	items := d.list("categories")
	if given && len(items) == 0 {
		d.report(d.lineOf("categories"), "categories must list at least one category, with slug and label")
	}
	for _, item := range items {
		entry, ok := item.mapping()
		if !ok {
			continue
		}
		category := catalog.Category{Slug: entry.slugField("slug", required), Label: entry.oneLine("label", required)}
		entry.rejectOthers()
		if category.Slug != "" && declared[category.Slug] {
			entry.report(entry.lineOf("slug"), "category %q is declared twice", category.Slug)
		}
		declared[category.Slug] = true
		c.Categories = append(c.Categories, category)
	}
	d.rejectOthers()
	return c, declared
}
