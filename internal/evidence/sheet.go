package evidence

import (
	"context"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// A sheet has the selectors of one class or id (".old", "#promo") of a page's own style sheets whose elements are hidden
// or struck through. No other selectors are read.
type sheet map[string]look

// A look is the part of the appearance of an element that decides whether it is text; of each property, the last
// declaration.
type look struct {
	isAbsent, isInvisible, isStruck bool
}

func (l look) isText() bool { return l == look{} }

var (
	cssComment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	oneSelector = regexp.MustCompile(`^[.#](?:[\w-]|\\.|[^\x00-\x7f])+$`)
	// isPlainRule matches the at-rules whose blocks hold for every reader.
	isPlainRule = regexp.MustCompile(`(?i)^@(?:layer\b|media\s+(?:only\s+)?(?:screen|all)\s*$)`)
)

// readSheets reads the style sheets of a document.
func readSheets(ctx context.Context, document []byte) (sheet, error) {
	s, isStyle := sheet{}, false
	err := eachToken(ctx, document, func(z *html.Tokenizer, kind html.TokenType) error {
		if isStyle && kind == html.TextToken {
			s.read(cssComment.ReplaceAllString(string(z.Raw()), " "))
		}
		isStyle = false
		if kind == html.StartTagToken {
			name, _ := z.TagName()
			isStyle = string(name) == "style"
		}
		return nil
	})
	return s, err
}

// read reads rules, each a selector with a block. A block of an at-rule that holds only under a condition is passed over.
func (s sheet) read(css string) {
	for {
		selector, rest, ok := strings.Cut(css, "{")
		if !ok {
			return
		}
		selector = strings.TrimSpace(selector[strings.LastIndexAny(selector, ";}")+1:])
		switch {
		case isPlainRule.MatchString(selector):
			css = rest
			continue
		case strings.HasPrefix(selector, "@"):
			for depth := 1; depth > 0 && rest != ""; {
				i := strings.IndexAny(rest, "{}")
				if i < 0 {
					return
				}
				depth += map[byte]int{'{': 1, '}': -1}[rest[i]]
				rest = rest[i+1:]
			}
			css = rest
			continue
		}
		var block string
		block, css, _ = strings.Cut(rest, "}")
		for one := range strings.SplitSeq(selector, ",") {
			if one = strings.TrimSpace(one); oneSelector.MatchString(one) {
				one = strings.ReplaceAll(one, `\`, "")
				s[one] = s[one].declare(block)
			}
		}
	}
}

// declare returns a look with the declarations of a block.
func (l look) declare(block string) look {
	for one := range strings.SplitSeq(strings.ToLower(block), ";") {
		name, value, _ := strings.Cut(one, ":")
		value = strings.TrimSpace(strings.ReplaceAll(value, "!important", ""))
		switch strings.TrimSpace(name) {
		case "display":
			l.isAbsent = value == "none"
		case "visibility":
			l.isInvisible = value == "hidden" || value == "collapse"
		case "text-decoration", "text-decoration-line":
			l.isStruck = strings.Contains(value, "line-through")
		}
	}
	return l
}

// attribute returns the look of an element with one more attribute: what any of them hides is hidden.
func (s sheet) attribute(l look, key, value string) look {
	var more look
	switch key {
	case "hidden":
		more.isAbsent = true
	case "aria-hidden":
		more.isAbsent = strings.EqualFold(value, "true")
	case "style":
		more = more.declare(cssComment.ReplaceAllString(value, " "))
	case "id":
		more = s["#"+value]
	case "class":
		for one := range strings.FieldsSeq(value) {
			of := s["."+one]
			more = look{more.isAbsent || of.isAbsent, more.isInvisible || of.isInvisible, more.isStruck || of.isStruck}
		}
	}
	return look{l.isAbsent || more.isAbsent, l.isInvisible || more.isInvisible, l.isStruck || more.isStruck}
}
