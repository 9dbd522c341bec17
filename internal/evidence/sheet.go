package evidence

import (
	"regexp"
	"strings"
)

// A sheet has the selectors of one class or id (".old", "#promo") of a page's own style sheets whose elements are hidden
// or struck through. No other selectors are read.
type sheet map[string]look

// A look is the part of the appearance of an element that decides whether it is text.
type look uint8

const (
	hidden look = 1 << iota // display: none, visibility: hidden
	struck                  // text-decoration: line-through
)

var (
	cssNoise    = regexp.MustCompile(`(?s)/\*.*?(?:\*/|\z)|<!--|-->`)
	oneSelector = regexp.MustCompile(`^[.#](?:[\w-]|\\.|[^\x00-\x7f])+$`)
	// everyScreen matches the media of which every reader has one, and plainRule the at-rules that hold for every reader.
	everyScreen = regexp.MustCompile(`(?i)^\s*(?:(?:only\s+)?(?:screen|all)\s*(?:,|$)|$)`)
	plainRule   = regexp.MustCompile(`(?i)^@(?:layer\b.*|media\b(.*))`)
)

// read reads rules, each a selector with a block. A block of an at-rule that holds only under a condition is passed over.
func (s sheet) read(css string) {
	css = cssNoise.ReplaceAllString(css, " ")
	for {
		selector, rest, ok := strings.Cut(css, "{")
		if !ok {
			return
		}
		selector = strings.TrimSpace(selector[strings.LastIndexAny(selector, ";}")+1:])
		if strings.HasPrefix(selector, "@") {
			rule, depth := plainRule.FindStringSubmatch(selector), 1
			for depth > 0 && (rule == nil || !everyScreen.MatchString(rule[1])) {
				i := strings.IndexAny(rest, "{}")
				if i < 0 {
					return
				}
				depth += '|' - int(rest[i]) // the character between them
				rest = rest[i+1:]
			}
			css = rest
			continue
		}
		var block string
		block, css, _ = strings.Cut(rest, "}")
		if l := declared(block); l != 0 {
			for one := range strings.SplitSeq(selector, ",") {
				if one = strings.TrimSpace(one); oneSelector.MatchString(one) {
					s[strings.ReplaceAll(one, `\`, "")] |= l
				}
			}
		}
	}
}

// declared returns the look that the declarations of a block give.
func declared(block string) (l look) {
	for one := range strings.SplitSeq(strings.ToLower(block), ";") {
		name, value, _ := strings.Cut(one, ":")
		value, _, _ = strings.Cut(value, "!")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case name == "display" && value == "none", name == "visibility" && (value == "hidden" || value == "collapse"):
			l |= hidden
		case strings.HasPrefix(name, "text-decoration") && strings.Contains(value, "line-through"):
			l |= struck
		}
	}
	return l
}

// attribute returns the look that an attribute gives to an element.
func (s sheet) attribute(key, value string) (l look) {
	switch key {
	case "hidden":
		return hidden
	case "aria-hidden":
		if strings.EqualFold(strings.TrimSpace(value), "true") {
			return hidden
		}
	case "style":
		return declared(cssNoise.ReplaceAllString(value, " "))
	case "id":
		return s["#"+value]
	case "class":
		for one := range strings.FieldsSeq(value) {
			l |= s["."+one]
		}
	}
	return l
}
