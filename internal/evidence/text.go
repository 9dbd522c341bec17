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

// The limits of a page. A page about prices reaches none of them.
const (
	maxDepth      = 512    // elements inside each other, as in browsers
	maxStyles     = 10_000 // of its style sheets
	maxAttributes = 1000   // of a long tag
	longTag       = 64 << 10
	maxWord       = 1 << 18 // bytes that are read of it
)

// A page is the text of an HTML document that a reader sees: words, with a line break where a block, a cell or a
// <br> ends.
type page struct {
	text        string // clean
	heads       []int  // offsets in text at which headings and rows of tables begin, in order
	hasPassword bool   // it asks for a password
}

// parsePage reads a document in UTF-8. It works on tokens instead of a tree, so that a hostile document
// costs little more than its bytes. Style sheets may stand behind the elements that they hide: they are read first.
func parsePage(ctx context.Context, document []byte) (*page, error) {
	b := builder{sheet: sheet{}, isFirst: true, unseen: 1, stack: []open{{rank: len(ranks)}}}
	if styleTag.Match(document) {
		_ = b.read(ctx, document) // what cannot be read now cannot be read then
	}
	b = builder{sheet: b.sheet, stack: b.stack[:1], text: make([]byte, 0, len(document)/2)}
	err := b.read(ctx, document)
	b.page.text = string(b.text)
	return &b.page, err
}

// clean returns a text in NFKC, without characters that nobody sees.
func clean(text string) string {
	text = strings.ReplaceAll(text, "´", "'") // of which NFKC would make a space and an accent
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) {
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
	raised   int  // where the text of a <sup> behind a digit begins; 0 for other elements
}

// A builder makes a page of tokens.
type builder struct {
	page    page
	sheet   sheet
	isFirst bool   // it reads style sheets
	stack   []open // the first one is the page
	unseen  int    // open elements that are not text
	text    []byte
	isHead  bool // the next character begins a heading
}

func (b *builder) read(ctx context.Context, document []byte) error {
	f := feed{rest: document}
	f.z = html.NewTokenizer(&f)
	for n := 0; ; n++ {
		switch kind := f.z.Next(); kind {
		case html.ErrorToken:
			if errors.Is(f.z.Err(), io.EOF) {
				return nil
			}
			return ErrTooLarge
		case html.TextToken:
			if b.unseen == 0 {
				b.write(f.z.Text())
			} else if b.stack[len(b.stack)-1].isSheet {
				b.sheet.read(f.z.Text(), "")
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			b.start(f.z, kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			if name, _ := f.z.TagName(); !isIn(" body html ", string(name)) { // which end later
				b.close(string(name))
			}
		}
		isLate := n%256 == 0 && ctx.Err() != nil
		if len(b.text) > maxPage || len(b.stack) > maxDepth || len(b.sheet) > maxStyles || isLate {
			return ErrTooLarge
		}
	}
}

// A feed gives a document to a tokenizer. It breaks off in a tag of too many attributes, each of which costs the
// tokenizer far more than its bytes.
type feed struct {
	rest []byte
	z    *html.Tokenizer
}

func (f *feed) Read(p []byte) (int, error) {
	raw := f.z.Raw() // of the token so far
	isLong := len(raw) > longTag && raw[0] == '<' && raw[1] > '@'
	if isLong && len(attribute.FindAllIndex(raw, maxAttributes)) == maxAttributes {
		return 0, ErrTooLarge
	}
	n := copy(p, f.rest)
	if f.rest = f.rest[n:]; len(f.rest) == 0 { // said with the last bytes, lest the tokenizer makes room for more
		return n, io.EOF
	}
	return n, nil
}

// start begins an element.
func (b *builder) start(z *html.Tokenizer, isClosed bool) {
	name, hasMore := z.TagName()
	e := open{name: string(name), rank: rankOf(string(name))}
	if e.rank%4 != 0 { // another one of its rank may be without an end
		b.end(e.rank, func(o *open) bool { return o.rank == e.rank })
	}
	isHidden, isStruck, isOpen, isForAll := false, isIn(struck, e.name), e.name != "dialog", true
	for hasMore = hasMore && (e.name == "style" || !b.isFirst); hasMore; {
		var key, value []byte
		key, value, hasMore = z.TagAttr()
		hides, strikes := b.sheet.attribute(string(key), value)
		isHidden, isStruck, isOpen = isHidden || hides, isStruck || strikes, isOpen || string(key) == "open"
		isForAll = isForAll && (string(key) != "media" || everyScreen.Match(value))
		isPassword := e.name == "input" && string(key) == "type" && strings.EqualFold(string(value), "password")
		b.page.hasPassword = b.page.hasPassword || isPassword
	}
	e.isUnseen = isHidden || isStruck || !isOpen || isIn(noText, e.name)
	e.isSheet = b.isFirst && e.name == "style" && isForAll &&
		!slices.ContainsFunc(b.stack, func(o open) bool { return o.name == "template" })
	last, _ := utf8.DecodeLastRune(bytes.TrimSuffix(b.text, []byte(" ")))
	switch {
	case b.unseen > 0:
	case e.name == "br", e.rank > 0 && !e.isUnseen:
		b.separate('\n')
		b.isHead = b.isHead || isIn(headings, e.name)
	case isStruck: // its words stand between those beside it
		b.separate(' ')
	case e.name == "sup" && unicode.IsDigit(last):
		e.raised = len(b.text)
	}
	isDrawing := func(o open) bool { return isIn(" svg math ", o.name) } // in which elements may end where they begin
	if isIn(void, e.name) || isClosed && (isDrawing(e) || slices.ContainsFunc(b.stack, isDrawing)) {
		z.NextIsNotRawText()
		return
	}
	b.stack = append(b.stack, e)
	if e.isUnseen {
		b.unseen++
	}
}

// close ends an element at its end tag.
func (b *builder) close(name string) {
	rank := rankOf(name)
	switch {
	case isIn(formatting, name): // which may go on in blocks that began inside it
		rank = rankOf("div")
	case b.unseen == 0 && (name == "p" || name == "br"): // also without a start
		b.separate('\n')
	}
	b.end(rank, func(o *open) bool { return o.name == name })
}

// end ends the innermost element that is wanted, with those inside it, unless one of them has a higher rank. Browsers
// open a formatting element again that had no end in its block, and leave those open that began inside it.
func (b *builder) end(rank int, isWanted func(*open) bool) {
	i := len(b.stack) - 1
	for i > 0 && !isWanted(&b.stack[i]) && b.stack[i].rank <= rank {
		i--
	}
	wanted, isEnd := b.stack[i], isWanted(&b.stack[i])
	for n := len(b.stack) - 1; isEnd && n >= i; n-- {
		e := b.stack[n]
		if n > i && (isIn(formatting, wanted.name) || e.isUnseen && isIn(formatting, e.name)) {
			continue
		}
		b.stack = slices.Delete(b.stack, n, n+1)
		b.isHead = e.name == "tr" || b.isHead && !isIn(headings, e.name) // what follows a row is none of it
		switch {
		case e.isUnseen:
			b.unseen--
		case b.unseen > 0:
		case e.rank > 0:
			b.separate('\n')
		case e.raised > 0:
			b.raise(e.raised)
		}
	}
}

// raise parts the text of a <sup> from the number before it: two digits are its decimals, others do not belong to it.
func (b *builder) raise(at int) {
	before := bytes.TrimSuffix(b.text[:at], []byte(" "))
	if isCents.Match(b.text[at:]) && !hasCents.Match(before[max(0, len(before)-4):]) {
		b.text = slices.Replace(b.text, len(before), at, ',')
	} else if startsNumber.Match(b.text[at:]) {
		b.text = slices.Insert(b.text, at, '^')
	}
}

// write adds text, word by word, since a clean one may be many times as long: white space is one space.
func (b *builder) write(text []byte) {
	for word := range bytes.SplitAfterSeq(text, []byte(" ")) {
		for _, r := range clean(string(word[:min(len(word), maxWord)])) {
			if len(b.text) > maxPage {
				return
			}
			if r == ' ' {
				b.separate(' ')
				continue
			}
			if b.isHead {
				b.page.heads, b.isHead = append(b.page.heads, len(b.text)), false
			}
			b.text = utf8.AppendRune(b.text, r)
		}
	}
}

// separate adds white space behind a word. A line break takes the place of a space.
func (b *builder) separate(by byte) {
	if by == '\n' {
		b.text = bytes.TrimSuffix(b.text, []byte(" "))
	}
	if n := len(b.text); n > 0 && b.text[n-1] != '\n' && b.text[n-1] != ' ' {
		b.text = append(b.text, by)
	}
}

// The parts of HTML that decide what is text and where it breaks.
const (
	noText = " script style template noscript noembed noframes title svg option textarea iframe object audio video " +
		"canvas datalist rp "
	struck     = " s del strike "
	headings   = " h1 h2 h3 h4 h5 h6 th dt tr "
	void       = " area base br col embed hr img input link meta param source track wbr "
	formatting = " a b big code em font i nobr s small strike strong tt u "
)

func isIn(names, name string) bool { return strings.Contains(names, " "+name+" ") }

var (
	styleTag     = regexp.MustCompile(`(?i)<style`)
	attribute    = regexp.MustCompile(`=?[^\s/>=]+(?:\s*=\s*(?:"[^"]*"?|'[^']*'?|[^\s>]*))?`)
	startsNumber = regexp.MustCompile(`^ ?\d`)
	isCents      = regexp.MustCompile(`^ ?\d\d[.,' ]*(?:[^.,' \d]|$)`)
	hasCents     = regexp.MustCompile(`\d[.,]\d\d?$`)
	// ranks are elements that break lines, ordered by which of them can be inside others: the end of one ends those of
	// its rank and of lower ranks inside it, and none of a higher rank around it. The words of buttons stand apart.
	ranks = []string{
		" p ", " li ", " dt dd ", " address article aside blockquote body button center details dialog dir div dl fieldset " +
			"figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend listing main menu " +
			"nav ol optgroup option plaintext pre search section select summary ul xmp ",
		" td th caption ", " tr ", " thead tbody tfoot ", " table template object ",
	}
)

// rankOf returns the rank of an element; 0 for one that does not break lines.
func rankOf(name string) int {
	return 1 + slices.IndexFunc(ranks, func(names string) bool { return isIn(names, name) })
}
