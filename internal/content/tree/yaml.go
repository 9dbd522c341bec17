package tree

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"palmares/internal/markdown"
	"palmares/internal/problem"
)

// ParseYAML parses a YAML mapping whose first line is line offset+1 of its file.
// Problems go to tell; ok reports whether the text could be read at all.
func ParseYAML(text string, offset int, tell Report) (v Value, ok bool) {
	tell = func(tell Report) Report {
		return func(line int, what problem.Text) { tell(line+offset, what) }
	}(tell)
	if len(text) > MaxYAML {
		tell(1, problem.New("yaml-too-large", MaxYAML>>10))
		return v, false
	}
	if conflicts := markdown.Conflicts(text); len(conflicts) > 0 {
		for _, p := range conflicts {
			tell(p.Line, p.Text)
		}
		return v, false
	}
	// A panic of the parser is reported as a problem of the text instead of ending
	// the process.
	defer func() {
		if r := recover(); r != nil {
			tell(1, problem.New("yaml-unreadable"))
			v, ok = Value{}, false
		}
	}()
	tokens := lexer.Tokenize(text)
	if !isSimpleYAML(tokens, tell) {
		return v, false
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		line, what := yamlError(err)
		tell(line, problem.New("yaml-invalid", what))
		return v, false
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return Value{Kind: Mapping, Line: 1 + offset}, true
	}
	t := yamlTree{offset: offset, tell: tell}
	v = t.value(file.Docs[0].Body, 1)
	if v.Kind != Mapping {
		tell(v.Line-offset, problem.New("yaml-no-fields", v.Describe()))
		return v, false
	}
	return v, !t.failed
}

// rejectedYAML are the codes of the parts of YAML that a content folder has no use for.
var rejectedYAML = map[token.Type]string{
	token.AnchorType:         "anchors",
	token.AliasType:          "aliases",
	token.TagType:            "tags",
	token.MergeKeyType:       "merge-keys",
	token.MappingKeyType:     "complex-keys",
	token.DirectiveType:      "directives",
	token.DocumentHeaderType: "further-documents",
	token.DocumentEndType:    "further-documents",
}

// bareColour is a colour without quotes, which YAML takes for a comment.
var bareColour = regexp.MustCompile(`^[0-9a-fA-F]{3,8}\b`)

// isSimpleYAML rejects, before parsing, what a content folder has no use for and
// what can make the parser slow or crash.
func isSimpleYAML(tokens token.Tokens, tell Report) bool {
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
				tell(line, problem.New("bare-colour", colour))
				ok = false
			}
		}
		if code := rejectedYAML[t.Type]; code != "" {
			tell(line, problem.New("yaml-not-allowed", problem.New(code)))
			ok = false
		}
		if depth > maxDepth || entries > maxDepth {
			tell(line, problem.New("yaml-too-deep", maxDepth))
			return false
		}
	}
	return ok
}

// yamlError returns the line and message of a parser error. It adds a hint for the
// most common one, caused by the space before a colon in French.
func yamlError(err error) (line int, what problem.Text) {
	var located interface {
		error
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &located) {
		return 1, problem.Foreign(err.Error())
	}
	line, what = 1, problem.Foreign(located.GetMessage())
	if t := located.GetToken(); t != nil && t.Position != nil {
		line = max(1, t.Position.Line)
	}
	if strings.HasPrefix(what.English, "mapping value is not allowed") {
		what = problem.New("yaml-colon", what)
	}
	return line, what
}

type yamlTree struct {
	offset int
	tell   Report
	failed bool
}

func (t *yamlTree) fail(line int, code string, args ...any) Value {
	t.tell(line, problem.New(code, args...))
	t.failed = true
	return Value{Line: line + t.offset}
}

func (t *yamlTree) value(n ast.Node, depth int) Value {
	line := 1
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		line = max(1, tok.Position.Line)
	}
	if depth > maxDepth {
		return t.fail(line, "yaml-too-deep", maxDepth)
	}
	v := Value{Line: line + t.offset}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		v.Kind, v.Text = Bool, strconv.FormatBool(n.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		v.Kind, v.Text = Number, n.GetToken().Value
	case *ast.StringNode:
		v.Kind, v.Text = Text, n.Value
		if n.Token.Type == token.StringType && hasTab(n.Token.Origin) { // which the parser drops
			return t.fail(line, "yaml-tab", Quoted(n.Value))
		}
		// The parser returns an unquoted 1e3, and very large integers, as strings.
		if n.Token.Type == token.StringType && IsNumber(n.Value) {
			v.Kind = Number
		}
	case *ast.LiteralNode:
		// The newline that ends a block scalar belongs to YAML, not to the text.
		v.Kind, v.Text, v.Line = Text, strings.TrimRight(n.Value.Value, "\n"), n.Start.Position.Line+t.offset
		v.IsBlock = n.Start.Type == token.LiteralType
	case *ast.SequenceNode:
		v.Kind = List
		for _, item := range n.Values {
			v.Items = append(v.Items, t.value(item, depth+1))
		}
	case *ast.MappingNode:
		v.Kind = Mapping
		for _, entry := range n.Values {
			t.put(&v, entry, depth)
		}
	case *ast.MappingValueNode:
		v.Kind = Mapping
		t.put(&v, n, depth)
	default:
		return t.fail(line, "yaml-odd-value")
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

func (t *yamlTree) put(v *Value, entry *ast.MappingValueNode, depth int) {
	key := entry.Key.GetToken()
	f := Field{Name: key.Value, Line: key.Position.Line + t.offset, Value: t.value(entry.Value, depth+1)}
	v.put(f, func(line int, what problem.Text) { t.tell(line-t.offset, what) })
}
