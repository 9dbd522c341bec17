package content

import (
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/problem"
)

// record decodes the fields, if they could be parsed.
func (d *decoder) record(k *catalog.Kind, isParsed bool) record {
	r := record{file: d.file, line: d.line, slug: d.slug, isNext: d.isNext, references: noReferences}
	if !isParsed {
		return r
	}
	r.of = k.New()
	d.check = markdown.CheckSections
	if k == catalog.ComparisonKind || k == catalog.RetiredKind {
		d.check = markdown.Check
	}
	for i := range k.Fields { // required fields of a draft may be missing
		if f := &k.Fields[i]; f.Form.IsStatus() {
			d.readField(f, r.of)
			d.isDraft = d.isDraft || f.Form != catalog.PublishAt && !f.IsEmpty(r.of)
		}
	}
	d.read(k.Fields, r.of)
	d.finish()
	r.slug = k.Slug(r.of)
	switch x := r.of.(type) {
	case *catalog.Tool:
		d.refs, d.aliases = d.aliases, nil
		r.tested = d.isGiven("score")
		toolRules{d, x}.check()
		if x.AffiliateURL != "" {
			d.affiliateLine = d.lineOf("affiliate_url")
		}
	case *catalog.Comparison:
		d.checkComparison(x)
		d.refs = slices.Concat(d.reference("tool_a", x.ToolA), d.reference("tool_b", x.ToolB))
	case *catalog.Retired:
		x.Note = markdown.Plain(x.Body)
		if x.Note == "" && !d.isDraft {
			d.inBody(1, problem.New("note-empty"))
		}
		d.checkUsages(d.declared[x.Category], x.Usages)
		d.refs = d.reference("successor", x.Successor)
	case *catalog.Page:
		d.checkPage(x)
	case *catalog.Article:
		d.checkArticle(x)
	}
	if !d.references.isEmpty() {
		r.references = new(d.references)
	}
	r.isMarked = *catalog.ValueOf[bool](k.Fields, catalog.Draft, r.of)
	if hour := catalog.ValueOf[string](k.Fields, catalog.PublishAt, r.of); hour != nil {
		r.publishAt, *hour = *hour, ""
	}
	if end := catalog.ValueOf[string](k.Fields, catalog.Time, r.of); end != nil {
		r.end = *end
	}
	d.warnAbout(&r)
	return r
}

// The rules of each kind of record, beside those of its fields.

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

func (d *decoder) checkPage(p *catalog.Page) {
	if catalog.IsReservedPage(p.Slug) {
		d.report(d.line, "slug-reserved", p.Slug)
	}
	for _, alias := range d.aliases {
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
		d.warn("draft", "draft-with-hours")
	}
}

func (d *decoder) checkEnd(publishAt, unpublishAt string) {
	if unpublishAt != "" && unpublishAt <= publishAt {
		d.report(d.lineOf("unpublish_at"), "ends-before-begin")
	}
}
