package evidence

import (
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A sheet has the rules of a document's own style sheets that matter: those that hide text or cross
// it out, and those that show again what others hide. Sheets that the document only refers to are not read.
type sheet struct {
	rules []rule
	shown []rule // compared only with what is hidden
	root  *html.Node
	left  int // how often a rule may still be compared with an element
}

type rule struct {
	selectors cascadia.SelectorGroup
	role      role
	isDisplay bool // it only does not display it
}

// The limits of all sheets of a document: rules, comparisons with elements, bytes of a selector or of what it
// declares, blocks within blocks.
const (
	maxRules       = 300
	maxComparisons = 1_000_000
	maxRule        = 1000
	maxBlocks      = 4
)

// readSheets reads all style elements of a document.
func readSheets(root *html.Node) *sheet {
	s := &sheet{left: maxComparisons, root: root}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.Style || n.FirstChild == nil {
			continue
		}
		if media := strings.ToLower(attribute(n, "media")); media == "" || media == "all" || media == "screen" {
			s.read(comment().ReplaceAllString(n.FirstChild.Data, ""))
		}
	}
	return s
}

var (
	comment = compile(`(?s)/\*.*?\*/`)
	// everywhere matches the conditions of rules that hold wherever a page is read.
	everywhere = compile(`(?i)^@(?:media\s+(?:only\s+)?(?:screen|all)|layer\b.*|supports\b.*)$`)
)

// read reads blocks, which may be in others.
func (s *sheet) read(text string) {
	type block struct{ selectors, body string }
	open, depth, start := []block{{}}, 0, 0
	for i := range len(text) {
		inner := &open[len(open)-1]
		switch text[i] {
		case '{':
			if depth++; depth <= maxBlocks {
				open = append(open, block{selectors: within(inner.selectors, strings.TrimSpace(text[start:i]))})
			}
		case '}', ';':
			if len(inner.body)+i-start < maxRule {
				inner.body += text[start:i] + ";"
			}
			if text[i] == '}' && depth > 0 {
				if depth <= maxBlocks {
					s.add(inner.selectors, inner.body)
					open = open[:len(open)-1]
				}
				depth--
			}
		default:
			continue
		}
		start = i + 1
	}
}

// nowhere is the selector of rules for some screens only.
const nowhere = "@"

// within returns the selectors of a block that is in another one.
func within(outer, inner string) string {
	switch {
	case outer == nowhere, strings.HasPrefix(inner, "@") && !everywhere.MatchString(inner), len(outer)+len(inner) > maxRule:
		return nowhere
	case strings.HasPrefix(inner, "@"):
		return outer
	case outer == "":
		return inner
	case strings.Contains(inner, "&"):
		return strings.ReplaceAll(inner, "&", outer)
	}
	return outer + " " + inner
}

var (
	// pseudo matches the elements that sheets add, and overline the look of a line across the text of their element.
	pseudo   = compile(`::?(?:after|before)\s*$`)
	overline = compile(`top:(?:4\d|5\d)%.*(?:border|height:[1-4]px)|(?:border|height:[1-4]px).*top:(?:4\d|5\d)%|rotate\(-?\d`)
	anyOf    = compile(`:(?:is|where)\(([^()]*)\)`)
	// unread matches conditions that are not read: an element may meet them.
	unread = compile(`.*[+~](?: |[^=])|:(?:nth|first|last|only|checked|has|target|empty)[\w-]*(?:\([^()]*\))?`)
)

// toggled matches selectors of what follows a box that is ticked.
var toggled = compile(`^([#.]?[\w-]+|\[[^\]]*\]):checked\s*[~+]\s*([^~+,]*)$`)

// add adds a rule, if it matters.
func (s *sheet) add(selectors, body string) {
	declarations := strings.ToLower(strings.Join(strings.Fields(body), ""))
	r := rule{role: plain}
	switch line := pseudo().FindString(selectors); {
	case line != "" && overline.MatchString(declarations):
		selectors, r.role = strings.TrimSuffix(selectors, line), struck
	case hidden.MatchString(declarations):
		r.role = unseen
	case strings.Contains(declarations, "line-through"):
		r.role = struck
	case strings.HasPrefix(declarations, "display:"):
		group, err := cascadia.ParseGroup(selectors)
		if err == nil && !unread.MatchString(selectors) && len(s.shown) < maxRules {
			s.shown = append(s.shown, rule{selectors: group})
		}
		return
	default:
		return
	}
	m := toggled().FindStringSubmatch(selectors)
	if m != nil {
		input, err := cascadia.Parse(m[1])
		if err != nil || !slices.ContainsFunc(cascadia.QueryAll(s.root, input), func(n *html.Node) bool { return has(n, "checked") }) {
			return
		}
		selectors = m[2]
	}
	r.isDisplay = strings.HasPrefix(declarations, "display:none")
	if known := unread().ReplaceAllString(selectors, ""); known != selectors {
		selectors, r.role = known, folded
	}
	each := []string{selectors}
	if m := anyOf().FindStringSubmatchIndex(selectors); m != nil {
		each = strings.Split(selectors[m[2]:m[3]], ",")
		for i := range each {
			each[i] = selectors[:m[0]] + strings.TrimSpace(each[i]) + selectors[m[1]:]
		}
	}
	for _, one := range each {
		var err error
		r.selectors, err = cascadia.ParseGroup(one)
		if err == nil && len(s.rules) < maxRules {
			s.rules = append(s.rules, r)
		}
	}
}

// role returns what the sheets make of an element.
func (s *sheet) role(n *html.Node) (most role) {
	if n.Type != html.ElementNode {
		return plain
	}
	for i := range s.rules {
		if s.left--; s.left < 0 {
			return folded
		}
		if r := &s.rules[i]; (most == plain || r.role == unseen) && r.selectors.Match(n) && !(r.isDisplay && s.shows(n, r)) {
			most = r.role
		}
	}
	return most
}

// shows reports whether a rule that is more specific than another one, which hides an element, shows it.
func (s *sheet) shows(n *html.Node, hiding *rule) bool {
	for i := range s.shown {
		for _, one := range s.shown[i].selectors {
			s.left--
			if s.left > 0 && one.Match(n) && !slices.ContainsFunc(hiding.selectors, func(h cascadia.Sel) bool { return !h.Specificity().Less(one.Specificity()) }) {
				return true
			}
		}
	}
	return false
}

// hidden matches declarations that hide an element.
var hidden = compile(`(?:^|;)(?:display:none|(?:content-)?visibility:(?:hidden|collapse)|(?:opacity|font-size|(?:max-)?height|width):0?\.?0*(?:px|r?em|%)?|` +
	`(?:left|top|right|text-indent|margin-left):-(?:999|1000|100vw)[^;]*|clip:rect\((?:0|1px)[^;]*|clip-path:inset\((?:50|100)%\)|transform:(?:scale\(0\)|translatex\(-\d{3}[^;]*)|color:transparent)(?:!important)?(?:;|$)`)
