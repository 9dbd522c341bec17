package reference_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/reference"
	"palmares/internal/snapshot"
)

func TestThePageShowsTheWholeDocument(t *testing.T) {
	page := serveDemo(t).page
	d := document(t)
	operations := 0
	for path, item := range d.Paths.Map() {
		for method, op := range item.Operations() {
			operations++
			part := page.operation(op.OperationID)
			shown := words(plain(part.body))
			says := func(text string) {
				t.Helper()
				if !strings.Contains(shown, words(text)) {
					t.Errorf("%s does not show %q", part.what, text)
				}
			}
			says(method + " " + path)
			says(op.Summary)
			for paragraph := range strings.SplitSeq(op.Description, "\n\n") {
				says(paragraph)
			}
			for _, p := range op.Parameters {
				part.contains(`<code>`+p.Value.Name+`</code>`, `name="`+p.Value.Name+`"`)
				says(p.Value.Description)
				for _, one := range p.Value.Schema.Value.Enum {
					part.contains(fmt.Sprintf(">%v</option>", one))
				}
				if def := p.Value.Schema.Value.Default; def != nil {
					part.contains(fmt.Sprintf(`<td class="nb"><code>%v</code></td>`, def))
				}
			}
			for status, response := range op.Responses.Map() {
				part.contains("<dt>" + status + "</dt>")
				says(*response.Value.Description)
				if status == "200" {
					for name := range response.Value.Headers {
						part.contains(`<a href="/docs/en-tetes#en-tete-` + strings.ToLower(name) + `"><code>` + name + `</code></a>`)
					}
				}
				for _, content := range response.Value.Content {
					if status == "200" {
						fields(part, content.Schema.Value, 0)
					}
					for _, example := range content.Examples {
						shows(part, example.Value)
					}
				}
			}
		}
	}
	if operations != 11 || strings.Count(page.body, `class="operation"`) != operations {
		t.Errorf("%d operations in the document, %d on the page", operations, strings.Count(page.body, `class="operation"`))
	}
}

// fields requires that all fields of an answer are listed at their depth.
func fields(part *text, s *openapi3.Schema, depth int) {
	part.t.Helper()
	for name, property := range s.Properties {
		inner := property.Value
		if inner.Items != nil {
			inner, name = inner.Items.Value, name+"[]"
		}
		part.contains(fmt.Sprintf(`<th scope="row" class="d%d"><code>%s</code></th>`, depth, name))
		fields(part, inner, depth+1)
	}
}

// shows requires that an example of the document is on the page, unchanged.
func shows(part *text, example *openapi3.Example) {
	part.t.Helper()
	for _, m := range codePattern.FindAllStringSubmatch(part.body, -1) {
		var got any
		if json.Unmarshal([]byte(plain(m[1])), &got) == nil && cmp.Equal(got, example.Value) {
			return
		}
	}
	part.t.Errorf("%s does not show the example %q", part.what, example.Summary)
}

var codePattern = regexp.MustCompile(`(?s)<pre><code>(.*?)</code></pre>`)

func TestEveryErrorOfTheAPIIsExplained(t *testing.T) {
	page := serveDemo(t).page
	d := document(t)
	statuses := map[string]string{} // by code, from the examples
	for _, item := range d.Paths.Map() {
		for status, response := range item.Get.Responses.Map() {
			for _, content := range response.Value.Content {
				for _, example := range content.Examples {
					if problem, ok := example.Value.Value.(map[string]any); ok && problem["code"] != nil {
						statuses[fmt.Sprint(problem["code"])] = status
					}
				}
			}
		}
	}
	for _, one := range d.Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		code := one.(string)
		_, row, ok := strings.Cut(page.body, `<tr id="erreur-`+code+`"><th scope="row"><code>`+code+`</code></th><td>`)
		if !ok {
			t.Errorf("%s is not in the table of errors", code)
			continue
		}
		if got, want := row[:3], statuses[code]; want != "" && got != want {
			t.Errorf("%s has status %s on the page, want %s", code, got, want)
		}
	}
}

func TestAnEmptyCatalogueHasAReferenceToo(t *testing.T) {
	page, markdown := render(t, snapshot.Build(&catalog.Catalog{Name: "Vide", URL: "https://vide.example"}, 1, "2026-11-02"), "https://vide.example")
	page.operation("getTool").
		contains("https://vide.example/api/v1/tools/{slug}", "mettez un nom du catalogue à la place de <code>{slug}</code>", `value="" placeholder="{slug}"`, `<form data-try="/api/v1/tools/{slug}"`).
		lacks("Ouvrir la réponse dans le navigateur")
	page.operation("listTools").lacks("mettez un nom").contains("Ouvrir la réponse dans le navigateur")
	markdown.contains("/api/v1/tools/{slug}'", "mettez un nom du catalogue à la place de `{slug}`")
}

func TestAnInvalidDocumentPanics(t *testing.T) {
	for name, document := range map[string]string{
		"not JSON":            `{`,
		"a missing reference": `{"tags":[{"name":"a"}],"paths":{"/x":{"get":{"operationId":"x","tags":["a"],"parameters":[{"$ref":"#/components/parameters/None"}]}}},"components":{"examples":{"QuotaAnonymous":{"value":{}}}}}`,
	} {
		func() {
			defer func() {
				if said, ok := recover().(string); !ok || !strings.HasPrefix(said, "reference: ") {
					t.Errorf("%s: New does not panic with a message of its own", name)
				}
			}()
			reference.New([]byte(document))
		}()
	}
}
