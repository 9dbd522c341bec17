package site

import (
	"bytes"
	"encoding/json"
	"html"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/snapshot"
)

// docsPage is the reference of the API. All that the OpenAPI document says is
// taken from it; samples name records of the catalogue at hand, so that they
// answer something.
type docsPage struct {
	Page    page
	Version string // of the document
	Base    string // where the API is
	Credit  string
	Source  string // path of the OpenAPI document
	First   sample
	Answer  template.HTML // to the first call
	Guide   []docsChapter // the document's own words on the whole
	Groups  []docsGroup
	Headers []docsHeader
	Errors  []docsError
	Exceed  template.HTML // an answer 429
	Cache   sample
	Pages   sample
	Search  sample
	Types   []string // of the events that webhooks announce
}

// A docsChapter is a part of the document's description.
type docsChapter struct {
	section
	Markdown string // as it stands in the document, without its heading
}

// A docsGroup is the operations of one tag.
type docsGroup struct {
	ID, Name, Text string
	Operations     []docsOperation
}

// A docsOperation is one operation. Its parts that do not depend on the
// catalogue are made once.
type docsOperation struct {
	ID         string
	Path       string
	Summary    string
	Text       string // Markdown
	HTML       template.HTML
	Keyed      bool // it needs a key
	Counted    bool // it can answer 429
	Parameters []docsParameter
	Schema     []docsField
	Examples   []docsExample
	Statuses   []docsStatus
	Headers    []docsAnchor // of the answer 200

	Href    string // a call that answers 200
	Samples []sample
	Vacant  bool // the catalogue has no record to name: samples keep the braces of the path
}

// A docsParameter is one parameter, with the control that "try it" shows for it.
type docsParameter struct {
	ID, Name, In string
	Place        string // in words
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
	Hint         string // what an empty control shows
	Value        string // what it begins with
}

// A docsField is one field of an answer; those of a nested object follow it.
type docsField struct {
	Depth int
	Name  string
	Type  string
	Null  bool
	Enum  []string
	Text  string // Markdown
	HTML  template.HTML
}

// Indent is the depth in the lists of Markdown.
func (f docsField) Indent() string { return strings.Repeat("  ", f.Depth) }

type docsExample struct {
	HTML template.HTML // what it shows
	Code template.HTML
}

type docsStatus struct {
	Status   string
	Text     string // Markdown
	HTML     template.HTML
	Codes    []docsAnchor
	Examples []docsExample // of an error
}

type docsAnchor struct{ ID, Name string }

type docsHeader struct {
	ID, Name string
	HTML     template.HTML
	Example  string
	Statuses []string // none for a header of every answer
}

// docs answers from what is kept whatever the parameters: it has none, and costs
// ten times as much as other pages.
func (s *Site) docs(r *request) (*answer, error) {
	if a := r.pages.get(r.URL.Path); a != nil {
		return a, nil
	}
	v := s.docsOf(r)
	a := render(r, "docs", v.Page, v)
	r.pages.put(r.URL.Path, a)
	return a, nil
}

// docsOf fills in what depends on the catalogue.
func (s *Site) docsOf(r *request) docsPage {
	c := r.snap.Catalog
	base := s.base(r)
	v := docsPage{
		Version: s.reference.version, Base: base, Credit: creditLine(c.Name, c.URL), Source: documentPath,
		Guide: s.reference.guide, Headers: s.reference.headers, Errors: docsErrors, Exceed: s.reference.exceed,
		First:  sample{"premier-appel", "curl", curlSample(base+"/api/v1/tools?limit=1", false)},
		Answer: highlight(r.snap.Tools(snapshot.ToolQuery{}, whole(1)).Body().Bytes()),
		Cache:  sample{"cache.curl", "curl", "curl --etag-save stats.etag --etag-compare stats.etag \\\n  -o stats.json " + shellQuote(base+"/api/v1/stats")},
		Pages:  sample{"pagination.python", "Python", program("pages.py", base, "")},
		Search: sample{"recherche.python", "Python", program("recherche.py", base, creditLine(c.Name, c.URL))},
		Types:  catalog.ChangeTypes,
	}
	known := r.sampleValues()
	for _, g := range s.reference.groups {
		g.Operations = slices.Clone(g.Operations)
		for i := range g.Operations {
			g.Operations[i].call(base, known)
		}
		v.Groups = append(v.Groups, g)
	}
	v.Page = s.page(r, "Documentation de l’API", "La référence de l’API\u00a0: opérations, paramètres, erreurs, quotas, exemples à copier et appels à essayer sur place.", "/docs")
	v.Page.Markdown = "/docs" + textSuffix
	v.Page.MoreStyle, v.Page.MoreScript = s.assets.paths["docs.css"], s.assets.paths["docs.js"]
	return v
}

const documentPath = "/api/v1/openapi.json"

// base is where callers find the API.
func (s *Site) base(r *request) string {
	if s.cfg.BaseURL != "" {
		return strings.TrimSuffix(s.cfg.BaseURL, "/")
	}
	return r.snap.Catalog.URL
}

// sampleValues are parameters that find something in this catalogue, by operation.
// What is missing, because the catalogue has no such record, stays open in a path;
// a filter takes the example of the document, which finds an empty list.
func (e *edition) sampleValues() map[string]map[string]string {
	c := e.snap.Catalog
	known := map[string]map[string]string{}
	for _, i := range e.snap.Tools(snapshot.ToolQuery{}, whole(1)).IDs() {
		t := &c.Tools[i]
		known["listTools"] = map[string]string{"category": t.Category}
		known["listPricing"] = known["listTools"]
		known["getTool"] = map[string]string{"slug": t.Slug}
		known["getPricing"] = known["getTool"]
	}
	// The best tools are nearly all in the set that has embeddings.
	for _, i := range e.snap.Tools(snapshot.ToolQuery{}, snapshot.Paging{Number: 1, Limit: maxLimit}).IDs() {
		if _, ok := e.snap.Embeddings(c.Tools[i].Slug); ok {
			known["getEmbeddings"] = map[string]string{"slug": c.Tools[i].Slug}
			break
		}
	}
	for _, i := range e.snap.Comparisons("", whole(1)).IDs() {
		x := e.published[i]
		known["listComparatifs"] = map[string]string{"category": c.Tool(x.ToolA).Category}
		known["getComparatif"] = map[string]string{"slug": x.Slug}
	}
	for _, i := range e.snap.Retired("", "", whole(1)).IDs() {
		known["listCimetiere"] = map[string]string{"category": c.Retired[i].Category, "reason": string(c.Retired[i].Reason)}
	}
	return known
}

// filtersShown is how many filters a sample call sets: enough to show how.
const filtersShown = 2

// call makes the samples of an operation. They set what stands in the path, and
// of a list the first filters that have no default.
func (o *docsOperation) call(base string, known map[string]map[string]string) {
	o.Parameters = slices.Clone(o.Parameters)
	path, query, filters := o.Path, url.Values{}, 0
	for i := range o.Parameters {
		p := &o.Parameters[i]
		if v, ok := known[o.ID][p.Name]; ok {
			p.Hint = v
		}
		switch {
		case p.In == "path" && known[o.ID] == nil:
			o.Vacant, p.Hint = true, "{"+p.Name+"}"
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(p.Hint))
			p.Value = p.Hint
		case p.In == "query" && p.Default == "" && filters < filtersShown:
			query.Set(p.Name, p.Hint)
			p.Value = p.Hint
			filters++
		}
	}
	o.Href = path
	if len(query) > 0 {
		o.Href += "?" + query.Encode()
	}
	o.Samples = samplesOf(o.ID, base+o.Href, o.Keyed)
}

// block renders Markdown of the document, which is ours, as paragraphs.
func block(text string) template.HTML {
	var b strings.Builder
	for _, part := range markdown.HTML(text) {
		b.WriteString(part.HTML)
	}
	return template.HTML(b.String())
}

// inline renders a text of one paragraph without its frame.
func inline(text string) template.HTML {
	s := strings.TrimSpace(string(block(text)))
	s = strings.TrimSuffix(strings.TrimPrefix(s, "<p>"), "</p>")
	return template.HTML(strings.ReplaceAll(s, "</p>\n<p>", "<br>"))
}

// highlight sets JSON on lines of its own, with the names of fields and the
// values that are no text marked.
func highlight(raw []byte) template.HTML {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		panic(err) // it comes from the snapshot, or from the document, which was read
	}
	var out strings.Builder
	mark := func(class, text string) {
		out.WriteString(`<span class="` + class + `">` + html.EscapeString(text) + `</span>`)
	}
	for rest := b.String(); rest != ""; {
		n := 1
		switch c := rest[0]; {
		case c == '"':
			for rest[n] != '"' {
				if rest[n] == '\\' {
					n++
				}
				n++
			}
			n++
			if strings.HasPrefix(rest[n:], ":") {
				mark("k", rest[:n])
			} else {
				out.WriteString(html.EscapeString(rest[:n]))
			}
		case c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z':
			n = len(rest) - len(strings.TrimLeft(rest, "-+.0123456789abcdefghijklmnopqrstuvwxyzE"))
			mark("v", rest[:n])
		default:
			out.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return template.HTML(out.String())
}
