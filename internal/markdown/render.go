package markdown

import (
	"bytes"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"palmares/internal/catalog"
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
// put before every id, for a page that shows several texts.
func HTML(body string, r Resolver, prefix string) []Part {
	doc := parse([]byte(body))
	if doc == nil {
		return []Part{{ID: prefix + introduction, HTML: "<pre tabindex=\"0\">" + html.EscapeString(body) + "</pre>\n"}}
	}
	sections := doc.split()
	p := page{document: doc, resolver: r, prefix: prefix, anchors: indexSections(sections), numbers: map[int]int{}, homes: map[int]string{}}
	p.resolve(doc.root)
	for _, note := range doc.notes {
		p.resolve(note)
	}
	var parts []Part
	var levels outline
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
	b        bytes.Buffer
}

// The attributes in which nodes carry what is rendered for them. No text can set
// them: links, pictures and footnotes have no attributes in Markdown.
const (
	openingAttribute = "opening" // of a link: its opening tag
	pictureAttribute = "picture" // of a picture: catalog.Picture
	markupAttribute  = "markup"  // of a reference to a footnote: its HTML
)

// resolve sets what the links and pictures below n lead to.
func (p *page) resolve(n ast.Node) {
	walk(n, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			if tag, ok := p.opening(n); ok {
				n.SetAttributeString(openingAttribute, tag)
			}
		case *ast.Image:
			if p.resolver == nil {
				return
			}
			if picture, reason := p.resolver.Picture(string(n.Destination)); reason == "" {
				n.SetAttributeString(pictureAttribute, picture)
			}
		}
	})
}

// opening returns the opening tag of a link, and false if it leads nowhere.
func (p *page) opening(n *ast.Link) (string, bool) {
	kind, fragment, reason := classify(n.Destination)
	destination := string(n.Destination)
	switch {
	case reason != "":
		return "", false
	case kind == inText:
		id, found := p.anchors.find(fragment)
		if !found {
			return "", false
		}
		destination = "#" + p.prefix + id
	case kind == inCatalogue && p.resolver != nil:
		if destination, reason = p.resolver.Link(destination); reason != "" {
			return "", false
		}
	}
	title := writer{source: p.source}
	title.unescape(n.Title)
	return anchor([]byte(destination), strings.Join(strings.Fields(title.take()), " "))
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

// noteID returns the id of a footnote in a section. Ids of sections have no dots, and
// a footnote can be in several.
func (p *page) noteID(kind, section string, number int) string {
	return p.prefix + kind + "." + section + "." + strconv.Itoa(number)
}

// number sets the HTML of the references to footnotes in a section, and returns their
// ids by footnote.
func (p *page) number(s section) map[int][]string {
	if len(p.notes) == 0 {
		return nil
	}
	calls, here := map[int][]string{}, map[int]bool{}
	nodes := slices.Clone(s.blocks)
	for _, note := range s.notes {
		if here[note.Index] = true; p.numbers[note.Index] == 0 {
			p.numbers[note.Index], p.homes[note.Index] = len(p.numbers)+1, s.id
		}
		nodes = append(nodes, note)
	}
	for _, n := range nodes {
		for _, link := range noteLinks(n) {
			number := p.numbers[link.Index]
			if isInside(link, ast.KindLink) || isInside(link, ast.KindImage) {
				link.SetAttributeString(markupAttribute, "<sup>"+strconv.Itoa(number)+"</sup>")
				continue
			}
			id, home := p.noteID("appel", s.id, number), s.id
			if !here[link.Index] {
				home = p.homes[link.Index]
			}
			if k := len(calls[link.Index]); k > 0 {
				id += "." + strconv.Itoa(k+1)
			}
			calls[link.Index] = append(calls[link.Index], id)
			link.SetAttributeString(markupAttribute, fmt.Sprintf(`<sup class="call"><a href="#%s" id="%s" role="doc-noteref" aria-label="Note %d">%d</a></sup>`,
				html.EscapeString(p.noteID("note", home, number)), html.EscapeString(id), number, number))
		}
	}
	return calls
}

// renderNote renders a footnote, with links back to where the section refers to it.
func (p *page) renderNote(s section, note *extast.Footnote, calls []string, levels *outline) {
	number := p.numbers[note.Index]
	var back strings.Builder
	for i, id := range calls {
		label := fmt.Sprintf("Retour à l’appel de la note %d", number)
		if len(calls) > 1 {
			label = fmt.Sprintf("Retour à l’appel %d de la note %d", i+1, number)
		}
		fmt.Fprintf(&back, "\u00a0<a href=\"#%s\" role=\"doc-backlink\" aria-label=\"%s\">↩</a>", html.EscapeString(id), label)
	}
	fmt.Fprintf(&p.b, "<li id=\"%s\" value=\"%d\">\n", html.EscapeString(p.noteID("note", s.id, number)), number)
	for n := note.FirstChild(); n != nil; n = n.NextSibling() {
		levels.adjust(n)
		last := n.NextSibling() == nil && (n.Kind() == ast.KindParagraph || n.Kind() == ast.KindTextBlock)
		start := p.b.Len()
		_ = pageRenderer.Render(&p.b, p.source, n) // writing to memory cannot fail
		if inner, ok := bytes.CutSuffix(p.b.Bytes()[start:], []byte("</p>\n")); ok && last {
			p.b.Truncate(start + len(inner))
			p.b.WriteString(back.String() + "</p>\n")
			back.Reset()
		}
	}
	if back.Len() > 0 {
		p.b.WriteString("<p>" + strings.TrimPrefix(back.String(), "\u00a0") + "</p>\n")
	}
	p.b.WriteString("</li>\n")
}

func isInside(n ast.Node, kind ast.NodeKind) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == kind {
			return true
		}
	}
	return false
}

// An outline holds the levels, as written, of the headings above a block.
type outline []int

// adjust changes the levels of the headings in n so that none is skipped.
func (o *outline) adjust(n ast.Node) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function never fails
		if h, ok := n.(*ast.Heading); ok && entering {
			level := max(h.Level, 2)
			for len(*o) > 0 && (*o)[len(*o)-1] >= level {
				*o = (*o)[:len(*o)-1]
			}
			*o = append(*o, level)
			h.Level = 1 + len(*o)
		}
		return ast.WalkContinue, nil
	})
}

// NoBreak replaces spaces by no-break spaces where French typography requires
// them: before high punctuation and signs, and inside quotation marks. Editors
// write plain spaces, and a line must not begin with a colon.
func NoBreak(s string) string {
	if !strings.Contains(s, " ") {
		return s
	}
	const space = "\u00a0"
	var b strings.Builder
	done := 0
	for i := range len(s) {
		if s[i] != ' ' {
			continue
		}
		rest := s[i+1:]
		before := rest != "" && (strings.IndexByte(":;!?%", rest[0]) >= 0 || strings.HasPrefix(rest, "»") || strings.HasPrefix(rest, "€"))
		if before || strings.HasSuffix(s[:i], "«") {
			b.WriteString(s[done:i])
			b.WriteString(space)
			done = i + 1
		}
	}
	b.WriteString(s[done:])
	return b.String()
}

// pageRenderer is goldmark's HTML renderer, except for the nodes that need care on
// a public page with a strict content security policy. It has no state.
var pageRenderer = renderer.NewRenderer(renderer.WithNodeRenderers(
	util.Prioritized(goldhtml.NewRenderer(), 1000),
	// Alignment as an attribute: the policy forbids style attributes.
	util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 500),
	util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
	util.Prioritized(safeNodes{}, 100),
))

// safeNodes renders the nodes that goldmark would render unsafely, or in a way that
// does not suit a page.
type safeNodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (safeNodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindText, renderText)
	reg.Register(ast.KindHeading, renderHeading)
	reg.Register(ast.KindParagraph, renderParagraph)
	reg.Register(ast.KindTextBlock, renderTextBlock)
	reg.Register(ast.KindRawHTML, renderNothing)
	reg.Register(kindElement, renderElement)
	reg.Register(ast.KindHTMLBlock, renderHTMLBlock)
	reg.Register(ast.KindLink, renderLink)
	reg.Register(ast.KindAutoLink, renderAutoLink)
	reg.Register(ast.KindImage, renderImage)
	reg.Register(ast.KindCodeBlock, renderCode)
	reg.Register(ast.KindFencedCodeBlock, renderCode)
	reg.Register(extast.KindTable, renderTable)
	reg.Register(extast.KindTaskCheckBox, renderTask)
	reg.Register(extast.KindFootnoteLink, renderNoteLink)
}

// The functions below write to memory, so their write errors are ignored.

func renderText(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	t := n.(*ast.Text)
	value := []byte(NoBreak(string(t.Segment.Value(source))))
	if t.IsRaw() {
		goldhtml.DefaultWriter.RawWrite(w, value)
	} else {
		goldhtml.DefaultWriter.Write(w, value)
	}
	switch {
	case t.HardLineBreak():
		_, _ = w.WriteString("<br>\n")
	case t.SoftLineBreak():
		_ = w.WriteByte('\n')
	}
	return ast.WalkContinue, nil
}

func renderHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	level := strconv.Itoa(h.Level)
	if !entering {
		_, _ = w.WriteString("</h" + level + ">\n")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<h" + level)
	if id, ok := explicitID(h); ok && h.Parent().Kind() == ast.KindDocument {
		_, _ = w.WriteString(` id="` + html.EscapeString(id) + `"`)
	}
	_ = w.WriteByte('>')
	return ast.WalkContinue, nil
}

func renderNothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

func renderHTMLBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		plain := writer{source: source}
		plain.block(n, "\n\n")
		if text := plain.take(); text != "" {
			_, _ = w.WriteString("<p>" + html.EscapeString(NoBreak(text)) + "</p>\n")
		}
	}
	return ast.WalkSkipChildren, nil
}

func renderLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	opening, ok := n.AttributeString(openingAttribute)
	image, _ := n.FirstChild().(*ast.Image)
	inFigure := image != nil && isFigure(image) && isShown(n.Parent())
	switch {
	case entering && inFigure:
		_, _ = w.WriteString("<figure>")
		fallthrough
	case entering:
		if ok { // otherwise only the text of the link is rendered
			_, _ = w.WriteString(opening.(string))
		}
		return ast.WalkContinue, nil
	}
	if ok {
		_, _ = w.WriteString("</a>")
	}
	if inFigure {
		_, _ = w.WriteString(figcaption(image) + "</figure>\n")
	}
	return ast.WalkContinue, nil
}

func renderAutoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := n.(*ast.AutoLink)
	destination := link.URL(source)
	if link.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(destination), []byte("mailto:")) {
		destination = append([]byte("mailto:"), destination...)
	}
	plain := writer{source: source}
	plain.autoLink(link)
	label := html.EscapeString(plain.take())
	if opening, ok := anchor(destination, ""); ok && !isInside(n, ast.KindLink) {
		label = opening + label + "</a>"
	}
	_, _ = w.WriteString(label)
	return ast.WalkContinue, nil
}

// anchor returns the opening tag of a link, and false if its scheme is not allowed.
func anchor(destination []byte, title string) (string, bool) {
	// Escaping resolves entities first, so that java&#115;cript: is recognised.
	escaped := util.URLEscape(destination, true)
	u, err := url.Parse(string(escaped))
	if err != nil {
		return "", false
	}
	rel := ""
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		rel = ` rel="noopener nofollow"`
	case "mailto":
	case "":
		if u.Host != "" || bytes.IndexByte(escaped, '\\') >= 0 {
			rel = ` rel="noopener nofollow"`
		}
	default:
		return "", false
	}
	if title != "" {
		rel += ` title="` + html.EscapeString(NoBreak(title)) + `"`
	}
	return `<a href="` + html.EscapeString(string(escaped)) + `"` + rel + `>`, true
}

func renderParagraph(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if isShown(n) {
		return ast.WalkContinue, nil // figures are not allowed in a paragraph
	}
	if entering {
		_, _ = w.WriteString("<p>")
	} else {
		_, _ = w.WriteString("</p>\n")
	}
	return ast.WalkContinue, nil
}

func renderTextBlock(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering && n.NextSibling() != nil && n.FirstChild() != nil && !isShown(n) {
		_ = w.WriteByte('\n')
	}
	return ast.WalkContinue, nil
}

// isShown reports whether a block consists of pictures, all of which are known.
func isShown(block ast.Node) bool {
	if !hasFigures(block) {
		return false
	}
	shown := true
	walk(block, func(n ast.Node) {
		if n.Kind() == ast.KindImage {
			_, ok := n.AttributeString(pictureAttribute)
			shown = shown && ok
		}
	})
	return shown
}

// The width of a picture in the text: that of the column, or of the window less its
// margins.
const pictureSizes = "(min-width: 45rem) 42rem, 92vw"

// renderImage renders a picture of the catalogue, or else its description: a page
// loads nothing from other hosts.
func renderImage(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	plain := writer{source: source}
	image := n.(*ast.Image)
	value, ok := n.AttributeString(pictureAttribute)
	if !ok {
		plain.inline(n)
		_, _ = w.WriteString(html.EscapeString(NoBreak(plain.take())))
		return ast.WalkSkipChildren, nil
	}
	plain.inline(n)
	tag := pictureTag(value.(catalog.Picture), NoBreak(strings.Join(strings.Fields(plain.take()), " ")))
	inLink := n.Parent().Kind() == ast.KindLink
	switch title := NoBreak(caption(image)); {
	case isFigure(image) && inLink && isShown(n.Parent().Parent()): // the figure is around the link
	case isFigure(image) && !inLink && isShown(n.Parent()):
		tag = "<figure>" + tag + figcaption(image) + "</figure>\n"
	case title != "":
		tag = strings.TrimSuffix(tag, ">") + ` title="` + html.EscapeString(title) + `">`
	}
	_, _ = w.WriteString(tag)
	return ast.WalkSkipChildren, nil
}

func figcaption(n *ast.Image) string {
	title := caption(n)
	if title == "" {
		return ""
	}
	return "<figcaption>" + html.EscapeString(NoBreak(title)) + "</figcaption>"
}

// pictureTag returns the element of a picture, with the smaller versions from which
// a browser chooses.
func pictureTag(p catalog.Picture, alt string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<img src="%s" alt="%s" width="%d" height="%d" loading="lazy" decoding="async"`,
		html.EscapeString(MediaPath(p.Hash, p.Ext)), html.EscapeString(alt), p.Width, p.Height)
	if len(p.Variants) > 0 {
		b.WriteString(` srcset="`)
		for _, v := range p.Variants {
			fmt.Fprintf(&b, "%s %dw, ", html.EscapeString(MediaPath(v.Hash, v.Ext)), v.Width)
		}
		fmt.Fprintf(&b, `%s %dw" sizes="%s"`, html.EscapeString(MediaPath(p.Hash, p.Ext)), p.Width, pictureSizes)
	}
	b.WriteString(">")
	return b.String()
}

func renderElement(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch tag := n.(*element).tag; {
	case entering:
		_, _ = w.WriteString("<" + tag + ">")
	case tag != "br":
		_, _ = w.WriteString("</" + tag + ">")
	}
	return ast.WalkContinue, nil
}

// renderTask renders the box of a task. Readers cannot change it, and hear its state.
func renderTask(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		if n.(*extast.TaskCheckBox).IsChecked {
			_, _ = w.WriteString(`<input type="checkbox" disabled checked aria-label="Fait"> `)
		} else {
			_, _ = w.WriteString(`<input type="checkbox" disabled aria-label="À faire"> `)
		}
	}
	return ast.WalkContinue, nil
}

func renderNoteLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if markup, ok := n.AttributeString(markupAttribute); ok && entering {
		_, _ = w.WriteString(markup.(string))
	}
	return ast.WalkContinue, nil
}

// renderCode renders a block that can be scrolled with the keyboard.
func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		plain := writer{source: source}
		_, _ = w.WriteString("<pre tabindex=\"0\"><code>" + html.EscapeString(plain.lines(n)) + "</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

// renderTable wraps a table in a region that scrolls on narrow screens.
func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"wide\" role=\"region\" aria-label=\"Tableau\" tabindex=\"0\"><table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}
