package catalog

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// An Article is a text of the magazine, served at /articles/<slug>.
type Article struct {
	Slug        string
	Title       string
	Authors     []string
	Date        string // YYYY-MM-DD
	Description string
	Image       string   // path of a picture
	Category    string   // slug or ""
	Tools       []string // slugs of tools that it is about, active or retired
	Aliases     []string // former slugs, sorted
	FirstSlug   string   // see Tool
	Sponsored   bool     // somebody paid for it, which touches neither scores nor orders
	Body        string   // Markdown
	Draft       bool
	PublishAt   string // see Tool
	UnpublishAt string // see Page
}

// An Author is somebody who writes for the catalogue, with a page at /auteurs/<slug>. Texts are theirs whose
// authors have the name.
type Author struct {
	Slug  string
	Name  string
	Role  string
	Image string // path of a picture
	Links []string
	Body  string // Markdown
	Draft bool
}

// Article returns the article of a slug, or nil. The catalogue must be sorted.
func (c *Catalog) Article(slug string) *Article {
	return find(c.Articles, slug, func(a *Article) string { return a.Slug })
}

// Page returns the page of a slug, or nil. The catalogue must be sorted.
func (c *Catalog) Page(slug string) *Page {
	return find(c.Pages, slug, func(p *Page) string { return p.Slug })
}

// Author returns the author of a slug, or nil. The catalogue must be sorted.
func (c *Catalog) Author(slug string) *Author {
	return find(c.Authors, slug, func(a *Author) string { return a.Slug })
}

// find returns the record of a slug in a sorted list, or nil.
func find[T any](list []T, slug string, slugOf func(*T) string) *T {
	i, found := sort.Find(len(list), func(i int) int { return strings.Compare(slug, slugOf(&list[i])) })
	if !found {
		return nil
	}
	return &list[i]
}

// Newest returns the articles, newest first.
func (c *Catalog) Newest() []*Article {
	list := make([]*Article, len(c.Articles))
	for i := range c.Articles {
		list[i] = &c.Articles[i]
	}
	slices.SortFunc(list, func(a, b *Article) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(a.Slug, b.Slug))
	})
	return list
}

// ArticleURLOf returns the URL of an article.
func (c *Catalog) ArticleURLOf(slug string) string { return c.URL + "/articles/" + slug }

// A TextItem is what events tell of an article, a page or a review.
type TextItem struct {
	Slug         string   `json:"slug"`
	Title        string   `json:"title"`
	Author       []string `json:"author"`
	Date         *string  `json:"date"` // null if there is none
	Sponsored    bool     `json:"sponsored"`
	Words        int      `json:"words"` // of the text
	CanonicalURL string   `json:"canonical_url"`
}

func (i TextItem) Values() map[string]any { return valuesOf(i) }

func newTextItem(slug, title string, authors []string, date, url, body string) TextItem {
	i := TextItem{Slug: slug, Title: title, Author: append([]string{}, authors...), CanonicalURL: url, Words: len(strings.Fields(body))}
	if date != "" {
		i.Date = &date
	}
	return i
}

// ArticleItem returns what events tell of an article.
func (c *Catalog) ArticleItem(a *Article) TextItem {
	i := newTextItem(a.Slug, a.Title, a.Authors, a.Date, c.ArticleURLOf(a.Slug), a.Body)
	i.Sponsored = a.Sponsored
	return i
}

// compareArticles adds what became of articles. One that got another slug, and has its former one as an alias,
// was updated.
func (d *Diff) compareArticles(old, next *Catalog) {
	renamed := map[string]bool{}
	for i := range next.Articles {
		a := &next.Articles[i]
		prior, item := old.Article(a.Slug), next.ArticleItem(a)
		for _, alias := range a.Aliases {
			if former := old.Article(alias); prior == nil && former != nil && next.Article(alias) == nil {
				prior, renamed[alias] = former, true
			}
		}
		if prior == nil {
			d.add(Change{Type: ArticlePublished, Slug: a.Slug, Object: item, URL: item.CanonicalURL})
		} else {
			d.addText(ArticleUpdated, ArticleFields, prior, a, old.ArticleItem(prior), item)
		}
	}
	for _, slug := range d.Of(ArticleKind).Removed {
		if !renamed[slug] {
			d.add(Change{Type: ArticleRemoved, Slug: slug, URL: old.ArticleURLOf(slug)})
		}
	}
}

func (d *Diff) comparePages(old, next *Catalog) {
	for i := range next.Pages {
		p := &next.Pages[i]
		prior, item := old.Page(p.Slug), next.pageItem(p)
		if prior == nil {
			d.add(Change{Type: PageUpdated, Slug: p.Slug, Object: item, URL: item.CanonicalURL})
		} else if prior.Title != p.Title || prior.Body != p.Body {
			d.addText(PageUpdated, PageFields, prior, p, old.pageItem(prior), item)
		}
	}
}

// compareRecords compares the records of a kind, and their parts.
func (d *Diff) compareRecords(k *Kind, old, next *Catalog) {
	var r RecordChanges
	for i := range k.Len(next) {
		record := k.At(next, i)
		slug := k.Slug(record)
		if prior := k.find(old, slug); prior == nil {
			r.Added = append(r.Added, slug)
		} else if !isSame(k.Fields, prior, record) {
			r.Changed = append(r.Changed, slug)
			d.compareParts(k.Folder+"/"+slug, len(r.Changed), k.Fields, prior, record)
		}
	}
	for i := range k.Len(old) {
		if slug := k.Slug(k.At(old, i)); k.find(next, slug) == nil {
			r.Removed = append(r.Removed, slug)
		}
	}
	d.set(k, r)
}

func (d *Diff) set(k *Kind, r RecordChanges) {
	if r.Len() == 0 {
		return
	}
	if d.Records == nil {
		d.Records = map[string]RecordChanges{}
	}
	d.Records[k.Name] = r
}

// addText adds the change of a text, if there is one: the fields of its item, and the names of the other fields of
// the record, whose previous values may be long.
func (d *Diff) addText(kind string, fields []Field, prior, now any, before, after TextItem) {
	changed, previous := fieldsChanged(fieldsOf(before), fieldsOf(after))
	for i := range fields {
		f := &fields[i]
		if !f.Form.IsStatus() && !slices.Contains(changed, f.Name) && !f.isSame(prior, now) {
			changed = append(changed, f.Name)
		}
	}
	if len(changed) > 0 {
		d.add(Change{Type: kind, Slug: after.Slug, Changed: changed, Previous: previous, Object: after, URL: after.CanonicalURL})
	}
}

func (c *Catalog) pageItem(p *Page) TextItem {
	return newTextItem(p.Slug, p.Title, p.Authors, p.Date, c.URL+"/"+p.Slug, p.Body)
}
