package evidence

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A page is what a reader sees of an HTML document: its text in one string, in which a new line
// ends every block, and the elements that the parts of the text are in.
type page struct {
	text      string
	elements  []element // in the order in which they begin; the first is the document
	hidden    string    // text that is in the document and that nobody sees
	title     string
	isDated   bool                    // it says of itself that it is an article
	refresh   string                  // where it sends its reader, "" for nowhere
	offers    []offer                 // of its structured data
	tables    map[int]*table          // by their elements
	heads     []int                   // those that are headings
	labelled  map[int][]int           // what labels returned for a cell
	name      string                  // of the tool
	isFrom    bool                    // its lowest price is looked for
	hint      *regexp.Regexp          // matches the name of the plan that is looked for; nil for any
	plan      func(label string) bool // reports whether a label is the name of that plan
	own       []string                // the words of the names of the tool and of the plan that are looked for
	hasPlans  bool                    // its prices are those of the plans of one tool, and any of them is looked for
	isUnclear bool                    // which prices are those of the plan
	isBesides bool                    // all its prices are beside its text
	isAbroad  bool                    // its dollars are not those of the United States
}

// An element is an element of a page, with what matters to the prices in it.
type element struct {
	parent     int
	tag        atom.Atom
	name       string // for elements of their own making
	class      string
	start, end int // in the text
	role       role
	place      // in its table, for cells
}

// A role says what kind of text an element is, and so what an amount in it is worth.
type role int

const (
	plain  role = iota
	struck      // crossed out
	quote       // what somebody said
	margin      // beside the matter of the page: navigation, footers
	folded      // seen only by those who open it, or perhaps not at all
	unseen      // no text of the page
)

// The limits of a page: bytes of text, elements. Beyond them it is not read, as no page about prices
// is so large.
const (
	maxText     = 512 << 10
	maxElements = 30_000
)

var errTooLarge = errors.New("the page is too large")

// parsePage reads a document. It fails if the document is too large or nested too deeply.
func parsePage(document []byte) (*page, error) {
	if bytes.Count(document, []byte("<")) > 2*maxElements {
		return nil, errTooLarge
	}
	root, err := html.Parse(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	b := builder{page: &page{labelled: map[int][]int{}, tables: map[int]*table{}}, sheet: readSheets(root)}
	b.walk(root, -1, plain)
	if b.text.Len() > maxText {
		return nil, errTooLarge
	}
	b.page.text, b.page.hidden = b.text.String(), b.unseen.String()
	b.page.readTables()
	return b.page, nil
}

// A builder makes a page of a document.
type builder struct {
	page    *page
	sheet   *sheet
	text    strings.Builder
	unseen  strings.Builder
	last    rune // of text
	joint   bool // an element began or ended since
	ended   bool // one ended
	between bool // and another one began
	cents   bool // and what follows is in the element that has the cents of an amount
}

// walk adds a node and everything in it. The parser bounds the depth.
func (b *builder) walk(n *html.Node, parent int, in role) {
	switch n.Type {
	case html.TextNode:
		if n.Parent.DataAtom != atom.Pre {
			b.write(n.Data)
			return
		}
		for line := range strings.Lines(n.Data) {
			b.write(line)
			if strings.HasSuffix(line, "\n") {
				b.end()
			}
		}
		return
	case html.DocumentNode, html.ElementNode:
	default:
		return
	}
	if b.text.Len() > maxText || b.skip(n) {
		return
	}
	styled := b.sheet.role(n)
	if styled == unseen || isHidden(n) {
		collect(n, &b.unseen)
		return
	}
	self := len(b.page.elements)
	at := roleOf(n, in)
	if at == plain {
		at = styled
	}
	isCents := b.isCents(n)
	isBlock := isBlock(n) && !isCents
	isEnd := isBlock && !hasCents(n.NextSibling)
	if isBlock {
		b.end()
	}
	b.joint, b.between, b.cents = true, b.ended, isCents
	b.page.elements = append(b.page.elements, element{
		parent: parent, tag: tagOf(n), name: n.Data, class: class(n), start: b.text.Len(), role: at, place: place{down: span(n, "rowspan"), across: span(n, "colspan")},
	})
	if slices.Contains(headings, n.DataAtom) {
		b.page.heads = append(b.page.heads, self)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		b.walk(child, self, at)
	}
	b.joint, b.ended, b.cents = true, true, false
	if isEnd {
		b.end()
	}
	b.page.elements[self].end = b.text.Len()
}

// isCents reports whether an element behind a number has its cents.
func (b *builder) isCents(n *html.Node) bool {
	return n.DataAtom == atom.Sup || unicode.IsDigit(b.last) && hasCents(n)
}

// hasCents reports whether an element says that it has the cents of an amount.
func hasCents(n *html.Node) bool {
	for ; n != nil && n.Type == html.ElementNode; n = n.FirstChild {
		if strings.Contains(class(n), "cent") || strings.Contains(class(n), "decimal") || strings.Contains(class(n), "fraction") {
			return n.FirstChild != nil && n.FirstChild.Type == html.TextNode && decimals.MatchString(n.FirstChild.Data)
		}
	}
	return false
}

// decimals matches the cents of an amount, perhaps with its currency.
var decimals = compile(`^\s*[.,]?(?:\d\d|--?|–|—)?\s*(?:` + currency + `)?\s*$`)

// skip handles what is never text.
func (b *builder) skip(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Title:
		if n.Parent != nil && n.Parent.DataAtom == atom.Head {
			var t strings.Builder
			collect(n, &t)
			b.page.title = strings.TrimSpace(t.String())
			return true
		}
	case atom.Script:
		if strings.EqualFold(attribute(n, "type"), "application/ld+json") && n.FirstChild != nil {
			b.readData(n.FirstChild.Data)
		}
		return true
	case atom.Html:
		b.page.isAbroad = abroad.MatchString(attribute(n, "lang"))
	case atom.Meta:
		b.readMeta(n)
		return true
	case atom.Input, atom.Style, atom.Template, atom.Noscript, atom.Iframe, atom.Object, atom.Svg, atom.Textarea, atom.Datalist, atom.Audio,
		atom.Video, atom.Canvas, atom.Math:
		return true
	case atom.Br:
		b.end()
		return true
	}
	return false
}

func (b *builder) readMeta(n *html.Node) {
	content := attribute(n, "content")
	switch {
	case attribute(n, "property") == "og:type":
		b.page.isDated = b.page.isDated || content == "article"
	case strings.HasPrefix(attribute(n, "property"), "article:published"):
		b.page.isDated = true
	case strings.EqualFold(attribute(n, "http-equiv"), "refresh"):
		if _, to, ok := strings.Cut(content, "="); ok {
			b.page.refresh = strings.Trim(to, ` "'`)
		}
	}
}

// write adds text, with spaces collapsed.
func (b *builder) write(s string) {
	for _, r := range s {
		switch {
		case unicode.IsSpace(r), r == '\u202f':
			r = ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			continue
		}
		if r == ' ' && (b.last == ' ' || b.last == '\n' || b.last == 0) {
			continue
		}
		b.join(r)
		b.text.WriteRune(r)
		b.last = r
	}
}

// join writes what a reader sees between two elements: 19<sup>99</sup> is an amount with cents,
// and a word beside a figure is not part of it.
func (b *builder) join(r rune) {
	if b.joint && r != ' ' {
		switch {
		case unicode.IsLower(b.last) && unicode.IsUpper(r): // boxes beside each other, without a space between them
			b.end()
		case unicode.IsDigit(b.last) && unicode.IsDigit(r) && b.cents:
			b.text.WriteRune(',')
		case unicode.IsDigit(b.last) && unicode.IsDigit(r), unicode.IsDigit(b.last) && unicode.IsLetter(r),
			unicode.IsLetter(b.last) && (unicode.IsDigit(r) || isCurrency(r)), isCurrency(b.last) && unicode.IsLetter(r),
			b.between && unicode.IsLetter(b.last) && unicode.IsLetter(r):
			b.text.WriteRune(' ')
		}
	}
	b.joint, b.ended, b.between = b.joint && r == ' ', false, false
}

// end ends a block.
func (b *builder) end() {
	if b.last != '\n' && b.last != 0 {
		b.text.WriteByte('\n')
		b.last = '\n'
	}
}

// collect appends all the text in a node.
func collect(n *html.Node, to *strings.Builder) {
	if to.Len() > maxText {
		return
	}
	if n.Type == html.TextNode {
		to.WriteString(n.Data)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		collect(child, to)
	}
	if isBlock(n) {
		to.WriteByte('\n')
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func class(n *html.Node) string { return strings.ToLower(attribute(n, "class")) }

func span(n *html.Node, name string) int {
	size, _ := strconv.Atoi(attribute(n, name))
	return min(max(1, size), 1000)
}

var inlineTags = []atom.Atom{
	atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I,
	atom.Img, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub,
	atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr, atom.Nobr, atom.Big, atom.Output, atom.Picture,
}

func isBlock(n *html.Node) bool {
	isButton := n.DataAtom == atom.A && n.Parent != nil && tagOf(n.Parent) == atom.Th
	return n.Type == html.ElementNode && (isButton || isCell(tagOf(n)) || !slices.Contains(inlineTags, n.DataAtom))
}

// roleOf returns the role of an element in another.
func roleOf(n *html.Node, in role) role {
	if in == folded && n.DataAtom == atom.Summary {
		return plain
	}
	if in != plain && in != margin {
		return in
	}
	classes := strings.Fields(class(n) + " " + strings.ToLower(attribute(n, "id")))
	switch n.DataAtom {
	case atom.S, atom.Strike, atom.Del:
		return struck
	case atom.Blockquote, atom.Q:
		var text strings.Builder
		collect(n, &text)
		said := strings.ReplaceAll(strings.TrimSpace(text.String()), "\u202f", " ")
		if len(said) > 60 || !priceOnly.MatchString(said) { // a price that is only set apart
			return quote
		}
	case atom.Nav, atom.Aside:
		return margin
	case atom.Figure:
		var text strings.Builder
		collect(n, &text)
		if ofShow.MatchString(text.String()) {
			return margin
		}
	case atom.Footer:
		if n.Parent == nil || n.Parent.DataAtom != atom.Article && n.Parent.DataAtom != atom.Section {
			return margin
		}
	case atom.Option:
		return folded
	case atom.Details:
		if !has(n, "open") {
			return folded
		}
	}
	switch {
	case strings.Contains(styleOf(n), "line-through"), hasWord(classes, struckWords) && !(isAlone(n) && slices.Contains(classes, "original-price")):
		return struck
	case in == margin:
		return margin
	case hasWord(classes, quoteWords):
		return quote
	case hasWord(classes, marginWords) && !hasTitle(n):
		return margin
	case slices.Contains(classes, "tab-pane") && !slices.Contains(classes, "active"):
		return folded
	}
	return plain
}

// isAlone reports whether no other amount stands beside an element, so that a class that says that it is an old price
// means something else.
func isAlone(n *html.Node) bool {
	outer := n.Parent
	for range 2 {
		if outer != nil && outer.Parent != nil {
			outer = outer.Parent
		}
	}
	var text strings.Builder
	if outer != nil {
		collect(outer, &text)
	}
	return text.Len() < 2000 && len(findAmounts(text.String())) == 1
}

// ofShow matches captions of pictures that show what something looks like.
var ofShow = matcher(`\b(?:samples?|examples?|exemples?|beispiel\pL*|muster\pL*|démo\pL*|demos?)\b`)

// hasTitle reports whether an element has the title of the page.
func hasTitle(n *html.Node) bool {
	for inner := range n.Descendants() {
		if inner.DataAtom == atom.H1 {
			return true
		}
	}
	return false
}

// Words of classes; of names such as price__old or customer-testimonial each part counts.
var (
	struckWords = strings.Fields("through linethrough strikethrough strike struck old oldprice was wasprice crossed barre barré ancien ancienne streichpreis alt original before avant compareat")
	quoteWords  = strings.Fields("testimonial testimonials temoignage temoignages témoignage témoignages quote quotes review reviews kundenstimme kundenstimmen " +
		"reply replies answer comment comments commentaire commentaires avis feedback said verbatim")
	marginWords = strings.Fields("cookie cookies consent consentement gdpr rgpd dsgvo paywall popup modal toast banner bandeau announcement annonce topbar newsletter footer sidebar breadcrumb mockup screenshot illustration")
	hiddenWords = []string{
		"hidden", "d-none", "is-hidden", "hide", "invisible", "sr-only", "visually-hidden", "visuallyhidden",
		"screen-reader-text", "u-hidden", "display-none", "offscreen", "js-hidden",
	}
)

// hasWord reports whether a part of one of the classes is one of the words.
func hasWord(classes, words []string) bool {
	return slices.ContainsFunc(classes, func(c string) bool {
		parts := strings.FieldsFunc(c, func(r rune) bool { return r == '-' || r == '_' })
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(words, part) })
	})
}

func styleOf(n *html.Node) string {
	return strings.ToLower(strings.ReplaceAll(attribute(n, "style"), " ", ""))
}

// isHidden reports whether a reader does not see an element, as far as the document says so.
func isHidden(n *html.Node) bool {
	classes := strings.Fields(class(n))
	return has(n, "hidden") || n.DataAtom == atom.Dialog && !has(n, "open") || hidden.MatchString(styleOf(n)) ||
		slices.ContainsFunc(classes, func(c string) bool { return slices.Contains(hiddenWords, c) }) && !slices.ContainsFunc(classes, isShownWide)
}

var wide = compile(`^(?:(?:sm|md|lg|xl):|d-(?:sm|md|lg|xl)-)`)

// isShownWide reports whether a class shows an element on wide screens that another one hides on
// narrow ones.
func isShownWide(c string) bool {
	return wide.MatchString(c) && !strings.HasSuffix(c, ":hidden") && !strings.HasSuffix(c, "-none")
}

// at returns the innermost element around a place of the text.
func (p *page) at(offset int) int {
	i := sort.Search(len(p.elements), func(i int) bool { return p.elements[i].start > offset }) - 1
	for i > 0 && p.elements[i].end <= offset {
		i = p.elements[i].parent
	}
	return max(i, 0)
}

// block returns the bounds of the block around a place, as far as they matter to it.
func (p *page) block(offset int) (start, end int) {
	const far = 4 << 10
	first := max(0, offset-far)
	start = first + strings.LastIndexByte(p.text[first:offset], '\n') + 1
	end = min(len(p.text), offset+far)
	if i := strings.IndexByte(p.text[offset:end], '\n'); i >= 0 {
		end = offset + i
	}
	return start, end
}

// isInside reports whether an element is in another one, or that one.
func (p *page) isInside(element, outer int) bool {
	for ; element >= 0; element = p.elements[element].parent {
		if element == outer {
			return true
		}
	}
	return false
}

// around returns the nearest element of one of the tags that another one is in, or -1.
func (p *page) around(element int, tags ...atom.Atom) int {
	for ; element >= 0; element = p.elements[element].parent {
		if slices.Contains(tags, p.elements[element].tag) {
			return element
		}
	}
	return -1
}

func (p *page) textOf(element int) string {
	e := &p.elements[element]
	return strings.TrimSpace(p.text[e.start:e.end])
}
