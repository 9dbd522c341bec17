package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
)

// A document holds the parts of an OpenAPI document that the page shows. Objects
// whose order is visible keep the order of the document.
type document struct {
	Info struct {
		Title, Version, Description string
	}
	Tags       []tagObject
	Paths      pairs[struct{ Get *operationObject }] // every operation is a GET
	Components components
}

type tagObject struct {
	Name, Description string
}

type components struct {
	Parameters map[string]*parameterObject
	Headers    map[string]*headerObject
	Responses  map[string]*responseObject
	Schemas    map[string]*schemaObject
	Examples   map[string]*exampleObject
}

type operationObject struct {
	OperationID string
	Tags        []string
	Summary     string
	Description string
	Security    []map[string][]string // a call must satisfy one of them; an empty one is always satisfied
	Parameters  []ref[parameterObject]
	Responses   pairs[ref[responseObject]] // by status
}

type parameterObject struct {
	Name        string
	In          string
	Description string
	Required    bool
	Schema      ref[schemaObject]
	Example     any
}

type responseObject struct {
	Description string
	Headers     pairs[ref[headerObject]]
	Content     map[string]struct {
		Schema   ref[schemaObject]
		Examples pairs[ref[exampleObject]]
	}
}

type headerObject struct {
	Description string
	Required    bool
	Example     any
}

type exampleObject struct {
	Summary string
	Value   json.RawMessage
}

type schemaObject struct {
	Type        string
	Format      string
	Description string
	Nullable    bool
	Enum        []any
	Default     any
	Minimum     *json.Number
	Maximum     *json.Number
	MinLength   int
	MaxLength   int
	Pattern     string
	Properties  pairs[ref[schemaObject]]
	Items       *ref[schemaObject]
}

// parseDocument parses the OpenAPI document that ships with the binary. It panics
// on an invalid one, which any test of the page would find.
func parseDocument(raw []byte) *document {
	d := &document{}
	if err := decode(raw, d); err != nil {
		panic(fmt.Sprintf("reference: cannot parse the OpenAPI document: %v", err))
	}
	return d
}

// decode keeps numbers as they are written.
func decode(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(into)
}

// pairs is a JSON object whose members keep their order.
type pairs[T any] []pair[T]

type pair[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *pairs[T]) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil { // the opening brace
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		one := pair[T]{Name: fmt.Sprint(name)}
		if err := dec.Decode(&one.Value); err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
		*p = append(*p, one)
	}
	return nil
}

// A ref is either a part of the document or the name of one in its components.
type ref[T any] struct {
	name string
	self *T
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *ref[T]) UnmarshalJSON(raw []byte) error {
	var to struct {
		Ref string `json:"$ref"`
	}
	if err := json.Unmarshal(raw, &to); err != nil {
		return err
	}
	if to.Ref != "" {
		r.name = path.Base(to.Ref)
		return nil
	}
	return decode(raw, &r.self)
}

// in returns the part, looked up in components if it is a name.
func (r ref[T]) in(components map[string]*T) *T {
	if r.name == "" {
		return r.self
	}
	part := components[r.name]
	if part == nil {
		panic("reference: the OpenAPI document refers to " + r.name + ", which does not exist")
	}
	return part
}
