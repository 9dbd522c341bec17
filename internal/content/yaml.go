package content

import (
	"errors"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"palmares/internal/markdown"
)

// parseYAML parses a YAML mapping whose first line is line offset+1 of its file.
// Problems go to problem; ok reports whether the text could be read at all.
func parseYAML(text string, offset int, problem report) (v value, ok bool) {
	problem = func(report report) report {
		return func(line int, format string, args ...any) { report(line+offset, format, args...) }
	}(problem)
	if len(text) > maxYAML {
		problem(1, "the YAML is larger than %d KiB; move long lists into a .jsonl file", maxYAML>>10)
		return v, false
	}
	if conflicts := markdown.Conflicts(text); len(conflicts) > 0 {
		for _, p := range conflicts {
			problem(p.Line, "%s", p.Text)
		}
		return v, false
	}
	// A panic of the parser is reported as a problem of the text instead of ending
	// the process.
	defer func() {
		if r := recover(); r != nil {
			problem(1, "the YAML cannot be read; simplify it")
			v, ok = value{}, false
		}
	}()
	tokens := lexer.Tokenize(text)
	if !isSimpleYAML(tokens, problem) {
		return v, false
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		line, sentence := yamlError(err)
		problem(line, "the YAML is not valid: %s", sentence)
		return v, false
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return value{kind: isMapping, line: 1 + offset}, true
	}
	t := yamlTree{offset: offset, problem: problem}
	v = t.value(file.Docs[0].Body, 1)
	if v.kind != isMapping {
		problem(v.line-offset, "the YAML must be fields, one `name: value` per line, not %s", v.describe())
		return v, false
	}
	return v, !t.failed
}

// rejectedYAML are the parts of YAML that a content folder has no use for.
var rejectedYAML = map[token.Type]string{
	token.AnchorType:         "anchors (&)",
	token.AliasType:          "aliases (*)",
	token.TagType:            "tags (!)",
	token.MergeKeyType:       "merge keys (<<)",
	token.MappingKeyType:     "complex keys (?)",
	token.DirectiveType:      "directives (%)",
	token.DocumentHeaderType: furtherDocuments,
	token.DocumentEndType:    furtherDocuments,
}

const furtherDocuments = "further documents (--- or ...)"

// isSimpleYAML rejects, before parsing, what a content folder has no use for and
// what can make the parser slow or crash.
func isSimpleYAML(tokens token.Tokens, problem report) bool {
	ok := true
	depth, entries, entryLine := 0, 0, 0
	for i, t := range tokens {
		line := t.Position.Line
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			if line != entryLine {
				entries, entryLine = 0, line
			}
			entries++
		case token.CommentType:
			colour := bareColour.FindString(t.Value)
			if i > 0 && tokens[i-1].Type == token.MappingValueType && tokens[i-1].Position.Line == line && colour != "" {
				problem(line, "what follows # is a comment; put a colour in quotes, such as \"#%s\"", colour)
				ok = false
			}
		}
		if rejected := rejectedYAML[t.Type]; rejected != "" {
			problem(line, "%s are not allowed in this YAML; if it is text, put it in quotes", rejected)
			ok = false
		}
		if depth > maxDepth || entries > maxDepth {
			problem(line, "the YAML is nested more than %d deep", maxDepth)
			return false
		}
	}
	return ok
}

// yamlError returns the line and message of a parser error. It adds a hint for the
// most common one, caused by the space before a colon in French.
func yamlError(err error) (line int, sentence string) {
	var located interface {
		error
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &located) {
		return 1, err.Error()
	}
	line, sentence = 1, located.GetMessage()
	if t := located.GetToken(); t != nil && t.Position != nil {
		line = max(1, t.Position.Line)
	}
	if strings.HasPrefix(sentence, "mapping value is not allowed") {
		sentence += "; put a value that contains a colon and a space in quotes"
	}
	return line, sentence
}

type yamlTree struct {
	offset  int
	problem report
	failed  bool
}

func (t *yamlTree) fail(line int, format string, args ...any) value {
	t.problem(line, format, args...)
	t.failed = true
	return value{line: line + t.offset}
}

func (t *yamlTree) value(n ast.Node, depth int) value {
	line := 1
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		line = max(1, tok.Position.Line)
	}
	if depth > maxDepth {
		return t.fail(line, "the YAML is nested more than %d deep", maxDepth)
	}
	v := value{line: line + t.offset}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		v.kind, v.text = isBool, strconv.FormatBool(n.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		v.kind, v.text = isNumber, n.GetToken().Value
	case *ast.StringNode:
		v.kind, v.text = isText, n.Value
		if n.Token.Type == token.StringType && hasTab(n.Token.Origin) { // which the parser drops
			return t.fail(line, "there is a tab in the text %s; write a space instead", quoted(n.Value))
		}
		// The parser returns an unquoted 1e3, and very large integers, as strings.
		if n.Token.Type == token.StringType && isPlainNumber(n.Value) {
			v.kind = isNumber
		}
	case *ast.LiteralNode:
		// The newline that ends a block scalar belongs to YAML, not to the text.
		v.kind, v.text, v.line = isText, strings.TrimRight(n.Value.Value, "\n"), n.Start.Position.Line+t.offset
		v.isBlock = n.Start.Type == token.LiteralType
	case *ast.SequenceNode:
		v.kind = isList
		for _, item := range n.Values {
			v.items = append(v.items, t.value(item, depth+1))
		}
	case *ast.MappingNode:
		v.kind = isMapping
		for _, entry := range n.Values {
			t.put(&v, entry, depth)
		}
	case *ast.MappingValueNode:
		v.kind = isMapping
		t.put(&v, n, depth)
	default:
		return t.fail(line, "the YAML holds something that is neither text, number, list nor mapping; put it in quotes")
	}
	return v
}

// hasTab reports whether there is a tab inside a line of unquoted text.
func hasTab(origin string) bool {
	for line := range strings.Lines(origin) {
		if strings.Contains(strings.TrimSpace(line), "\t") {
			return true
		}
	}
	return false
}

func (t *yamlTree) put(v *value, entry *ast.MappingValueNode, depth int) {
	key := entry.Key.GetToken()
	f := field{name: key.Value, line: key.Position.Line + t.offset, value: t.value(entry.Value, depth+1)}
	v.put(f, func(line int, format string, args ...any) {
		t.problem(line-t.offset, format, args...)
	})
}
