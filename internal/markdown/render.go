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

// A Part is one section of a text as a page shows it.
type Part struct {
	ID      string // as Sections gives it
	Heading string // plain text; "" for the text before the first heading
	HTML    string // safe to put into a page; a heading of level 2 carries the ID
}

// HTML renders a text section by section, with the ids of Sections. Whatever the
// text holds, the result has no script, no style, no frame and no picture: raw
// HTML loses its tags, a picture is its description, and a link leads only to
// http, https, mailto or a path of this site. A page has one title of its own, so
// a heading of level 1 becomes one of level 2, without an id; and whatever the
// author left out, each heading is one level below the one it stands under.
func HTML(body string) []Part {
	source := []byte(body)
	doc := parse(source)
	if doc == nil {
		return []Part{{ID: introduction, HTML: "<pre tabindex=\"0\">" + html.EscapeString(body) + "</pre>\n"}}
	}
	var parts []Part
	var b bytes.Buffer
	current := Part{ID: introduction}
	says := false // a text before the first heading that says nothing is no section
	taken := anchors{}
	var above []int // the levels, as written, of the headings that the text is under
	flush := func() {
		if current.HTML = b.String(); says {
			taken[current.ID] = 1
			parts = append(parts, current)
		}
		b.Reset()
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id := headingID(h, source)
			h.RemoveAttributes() // what else an author may set there, such as style, is not for a page
			if h.Level == 2 {
				flush()
				id = taken.take(id)
				w := writer{source: source}
				w.inline(h)
				current = Part{ID: id, Heading: w.take()}
				says = true
				h.SetAttributeString("id", []byte(id))
			}
		}
		if !says {
			w := writer{source: source}
			w.block(n, "\n\n")
			says = w.take() != ""
		}
		_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if h, ok := n.(*ast.Heading); ok && entering {
				level := max(h.Level, 2)
				for len(above) > 0 && above[len(above)-1] >= level {
					above = above[:len(above)-1]
				}
				above = append(above, level)
				h.Level = 1 + len(above)
			}
			return ast.WalkContinue, nil
		})
		_ = pageRenderer.Render(&b, source, n) // into memory: cannot fail
	}
	flush()
	return parts
}

// NoBreak sets no-break spaces where French typography wants them: before high
// punctuation and signs, and inside quotation marks. Editors write plain spaces,
// and a line must not begin with a colon.
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

// pageRenderer is goldmark's own HTML renderer with the nodes that need care on
// a public page under strict headers replaced. It holds no state between texts.
var pageRenderer = renderer.NewRenderer(renderer.WithNodeRenderers(
	util.Prioritized(goldhtml.NewRenderer(), 1000),
	// Alignment as an attribute: a style would be refused by the page's headers.
	util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 500),
	util.Prioritized(careful{}, 100),
))

// careful renders what goldmark's renderer would let through, or render in a
// way that does not suit a page.
type careful struct{}

// RegisterFuncs tells goldmark which nodes are rendered here.
func (careful) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
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

// The renderers below write into memory; their errors cannot happen.

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
		if said := plain.take(); said != "" {
			_, _ = w.WriteString("<p>" + html.EscapeString(NoBreak(said)) + "</p>\n")
		}
	}
	return ast.WalkSkipChildren, nil
}

func renderLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	opening, ok := anchor(n.(*ast.Link).Destination)
	switch {
	case !ok: // what the link says stays
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

// anchor opens a link, or tells that it leads where no link may.
func anchor(destination []byte) (string, bool) {
	// Escaping resolves entities first, so that java&#115;cript: is seen for what it is.
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

// renderImage shows what a picture is about: a page asks nothing of another host.
func renderImage(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		plain := writer{source: source}
		plain.inline(n)
		_, _ = w.WriteString(html.EscapeString(NoBreak(plain.take())))
	}
	return ast.WalkSkipChildren, nil
}

// renderCode makes a block that can be scrolled with the keyboard.
func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		plain := writer{source: source}
		_, _ = w.WriteString("<pre tabindex=\"0\"><code>" + html.EscapeString(plain.lines(n)) + "</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

// renderTable puts a table into a frame of its own, which scrolls where the
// screen is narrower than the table.
func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"wide\" role=\"region\" aria-label=\"Tableau\" tabindex=\"0\"><table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}
