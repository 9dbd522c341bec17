// Package openapi completes the OpenAPI documents of the APIs. A document is written by
// hand and embedded in the binary; components that several documents have are in
// components.json, to which they refer. Where an installation knows better, its own values
// replace those of the file: its URL, licence and contact, and examples from its catalogue,
// so that a call with the examples of the document succeeds.
package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/snapshot"
	"palmares/internal/wire"
)

// A Document is an OpenAPI document with gaps for what depends on the installation. It may
// be used by any number of goroutines.
type Document struct {
	source []byte
	base   string
	title  string // with our name, for that of the catalogue
	gaps   []gap
	last   atomic.Pointer[completed]
}

// A gap is a value of the source that is replaced.
type gap struct {
	name     string // what it is for: see values
	from, to int    // in the source
}

// completed is a document for certain values. Most publications do not change any of them.
type completed struct {
	values string
	body   wire.Body
}

// New finds the gaps of a document, for callers who find the API at base; "" for the URL of
// the catalogue. It panics on an invalid document: it is part of the program.
func New(source []byte, base string) *Document {
	d := &Document{source: source, base: strings.TrimSuffix(base, "/")}
	for name, path := range map[string][]string{
		"title":   {"info", "title"},
		"servers": {"servers"},
		"terms":   {"info", "termsOfService"},
		"contact": {"info", "contact"},
		"license": {"info", "license"},
		"docs":    {"externalDocs", "url"},
	} {
		d.gaps = append(d.gaps, d.find(name, path...))
	}
	var parts struct {
		Info       struct{ Title string }
		Components struct {
			Parameters map[string]struct{ Example json.RawMessage }
		}
	}
	if err := json.Unmarshal(source, &parts); err != nil {
		panic(fmt.Sprintf("openapi: %v", err))
	}
	d.title = parts.Info.Title
	for name, p := range parts.Components.Parameters {
		if p.Example != nil {
			d.gaps = append(d.gaps, d.find(name, "components", "parameters", name, "example"))
		}
	}
	slices.SortFunc(d.gaps, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	return d
}

// find returns the gap at a path of member names.
func (d *Document) find(gapName string, path ...string) gap {
	from, to := 0, len(d.source)
	for _, name := range path {
		begin, end := member(d.source[from:to], name)
		from, to = from+begin, from+end
	}
	return gap{gapName, from, to}
}

// member returns where the value of a member of a JSON object begins and ends.
func member(object []byte, name string) (from, to int) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(object))
	_, err := dec.ReadToken() // the opening brace
	for err == nil && dec.PeekKind() == '"' {
		var found jsontext.Token
		found, err = dec.ReadToken()
		isIt := err == nil && found.String() == name
		var value jsontext.Value
		if err == nil {
			value, err = dec.ReadValue()
		}
		if isIt && err == nil {
			to = int(dec.InputOffset())
			return to - len(value), to
		}
	}
	panic(fmt.Sprintf("openapi: the document has no %s: %v", name, err))
}

// Body returns the document for one version of the catalogue.
func (d *Document) Body(snap *snapshot.Snapshot) wire.Body {
	given := d.values(snap)
	values := make([][]byte, len(d.gaps))
	for i, g := range d.gaps {
		values[i] = d.source[g.from:g.to]
		if v, ok := given[g.name]; v == "" {
			values[i] = nil
		} else if ok {
			if text, isText := v.(string); isText && d.source[g.from] == '[' { // the example of a list
				v = []string{text}
			}
			values[i] = wire.AppendJSON(nil, v)
		}
	}
	key := fmt.Sprint(snap.Catalog.HasDataset(), string(bytes.Join(values, []byte{0})))
	if last := d.last.Load(); last != nil && last.values == key {
		return last.body
	}
	var b []byte
	end := 0
	for i, g := range d.gaps {
		from := g.from
		if values[i] == nil { // the member is left out, with the comma before it
			from = bytes.LastIndexByte(d.source[:from], ',')
		}
		b = append(append(b, d.source[end:from]...), values[i]...)
		end = g.to
	}
	b = append(b, d.source[end:]...)
	b = []byte(Terms(snap, string(b)))
	body := wire.NewBody(wire.Sum(b), b)
	d.last.Store(&completed{key, body})
	return body
}

type server struct {
	URL string `json:"url"`
}

type license struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type contact struct {
	Name  string `json:"name"`
	URL   string `json:"url,omitempty"`
	Email string `json:"email,omitempty"`
}

// values returns what fills the gaps, by their names.
func (d *Document) values(snap *snapshot.Snapshot) map[string]any {
	c := snap.Catalog
	base := cmp.Or(d.base, c.URL)
	who := contact{Name: cmp.Or(c.Settings.Publisher, c.Name), URL: base}
	if to := c.Settings.Contact; strings.Contains(to, "://") {
		who.URL = to
	} else if to != "" {
		who.URL, who.Email = "", to
	}
	values := map[string]any{
		"title":   strings.Replace(d.title, "Palmarès", cmp.Or(c.Name, "Palmarès"), 1),
		"servers": []server{{base}},
		"terms":   base + "/licence",
		"license": license{"Données libres de droits, à condition de citer «\u00a0" + c.CreditLine() + "\u00a0»", base + "/licence"},
		"contact": who,
		"docs":    base + "/docs",
	}
	if name, _ := c.Terms(); name != "" {
		values["license"] = license{name, base + "/licence"}
	}
	for name, v := range Examples(snap) {
		values[name] = v
	}
	return values
}
