package content

import (
	"cmp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/markdown"
	"palmares/internal/problem"
	canonical "palmares/internal/record"
)

// A decoder decodes the fields of a record, or of an object in it, by their table, and keeps their references: in refs
// pages of protocols or tools of an article, in aliases former slugs.
type decoder struct {
	object
	tree.File                              // Body and BodyLine of a Markdown file
	slug      string                       // from the file name
	isNext    bool                         // from the file name
	check     func(string) markdown.Report // of a body

	references
	ownCategories categories // of catalogue.yaml, as far as it was read
}

func newDecoder(file string, on basis, found *findings) *decoder {
	return &decoder{object: object{file: file, line: 1, found: found, basis: on}, check: markdown.Check}
}

// read reads the fields of a record or of an object in it. Missing ones are reported in the
// order of the table.
func (d *decoder) read(fields []catalog.Field, to any) {
	for i := range fields {
		if f := &fields[i]; !f.Form.IsStatus() {
			d.readField(f, to)
		}
	}
}

func (d *decoder) readField(f *catalog.Field, to any) {
	if p, isText := f.In(to).(*string); isText {
		if !d.isOnRequest(f, to) {
			*p = cmp.Or(d.text(f), f.Default)
			if f.IsHidden(to) {
				*p = catalog.NoPrice // 0 €/an is the same
			}
		} else if f.Model != nil {
			*p = catalog.NoPrice
		}
		return
	}
	g, ok := d.given(f.Name, f.Use.Has(catalog.Required))
	switch p := f.In(to).(type) {
	case *int:
		*p = lowestTier
		if ok {
			*p = g.tier()
		}
	case *bool:
		*p = f.Form == catalog.Published
		if ok {
			*p = g.flag(*p)
		}
	case *catalog.HistoryMode:
		*p = d.text(f) != ""
	case *[]string:
		if ok {
			*p = d.texts(f, g)
		}
	case **float64:
		if !ok {
			break
		}
		if x, isNumber := g.number(f.Form); isNumber {
			*p = catalog.SharedFigure(x)
		}
	case *catalog.Values:
		if ok {
			*p = g.values(f.Form)
		}
	default:
		if ok {
			d.objects(f, p, g)
		}
	}
}

// text returns the value of a field that is a text.
func (d *decoder) text(f *catalog.Field) string {
	switch {
	case f.Form == catalog.Body:
		return d.ownBody()
	case f.Form == catalog.OwnSlug && d.isMarkdown: // the file name, which was checked
		if !catalog.IsSlug(d.slug) {
			return ""
		}
		return d.slug
	}
	g, ok := d.given(f.Name, f.Use.Has(catalog.Required))
	if !ok {
		return ""
	}
	switch f.Form {
	case catalog.Enum:
		return g.oneOf(f.Values)
	case catalog.Option:
		value := g.oneOf(f.Values)
		if value == f.Values[0] {
			return ""
		}
		return value
	case catalog.Price:
		return g.price()
	case catalog.Zone:
		return g.zone()
	case catalog.Time, catalog.PublishAt:
		return g.time()
	case catalog.InCategory:
		return g.category()
	case catalog.Prose:
		s := g.prose()
		if !g.isVisible(s) {
			return ""
		}
		return s
	case catalog.Markdown:
		return d.markdown(f.Name, g.prose())
	case catalog.Colour:
		return strings.ToLower(g.text(f.Form))
	case catalog.Image:
		file := imageKey(g.text(f.Form))
		if file != "" {
			d.fieldPictures = append(d.fieldPictures, fieldPicture{g.at.text(), file, g.Line})
		}
		return file
	case catalog.Site:
		d.site = strings.TrimSuffix(g.text(f.Form), "/")
		return d.site
	default:
		return g.text(f.Form)
	}
}

// markdown returns a text in Markdown, and reports what is wrong in it.
func (d *decoder) markdown(name, text string) string {
	text, skipped := tree.TrimBlankLines(text)
	v := d.find(name)
	d.mention(markdown.Check(text), func(line int) mention {
		if v.IsBlock {
			return mention{line: v.Line + skipped + line, prefix: d.label(name).text()}
		}
		return mention{line: v.Line, prefix: problem.New("line-of", d.label(name), line)}
	})
	return text
}

// mention reports what is wrong in a text, and keeps its links and pictures. at returns the place of one of its lines.
func (d *decoder) mention(found markdown.Report, at func(line int) mention) {
	for _, p := range found.Problems {
		place := at(p.Line)
		d.tell(place.line, place.in(p.Text))
	}
	add := func(links []markdown.Link, isAbsolute bool) {
		for _, link := range links {
			m := at(link.Line)
			m.written, m.isAbsolute = link.Destination, isAbsolute
			d.links = append(d.links, m)
		}
	}
	add(found.Links, false)
	add(found.LinksTo(d.site), true)
	for _, picture := range found.Pictures {
		m := at(picture.Line)
		m.written, m.alt, m.hidesTitle = picture.Destination, picture.Alt, picture.HidesTitle
		d.pictures = append(d.pictures, m)
	}
}

// texts returns the texts of a list. One name need not be a list; former slugs are sorted.
func (d *decoder) texts(f *catalog.Field, g given) (all []string) {
	if f.Form == catalog.Names && g.Kind != tree.List {
		if s := g.text(f.Form); s != "" {
			all = append(all, s)
		}
		return all
	}
	items := g.list()
	if most, ok := mostItems[f.Form]; ok && len(items) > most {
		g.of.report(g.Line, "too-many-items", g.at, len(items), most)
		return nil
	}
	for i := range items {
		v := g.item(i)
		s := v.text(f.Form)
		if s == "" {
			continue
		}
		if twice := listedTwice[f.Form]; twice != "" && slices.Contains(all, s) {
			d.report(v.Line, twice, s)
			continue
		}
		switch f.Form {
		case catalog.ToolSlugs:
			d.refs = append(d.refs, reference{f.Name, s, v.Line})
		case catalog.Slugs:
			d.aliases = append(d.aliases, reference{f.Name, s, v.Line})
		}
		all = append(all, s)
	}
	if f.Form == catalog.Slugs {
		slices.Sort(all)
	}
	if f.Use.Has(catalog.Required) && !g.IsEmpty() && len(items) == 0 {
		g.report("no-name-given")
	}
	return all
}

// objects reads the objects of a list, or a single one.
func (d *decoder) objects(f *catalog.Field, list any, g given) {
	if f.Form == catalog.Single {
		g.Value = tree.LongForm(f, g.Value)
		d.part(f, list, g)
		return
	}
	items := g.list()
	if f.Use.Has(catalog.Required) && len(items) == 0 {
		d.report(g.Line, "no-category")
	}
	f.List.Grow(list, len(items))
	for i := range items {
		item := g.item(i)
		item.at.within = d.within
		d.part(f, list, item)
	}
}

// isOnRequest reports whether a price is said not to be public, and reports one beside another model
// than payant.
func (d *decoder) isOnRequest(f *catalog.Field, to any) bool {
	v := d.find(f.Name)
	if f.Form != catalog.Price || v == nil {
		return false
	}
	model := new(catalog.Pricing)
	if f.Model != nil {
		model = f.Model(to)
	}
	isRequired := f.Use.Has(catalog.Required) && !d.isDraft
	isNone := v.Kind == tree.Null && strings.HasSuffix(d.file, ".jsonl") && f.Model != nil &&
		(isRequired || *model == catalog.Paid)
	if !isNone && (v.Kind != tree.Text || v.Text != catalog.OnRequest && v.Text != "S"+catalog.OnRequest[1:]) {
		return false
	}
	if *model != "" && *model != catalog.Paid {
		d.report(v.Line, "on-request-model", d.label(f.Name), *model)
	}
	*model = catalog.Paid
	d.known = append(d.known, f.Name)
	return true
}

// part adds an object to a list.
func (d *decoder) part(f *catalog.Field, list any, g given) {
	if g.Kind != tree.Mapping {
		g.report("not-mapping", g.Describe())
		return
	}
	entry := &decoder{object: object{
		file: d.file, line: g.Line, within: problem.New("in", g.at), fields: g.Fields, found: d.found, basis: d.basis,
	}}
	object := f.List.Add(list)
	entry.read(f.List.Fields, object)
	entry.rejectOthers()
	switch object := object.(type) {
	case *catalog.Category:
		if object.Slug != "" && d.ownCategories[object.Slug] != nil {
			entry.report(entry.lineOf("slug"), "category-twice", object.Slug)
		}
		d.ownCategories[object.Slug] = new(*object) // the catalogue sorts its own
		entry.checkLists(object)
		d.refs, d.aliases = append(d.refs, entry.refs...), append(d.aliases, entry.aliases...)
		d.links, d.pictures = append(d.links, entry.links...), append(d.pictures, entry.pictures...)
	case *catalog.Criterion:
		entry.checkCriterion(object)
	case *catalog.Announcement:
		entry.isDraft = d.isDraft // which gives no warnings
		entry.checkAnnouncement(object)
	case *catalog.Theme:
		entry.checkTheme(object)
	case *catalog.Protocol:
		d.refs = append(d.refs, entry.reference("page", object.Page)...)
	}
}

// finish reports the fields that were not asked for. The list of pictures of a record in canonical form is only checked:
// the fields and the text say which pictures a record uses, and the folder has them.
func (d *decoder) finish() {
	if !d.isMarkdown {
		d.readField(&canonical.ImagesField, new([]canonical.Image))
	}
	d.rejectOthers()
}

// ownBody returns the Markdown of the record and reports what is wrong in it.
func (d *decoder) ownBody() string {
	body := d.Body
	if !d.isMarkdown {
		g, ok := d.given("body", false)
		if !ok {
			return ""
		}
		if g.Kind != tree.Text {
			d.report(g.Line, "body-text", g.Describe())
			return ""
		}
		body, _ = tree.TrimBlankLines(tree.NormalizeNewlines(g.Text))
	}
	if r, bad := controlCharacter(body, "\n\t"); bad {
		line := 1 + strings.Count(body[:strings.IndexRune(body, r)], "\n")
		d.inBody(line, problem.New("control-in-body", r))
	}
	d.mention(d.check(body), d.bodyPlace)
	return body
}

// inBody reports a problem on a line of the body.
func (d *decoder) inBody(line int, what problem.Text) {
	at := d.bodyPlace(line)
	d.tell(at.line, at.in(what))
}

func (d *decoder) bodyPlace(line int) mention {
	if d.isMarkdown {
		return mention{line: max(d.BodyLine+line-1, 1)}
	}
	return mention{line: d.line, prefix: problem.New("line-of", "body", line)}
}
