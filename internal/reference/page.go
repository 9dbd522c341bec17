package reference

import (
	"html/template"
	"net/url"
	"slices"
	"strings"

	"palmares/internal/markdown"
	"palmares/internal/openapi"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// page is the data of the templates.
type page struct {
	Version       string // of the document
	Base          string // where callers find the API
	Credit        string
	Source        string // path of the document
	First         sample
	Answer        template.HTML // to First
	Guide         []chapter     // the document's own introduction
	Groups        []group
	Group         group // of a page of one
	Headers       []header
	Errors        []web.CodeInfo
	QuotaExceeded template.HTML // a 429 response
	Cache         sample
	Pages         sample
	Search        sample // on the page of embeddings only
	Assistants    string // where assistants find the tools
	Pro           bool   // the Pro plan may be mentioned
	Dataset       bool   // the catalogue is offered as a whole
}

// A chapter is a part of the document's description.
type chapter struct {
	ID       string
	Heading  string
	HTML     template.HTML
	Markdown string // as it is in the document, without its heading
}

// A group is the operations of one tag.
type group struct {
	ID, Path, Name, Text string
	Operations           []operation
}

// An operation is one operation of the API.
type operation struct {
	ID         string
	Path       string
	Summary    string
	Text       string // Markdown
	HTML       template.HTML
	Keyed      bool // needs a key
	Counted    bool // may be refused with 429
	Parameters []parameter
	Schema     []field
	Examples   []example
	Statuses   []status
	Headers    []anchor // of a 200 response

	// These depend on the catalogue: see (*operation).call.
	Href     string // a call whose response is 200
	Samples  []sample
	NoRecord bool // the catalogue has no record to name: samples keep the braces of the path
}

// A parameter is one parameter, with the form control for trying it.
type parameter struct {
	ID, Name, In string
	Place        string // In, in French
	Type         string
	Required     bool
	Default      string
	Bounds       string
	Pattern      string
	Enum         []string
	Text         string // Markdown
	HTML         template.HTML
	Control      string // number, text or select
	Min, Max     string
	Placeholder  string
	Value        string // initial value of the control

	component string // its name in the document's components
}

// A field is a field of a response; the fields of a nested object follow it.
type field struct {
	Depth int
	Name  string
	Type  string
	Null  bool
	Enum  []string
	Text  string // Markdown
	HTML  template.HTML
}

// Indent returns the indentation of the field in a Markdown list.
func (f field) Indent() string { return strings.Repeat("  ", f.Depth) }

type example struct {
	HTML template.HTML // the summary
	Code template.HTML
}

type status struct {
	Status   string
	Text     string // Markdown
	HTML     template.HTML
	Codes    []string  // of errors
	Examples []example // of an error
}

type anchor struct{ ID, Name string }

type header struct {
	ID, Name string
	Text     string // Markdown
	HTML     template.HTML
	Example  string
	Statuses []string // empty for a header of every response
}

// page returns the data of a page: what the document says, and what depends on the catalogue.
func (ref *Reference) page(path string, snap *snapshot.Snapshot, base string) page {
	credit := snap.Catalog.CreditLine()
	p := page{
		Version: ref.version, Base: base, Credit: credit, Source: DocumentPath,
		Guide: ref.guide, Groups: ref.groups, Headers: ref.headers, Errors: ref.errors, QuotaExceeded: ref.quotaExceeded,
		First:  newSample("premier-appel", "curl", base+"/api/v1/tools?limit=1", false),
		Answer: highlight(snap.Tools(snapshot.ToolQuery{}, snapshot.Paging{Number: 1, Limit: 1}).Body().Bytes()),
		Cache: sample{"cache.curl", "curl", "curl --etag-save stats.etag --etag-compare stats.etag \\\n  -o " +
			"stats.json " + shellQuote(base+"/api/v1/stats")},
		Pages:      sample{"pagination.python", "Python", program("pages.py", base, "")},
		Assistants: base + "/mcp",
		Pro:        !ref.hidesPro, Dataset: snap.Catalog.HasDataset(),
	}
	i := slices.IndexFunc(ref.groups, func(g group) bool { return g.Path == path })
	if i < 0 {
		return p
	}
	p.Group = ref.groups[i]
	p.Group.Operations = slices.Clone(p.Group.Operations)
	values := openapi.Examples(snap)
	for i := range p.Group.Operations {
		p.Group.Operations[i].call(base, values)
	}
	if path == embeddingsPath {
		p.Search = sample{"recherche.python", "Python", program("recherche.py", base, credit)}
	}
	return p
}

// filtersShown is how many filters a sample call of a list sets.
const filtersShown = 2

// call makes the samples of an operation with the values that the catalogue has for
// parameters, by their names in the document's components. They set the parameters of the
// path, and the first filters of a list that have no default.
func (o *operation) call(base string, values map[string]string) {
	o.Parameters = slices.Clone(o.Parameters)
	path, query, filters := o.Path, url.Values{}, 0
	for i := range o.Parameters {
		p := &o.Parameters[i]
		value := values[p.component]
		found := value != ""
		if found {
			p.Placeholder = value
		}
		switch {
		case p.In == "path" && !found:
			o.NoRecord, p.Placeholder = true, "{"+p.Name+"}"
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(p.Placeholder))
			p.Value = p.Placeholder
		case p.In == "query" && p.Default == "" && filters < filtersShown:
			query.Set(p.Name, p.Placeholder)
			p.Value = p.Placeholder
			filters++
		}
	}
	o.Href = path
	if len(query) > 0 {
		o.Href += "?" + query.Encode()
	}
	o.Samples = samplesOf(o.ID, base+o.Href, o.Keyed)
}

// block renders Markdown of the document.
func block(text string) template.HTML {
	var b strings.Builder
	for _, part := range markdown.HTML(text, nil, "") {
		b.WriteString(part.HTML)
	}
	return template.HTML(b.String())
}

// inline renders Markdown of one paragraph without the paragraph's tags.
func inline(text string) template.HTML {
	s := strings.TrimSpace(string(block(text)))
	s = strings.TrimSuffix(strings.TrimPrefix(s, "<p>"), "</p>")
	return template.HTML(strings.ReplaceAll(s, "</p>\n<p>", "<br>"))
}
