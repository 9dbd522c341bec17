package evidence

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The limits of a page: bytes of visible text, and elements inside each other. A page about prices reaches neither.
const (
	maxText  = 1 << 20
	maxDepth = 5000
)

// A page is the text of an HTML document that a reader sees: words, with a line break where a block, a cell or a
// <br> ends.
type page struct {
	text        string
	heads       []int // offsets in text at which headings begin, in order
	hasPassword bool  // it asks for a password
}

// parsePage reads a document in UTF-8. It works on tokens instead of a tree, so that a hostile document
// costs little more than its bytes.
func parsePage(ctx context.Context, document []byte) (*page, error) {
	sheet, err := readSheets(ctx, document)
	if err != nil {
		return nil, err
	}
	b := builder{sheet: sheet}
	err = eachToken(ctx, document, b.take)
	b.page.text = b.text.String()
	return &b.page, err
}

// eachToken calls fn with every token of a document until it fails.
func eachToken(ctx context.Context, document []byte, fn func(z *html.Tokenizer, kind html.TokenType) error) error {
	z := html.NewTokenizer(bytes.NewReader(document))
	for n := 0; ; n++ {
		kind := z.Next()
		if kind == html.ErrorToken {
			return nil // the end
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := fn(z, kind); err != nil {
			return err
		}
	}
}

// An open element is one whose end has not come yet. Ends that may be left out, as of <li>, come with that of the element
// around it.
type open struct {
	tag      atom.Atom
	name     string // of an element that HTML does not know
	isUnseen bool   // nobody sees it, or it is struck through
}

func (e *open) isBlock() bool { return e.tag != 0 && !isInline[e.tag] }

// A builder makes a page of tokens.
type builder struct {
	page   page
	sheet  sheet
	stack  []open
	unseen int // open elements that are not text
	text   strings.Builder
	last   rune // of text
	isHead bool // the next character begins a heading
}

func (b *builder) take(z *html.Tokenizer, kind html.TokenType) error {
	switch kind {
	case html.TextToken:
		if b.unseen == 0 {
			b.write(string(z.Text()))
		}
	case html.StartTagToken, html.SelfClosingTagToken:
		b.start(z, kind == html.SelfClosingTagToken)
	case html.EndTagToken:
		name, _ := z.TagName()
		b.end(name)
	}
	if b.text.Len() > maxText || len(b.stack) > maxDepth {
		return ErrTooLarge
	}
	return nil
}

func (b *builder) start(z *html.Tokenizer, isClosed bool) {
	name, more := z.TagName()
	e := open{tag: atom.Lookup(name)}
	if e.tag == 0 {
		e.name = string(name)
	}
	isForeign := e.tag == atom.Svg || e.tag == atom.Math || slices.ContainsFunc(b.stack[max(0, len(b.stack)-8):], func(o open) bool {
		return o.tag == atom.Svg || o.tag == atom.Math
	})
	if isForeign { // where other rules hold
		z.NextIsNotRawText()
	}
	look, isOpen := look{isStruck: e.tag == atom.S || e.tag == atom.Del || e.tag == atom.Strike}, false
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		look, isOpen = b.sheet.attribute(look, string(key), string(value)), isOpen || string(key) == "open"
		if e.tag == atom.Input && string(key) == "type" && strings.EqualFold(string(value), "password") {
			b.page.hasPassword = true
		}
	}
	e.isUnseen = !look.isText() || noText[e.tag] || e.tag == atom.Dialog && !isOpen
	switch {
	case b.unseen > 0:
	case e.tag == atom.Br, e.isBlock() && !e.isUnseen:
		b.separate('\n')
		b.isHead = isHeading[e.tag]
	case look.isStruck: // its words stand between those beside it
		b.separate(' ')
	}
	if isVoid[e.tag] || isClosed && isForeign {
		return
	}
	b.stack = append(b.stack, e)
	if e.isUnseen {
		b.unseen++
	}
}

// end handles an end tag: elements inside it that were not closed end with it. One that formats text ends alone,
// since it may end in another block than it began in.
func (b *builder) end(name []byte) {
	tag := atom.Lookup(name)
	for i := len(b.stack) - 1; i >= 0; i-- {
		e := &b.stack[i]
		switch {
		case e.tag == tag && (tag != 0 || e.name == string(name)):
			for n := len(b.stack) - 1; n > i && !isFormatting[tag]; n-- {
				b.remove(n)
			}
			b.remove(i)
			return
		case isCell[e.tag] && !isCell[tag]:
			return // the end of an element that began outside a cell
		}
	}
}

// remove ends the i-th open element.
func (b *builder) remove(i int) {
	e := b.stack[i]
	b.stack = slices.Delete(b.stack, i, i+1)
	if e.isUnseen {
		b.unseen--
	} else if e.isBlock() && b.unseen == 0 {
		b.separate('\n')
	}
}

// write adds text: white space is one space, and two digits above the line behind a digit are decimals.
func (b *builder) write(text string) {
	if n := len(b.stack); n > 0 && b.stack[n-1].tag == atom.Sup && unicode.IsDigit(b.last) {
		if cents := strings.TrimSpace(text); len(cents) == 2 && strings.Trim(cents, "0123456789") == "" {
			b.put(',')
		}
	}
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			b.separate(' ')
		case !unicode.IsControl(r):
			if b.isHead {
				b.page.heads, b.isHead = append(b.page.heads, b.text.Len()), false
			}
			b.put(r)
		}
	}
}

func (b *builder) put(r rune) {
	b.text.WriteRune(r)
	b.last = r
}

// separate adds white space behind a word. A line break takes the place of nothing: a space may stand before it.
func (b *builder) separate(by rune) {
	if b.last != '\n' && b.last != 0 && b.last != by {
		b.put(by)
	}
}

func set(tags ...atom.Atom) map[atom.Atom]bool {
	m := map[atom.Atom]bool{}
	for _, tag := range tags {
		m[tag] = true
	}
	return m
}

// The parts of HTML that decide what is text and where it breaks.
var (
	noText = set(atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Noembed, atom.Noframes, atom.Title,
		atom.Svg, atom.Option, atom.Textarea, atom.Iframe, atom.Object, atom.Audio, atom.Video, atom.Canvas, atom.Datalist, atom.Rp)
	isVoid = set(atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta,
		atom.Param, atom.Source, atom.Track, atom.Wbr)
	isInline = set(atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Br, atom.Cite, atom.Code, atom.Data,
		atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Img, atom.Input, atom.Ins, atom.Kbd, atom.Label, atom.Link, atom.Mark,
		atom.Meta, atom.Nobr, atom.Output, atom.Picture, atom.Q, atom.Rp, atom.Rt, atom.Ruby, atom.S, atom.Samp, atom.Small,
		atom.Source, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Svg, atom.Time, atom.Tt, atom.U, atom.Var,
		atom.Wbr, atom.Script, atom.Style, atom.Template, atom.Noscript)
	isFormatting = set(atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike,
		atom.Strong, atom.Tt, atom.U)
	isCell    = set(atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Template)
	isHeading = set(atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Th, atom.Dt)
)
