package desk

import (
	"cmp"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/edition"
)

// testAge is how old a test may be, in days.
const testAge = 365

type row struct {
	Kind      *catalog.Kind
	Slug      string
	Name      string
	Category  string // its slug
	Label     string // of the category
	Authors   []string
	Draft     bool
	Due       string    // when it is published; "" if it is not scheduled
	DueAt     time.Time // likewise, by the clock of the site
	Next      bool      // it replaces another one at that hour
	OldPrice  string    // the day since which the price is not confirmed, if that is too long ago; "" if not
	OldTest   string    // likewise
	Copies    []copyRow // of it
	IsInBulk  bool      // it cannot be edited
	Sentence  string    // what it says of itself
	IsUnknown bool      // the folder has problems, so that only its file name is known

	warnings []content.Warning
}

// Warnings returns what is to be looked at in it.
func (r row) Warnings() (list []string) {
	for _, w := range r.warnings {
		list = append(list, inWords(w.File, w.Text.French))
	}
	return list
}

// warningsOf returns what is to be looked at in a working copy.
func warningsOf(e *edition.Edition, c *draft) []string {
	return row{warnings: slices.DeleteFunc(slices.Clone(e.Warnings), func(w content.Warning) bool { return w.File != c.Path })}.Warnings()
}

// File returns the path of its file in the folder.
func (r row) File() string {
	if r.Next {
		return r.Kind.Folder + "/" + r.Slug + ".next.md"
	}
	return r.Kind.Folder + "/" + r.Slug + ".md"
}

// Path returns the address of its page at the desk.
func (r row) Path() string { return recordsPath + "/" + strings.TrimSuffix(r.File(), ".md") }

// Address returns the address of its page on the site.
func (r row) Address() string { return r.Kind.Address + r.Slug }

// newRow returns the row of a record of the catalogue.
func newRow(k *catalog.Kind, record any) row {
	r := row{Kind: k, Slug: k.Slug(record), Authors: k.Authors(record)}
	for i := range k.Fields {
		switch f := &k.Fields[i]; {
		case f.Name == k.Title():
			r.Name = *f.In(record).(*string)
		case f.Name == k.Summary:
			r.Sentence = *f.In(record).(*string)
		case f.Form == catalog.InCategory:
			r.Category = *f.In(record).(*string)
		case f.Form == catalog.Draft:
			r.Draft = *f.In(record).(*bool)
		}
	}
	return r
}

func (d *desk) rows(e *edition.Edition, now time.Time) []row {
	c := e.Catalog
	if c == nil {
		return d.files()
	}
	var all []row
	today := catalog.Day(now)
	oldTest := catalog.DaysBefore(today, testAge)
	for _, k := range catalog.WrittenKinds {
		for i := range k.Len(c) {
			all = append(all, newRow(k, k.At(c, i)))
		}
	}
	for i, t := range c.Tools { // which are the first
		if known := c.FreshnessOf(t, today); !t.Draft && known.IsOld {
			all[i].OldPrice = known.Day
		}
		if !t.Draft && t.TestedAt != "" && t.TestedAt < oldTest {
			all[i].OldTest = t.TestedAt
		}
	}
	return d.complete(all, e)
}

// complete adds what is scheduled, the labels of categories and the warnings.
func (d *desk) complete(all []row, e *edition.Edition) []row {
	at := make(map[string]int, len(all))
	for i := range all {
		at[all[i].File()] = i
	}
	due := func(text string) time.Time {
		t, _ := time.Parse(time.RFC3339, text) // it was read from a folder without problems
		return t.In(zoneOf(e))
	}
	for i := range e.Catalog.Scheduled {
		s := &e.Catalog.Scheduled[i]
		j, ok := at[s.Name()+".md"]
		if !ok {
			continue
		}
		if s.Due <= catalog.FormatTime(d.Now()) { // it was, a moment ago
			all[j].Draft = false
			continue
		}
		if _, err := fs.Stat(d.Folder.With(nil), s.Name()+".next.md"); err == nil {
			next := all[j]
			next.Due, next.DueAt, next.Next, next.Draft, all[j].Draft = s.Due, due(s.Due), true, false, false
			at[next.File()] = len(all)
			all = append(all, next)
			continue
		}
		all[j].Due, all[j].DueAt, all[j].Draft = s.Due, due(s.Due), false
	}
	for _, w := range e.Warnings {
		if i, ok := at[w.File]; ok {
			all[i].warnings = append(all[i].warnings, w)
		}
	}
	for i := range all {
		if c := e.Catalog.Category(all[i].Category); c != nil {
			all[i].Label = c.Label
		}
	}
	slices.SortStableFunc(all, func(a, b row) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.File(), b.File()))
	})
	return all
}

// files returns the records of a folder that cannot be read, by the names of their files.
func (d *desk) files() []row {
	var all []row
	for _, k := range catalog.WrittenKinds {
		names, err := fs.Glob(d.Folder.With(nil), k.Folder+"/*.md")
		if err != nil {
			panic(err) // only for an invalid pattern
		}
		for _, name := range names {
			slug := strings.TrimSuffix(name[len(k.Folder)+1:], ".md")
			stem, isNext := strings.CutSuffix(slug, ".next")
			if !content.IsIgnored(slug) {
				all = append(all, row{Kind: k, Slug: stem, Name: slug, Next: isNext, IsUnknown: true})
			}
		}
	}
	return all
}

// A filter is what the list of records is narrowed to.
type filter struct {
	Query, Folder, State, Author, Category string
}

// A state is something that the list can be narrowed to.
type state struct {
	Value, Text string
	has         func(*row) bool
}

var states = []state{
	{"brouillon", "Brouillons", func(r *row) bool { return r.Draft }},
	{"programmee", "Programmées", func(r *row) bool { return r.Due != "" }},
	{"en-cours", "En cours d’écriture", func(r *row) bool { return len(r.Copies) > 0 }},
	{"prix", "Prix à revoir", func(r *row) bool { return r.OldPrice != "" }},
	{"test", "Test de plus d’un an", func(r *row) bool { return r.OldTest != "" }},
	{"avertissement", "Avertissements", func(r *row) bool { return len(r.warnings) > 0 }},
}

// concerns are the states that are worth acting on.
var concerns = states[3:]

func (f *filter) matches(r *row) bool {
	if f.Folder != "" && f.Folder != r.Kind.Folder || f.Category != "" && f.Category != r.Category ||
		f.Author != "" && !slices.Contains(r.Authors, f.Author) {
		return false
	}
	for _, s := range states {
		if s.Value == f.State && !s.has(r) {
			return false
		}
	}
	text := plain(r.Name + " " + r.Slug + " " + r.Sentence)
	return !slices.ContainsFunc(strings.Fields(plain(f.Query)), func(word string) bool { return !strings.Contains(text, word) })
}

// plain returns a text in lower case, without the accents that people leave out.
func plain(s string) string { return accents.Replace(strings.ToLower(s)) }

var accents = strings.NewReplacer("à", "a", "â", "a", "ä", "a", "ç", "c", "é", "e", "è", "e", "ê", "e", "ë", "e",
	"î", "i", "ï", "i", "ô", "o", "ö", "o", "ù", "u", "û", "u", "ü", "u", "œ", "oe", "’", "'")

// pageSize is how many records a page of the list has.
const pageSize = 50

type recordsPage struct {
	page
	Filter     filter
	Kinds      []*catalog.Kind
	States     []state
	Authors    []string
	Categories []catalog.Category
	Rows       []row
	Found      int
	Problems   []finding
	More       string // the address of the next page; "" for none
}

// signatures returns who signed records, or has a page.
func signatures(records []row) (names []string) {
	for i := range records {
		names = append(names, records[i].Authors...)
		if records[i].Kind == catalog.AuthorKind {
			names = append(names, records[i].Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (d *records) listRecords(r *request) (*response, error) {
	records := d.rows(r.folder, r.Now)
	copies, err := d.copyRows(r, records)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	data := recordsPage{
		page: r.page("Fiches"), Kinds: catalog.WrittenKinds, States: states, Problems: findings(r.folder.Problems),
		Filter: filter{
			Query: strings.TrimSpace(q.Get("q")), Folder: q.Get("genre"), State: q.Get("etat"), Author: q.Get("auteur"),
			Category: q.Get("categorie"),
		},
	}
	if r.folder.Catalog != nil {
		data.Categories = r.folder.Catalog.InOrder().Categories
	}
	all := records
	data.Authors = signatures(all)
	for i := range all {
		all[i].Copies = copiesOf(copies, all[i].File())
	}
	all = slices.DeleteFunc(all, func(x row) bool { return !data.Filter.matches(&x) })
	data.Found = len(all)
	if r.isScript() {
		rank := func(x row) int { // names that begin with what she typed first, tools before the others
			i := slices.Index(catalog.WrittenKinds, x.Kind)
			if !strings.HasPrefix(plain(x.Name), plain(data.Filter.Query)) {
				i += len(catalog.WrittenKinds)
			}
			return i
		}
		slices.SortStableFunc(all, func(a, b row) int { return rank(a) - rank(b) })
		return writeJSON(200, links(all)), nil
	}
	start := 0
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil && n > 1 && n <= len(all)/pageSize+1 {
		start = (n - 1) * pageSize
	}
	data.Rows = all[start:min(start+pageSize, len(all))]
	if start+pageSize < len(all) {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(start/pageSize+2))
		data.More = recordsPath + "?" + q.Encode()
	}
	for i := range data.Rows {
		data.Rows[i].IsInBulk = d.isInBulk(&data.Rows[i])
	}
	return render("records", data), nil
}

// isInBulk reports whether a record has no file of its own.
func (d *desk) isInBulk(r *row) bool {
	_, err := fs.Stat(d.Folder.With(nil), r.File())
	return err != nil
}

// A link is a record that a text can link to.
type link struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	To   string `json:"to"` // from a text in another folder
}

// maxLinks is how many records are proposed for a link.
const maxLinks = 8

func links(found []row) []link {
	list := []link{}
	for i := range found[:min(len(found), maxLinks)] {
		r := &found[i]
		list = append(list, link{r.Name, r.Kind.Label, "../" + r.Kind.Folder + "/" + r.Slug + ".md"})
	}
	return list
}
