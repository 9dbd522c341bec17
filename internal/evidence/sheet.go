package evidence

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A sheet has the rules of a document's own style sheets that matter: those that hide text or cross
// it out. A child is taken for a descendant, and what would show text again is not read; selectors with
// more than tags, classes, ids, attributes and :not are left out, and so are sheets that the document
// only refers to.
type sheet map[string][]rule // by the last class of the element, its id or its tag

type rule struct {
	path         []compound // the element last, before it those that it is in
	declarations string     // in lower case, without spaces
}

// A compound is a selector of one element.
type compound struct {
	tag, id    string
	classes    []string
	attributes [][2]string // a name, and a value that may be ""
	not        []compound
	isVague    bool // it has conditions that are not read
}

// key returns what an element must have to match: what a sheet finds its rules by.
func (c *compound) key() string {
	switch {
	case len(c.classes) > 0:
		return "." + c.classes[len(c.classes)-1]
	case c.id != "":
		return "#" + c.id
	case c.tag != "":
		return c.tag
	}
	return "*"
}

// The limits of all sheets of a document: rules, and those of them with the same key.
const (
	maxRules = 2000
	maxAlike = 50
)

// readSheets reads all style elements of a document.
func readSheets(root *html.Node) sheet {
	s := sheet{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.Style || n.FirstChild == nil {
			continue
		}
		if media := strings.ToLower(attribute(n, "media")); media == "" || media == "all" || media == "screen" {
			s.read(n.FirstChild.Data)
		}
	}
	return s
}

func (s sheet) read(text string) {
	for range maxRules {
		if before, rest, ok := strings.Cut(text, "/*"); ok {
			_, after, _ := strings.Cut(rest, "*/")
			text = before + after
			continue
		}
		selectors, rest, ok := strings.Cut(text, "{")
		if !ok {
			return
		}
		selectors = strings.Trim(selectors, "} \n\t\r")
		if strings.HasPrefix(selectors, "@") {
			if !everywhere.MatchString(selectors) { // rules for some screens only
				rest = afterBlock(rest)
			}
			text = rest // the brace that ends the block is part of the next selectors
			continue
		}
		body, rest, _ := strings.Cut(rest, "}")
		text = rest
		if own, nested, ok := strings.Cut(body, "{"); ok {
			cut := strings.LastIndexByte(own, ';') + 1
			body = own[:cut]
			inner := strings.TrimSpace(own[cut:])
			if after, isSame := strings.CutPrefix(inner, "&"); isSame {
				inner = after
			} else {
				inner = " " + inner
			}
			if !strings.Contains(selectors, ",") {
				s.add(selectors+inner, nested)
			}
		}
		s.add(selectors, body)
	}
}

// add adds the rules of a block, if they matter.
func (s sheet) add(selectors, body string) {
	declarations := strings.ToLower(strings.Join(strings.Fields(body), ""))
	if line := pseudo.FindString(selectors); line != "" && overline.MatchString(declarations) {
		selectors, declarations = strings.TrimSuffix(selectors, line), "line-through"
	}
	if !hides(declarations) && !strikes(declarations) {
		return
	}
	for _, selector := range splitSelectors(selectors) {
		path, ok := parseSelector(selector)
		if !ok {
			continue
		}
		r := rule{path, declarations}
		if path[0].isVague {
			r.declarations = vague
		}
		if key := path[len(path)-1].key(); len(s[key]) < maxAlike {
			s[key] = append(s[key], r)
		}
	}
}

// afterBlock returns what follows a block with blocks in it.
func afterBlock(text string) string {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
			if depth == 0 {
				return text[i+1:]
			}
		}
	}
	return ""
}

// everywhere matches the conditions of rules that hold wherever a page is read.
var everywhere = regexp.MustCompile(`(?i)^@(?:media\s+(?:only\s+)?(?:screen|all)|layer\b.*|supports\b.*)$`)

// piece matches a part of a compound.
var piece = regexp.MustCompile(`^(?:([a-zA-Z*][\w-]*|\*)|\.((?:[\w-]|\\.|[^\x00-\x7f])+)|#([\w-]+)|\[\s*([\w-]+)\s*(?:=\s*["']?([^"'\]]*)["']?\s*)?\]|:not\(([^()]*)\))`)

// pseudo matches the elements that sheets add, and overline the look of a line across the text of their element.
var (
	pseudo   = regexp.MustCompile(`::?(?:after|before)\s*$`)
	overline = regexp.MustCompile(`top:(?:4\d|5\d)%.*(?:border|height:[1-4]px)|(?:border|height:[1-4]px).*top:(?:4\d|5\d)%|rotate\(-?\d`)
	anyOf    = regexp.MustCompile(`:(?:is|where)\(([^()]*)\)`)
	// unread matches conditions that are not read, and unmet those that are not met while nobody touches the page.
	unread = regexp.MustCompile(`:(?:nth|first|last|only|checked|has|target|empty)[\w-]*(?:\([^()]*\))?|[+~]`)
	unmet  = regexp.MustCompile(`:(?:hover|focus|active|disabled|visited)|::?(?:after|before)|::`)
)

// splitSelectors returns the selectors of a list, each of them without alternatives in it.
func splitSelectors(list string) (found []string) {
	depth, start := 0, 0
	for i, r := range list + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			one := list[start:i]
			start = i + 1
			if m := anyOf.FindStringSubmatchIndex(one); m != nil {
				for either := range strings.SplitSeq(one[m[2]:m[3]], ",") {
					found = append(found, one[:m[0]]+strings.TrimSpace(either)+one[m[1]:])
				}
				continue
			}
			found = append(found, one)
		}
	}
	return found
}

// parseSelector returns the elements that a selector is for. Of one with conditions that are not read it is the last
// element, which may be meant: it is marked as vague.
func parseSelector(text string) (path []compound, ok bool) {
	if unmet.MatchString(text) {
		return nil, false
	}
	isVague := unread.MatchString(text)
	parts := strings.Fields(strings.ReplaceAll(unread.ReplaceAllStringFunc(text, func(s string) string {
		if s == "+" || s == "~" {
			return " "
		}
		return ""
	}), ">", " "))
	if isVague && len(parts) > 0 {
		parts = parts[len(parts)-1:]
	}
	for _, part := range parts {
		c, ok := parseCompound(part)
		if !ok {
			return nil, false
		}
		path = append(path, c)
	}
	if isVague && len(path) > 0 {
		path[0].isVague = true
	}
	return path, len(path) > 0
}

func parseCompound(text string) (c compound, ok bool) {
	for text != "" {
		m := piece.FindStringSubmatch(text)
		if m == nil {
			return c, false
		}
		text = text[len(m[0]):]
		switch {
		case m[1] != "":
			c.tag = strings.ToLower(m[1])
		case m[2] != "":
			c.classes = append(c.classes, strings.ToLower(strings.ReplaceAll(m[2], `\`, "")))
		case m[3] != "":
			c.id = m[3]
		case m[4] != "":
			c.attributes = append(c.attributes, [2]string{strings.ToLower(m[4]), m[5]})
		default:
			not, ok := parseCompound(strings.TrimSpace(m[6]))
			if !ok || len(not.not) > 0 {
				return c, false
			}
			c.not = append(c.not, not)
		}
	}
	return c, true
}

// hides reports whether declarations hide an element.
func hides(declarations string) bool {
	for d := range strings.SplitSeq(declarations, ";") {
		name, value, _ := strings.Cut(strings.TrimSuffix(d, "!important"), ":")
		switch name {
		case "display":
			if value == "none" {
				return true
			}
		case "content-visibility":
			if value == "hidden" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "opacity", "font-size", "max-height", "height", "width":
			if strings.Trim(value, "0.") == "" || strings.TrimRight(strings.Trim(value, "0."), "pxemr%") == "" {
				return true
			}
		case "left", "top", "text-indent", "right", "margin-left":
			if strings.HasPrefix(value, "-999") || strings.HasPrefix(value, "-1000") || strings.HasPrefix(value, "-100vw") {
				return true
			}
		case "clip":
			if strings.HasPrefix(value, "rect(0") || strings.HasPrefix(value, "rect(1px") {
				return true
			}
		case "clip-path":
			if value == "inset(50%)" || value == "inset(100%)" {
				return true
			}
		case "transform":
			if value == "scale(0)" || strings.HasPrefix(value, "translatex(-") && len(value) > len("translatex(-99%)") {
				return true
			}
		case "color":
			if value == "transparent" {
				return true
			}
		}
	}
	return false
}

// vague stands for declarations that may be for an element.
const vague = "?"

func isVague(declarations string) bool { return declarations == vague }

// strikes reports whether declarations cross an element out.
func strikes(declarations string) bool { return strings.Contains(declarations, "line-through") }

// matches reports whether a rule with declarations of a kind is for an element.
func (s sheet) matches(n *html.Node, is func(string) bool) bool {
	if len(s) == 0 || n.Type != html.ElementNode {
		return false
	}
	keys := append(strings.Fields("."+strings.Join(strings.Fields(class(n)), " .")), "#"+attribute(n, "id"), n.Data, "*")
	return slices.ContainsFunc(keys, func(key string) bool {
		return slices.ContainsFunc(s[key], func(r rule) bool { return is(r.declarations) && r.matches(n) })
	})
}

func (r *rule) matches(n *html.Node) bool {
	last := len(r.path) - 1
	if !r.path[last].matches(n) {
		return false
	}
	for outer := n.Parent; last > 0 && outer != nil; outer = outer.Parent {
		if r.path[last-1].matches(outer) {
			last--
		}
	}
	return last == 0
}

func (c *compound) matches(n *html.Node) bool {
	if n.Type != html.ElementNode || c.tag != "" && c.tag != "*" && c.tag != n.Data || c.id != "" && c.id != attribute(n, "id") {
		return false
	}
	for _, a := range c.attributes {
		if !has(n, a[0]) || a[1] != "" && a[1] != attribute(n, a[0]) {
			return false
		}
	}
	classes := strings.Fields(class(n))
	return !slices.ContainsFunc(c.classes, func(want string) bool { return !slices.Contains(classes, want) }) &&
		!slices.ContainsFunc(c.not, func(not compound) bool { return not.matches(n) })
}
