package content

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/problem"
)

// strictJSON is JSON without half characters. Fields that are given twice are reported one
// by one, with their names.
var strictJSON = jsontext.AllowDuplicateNames(true)

type jsonParser struct {
	decoder jsontext.Decoder
	text    []byte // of a string with escapes
	line    int
	tooDeep bool
	twice   []problem.Text // what is wrong with fields that were given before
}

// parse parses one line of JSON, which must be an object.
func (p *jsonParser) parse(data []byte, line int, tell report) (value, bool) {
	p.decoder.Reset(bytes.NewBuffer(data), strictJSON)
	p.line, p.tooDeep, p.twice = line, false, nil
	v, err := p.value(1)
	if err == nil {
		_, err = p.decoder.ReadToken()
	}
	if err != io.EOF {
		explainJSON(data, line, tell)
		return value{}, false
	}
	for _, twice := range p.twice {
		tell(line, twice)
	}
	switch {
	case p.tooDeep:
		tell(line, problem.New("json-too-deep", maxDepth))
		return v, false
	case v.kind != isMapping:
		tell(line, problem.New("line-no-object", v.describe()))
		return v, false
	}
	return v, true
}

// explainJSON reports why a line is not strict JSON.
func explainJSON(data []byte, line int, tell report) {
	if !utf8.Valid(data) {
		tell(line, problem.New("line-not-utf8"))
		return
	}
	err := json.Unmarshal(data, new(struct{}))
	if err == nil || json.Valid(data) {
		tell(line, problem.New("half-character"))
		return
	}
	column := len(data)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		column = int(syntax.Offset)
	}
	tell(line, problem.New("json-invalid", column, problem.Foreign(err.Error())))
}

func (p *jsonParser) value(depth int) (v value, err error) {
	v.line = p.line
	kind := p.decoder.PeekKind()
	if kind == '[' || kind == '{' {
		if depth > maxDepth {
			p.tooDeep = true
			return v, p.decoder.SkipValue()
		}
		return p.values(kind, depth)
	}
	raw, err := p.decoder.ReadValue()
	if err != nil {
		return v, err
	}
	switch kind {
	case '"':
		v.kind, v.text = isText, string(p.unquote(raw))
	case 't', 'f':
		v.kind, v.text = isBool, string(raw)
	case '0':
		v.kind, v.text = isNumber, string(raw)
	}
	return v, nil
}

func (p *jsonParser) values(kind jsontext.Kind, depth int) (v value, err error) {
	v.kind, v.line = isList, p.line
	closing := jsontext.Kind(']')
	if kind == '{' {
		v.kind, closing = isMapping, '}'
	}
	_, err = p.decoder.ReadToken()
	for err == nil && p.decoder.PeekKind() != closing {
		var f field
		if v.kind == isMapping {
			f.line = p.line
			name, err := p.decoder.ReadValue()
			if err != nil {
				return v, err
			}
			f.name = string(p.unquote(name))
		}
		f.value, err = p.value(depth + 1)
		if v.kind == isMapping {
			v.put(f, func(_ int, what problem.Text) { p.twice = append(p.twice, what) })
		} else {
			v.items = append(v.items, f.value)
		}
	}
	if err == nil {
		_, err = p.decoder.ReadToken()
	}
	return v, err
}

// unquote returns the text of a string, until it is called again.
func (p *jsonParser) unquote(raw jsontext.Value) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	p.text, _ = jsontext.AppendUnquote(p.text[:0], raw) // the decoder has found nothing wrong in it
	return p.text
}
