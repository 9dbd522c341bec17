package markdown

import (
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// Callouts are quotes whose first line says what they are, as on GitHub: > [!NOTE].

var calloutTitles = map[string]string{
	"NOTE": "Remarque", "TIP": "Conseil", "IMPORTANT": "Important", "WARNING": "Attention", "CAUTION": "Prudence",
}

var calloutLine = regexp.MustCompile(`^\[!([A-Za-z]+)\]\s*$`)

// titleAttribute is the attribute of a callout that has its word, a key of calloutTitles.
const titleAttribute = "callout"

// markCallouts gives the quotes below the root that are callouts their titles, and removes their first lines.
func (d *document) markCallouts() {
	var quotes []ast.Node
	walk(d.root, func(n ast.Node) {
		if n.Kind() == ast.KindBlockquote {
			quotes = append(quotes, n)
		}
	})
	for _, quote := range quotes {
		first, ok := quote.FirstChild().(*ast.Paragraph)
		if !ok || first.Lines().Len() == 0 {
			continue
		}
		line := first.Lines().At(0)
		found := calloutLine.FindSubmatch(line.Value(d.source))
		if found == nil || calloutTitles[strings.ToUpper(string(found[1]))] == "" {
			continue
		}
		quote.SetAttributeString(titleAttribute, strings.ToUpper(string(found[1])))
		for _, n := range children(first) {
			if text, ok := n.(*ast.Text); ok && text.Segment.Start < line.Stop {
				first.RemoveChild(first, n)
			}
		}
		if first.FirstChild() == nil {
			quote.RemoveChild(quote, first)
		}
	}
}

// callout returns the word and the title of a quote that is a callout; "" for another.
func callout(n ast.Node) (word, title string) {
	found, _ := n.AttributeString(titleAttribute)
	word, _ = found.(string)
	return word, calloutTitles[word]
}

func renderQuote(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "blockquote"
	word, title := callout(n)
	if title != "" {
		tag = "aside"
	}
	switch {
	case !entering:
		_, _ = w.WriteString("</" + tag + ">\n")
	case title != "":
		_, _ = w.WriteString(`<aside class="callout callout-` + strings.ToLower(word) + `"><p class="kicker">` + html.EscapeString(title) + "</p>\n")
	default:
		_, _ = w.WriteString("<blockquote>\n")
	}
	return ast.WalkContinue, nil
}

// A Carder is a Resolver that shows some of the pages of the site as cards, where a paragraph is only a link to one.
type Carder interface {
	// Card returns the HTML of the card of an address, or "", and the name that it shows.
	Card(address string) (html, name string)
}

// cardAttribute is the attribute of a paragraph that has the HTML of a card.
const cardAttribute = "card"

// wordsAttribute is the attribute of such a paragraph that says more than the card, which then follows it.
const wordsAttribute = "words"

// markCard sets the card of a paragraph that is only a link, if there is one.
func (p *page) markCard(n *ast.Paragraph) {
	cards, ok := p.resolver.(Carder)
	link, isLink := n.FirstChild().(*ast.Link)
	if !ok || !isLink || link.NextSibling() != nil || link.FirstChild() == nil || hasFigures(n) {
		return
	}
	if address, reason := p.resolver.Link(string(link.Destination)); reason == nil {
		if card, name := cards.Card(address); card != "" {
			n.SetAttributeString(cardAttribute, card)
			words, shown := strings.ToLower(NoBreak(plain(p.source, n))), strings.ToLower(NoBreak(name))
			n.SetAttributeString(wordsAttribute, link.Title != nil || !strings.Contains(shown, words))
		}
	}
}
