package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
)

// The parts of an OpenAPI document that the reference of the API shows. Objects
// whose order a reader sees keep the order of the document.

type apiDocument struct {
	Info struct {
		Title, Version, Description string
	}
	Tags       []apiTag
	Paths      pairs[struct{ Get *apiOperation }] // every operation reads
	Components apiComponents
}

type apiTag struct {
	Name, Description string
}

type apiComponents struct {
	Parameters map[string]*apiParameter
	Headers    map[string]*apiHeader
	Responses  map[string]*apiResponse
	Schemas    map[string]*apiSchema
	Examples   map[string]*apiExample
}

type apiOperation struct {
	OperationID string
	Tags        []string
	Summary     string
	Description string
	Security    []map[string][]string // a call needs one of them; an empty one asks for nothing
	Parameters  []ref[apiParameter]
	Responses   pairs[ref[apiResponse]] // by status
}

type apiParameter struct {
	Name        string
	In          string
	Description string
	Required    bool
	Schema      ref[apiSchema]
	Example     any
}

type apiResponse struct {
	Description string
	Headers     pairs[ref[apiHeader]]
	Content     map[string]struct {
		Schema   ref[apiSchema]
		Examples pairs[ref[apiExample]]
	}
}

type apiHeader struct {
	Description string
	Required    bool
	Example     any
}

type apiExample struct {
	Summary string
	Value   json.RawMessage
}

type apiSchema struct {
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
	Properties  pairs[ref[apiSchema]]
	Items       *ref[apiSchema]
}

// readDocument reads the OpenAPI document that ships with the binary; one that
// does not read is a mistake of ours that the first test finds.
func readDocument(raw []byte) *apiDocument {
	d := &apiDocument{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(d); err != nil {
		panic(fmt.Sprintf("site: the OpenAPI document does not read: %v", err))
	}
	return d
}

// pairs is a JSON object in the order in which it was written.
type pairs[T any] []pair[T]

type pair[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON reads an object.
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

// A ref is a part of the document, or the name of one under components.
type ref[T any] struct {
	name string
	self *T
}

// UnmarshalJSON reads a part or a reference to it.
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
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(&r.self)
}

// in gives the part itself.
func (r ref[T]) in(components map[string]*T) *T {
	if r.name == "" {
		return r.self
	}
	part := components[r.name]
	if part == nil {
		panic("site: the OpenAPI document refers to " + r.name + ", which is not there")
	}
	return part
}
