package tree

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

// A JSONParser parses one line of JSON after the other.
type JSONParser struct {
	decoder jsontext.Decoder
	text    []byte // of a string with escapes
	line    int
	tooDeep bool
	twice   []problem.Text // what is wrong with fields that were given before
}

// Parse parses one line of JSON, which must be an object.
func (p *JSONParser) Parse(data []byte, line int, tell Report) (Value, bool) {
	p.decoder.Reset(bytes.NewBuffer(data), strictJSON)
	p.line, p.tooDeep, p.twice = line, false, nil
	v, err := p.value(1)
	if err == nil {
		_, err = p.decoder.ReadToken()
	}
	if err != io.EOF {
		explainJSON(data, line, tell)
		return Value{}, false
	}
	for _, twice := range p.twice {
		tell(line, twice)
	}
	switch {
	case p.tooDeep:
		tell(line, problem.New("json-too-deep", maxDepth))
		return v, false
	case v.Kind != Mapping:
		tell(line, problem.New("line-no-object", v.Describe()))
		return v, false
	}
	return v, true
}

// explainJSON reports why a line is not strict JSON.
func explainJSON(data []byte, line int, tell Report) {
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

func (p *JSONParser) value(depth int) (v Value, err error) {
	v.Line = p.line
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
		v.Kind, v.Text = Text, string(p.unquote(raw))
	case 't', 'f':
		v.Kind, v.Text = Bool, string(raw)
	case '0':
		v.Kind, v.Text = Number, string(raw)
	}
	return v, nil
}

func (p *JSONParser) values(kind jsontext.Kind, depth int) (v Value, err error) {
	v.Kind, v.Line = List, p.line
	closing := jsontext.Kind(']')
	if kind == '{' {
		v.Kind, closing = Mapping, '}'
	}
	_, err = p.decoder.ReadToken()
	for err == nil && p.decoder.PeekKind() != closing {
		var f Field
		if v.Kind == Mapping {
			f.Line = p.line
			name, err := p.decoder.ReadValue()
			if err != nil {
				return v, err
			}
			f.Name = string(p.unquote(name))
		}
		f.Value, err = p.value(depth + 1)
		if v.Kind == Mapping {
			v.put(f, func(_ int, what problem.Text) { p.twice = append(p.twice, what) })
		} else {
			v.Items = append(v.Items, f.Value)
		}
	}
	if err == nil {
		_, err = p.decoder.ReadToken()
	}
	return v, err
}

// unquote returns the text of a string, until it is called again.
func (p *JSONParser) unquote(raw jsontext.Value) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	p.text, _ = jsontext.AppendUnquote(p.text[:0], raw) // the decoder has found nothing wrong in it
	return p.text
}
