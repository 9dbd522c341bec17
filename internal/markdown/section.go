package markdown

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/text/unicode/norm"
)

// A section is a part of a document: a level 2 heading and what follows it, or
// what precedes the first one.
type section struct {
	id      string
	heading string // plain text; "" without a heading
	headed  bool
	blocks  []ast.Node
	notes   []*extast.Footnote
	text    string
}

// split returns the sections of a document. What precedes the first heading is one
// only if it has text or pictures.
func (d *document) split() []section {
	var sections []section
	w := writer{source: d.source}
	s := section{id: introduction}
	used := anchors{}
	repeats := repeats{shown: map[*extast.Footnote]bool{}, budget: maxRepeated}
	flush := func() {
		for _, note := range d.referred(s.blocks...) {
			if repeats.allow(note, d.source) {
				s.notes = append(s.notes, note)
			}
		}
		for _, note := range s.notes {
			w.blocks(note, "\n\n")
		}
		s.text = w.take()
		if s.headed || s.text != "" || slices.ContainsFunc(s.blocks, hasPicture) {
			s.id = used.unique(s.id)
			sections = append(sections, s)
		}
	}
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			flush()
			s = section{id: headingID(h, d.source), heading: plain(d.source, h), headed: true}
		}
		s.blocks = append(s.blocks, n)
		w.block(n, "\n\n")
	}
	flush()
	return sections
}

func hasPicture(n ast.Node) bool {
	found := false
	walk(n, func(n ast.Node) { found = found || n.Kind() == ast.KindImage })
	return found
}

// maxRepeated bounds, in bytes, how much longer a text gets because footnotes are
// repeated in every section that refers to them. One that exceeds it is only in the
// first.
const maxRepeated = 64 << 10

type repeats struct {
	shown  map[*extast.Footnote]bool
	budget int
}

func (r *repeats) allow(note *extast.Footnote, source []byte) bool {
	if !r.shown[note] {
		r.shown[note] = true
		return true
	}
	const markup = 200 // around a footnote on a page
	if r.budget < markup {
		return false
	}
	w := writer{source: source}
	w.blocks(note, "\n\n")
	r.budget -= markup + len(w.take())
	return r.budget >= 0
}

// checkSections reports headings without text, ids that are not valid anchors, and
// duplicate ids.
func (c *checker) checkSections() {
	seen := map[string]int{}
	headed := false
	for n := c.root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Level != 2 {
			if !headed && seen[introduction] == 0 {
				w := writer{source: c.source}
				if w.block(n, "\n\n"); w.take() != "" || len(noteLinks(n)) > 0 {
					seen[introduction] = c.lines.at(n.Pos())
				}
			}
			continue
		}
		headed = true
		if plain(c.source, h) == "" {
			c.report(h.Pos(), "heading-empty")
			continue
		}
		if invalid := invalidID(h, c.source); invalid != "" {
			c.report(h.Pos(), "section-id-odd", invalid)
			continue
		}
		line := c.lines.at(h.Pos())
		id := headingID(h, c.source)
		if first, twice := seen[id]; twice {
			c.report(h.Pos(), "section-id-twice", id, line-first)
			continue
		}
		seen[id] = line
	}
}

// anchors holds the section ids used so far. CheckSections rejects duplicates; for
// texts that were not checked, every section still gets its own anchor.
type anchors map[string]int

// unique returns id, or id with the first numeric suffix that is not yet used.
func (a anchors) unique(id string) string {
	free := id
	for a[free] > 0 {
		a[id]++
		free = id + "-" + strconv.Itoa(a[id])
	}
	a[free] = 1
	return free
}

// headingID returns the explicit id of a heading, or one derived from its text.
func headingID(h *ast.Heading, source []byte) string {
	if id, ok := explicitID(h); ok {
		return id
	}
	return fold(plain(source, h))
}

func explicitID(h *ast.Heading) (string, bool) {
	if v, ok := h.AttributeString("id"); ok {
		if id, ok := v.([]byte); ok {
			return string(id), true
		}
	}
	return "", false
}

// invalidID returns the explicit id of a heading, as written, if it is not a valid
// anchor, and "" otherwise. What goldmark does not accept as an id, such as
// {#a b}, is left at the end of the heading.
func invalidID(h *ast.Heading, source []byte) string {
	if v, ok := h.AttributeString("id"); ok {
		id, ok := v.([]byte)
		switch {
		case !ok:
			return fmt.Sprintf("{id=%v}", v)
		case !anchorForm.Match(id):
			return fmt.Sprintf("{#%s}", id)
		}
		return ""
	}
	if h.Lines().Len() == 0 {
		return ""
	}
	last := h.Lines().At(h.Lines().Len() - 1)
	line := bytes.TrimSpace(last.Value(source))
	if i := bytes.LastIndex(line, []byte("{#")); i >= 0 && bytes.HasSuffix(line, []byte("}")) {
		return string(line[i:])
	}
	return ""
}

// anchorForm is an id that can follow # in a URL without escaping.
var anchorForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// fold derives an id from the text of a heading.
func fold(text string) string { return cmp.Or(Slug(text), "section") }

// Slug derives a slug from a text: lower case, without accents, and with a dash for
// every run of other characters. It is "" if the text has neither letters nor digits.
func Slug(text string) string {
	var b strings.Builder
	dash := false
	put := func(s string) {
		if dash && b.Len() > 0 {
			b.WriteByte('-')
		}
		dash = false
		b.WriteString(s)
	}
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			put(string(r))
		case r == 'œ':
			put("oe")
		case r == 'æ':
			put("ae")
		case r >= 0x300 && r <= 0x36f: // accents, which NFD separates
		default:
			dash = true
		}
	}
	return b.String()
}
