package markdown

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// WithAddresses returns a Markdown text whose links and pictures lead where those of
// its HTML do, for readers who have no folder around it. Those that r does not know,
// and everything else, stay as they are.
func WithAddresses(body string, r Resolver) string {
	if !strings.Contains(body, "](") && !strings.Contains(body, "]:") {
		return body
	}
	doc := parse([]byte(body))
	if doc == nil {
		return body
	}
	e := editor{source: doc.source, resolver: r, addresses: map[int]edit{}}
	doc.walk(e.visit)
	var b strings.Builder
	done := 0
	for _, start := range slices.Sorted(maps.Keys(e.addresses)) {
		b.WriteString(body[done:start])
		b.WriteString(e.addresses[start].address)
		done = start + e.addresses[start].length
	}
	b.WriteString(body[done:])
	return b.String()
}

// An editor collects what to replace in a source.
type editor struct {
	source    []byte
	resolver  Resolver
	addresses map[int]edit // by offset
}

type edit struct {
	length  int // of what is replaced
	address string
}

func (e *editor) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.Link:
		if n.Reference == nil {
			e.replace(n.Pos(), "](", n.Destination)
		}
	case *ast.Image:
		if n.Reference == nil {
			e.replace(n.Pos(), "](", n.Destination)
		}
	case *ast.LinkReferenceDefinition:
		e.replace(n.Pos(), "]:", n.Destination)
	}
}

// replace looks, from an offset, for a destination behind an opener, and notes its
// address. The parser does not say where the destination is; the text before it may
// contain other links, with other destinations.
func (e *editor) replace(from int, opener string, destination []byte) {
	kind, _, reason := classify(destination)
	if reason != nil || kind == inText || from < 0 {
		return
	}
	address, reason := e.resolver.Link(string(destination))
	if reason != nil {
		return
	}
	const tries = 5
	at := from
	for range tries {
		i := bytes.Index(e.source[at:], []byte(opener))
		if i < 0 {
			return
		}
		at += i + len(opener)
		rest := bytes.TrimLeft(e.source[at:], " \t\n<")
		start := len(e.source) - len(rest)
		if _, done := e.addresses[start]; !done && bytes.HasPrefix(rest, destination) {
			e.addresses[start] = edit{len(destination), address}
			return
		}
	}
}

// Below returns a Markdown text that can be put below a level 2 heading of another,
// with other such texts: its headings are one level lower, and name is part of the
// labels of its footnotes.
func Below(body, name string) string {
	if !strings.Contains(body, "#") && !strings.Contains(body, "[^") {
		return body
	}
	doc := parse([]byte(body))
	if doc == nil {
		return body
	}
	const lowest = 6
	var starts []int
	walk(doc.root, func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok && h.Level < lowest && h.Pos() >= 0 && doc.source[h.Pos()] == '#' {
			starts = append(starts, h.Pos())
		}
	})
	for _, start := range slices.Backward(starts) {
		body = body[:start] + "#" + body[start:]
	}
	for _, note := range doc.notes {
		body = strings.ReplaceAll(body, "[^"+string(note.Ref)+"]", "[^"+name+"-"+string(note.Ref)+"]")
	}
	return body
}
