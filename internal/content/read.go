package content

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/markdown"
	"palmares/internal/problem"
	canonical "palmares/internal/record"
)

// readRecord reads all fields of a record, and rejects others. Those that say whether it is
// a draft come first: required fields may be missing then.
func (d *decoder) readRecord(fields []catalog.Field, to any) {
	for i := range fields {
		if f := &fields[i]; f.Form.IsStatus() {
			d.readField(f, to)
			d.isDraft = d.isDraft || f.Form != catalog.PublishAt && !f.IsEmpty(to)
		}
	}
	d.read(fields, to)
	d.images()
	d.rejectOthers()
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
	switch p := f.In(to).(type) {
	case *string:
		if !d.isOnRequest(f, to) {
			*p = cmp.Or(d.text(f), f.Default)
			if f.IsHidden(to) {
				*p = catalog.NoPrice // 0 €/an is the same
			}
		} else if f.Model != nil {
			*p = catalog.NoPrice
		}
	case *[]string:
		*p = d.texts(f)
	case **float64:
		*p = d.number(f)
	case *catalog.Values:
		*p = d.values(f)
	case *int:
		*p = d.tier(f)
	case *catalog.HistoryMode:
		*p = d.text(f) != ""
	case *bool:
		*p = d.boolean(f)
	default:
		d.objects(f, p)
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
	v := d.field(f.Name, f.Use.Has(catalog.Required))
	if v == nil {
		return ""
	}
	at := d.label(f.Name)
	switch f.Form {
	case catalog.Enum:
		return d.oneOf(f, v)
	case catalog.Option:
		value := d.oneOf(f, v)
		if value == f.Values[0] {
			return ""
		}
		return value
	case catalog.Price:
		return d.price(at, v)
	case catalog.Zone:
		zone := d.checked(f.Form, at, v)
		if zone != "" && !catalog.IsZone(zone) {
			d.report(v.Line, "unknown-zone", at, zone)
			return ""
		}
		return zone
	case catalog.Time, catalog.PublishAt:
		return d.time(at, v)
	case catalog.InCategory:
		return d.category(at, v)
	case catalog.Prose:
		s := d.prose(at, v)
		if !d.isVisible(at, v, s) {
			return ""
		}
		return s
	case catalog.Markdown:
		return d.markdown(f.Name, d.prose(at, v))
	case catalog.Colour:
		return strings.ToLower(d.checked(f.Form, at, v))
	case catalog.Image:
		file := d.checked(f.Form, at, v)
		if file != "" {
			file = imageKey(file)
			d.fieldPictures = append(d.fieldPictures, fieldPicture{at.text(), file, v.Line})
		}
		return file
	case catalog.Site:
		d.site = strings.TrimSuffix(d.checked(f.Form, at, v), "/")
		return d.site
	default:
		return d.checked(f.Form, at, v)
	}
}

// A rule says what a text of a form must be.
type rule struct {
	isValid func(string) bool
	want    problem.Text // completes the message "must be …"
}

var slugRule = problem.New("slug-rule")

var (
	slugs = rule{catalog.IsSlug, problem.New("want-slug", slugRule)}
	rules = [catalog.Objects + 1]rule{ // none for other forms
		catalog.OwnSlug:    slugs,
		catalog.ToolSlug:   slugs,
		catalog.PageSlug:   slugs,
		catalog.Slugs:      slugs,
		catalog.ToolSlugs:  slugs,
		catalog.UsageSlugs: slugs,
		catalog.Domain:     {isDomain, problem.New("want-domain")},
		catalog.Date:       {catalog.IsDate, problem.New("want-date")},
		catalog.Zone:       {zoneName.MatchString, problem.New("want-zone")},
		catalog.Contact:    {isContact, problem.New("want-contact")},
		catalog.Image:      {isImagePath, problem.New("want-picture")},
		catalog.Colour:     {isColour, problem.New("want-colour")},
		catalog.Digest:     {isDigest, problem.New("want-digest")},
		catalog.Links:      {isURL, problem.New("want-url")},
		catalog.Link:       {isPageURL, problem.New("want-page-url")},
		catalog.Site:       {isSiteURL, problem.New("want-site-url")},
	}
)

// checked returns a text that must follow the rule of a form, or be one line of text.
func (d *decoder) checked(form catalog.Form, at label, v *tree.Value) string {
	if rules[form].isValid != nil {
		return d.valid(at, v, rules[form])
	}
	s, ok := d.textOf(at, v, someText)
	if !ok {
		return ""
	}
	if r, bad := controlCharacter(s, ""); bad {
		d.report(v.Line, "control-in-line", at, r)
		return ""
	}
	if !d.isVisible(at, v, s) {
		return ""
	}
	n := utf8.RuneCountInString(s)
	if n > longest[form] {
		d.report(v.Line, "too-long", at, longest[form], n)
		return ""
	}
	if form == catalog.Quote && n < catalog.MinQuote {
		d.report(v.Line, "too-short", at, catalog.MinQuote, n)
		return ""
	}
	if form == catalog.Quote && !quoteForm.MatchString(s) {
		d.report(v.Line, "wordless", at)
		return ""
	}
	return s
}

// quoteForm matches quotations: words or numbers, whatever stands around them.
var quoteForm = regexp.MustCompile(`[\p{L}\p{Nd}]`)

// isVisible reports whether a text has no hidden characters, or reports the first one.
func (d *decoder) isVisible(at label, v *tree.Value, s string) bool {
	r, bad := hiddenCharacter(s)
	if bad {
		d.report(v.Line, "hidden-character", at, r)
	}
	return !bad
}

var someText = problem.New("some-text")

func (d *decoder) valid(at label, v *tree.Value, rule rule) string {
	s, ok := d.textOf(at, v, rule.want)
	if !ok {
		return ""
	}
	if !rule.isValid(s) {
		d.report(v.Line, "must-be-not", at, rule.want, tree.Quoted(s))
		return ""
	}
	return s
}

// prose returns a text that may have several lines.
func (d *decoder) prose(at label, v *tree.Value) string {
	s, ok := d.textOf(at, v, someText)
	if !ok {
		return ""
	}
	s = tree.NormalizeNewlines(s)
	if r, bad := controlCharacter(s, "\n\t"); bad {
		d.report(v.Line, "control-in-text", at, r)
		return ""
	}
	return s
}

// markdown returns a text in Markdown, and reports what is wrong in it.
func (d *decoder) markdown(name, text string) string {
	text, skipped := tree.TrimBlankLines(text)
	found := markdown.Check(text)
	at := func(line int) mention {
		if f := d.find(name); f != nil && f.Value.IsBlock {
			return mention{line: f.Value.Line + skipped + line, prefix: d.label(name).text()}
		}
		return mention{line: d.lineOf(name), prefix: problem.New("line-of", d.label(name), line)}
	}
	for _, p := range found.Problems {
		d.tell(at(p.Line).line, at(p.Line).in(p.Text))
	}
	d.mention(found, at)
	return text
}

// zoneName is the form of the names of time zones.
var zoneName = regexp.MustCompile(zonePattern)

func (d *decoder) category(at label, v *tree.Value) string {
	s := d.valid(at, v, slugs)
	if s == "" || d.declared == nil || d.declared[s] != nil {
		return s
	}
	d.report(v.Line, "undeclared-category", s, catalog.SettingsFile, strings.Join(slices.Sorted(maps.Keys(d.declared)), ", "))
	return ""
}

// oneOf returns the value of an enumerated field.
func (d *decoder) oneOf(f *catalog.Field, v *tree.Value) string {
	if i := slices.Index(f.Values, v.Text); i >= 0 && v.Kind == tree.Text {
		return f.Values[i]
	}
	last := len(f.Values) - 1
	want := problem.Words(f.Values[last])
	if last > 0 {
		want = problem.New("or", strings.Join(f.Values[:last], ", "), want)
	}
	return d.valid(d.label(f.Name), v, rule{func(string) bool { return false }, want})
}

// list returns the items of a list, or nothing if it is absent or no list.
func (d *decoder) list(name string) []tree.Value {
	v := d.field(name, false)
	if v == nil {
		return nil
	}
	if v.Kind != tree.List {
		d.report(v.Line, "not-list", d.label(name), v.Describe())
		return nil
	}
	return v.Items
}

// texts returns the texts of a list. One name need not be a list; former slugs are sorted.
func (d *decoder) texts(f *catalog.Field) (all []string) {
	if v := d.field(f.Name, f.Use.Has(catalog.Required)); f.Form == catalog.Names && v != nil && v.Kind != tree.List {
		if s := d.checked(f.Form, d.label(f.Name), v); s != "" {
			all = append(all, s)
		}
		return all
	}
	items := d.list(f.Name)
	if most, ok := mostItems[f.Form]; ok && len(items) > most {
		d.report(d.lineOf(f.Name), "too-many-items", d.label(f.Name), len(items), most)
		return nil
	}
	for i := range items {
		v := &items[i]
		s := d.checked(f.Form, label{name: f.Name, item: i + 1}, v)
		if s == "" {
			continue
		}
		if twice := listedTwice[f.Form]; twice != "" && slices.Contains(all, s) {
			d.report(v.Line, twice, s)
			continue
		}
		switch f.Form {
		case catalog.ToolSlugs:
			d.tools = append(d.tools, reference{f.Name, s, v.Line})
		case catalog.Slugs:
			d.former = append(d.former, reference{f.Name, s, v.Line})
		}
		all = append(all, s)
	}
	if f.Form == catalog.Slugs {
		slices.Sort(all)
	}
	if f.Use.Has(catalog.Required) && d.isGiven(f.Name) && len(items) == 0 {
		d.report(d.lineOf(f.Name), "no-name-given", d.label(f.Name))
	}
	return all
}

// listedTwice has the code of what is wrong with an item of a list that has it already.
var listedTwice = map[catalog.Form]string{
	catalog.UsageSlugs: "usage-twice",
	catalog.ToolSlugs:  "tool-twice",
	catalog.Slugs:      "alias-twice",
}

// mostItems are how many items a list may have. maxUsages and maxCriteria are those of a category.
var mostItems = map[catalog.Form]int{catalog.Lines: maxLines, catalog.UsageSlugs: maxUsages, catalog.ToolSlugs: maxTools}

const (
	maxLines    = 8
	maxUsages   = 6
	maxTools    = 100
	maxCriteria = 12
	maxProfiles = 3
)

func (d *decoder) objects(f *catalog.Field, list any) {
	given := d.field(f.Name, f.Use.Has(catalog.Required))
	isGiven := given != nil
	if f.Form == catalog.Single {
		if isGiven {
			d.object(f, list, tree.LongForm(f, given), d.label(f.Name))
		}
		return
	}
	items := d.list(f.Name)
	if f.Use.Has(catalog.Required) && isGiven && len(items) == 0 {
		d.report(d.lineOf(f.Name), "no-category")
	}
	f.List.Grow(list, len(items))
	for i := range items {
		d.object(f, list, &items[i], label{name: f.Name, item: i + 1, within: d.within})
	}
}

func (d *decoder) object(f *catalog.Field, list any, v *tree.Value, at label) {
	if v.Kind != tree.Mapping {
		d.report(v.Line, "not-mapping", at, v.Describe())
		return
	}
	entry := &decoder{
		file: d.file, line: v.Line, within: problem.New("in", at),
		File: tree.File{Fields: v.Fields}, basis: d.basis, problems: d.problems, warnings: d.warnings,
	}
	object := f.List.Add(list)
	entry.read(f.List.Fields, object)
	entry.rejectOthers()
	switch object := object.(type) {
	case *catalog.Category:
		d.declare(object, entry)
	case *catalog.Criterion:
		entry.checkCriterion(object)
	case *catalog.Announcement:
		entry.isDraft = d.isDraft // which gives no warnings
		entry.checkAnnouncement(object)
	case *catalog.Theme:
		entry.checkTheme(object)
	case *catalog.Protocol:
		d.pages = append(d.pages, entry.reference("page", object.Page)...)
	}
}

// images checks the list of pictures that a record in canonical form has. It is not
// kept: the fields and the text say which pictures a record uses, and the folder has them.
func (d *decoder) images() {
	if !d.isMarkdown {
		d.objects(&canonical.ImagesField, new([]canonical.Image))
	}
}

// ownBody returns the Markdown of the record and reports what is wrong in it.
func (d *decoder) ownBody() string {
	body := d.Body
	if !d.isMarkdown {
		v := d.field("body", false)
		if v == nil {
			return ""
		}
		if v.Kind != tree.Text {
			d.report(v.Line, "body-text", v.Describe())
			return ""
		}
		body, _ = tree.TrimBlankLines(tree.NormalizeNewlines(v.Text))
	}
	if r, bad := controlCharacter(body, "\n\t"); bad {
		line := 1 + strings.Count(body[:strings.IndexRune(body, r)], "\n")
		d.inBody(line, problem.New("control-in-body", r))
	}
	check := d.checkBody
	if check == nil {
		check = markdown.Check
	}
	found := check(body)
	for _, p := range found.Problems {
		d.inBody(p.Line, p.Text)
	}
	d.mention(found, d.bodyPlace)
	return body
}
