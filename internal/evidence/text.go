package evidence

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"
)

// The limits of a page: bytes of visible text, bytes of one tag or text (but for scripts), and elements inside each
// other. A page about prices reaches none of them.
const (
	maxText       = 1 << 20
	maxToken      = 384 << 10
	maxDepth      = 512  // as in browsers
	maxRank       = 8    // of a page: see ranks
	maxAttributes = 1000 // of one element
)

// A page is the text of an HTML document that a reader sees: words, with a line break where a block, a cell or a
// <br> ends.
type page struct {
	text        string // clean
	heads       []int  // offsets in text at which headings begin, in order
	hasPassword bool   // it asks for a password
}

// parsePage reads a document in UTF-8. It works on tokens instead of a tree, so that a hostile document
// costs little more than its bytes. Style sheets may stand behind the elements that they hide: a page with some is
// read twice.
func parsePage(ctx context.Context, document []byte) (*page, error) {
	b := builder{sheet: sheet{}, isFirst: true, stack: []open{{rank: maxRank}}}
	err := b.read(ctx, document)
	if err == nil && len(b.sheet) > 0 {
		b = builder{sheet: b.sheet, stack: b.stack[:1]}
		err = b.read(ctx, document)
	}
	b.page.text = string(b.text)
	return &b.page, err
}

// clean returns a text in NFKC, without characters that nobody sees.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) && r != '\n' {
			return ' '
		}
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) {
			return -1
		}
		return r
	}, norm.NFKC.String(text))
}

// An open element is one whose end has not come yet.
type open struct {
	name     string
	rank     int
	isUnseen bool // nobody sees it, or it is struck through
	isSheet  bool // its text is a style sheet of the page
	cents    int  // where the text of a <sup> behind a digit begins; 0 for other elements
}

// A builder makes a page of tokens.
type builder struct {
	page    page
	sheet   sheet
	isFirst bool   // it reads style sheets
	stack   []open // the first one is the page
	unseen  int    // open elements that are not text
	text    []byte
	last    rune // of text
	isHead  bool // the next character begins a heading
}

// read reads a document. Only a script may be longer than a token: the tokenizer begins anew at its end.
func (b *builder) read(ctx context.Context, document []byte) error {
	for {
		z, done := html.NewTokenizer(bytes.NewReader(document)), 0
		z.SetMaxBuf(maxToken)
		for n := 0; z.Next() != html.ErrorToken; n++ {
			done += len(z.Raw())
			token := z.Token()
			b.take(token)
			if len(b.text) > maxText || len(b.stack) > maxDepth || len(token.Attr) > maxAttributes {
				return ErrTooLarge
			}
			if n%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if errors.Is(z.Err(), io.EOF) {
			return nil
		}
		end := scriptEnd.FindIndex(document[done:])
		if end == nil || b.top().name != "script" {
			return ErrTooLarge
		}
		document = document[done+end[0]:]
	}
}

// top returns the innermost open element.
func (b *builder) top() *open { return &b.stack[len(b.stack)-1] }

func (b *builder) take(token html.Token) {
	switch token.Type {
	case html.TextToken:
		if b.top().isSheet {
			b.sheet.read(token.Data)
		}
		if b.unseen == 0 {
			text := clean(token.Data)
			b.write(text[:min(len(text), maxText+1)]) // more is too much
		}
	case html.StartTagToken, html.SelfClosingTagToken:
		b.start(token)
	case html.EndTagToken:
		if token.Data != "body" && token.Data != "html" { // which end later than they are written
			b.end(rankOf(token.Data), func(e *open) bool { return e.name == token.Data })
		}
	}
}

// start begins an element.
func (b *builder) start(token html.Token) {
	e := open{name: token.Data, rank: rankOf(token.Data), isUnseen: noText[token.Data]}
	if e.rank%4 != 0 { // another one of its rank may be without an end
		b.end(e.rank, func(o *open) bool { return o.rank == e.rank })
	}
	var look look
	isOpen, isForAll := e.name != "dialog", true
	for _, a := range token.Attr {
		look |= b.sheet.attribute(a.Key, a.Val)
		isOpen = isOpen || a.Key == "open"
		isForAll = isForAll && (a.Key != "media" || everyScreen.MatchString(a.Val))
		isPassword := e.name == "input" && a.Key == "type" && strings.EqualFold(a.Val, "password")
		b.page.hasPassword = b.page.hasPassword || isPassword
	}
	if isStruck[e.name] {
		look |= struck
	}
	e.isUnseen = e.isUnseen || look != 0 || !isOpen
	isInert := slices.ContainsFunc(b.stack, func(o open) bool { return o.name == "template" })
	e.isSheet = b.isFirst && e.name == "style" && isForAll && !isInert
	switch {
	case b.unseen > 0:
	case e.name == "br", e.rank > 0 && !e.isUnseen:
		b.separate('\n')
		b.isHead = b.isHead || isHeading[e.name]
	case look&struck != 0: // its words stand between those beside it
		b.separate(' ')
	case e.name == "sup" && unicode.IsDigit(b.last):
		e.cents = len(b.text)
	}
	// Only elements that are not of HTML end where they begin, as those of drawings do.
	if isVoid[e.name] || token.Type == html.SelfClosingTagToken && (token.DataAtom == 0 || e.name == "svg") {
		return
	}
	b.stack = append(b.stack, e)
	if e.isUnseen {
		b.unseen++
	}
}

// end ends the innermost element that is wanted, with those inside it, unless one of them has a higher rank.
func (b *builder) end(rank int, isWanted func(*open) bool) {
	i := len(b.stack) - 1
	for i > 0 && !isWanted(&b.stack[i]) && b.stack[i].rank <= rank {
		i--
	}
	for isEnd := isWanted(&b.stack[i]); isEnd && len(b.stack) > i; b.stack = b.stack[:len(b.stack)-1] {
		e := b.top()
		b.isHead = b.isHead && !isHeading[e.name]
		switch {
		case e.isUnseen:
			b.unseen--
		case b.unseen > 0:
		case e.rank > 0:
			b.separate('\n')
		case e.cents > 0 && isCents.Match(b.text[e.cents:]):
			b.text = slices.Insert(b.text, e.cents, ',')
		}
	}
}

// write adds clean text: white space is one space.
func (b *builder) write(text string) {
	for _, r := range text {
		if unicode.IsSpace(r) {
			b.separate(' ')
			continue
		}
		if b.isHead {
			b.page.heads, b.isHead = append(b.page.heads, len(b.text)), false
		}
		b.text, b.last = utf8.AppendRune(b.text, r), r
	}
}

// separate adds white space behind a word. A line break takes the place of nothing: a space may stand before it.
func (b *builder) separate(by rune) {
	if b.last != '\n' && b.last != 0 && b.last != by {
		b.text, b.last = utf8.AppendRune(b.text, by), by
	}
}

func set(names string) map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		m[name] = true
	}
	return m
}

// The parts of HTML that decide what is text and where it breaks.
var (
	noText = set("script style template noscript noembed noframes title svg option textarea iframe object audio video " +
		"canvas datalist rp")
	scriptEnd = regexp.MustCompile(`(?i)</script`)
	isCents   = regexp.MustCompile(`^\s*\d\d\s*$`)
	isStruck  = set("s del strike")
	isHeading = set("h1 h2 h3 h4 h5 h6 th dt")
	isVoid    = set("area base br col embed hr img input link meta param source track wbr")
	// ranks order elements by which of them can be inside others: the end of one ends those of its rank and of lower
	// ranks inside it, and none of a higher rank around it.
	ranks = map[string]int{
		"p": 1, "li": 2, "dt": 3, "dd": 3, "td": 5, "th": 5, "caption": 5, "tr": 6, "thead": 7, "tbody": 7, "tfoot": 7,
		"table": 8, "template": maxRank,
	}
	// isBlock has the other ones that break lines, and button, whose words stand apart.
	isBlock = set("address article aside blockquote body button center details dialog dir div dl fieldset figcaption " +
		"figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend listing main menu nav ol " +
		"optgroup option plaintext pre search section select summary ul xmp")
)

func rankOf(name string) int {
	if isBlock[name] {
		return 4
	}
	return ranks[name]
}
