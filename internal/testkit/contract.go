package testkit

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// A Contract checks replies against an OpenAPI document, and knows in the end which
// of the documented responses no test has seen.
type Contract struct {
	Document *openapi3.T // made strict: a field that a schema does not name is an error

	router routers.Router
	mu     sync.Mutex
	seen   map[string]bool // "METHOD path status"
}

func init() {
	openapi3filter.RegisterBodyDecoder("application/zstd", openapi3filter.FileBodyDecoder)
	openapi3filter.RegisterBodyDecoder("text/csv", openapi3filter.FileBodyDecoder)
}

// NewContract reads a document. It panics if that is invalid, for use in a package
// variable.
func NewContract(document []byte) *Contract {
	parsed, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		panic(err)
	}
	parsed.Servers = nil // they are relative to where the document is served; the router matches paths only
	closed := false
	for name, ref := range parsed.Components.Schemas {
		if name != "OpenAPIDocument" && ref.Value.Type.Is("object") {
			ref.Value.AdditionalProperties = openapi3.AdditionalProperties{Has: &closed}
		}
	}
	router, err := legacy.NewRouter(parsed)
	if err != nil {
		panic(err)
	}
	return &Contract{Document: parsed, router: router, seen: map[string]bool{}}
}

// Run runs the tests of a package like the function Run, and fails if they have not
// seen every documented response except those with the given statuses, which need more
// than this package. It does not when only some tests were run.
func (c *Contract) Run(m *testing.M, except ...string) int {
	code := Run(m)
	if code != 0 || someTestsOnly() {
		return code
	}
	if missing := c.unseen(except); len(missing) > 0 {
		fmt.Println("documented responses that no test has seen:", strings.Join(missing, ", "))
		return 1
	}
	return 0
}

// someTestsOnly reports whether an option has chosen among the tests.
func someTestsOnly() bool {
	return slices.ContainsFunc(os.Args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains([]string{"-test.run", "-test.skip", "-test.fuzz", "-test.bench", "-test.list"}, name)
	})
}

func (c *Contract) unseen(except []string) (missing []string) {
	for path, item := range c.Document.Paths.Map() {
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if response := method + " " + path + " " + status; !c.seen[response] && !slices.Contains(except, status) {
					missing = append(missing, response)
				}
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// CheckDocument expects raw, the document as it is served, to be valid OpenAPI 3.0.3 of
// version 1.0.0.
func (c *Contract) CheckDocument(t testing.TB, raw []byte) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.0.3" || doc.Info.Version != "1.0.0" {
		t.Errorf("OpenAPI %s, version %s", doc.OpenAPI, doc.Info.Version)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
	if got, want := slices.Sorted(maps.Keys(doc.Paths.Map())), slices.Sorted(maps.Keys(c.Document.Paths.Map())); !slices.Equal(got, want) {
		t.Errorf("it has the paths %v", got)
	}
}

// A Call is a request that a document gives as an example.
type Call struct {
	Operation string
	Path      string   // with the query
	Headers   []string // "Name: value" lines
}

// ExampleCalls returns a call of every GET operation with the examples of its parameters,
// which is what a page that was made from the document sends.
func ExampleCalls(t testing.TB, raw []byte) []Call {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	var calls []Call
	for path, item := range doc.Paths.Map() {
		if item.Get == nil {
			continue
		}
		call, query := Call{Operation: item.Get.OperationID}, url.Values{}
		for _, p := range item.Get.Parameters {
			if p.Value.Example == nil {
				continue
			}
			value := fmt.Sprint(p.Value.Example)
			if _, isList := p.Value.Example.([]any); isList {
				value = strings.ReplaceAll(strings.Trim(value, "[]"), " ", ",")
			}
			switch p.Value.In {
			case openapi3.ParameterInPath:
				path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", value)
			case openapi3.ParameterInQuery:
				query.Set(p.Value.Name, value)
			default:
				call.Headers = append(call.Headers, p.Value.Name+": "+value)
			}
		}
		call.Path = (&url.URL{Path: path, RawQuery: query.Encode()}).String()
		calls = append(calls, call)
	}
	return calls
}

// Check expects a reply to be a documented one and, where it is a success, its
// request to be documented too. body is what the request was sent with.
func (c *Contract) Check(r *Reply, body string) {
	r.T.Helper()
	req := r.Request.Clone(r.Request.Context())
	req.Body = io.NopCloser(strings.NewReader(body))
	route, params, err := c.router.FindRoute(req)
	hasEmpty := slices.Contains(slices.Collect(maps.Values(params)), "")
	// The router ignores a trailing slash and %2F, and matches an empty parameter.
	if err != nil || strings.HasSuffix(req.URL.Path, "/") || req.URL.RawPath != "" || hasEmpty {
		if r.Status < 400 && req.Method != "HEAD" && req.Method != "OPTIONS" {
			r.T.Errorf("%s: %d, but the document has no such operation", r, r.Status)
		}
		return
	}
	c.mu.Lock()
	c.seen[fmt.Sprintf("%s %s %d", route.Method, route.Path, r.Status)] = true
	c.mu.Unlock()
	request := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true},
	}
	if r.Status < 300 {
		if err := openapi3filter.ValidateRequest(req.Context(), request); err != nil {
			r.T.Errorf("%s: %d, but the document does not allow the request: %v", r, r.Status, err)
		}
	}
	response := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: request, Status: r.Status, Header: r.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	response.SetBodyBytes([]byte(r.Body))
	if err := openapi3filter.ValidateResponse(req.Context(), response); err != nil {
		r.T.Errorf("%s: the reply is not a documented one: %v", r, err)
	}
}
