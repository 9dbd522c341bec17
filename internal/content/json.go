package content

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// parseJSON parses one line of JSON, which must be an object.
//
// encoding/json validates the line and unquotes its strings. It does not build the
// tree, because it accepts duplicate keys and keys in any case, and because its
// tokens cost more than all other work on a record.
func parseJSON(data []byte, line int, problem report) (value, bool) {
	return new(jsonParser).parse(data, string(data), line, problem)
}

// A jsonParser parses lines of JSON. What it returned is valid until the next call.
type jsonParser struct{ fields, more []field }

// entryFields is how many fields an entry of a list has at most.
const entryFields = 8

// parse is parseJSON for data that is also there as a text, of which the values are parts.
func (p *jsonParser) parse(data []byte, text string, line int, problem report) (value, bool) {
	if !json.Valid(data) {
		var nothing struct{}
		err := json.Unmarshal(data, &nothing)
		column := len(data)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			column = int(syntax.Offset)
		}
		problem(line, "the line is not valid JSON (column %d): %v", column, err)
		return value{}, false
	}
	if p.more == nil {
		p.more = make([]field, 16*entryFields)
	}
	t := jsonTree{rest: text, line: line, problem: problem, fields: p.fields[:0], more: p.more}
	v := t.value(1)
	p.fields = v.fields
	switch {
	case t.tooDeep:
		problem(line, "the JSON is nested more than %d deep", maxDepth)
		return v, false
	case v.kind != isMapping:
		problem(line, "a line must be a JSON object, not %s", v.describe())
		return v, false
	}
	return v, true
}

// A jsonTree parses valid JSON from left to right. Texts are parts of the line as far as
// possible.
type jsonTree struct {
	rest    string
	line    int
	problem report
	fields  []field // space for those of the outermost object
	more    []field // space for those of other objects
	tooDeep bool
}

// next skips white space, commas and colons, whose places are known to be right,
// and returns the first byte of what follows.
func (t *jsonTree) next() byte {
	i := 0
	for strings.IndexByte(" \t\r\n,:", t.rest[i]) >= 0 {
		i++
	}
	t.rest = t.rest[i:]
	return t.rest[0]
}

func (t *jsonTree) value(depth int) value {
	v := value{line: t.line}
	switch c := t.next(); c {
	case '"':
		v.kind, v.text = isText, strings.Clone(t.string()) // not a part of the lines around it
	case 'n':
		t.rest = t.rest[len("null"):]
	case 't', 'f':
		v.kind, v.text = isBool, t.word()
	case '[', '{':
		if depth > maxDepth {
			t.tooDeep = true
			return v
		}
		t.rest = t.rest[1:]
		v.kind = isList
		closing := byte(']')
		if c == '{' {
			v.kind, closing = isMapping, '}'
			if depth == 1 {
				v.fields = t.fields
			} else if len(t.more) > 0 {
				v.fields, t.more = t.more[:0:entryFields], t.more[entryFields:]
			}
		}
		for t.next() != closing {
			if v.kind == isList {
				v.items = append(v.items, t.value(depth+1))
			} else {
				v.put(field{name: t.string(), line: t.line, value: t.value(depth + 1)}, t.problem)
			}
			if t.tooDeep {
				return v
			}
		}
		t.rest = t.rest[1:]
	default:
		v.kind, v.text = isNumber, t.word()
	}
	return v
}

// word consumes a number, true or false.
func (t *jsonTree) word() string {
	end := strings.IndexAny(t.rest, " \t\r\n,:]}")
	if end < 0 {
		end = len(t.rest)
	}
	word := t.rest[:end]
	t.rest = t.rest[end:]
	return word
}

// string consumes a string.
func (t *jsonTree) string() string {
	end := 1 + strings.IndexByte(t.rest[1:], '"')
	escaped := strings.IndexByte(t.rest[:end], '\\') >= 0
	if escaped {
		for end = 1; t.rest[end] != '"'; end++ {
			if t.rest[end] == '\\' {
				end++
			}
		}
	}
	raw := t.rest[:end+1]
	t.rest = t.rest[end+1:]
	if !escaped {
		return raw[1:end]
	}
	if s, ok := plainEscapes(raw[1:end]); ok {
		return s
	}
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		panic(fmt.Sprintf("content: valid JSON does not decode: %v", err))
	}
	return s
}

// plainEscapes decodes a string that has only two-character escapes, such as the
// line breaks of a review. It is several times as fast as encoding/json, which
// scans the text twice more.
func plainEscapes(raw string) (string, bool) {
	var b strings.Builder
	b.Grow(len(raw))
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			b.WriteString(raw)
			return b.String(), true
		}
		which := strings.IndexByte(`nrtbf"\/`, raw[i+1])
		if which < 0 {
			return "", false
		}
		b.WriteString(raw[:i])
		b.WriteByte("\n\r\t\b\f\"\\/"[which])
		raw = raw[i+2:]
	}
}

// hasLoneSurrogate reports whether a \u escape stands for half a character, which
// encoding/json would silently decode as a replacement character.
func hasLoneSurrogate(data []byte) bool {
	if !bytes.Contains(data, []byte(`\ud`)) && !bytes.Contains(data, []byte(`\uD`)) {
		return false
	}
	high := false // the previous escape was the first half
	for i := 0; i < len(data); {
		half := byte(0)
		next := i + 1
		if data[i] == '\\' {
			next = i + 2
			if i+6 <= len(data) && data[i+1] == 'u' {
				next = i + 6
				if hex := strings.ToLower(string(data[i+2 : next])); hex[0] == 'd' && hex[1] >= '8' {
					half = hex[1]
				}
			}
		}
		low := half >= 'c'
		if high != low {
			return true
		}
		high = half != 0 && !low
		i = next
	}
	return high
}
