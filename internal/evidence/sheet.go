package evidence

import (
	"bytes"
	"regexp"
	"slices"
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

// read reads rules, each a selector with a block; the end of the sheet closes all blocks. Those that hold only under a
// condition, or stand inside other rules, are passed over. The present rule is one of the selectors; "" for none.
func (s sheet) read(css []byte, selectors string) {
	ends := bytes.Repeat([]byte("}"), 1+bytes.Count(css, []byte("{")))
	if cssNoise.Match(css) {
		css = cssNoise.ReplaceAll(css, []byte(" "))
	}
	found, passed := sheet{}, 0 // in the rule; blocks that are passed over, each inside the one before
	for i := bytes.IndexAny(css, "{;}"); i >= 0 || ends != nil; i = bytes.IndexAny(css, "{;}") {
		if i < 0 {
			css, ends = slices.Concat(css, ends), nil
			continue
		}
		part, end := bytes.TrimSpace(css[:i]), css[i]
		css = css[i+1:]
		rule := plainRule.FindSubmatch(part)
		isInside := passed > 0 || selectors != ""
		switch {
		case end == '{' && !isInside && rule != nil && everyScreen.Match(rule[1]):
		case end == '{' && (isInside || bytes.HasPrefix(part, []byte("@"))):
			passed++
		case end == '{':
			selectors, found = string(part), sheet{}
		case passed > 0 && end == '}':
			passed--
		case passed == 0:
			if parts := declaration.FindSubmatch(part); parts != nil {
				found.set(" "+strings.ToLower(string(parts[1])), style{isOff.Match(part), parts[2] != nil})
			}
			if end == '}' {
				s.give(selectors, found)
				selectors = ""
			}
		}
	}
}

// give gives styles to each selector of a list, which commas separate outside parentheses.
func (s sheet) give(selectors string, styles sheet) {
	depth := 0
	for one := range strings.SplitSeq(selectors, ",") {
		for name, now := range styles {
			if depth == 0 && len(s) <= maxStyles && oneSelector.MatchString(strings.TrimSpace(one)) {
				s.set(strings.ReplaceAll(strings.TrimSpace(one), `\`, "")+name, now)
			}
		}
		depth += strings.Count(one, "(") - strings.Count(one, ")")
	}
}

// attribute returns whether an attribute hides an element, and whether it strikes it through.
func (s sheet) attribute(key string, value []byte) (isHidden, isStruck bool) {
	switch {
	case key == "hidden", key == "aria-hidden" && strings.EqualFold(string(bytes.TrimSpace(value)), "true"):
		return true, false
	case key == "style":
		own := sheet{}
		own.read(value, ".own")
		return own.of(".own")
	case key == "id", key == "class":
		for one := range bytes.FieldsSeq(value) {
			hides, strikes := s.of(map[string]string{"id": "#", "class": "."}[key] + string(one))
			isHidden, isStruck = isHidden || hides, isStruck || strikes
		}
	}
	return isHidden, isStruck
}
