package markdown

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// A Part is one section of a text, rendered for a page.
type Part struct {
	ID      string // that of the section in Sections, after the prefix
	Heading string // plain text; "" for the text before the first heading
	HTML    string // safe; its level 2 heading has the ID
}

// HTML renders a text section by section, with the ids of Sections. Whatever the
// text contains, the result has no scripts, styles or frames, and no pictures but
// those of the catalogue: raw HTML loses its tags, except the allowed ones, a picture
// that r does not know is replaced by its description, and a link that r does not
// know by its text. The page has its own title, so a level 1 heading becomes a level
// 2 heading without an id. No heading is more than one level below the one above it,
// whatever levels the author skipped.
//
// Without a resolver, links stay as they are and pictures are not shown. prefix is
// put before every id, for a page that shows several texts, each below a heading of
// level 3.
func HTML(body string, r Resolver, prefix string) []Part {
	doc := parse([]byte(body))
	if doc == nil {
		return []Part{{ID: prefix + introduction, HTML: "<pre tabindex=\"0\">" + html.EscapeString(body) + "</pre>\n"}}
	}
	sections := doc.split()
	p := page{
		document: doc, resolver: r, prefix: prefix, anchors: doc.indexSections(sections), numbers: map[int]int{},
		homes: map[int]string{}, tables: map[string]int{},
	}
	doc.walk(p.resolve)
	var parts []Part
	var levels outline
	if prefix != "" {
		levels = outline{0, 0} // above every heading of the text
	}
	for _, s := range sections {
		part := Part{ID: prefix + s.id, Heading: s.heading, HTML: p.render(s, &levels)}
		if s.headed || s.text != "" || strings.Contains(part.HTML, "<img ") {
			parts = append(parts, part)
		}
	}
	return parts
}

// A page is the state of one HTML.
type page struct {
	*document
	resolver Resolver
	prefix   string
	anchors  *anchorIndex
	numbers  map[int]int    // of footnotes, in the order of the page, by their index
	homes    map[int]string // the sections that have them first
	heading  string         // the last one that was rendered
	tables   map[string]int // how many are named after the same, by name
	b        bytes.Buffer
}

// The attributes in which nodes carry what is rendered for them. No text can set
// them: links, pictures and footnotes have no attributes in Markdown.
const (
	openingAttribute = "opening" // of a link: its opening tag
	pictureAttribute = "picture" // of a picture: catalog.Picture
	markupAttribute  = "markup"  // of a reference to a footnote: its HTML
	nameAttribute    = "name"    // of a table: what it is called
)

// resolve sets what a link, a picture or a paragraph leads to.
func (p *page) resolve(n ast.Node) {
	switch n := n.(type) {
	case *ast.Link:
		if tag, ok := p.opening(n); ok {
			n.SetAttributeString(openingAttribute, tag)
		}
	case *ast.Paragraph:
		p.markCard(n)
	case *ast.AutoLink:
		if tag, ok := p.bareOpening(n); ok {
			n.SetAttributeString(openingAttribute, tag)
		}
	case *ast.Image:
		if p.resolver == nil {
			return
		}
		if picture, reason := p.resolver.Picture(string(n.Destination)); reason == nil {
			n.SetAttributeString(pictureAttribute, picture)
		}
	}
}

func (p *page) render(s section, levels *outline) string {
	p.b.Reset()
	calls := p.number(s)
	for _, n := range s.blocks {
		if h, ok := n.(*ast.Heading); ok {
			h.RemoveAttributes() // such as style or class
			if h.Level == 2 {
				h.SetAttributeString("id", []byte(p.prefix+s.id))
			}
		}
		levels.adjust(n)
		p.nameTables(n)
		_ = pageRenderer.Render(&p.b, p.source, n) // writing to memory cannot fail
	}
	if len(s.notes) > 0 {
		p.b.WriteString("<ol class=\"notes\" aria-label=\"Notes\">\n")
		for _, note := range s.notes {
			p.renderNote(s, note, calls[note.Index], levels)
		}
		p.b.WriteString("</ol>\n")
	}
	return p.b.String()
}

// nameTables names the tables in n after the heading above each, since a screen reader lists
// them. No two have the same name: with a prefix it has that too, and a second one a number.
func (p *page) nameTables(n ast.Node) {
	walk(n, func(n ast.Node) {
		switch n.Kind() {
		case ast.KindHeading:
			p.heading = plain(p.source, n)
		case extast.KindTable:
			name := "Tableau"
			if text := strings.Trim(p.prefix, "-."); text != "" {
				name += " (" + text + ")"
			}
			if p.heading != "" {
				name += "\u00a0: " + NoBreak(p.heading)
			}
			unique := name
			for p.tables[unique] > 0 {
				p.tables[name]++
				unique = fmt.Sprintf("%s, %d", name, p.tables[name])
			}
			p.tables[unique]++
			n.SetAttributeString(nameAttribute, unique)
		}
	})
}

// An outline holds the levels, as written, of the headings above a block, from the
// second level of the page.
type outline []int

// adjust changes the levels of the headings in n so that none is skipped.
func (o *outline) adjust(n ast.Node) {
	walk(n, func(n ast.Node) {
		h, ok := n.(*ast.Heading)
		if !ok {
			return
		}
		level := max(h.Level, 2)
		for len(*o) > 0 && (*o)[len(*o)-1] >= level {
			*o = (*o)[:len(*o)-1]
		}
		*o = append(*o, level)
		h.Level = min(1+len(*o), 6)
	})
}
