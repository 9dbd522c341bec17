package site

import (
	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/reference"
	"palmares/internal/snapshot"
)

const llmsPath = "/llms.txt"

// llmsTools is how many tools, articles and authors llms.txt names; the lists have the rest.
const llmsTools = 10

// An llmsFile describes the site to programs (llmstxt.org).
type llmsFile struct {
	Catalog    *catalog.Catalog
	Base       string
	Stats      catalog.Stats
	UpdatedAt  string // "" before the first publication
	About      string // what the publisher says of the catalogue
	Demo       bool
	Licence    string // name of the publisher's own terms of use; "" for ours
	Categories []catalog.CategoryItem
	Best       []toolRow
	References []reference.Page
	Articles   []articleRow
	Authors    []catalog.Author
}

func (s *Site) llms(r *request) (*response, error) {
	c := r.snap.Catalog
	return newResponse(textType, textOf("llms.md", llmsFile{
		Catalog: c, Base: s.baseURL(r), Stats: r.Stats, UpdatedAt: r.updatedAt, About: markdown.NoBreak(c.Settings.Description),
		Demo: r.demo, Licence: r.menus.Licence, Categories: r.categories, References: s.reference.Pages(),
		Best:     r.rows(r.snap.Tools(snapshot.ToolQuery{}, firstItems(llmsTools)).IDs()),
		Articles: r.articleRows(r.articles, llmsTools), Authors: c.Authors[:min(len(c.Authors), llmsTools)],
	})), nil
}

// Link returns an entry of a list. Addresses are absolute, since the file is often read outside its site.
func (l llmsFile) Link(text, path, note string) string {
	entry := "- [" + markdown.Escape(text) + "](" + l.Base + path + ")"
	if note != "" {
		entry += ": " + markdown.Escape(markdown.NoBreak(note)) // no space before the colon: programs parse this
	}
	return entry
}
