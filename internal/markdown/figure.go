package markdown

import (
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"palmares/internal/catalog"
)

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
	image, alt := n.(*ast.Image), plain(source, n)
	value, ok := n.AttributeString(pictureAttribute)
	if !ok {
		_, _ = w.WriteString(html.EscapeString(NoBreak(alt)))
		return ast.WalkSkipChildren, nil
	}
	tag := pictureTag(value.(catalog.Picture), NoBreak(strings.Join(strings.Fields(alt), " ")))
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
			fmt.Fprintf(&b, "%s %dw, ", html.EscapeString(MediaPath(v.Name, v.Ext)), v.Width)
		}
		fmt.Fprintf(&b, `%s %dw" sizes="%s"`, html.EscapeString(MediaPath(p.Hash, p.Ext)), p.Width, pictureSizes)
	}
	b.WriteString(">")
	return b.String()
}
