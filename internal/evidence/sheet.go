package evidence

import (
	"bytes"
	"regexp"
	"strings"
)

// A sheet has the styles that a page's own style sheets give to selectors of one class or id, by selector and property
// (".old display"). No other selectors are read.
type sheet map[string]style

type style struct {
	isOff  bool // the element is no text
	isFirm bool // important
}

// set adds a declaration: of two, the later one counts, or the important one.
func (s sheet) set(name string, now style) {
	if now.isFirm || !s[name].isFirm {
		s[name] = now
	}
}

// of returns whether a selector hides its elements, and whether it strikes them through.
func (s sheet) of(selector string) (isHidden, isStruck bool) {
	return s[selector+" display"].isOff || s[selector+" visibility"].isOff, s[selector+" text-decoration"].isOff
}

var (
	cssNoise = regexp.MustCompile(`(?is)/\*.*?(?:\*/|\z)|<!--|-->|\burl\([^"')]*|` +
		`"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?`)
	declaration = regexp.MustCompile(`(?is)^\s*(display|visibility|text-decoration)(?:-line)?\s*:\s*[^\s!][^!]*(!.*)?$`)
	isOff       = regexp.MustCompile(`(?is)display\s*:\s*none\b|visibility\s*:\s*(?:hidden|collapse)\b|:.*\bline-through\b`)
	oneSelector = regexp.MustCompile(`^[.#](?:[\w-]|\\.|[^\x00-\x7f])+$`)
	// everyScreen matches the media of which every reader has one, and plainRule the at-rules that hold for every reader.
	everyScreen = regexp.MustCompile(`(?i)^\s*(?:(?:only\s+)?(?:screen|all)\s*(?:,|$)|$)`)
	plainRule   = regexp.MustCompile(`(?i)^@(?:layer\b.*|media\b(.*))`)
)

// read reads rules, each a selector with a block. Blocks that hold only under a condition, or inside those of rules, are
// passed over.
func (s sheet) read(css []byte) {
	css = blank(css)
	var selector []byte // of the present rule
	passed := 0         // blocks that are passed over, each inside the one before
	for i := bytes.IndexAny(css, "{}"); i >= 0; i = bytes.IndexAny(css, "{}") {
		part, isOpen := css[:i], css[i] == '{'
		css = css[i+1:]
		name := bytes.TrimSpace(part[bytes.LastIndexByte(part, ';')+1:])
		rule := plainRule.FindSubmatch(name)
		switch {
		case isOpen && passed == 0 && rule != nil && everyScreen.Match(rule[1]):
		case isOpen && (passed > 0 || selector != nil || bytes.HasPrefix(name, []byte("@"))):
			passed++
		case isOpen:
			selector = name
		case passed > 0:
			passed--
		default:
			list := declared(part)
			for one := range bytes.SplitSeq(selector, []byte(",")) {
				one = bytes.TrimSpace(one)
				for name, now := range list {
					if oneSelector.Match(one) && len(s) <= maxStyles {
						s.set(strings.ReplaceAll(string(one), `\`, "")+name, now)
					}
				}
			}
			selector = nil
		}
	}
}

// blank puts spaces in the place of comments, strings and addresses, which have characters of rules.
func blank(css []byte) []byte {
	for rest := css; ; {
		noise := cssNoise.FindIndex(rest)
		if noise == nil {
			return css
		}
		for i := noise[0]; i < noise[1]; i++ {
			rest[i] = ' '
		}
		rest = rest[noise[1]:]
	}
}

// declared returns the styles of a block, without a selector.
func declared(block []byte) sheet {
	list := sheet{}
	for one := range bytes.SplitSeq(block, []byte(";")) {
		if parts := declaration.FindSubmatch(one); parts != nil {
			list.set(" "+strings.ToLower(string(parts[1])), style{isOff.Match(one), parts[2] != nil})
		}
	}
	return list
}

// attribute returns whether an attribute hides an element, and whether it strikes it through.
func (s sheet) attribute(key string, value []byte) (isHidden, isStruck bool) {
	switch {
	case key == "hidden", key == "aria-hidden" && strings.EqualFold(string(bytes.TrimSpace(value)), "true"):
		return true, false
	case key == "style":
		return declared(blank(value)).of("")
	case key == "id", key == "class":
		for one := range bytes.FieldsSeq(value) {
			hides, strikes := s.of(map[string]string{"id": "#", "class": "."}[key] + string(one))
			isHidden, isStruck = isHidden || hides, isStruck || strikes
		}
	}
	return isHidden, isStruck
}
