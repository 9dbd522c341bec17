package openapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/dataapi"
	"palmares/internal/openapi"
	"palmares/internal/snapshot"
	"palmares/internal/webhookapi"
)

var documents = map[string][]byte{"/api": api.Document(), "/data": dataapi.Document(), "/webhooks": webhookapi.Document()}

func build(c *catalog.Catalog) *snapshot.Snapshot {
	c.Sort()
	catalog.CarryOver(&catalog.Catalog{}, c, "2026-11-16")
	return snapshot.Build(c, 1, "2026-11-16")
}

func TestADocumentNamesItsInstallation(t *testing.T) {
	type contact struct{ Name, URL, Email string }
	tests := []struct {
		base     string
		settings catalog.Settings
		want     string
		contact  contact
	}{
		{"https://api.example/", catalog.Settings{Contact: "a@b.example", Publisher: "Éditions <B>"}, "https://api.example", contact{"Éditions <B>", "", "a@b.example"}},
		{"", catalog.Settings{Contact: "https://b.example/ecrire"}, "https://essai.example", contact{"Essai \"1\"", "https://b.example/ecrire", ""}},
		{"http://localhost:8080", catalog.Settings{}, "http://localhost:8080", contact{"Essai \"1\"", "http://localhost:8080", ""}},
	}
	for name, document := range documents {
		for _, test := range tests {
			snap := build(&catalog.Catalog{Name: "Essai \"1\"", URL: "https://essai.example", Settings: test.settings})
			var got struct {
				Servers []struct{ URL string }
				Info    struct {
					Title          string
					TermsOfService string
					Contact        contact
					License        struct{ Name, URL string }
				}
				ExternalDocs struct{ URL string }
			}
			if err := json.Unmarshal(openapi.New(document, test.base).Body(snap).Bytes(), &got); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(got.Servers) != 1 || got.Servers[0].URL != test.want || got.ExternalDocs.URL != test.want+"/docs" ||
				got.Info.License.URL != test.want+"/licence" || got.Info.TermsOfService != test.want+"/licence" {
				t.Errorf("%s at %q: %+v", name, test.base, got)
			}
			if diff := cmp.Diff(test.contact, got.Info.Contact); diff != "" {
				t.Errorf("%s at %q: contact: %s", name, test.base, diff)
			}
			if !strings.HasSuffix(got.Info.Title, ` Essai "1"`) || strings.Contains(got.Info.Title, "Palmarès") {
				t.Errorf("%s: title %s", name, got.Info.Title)
			}
			if !strings.Contains(got.Info.License.Name, `Source : Essai "1" (https://essai.example)`) {
				t.Errorf("%s: licence %s", name, got.Info.License.Name)
			}
		}
	}
}

func TestADocumentChangesOnlyWithWhatItSays(t *testing.T) {
	tool := func(slug, tagline string) *catalog.Catalog {
		return &catalog.Catalog{
			Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}},
			Tools: []*catalog.Tool{{Slug: slug, Name: slug, Category: "code", Tagline: tagline}},
		}
	}
	d := openapi.New(api.Document(), "")
	before := d.Body(build(tool("a", "Un")))
	if again := d.Body(build(tool("a", "Deux"))); again.Digest() != before.Digest() {
		t.Error("another tagline makes another document")
	}
	after := d.Body(build(tool("b", "Deux")))
	if after.Digest() == before.Digest() || !strings.Contains(string(after.Bytes()), `"example": "b"`) {
		t.Error("another tool does not make another document")
	}
	closed := tool("a", "Un")
	closed.Settings.Dataset = catalog.DatasetOff
	if text := string(d.Body(build(closed)).Bytes()); strings.Contains(text, "/data/v1/export") || !strings.Contains(string(before.Bytes()), "/data/v1/export") {
		t.Error("the document names an export that is not offered, or not one that is")
	}
	if back := openapi.New(api.Document(), "").Body(build(tool("a", "Un"))); back.Digest() != before.Digest() {
		t.Error("another node has another document")
	}
}

// "Send" with an example must not be a 404 that costs quota.
func TestAParameterWithoutARecordHasNoExample(t *testing.T) {
	tool := func(slug string, tier int, body string) *catalog.Tool {
		score, checked := 9.0-float64(len(body))/10, 5.0
		return &catalog.Tool{Slug: slug, Name: slug, Category: "code", Score: &score, Verifiability: &checked, Tier: tier, Body: body}
	}
	var many []*catalog.Tool // more than a page, and the only document is of the last one
	for i := range 300 {
		many = append(many, tool(fmt.Sprintf("a-%03d", i), 3, ""))
	}
	for name, test := range map[string]struct {
		tools []*catalog.Tool
		want  map[string]string
	}{
		"empty":       {nil, map[string]string{}},
		"no top set":  {[]*catalog.Tool{tool("a", 3, "")}, map[string]string{"ToolSlugParam": "a", "CategoryParam": "code"}},
		"one of many": {append(many, tool("z", 1, "Un avis.")), map[string]string{"ToolSlugParam": "a-000", "CategoryParam": "code", "EmbeddingsSlugParam": "z"}},
	} {
		snap := build(&catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}}, Tools: test.tools})
		var got struct {
			Components struct {
				Parameters map[string]struct {
					Name    string
					Example any
				}
			}
		}
		if err := json.Unmarshal(openapi.New(api.Document(), "").Body(snap).Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		examples := map[string]string{}
		for component, p := range got.Components.Parameters {
			if p.Name == "" {
				t.Errorf("%s: %s is damaged", name, component)
			}
			if _, catalogued := openapi.Examples(snap)[component]; catalogued && p.Example != nil {
				examples[component] = fmt.Sprint(p.Example)
			}
		}
		if diff := cmp.Diff(test.want, examples); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Generators make types of all of these, and one name space of their names, whatever the
// case and the punctuation.
func TestNoTwoComponentsOfADocumentHaveOneName(t *testing.T) {
	punctuation := regexp.MustCompile(`[^a-z0-9]`)
	for name, document := range documents {
		var parts struct {
			Components struct{ Schemas, Parameters, Responses, RequestBodies, Headers map[string]any }
		}
		if err := json.Unmarshal(document, &parts); err != nil {
			t.Fatal(err)
		}
		c, taken := parts.Components, map[string]string{}
		for kind, components := range map[string]map[string]any{"schema": c.Schemas, "parameter": c.Parameters, "response": c.Responses, "body": c.RequestBodies, "header": c.Headers} {
			for component := range components {
				plain := punctuation.ReplaceAllString(strings.ToLower(component), "")
				if other := taken[plain]; other != "" {
					t.Errorf("%s: the %s %s is named like a %s", name, kind, component, other)
				}
				taken[plain] = kind
			}
		}
	}
}

// All integers fit in the numbers of JavaScript. Clients generated from int64 read them as
// BigInt, which JSON.stringify refuses.
func TestNoIntegerOfADocumentNeeds64Bits(t *testing.T) {
	for name, document := range documents {
		if strings.Contains(string(document), "int64") {
			t.Errorf("%s has the format int64", name)
		}
	}
}

func TestAnInvalidDocumentPanics(t *testing.T) {
	for _, document := range []string{`{`, `[]`, `{"servers":[]}`, `{"servers":[],"info":{"termsOfService":"","contact":{},"license":{}},"externalDocs":{}}`} {
		panics(t, document, func() { openapi.New([]byte(document), "") })
	}
	missing := `{ "$ref": "../openapi/components.json#/components/schemas/Missing" }`
	panics(t, missing, func() { openapi.Complete([]byte(missing)) })
}

func panics(t *testing.T, document string, f func()) {
	t.Helper()
	defer func() {
		if said, ok := recover().(string); !ok || !strings.HasPrefix(said, "openapi: ") {
			t.Errorf("%s does not cause a panic with a message of its own", document)
		}
	}()
	f()
}
