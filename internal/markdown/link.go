package markdown

import (
	"bytes"
	"html"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// opening returns the opening tag of a link, and false if it leads nowhere.
func (p *page) opening(n *ast.Link) (string, bool) {
	kind, fragment, reason := classify(n.Destination)
	destination := string(n.Destination)
	switch {
	case reason != nil:
		return "", false
	case kind == inText:
		id, found := p.anchors.find(fragment)
		if !found {
			return "", false
		}
		destination = "#" + p.prefix + id
	case kind == inCatalogue && p.resolver != nil:
		destination, reason = p.resolver.Link(destination)
		if reason != nil {
			return "", false
		}
	default:
		destination = p.own(destination)
	}
	title := writer{source: p.source}
	title.unescape(n.Title)
	return anchor([]byte(destination), strings.Join(strings.Fields(title.take()), " "))
}

// own returns the address within the site of a destination that is written with the
// site's host, and any other destination unchanged.
func (p *page) own(destination string) string {
	if p.resolver != nil {
		if address, reason := p.resolver.Link(destination); reason == nil {
			return address
		}
	}
	return destination
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
	plain := writer{source: source}
	plain.autoLink(n.(*ast.AutoLink))
	label := html.EscapeString(plain.take())
	if opening, ok := n.AttributeString(openingAttribute); ok && !isInside(n, ast.KindLink) {
		label = opening.(string) + label + "</a>"
	}
	_, _ = w.WriteString(label)
	return ast.WalkContinue, nil
}

// bareOpening returns the opening tag of an address in the text, and false if it leads
// nowhere.
func (p *page) bareOpening(n *ast.AutoLink) (string, bool) {
	destination := n.URL(p.source)
	if n.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(destination), []byte("mailto:")) {
		return anchor(append([]byte("mailto:"), destination...), "")
	}
	return anchor([]byte(p.own(string(destination))), "")
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
