package markdown

import (
	"bytes"
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// A Part is one section of a text, rendered for a page.
type Part struct {
	ID      string // that of the section in Sections
	Heading string // plain text; "" for the text before the first heading
	HTML    string // safe; its level 2 heading has the ID
}

// HTML renders a text section by section, with the ids of Sections. Whatever the
// text contains, the result has no scripts, styles, frames or images: raw HTML
// loses its tags, an image is replaced by its description, and links are limited
// to http, https, mailto and relative ones. The page has its own title, so a level
// 1 heading becomes a level 2 heading without an id. No heading is more than one
// level below the one above it, whatever levels the author skipped.
func HTML(body string) []Part {
	source := []byte(body)
	doc := parse(source)
	if doc == nil {
		return []Part{{ID: introduction, HTML: "<pre tabindex=\"0\">" + html.EscapeString(body) + "</pre>\n"}}
	}
	var parts []Part
	var b bytes.Buffer
	current := Part{ID: introduction}
	hasText := false // a blank introduction is not a section
	used := anchors{}
	var levels outline
	flush := func() {
		if current.HTML = b.String(); hasText {
			used[current.ID] = 1
			parts = append(parts, current)
		}
		b.Reset()
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id := headingID(h, source)
			h.RemoveAttributes() // such as style or class
			if h.Level == 2 {
				flush()
				id = used.unique(id)
				w := writer{source: source}
				w.inline(h)
				current = Part{ID: id, Heading: w.take()}
				hasText = true
				h.SetAttributeString("id", []byte(id))
			}
		}
		if !hasText {
			w := writer{source: source}
			w.block(n, "\n\n")
			hasText = w.take() != ""
		}
		levels.adjust(n)
		_ = pageRenderer.Render(&b, source, n) // writing to memory cannot fail
	}
	flush()
	return parts
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
	util.Prioritized(safeNodes{}, 100),
))

// safeNodes renders the nodes that goldmark would render unsafely, or in a way that
// does not suit a page.
type safeNodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (safeNodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindText, renderText)
	reg.Register(ast.KindHeading, renderHeading)
	reg.Register(ast.KindRawHTML, renderNothing)
	reg.Register(ast.KindHTMLBlock, renderHTMLBlock)
	reg.Register(ast.KindLink, renderLink)
	reg.Register(ast.KindAutoLink, renderAutoLink)
	reg.Register(ast.KindImage, renderImage)
	reg.Register(ast.KindCodeBlock, renderCode)
	reg.Register(ast.KindFencedCodeBlock, renderCode)
	reg.Register(tables.KindTable, renderTable)
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
	opening, ok := anchor(n.(*ast.Link).Destination)
	switch {
	case !ok: // only the text of the link is rendered
	case entering:
		_, _ = w.WriteString(opening)
	default:
		_, _ = w.WriteString("</a>")
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
	label := html.EscapeString(string(link.Label(source)))
	if opening, ok := anchor(destination); ok {
		label = opening + label + "</a>"
	}
	_, _ = w.WriteString(label)
	return ast.WalkContinue, nil
}

// anchor returns the opening tag of a link, and false if its scheme is not allowed.
func anchor(destination []byte) (string, bool) {
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
	return `<a href="` + html.EscapeString(string(escaped)) + `"` + rel + `>`, true
}

// renderImage renders the description of an image: a page loads nothing from
// other hosts.
func renderImage(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		plain := writer{source: source}
		plain.inline(n)
		_, _ = w.WriteString(html.EscapeString(NoBreak(plain.take())))
	}
	return ast.WalkSkipChildren, nil
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
