package site_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

func document(t *testing.T) *openapi3.T {
	t.Helper()
	d, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// operation is the part of the reference that shows one operation.
func (r *reply) operation(id string) *reply {
	r.t.Helper()
	_, after, ok := strings.Cut(r.body, `<h3 id="`+id+`">`)
	if !ok {
		r.t.Fatalf("%s does not show %s", r.what, id)
	}
	part, _, _ := strings.Cut(after, "</section>")
	return &reply{t: r.t, what: r.what + "#" + id, body: part}
}

var tagsPattern = regexp.MustCompile(`<[^<>]*>`)

// plain is a part of a page as its reader sees it.
func plain(s string) string { return html.UnescapeString(tagsPattern.ReplaceAllString(s, "")) }

// words makes texts of the document and of the page alike: no marks of code, one
// kind of space.
func words(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("`", "", "\u00a0", " ").Replace(s)), " ")
}

func TestTheReferenceShowsTheWholeDocument(t *testing.T) {
	page := openDemo(t).get("/docs").ok()
	d := document(t)
	operations := 0
	for path, item := range d.Paths.Map() {
		for method, op := range item.Operations() {
			operations++
			part := page.operation(op.OperationID)
			said := words(plain(part.body))
			says := func(text string) {
				t.Helper()
				if !strings.Contains(said, words(text)) {
					t.Errorf("%s does not say %q", part.what, text)
				}
			}
			says(method + " " + path)
			says(op.Summary)
			for paragraph := range strings.SplitSeq(op.Description, "\n\n") {
				says(paragraph)
			}
			for _, p := range op.Parameters {
				part.says(`<code>`+p.Value.Name+`</code>`, `name="`+p.Value.Name+`"`)
				says(p.Value.Description)
				for _, one := range p.Value.Schema.Value.Enum {
					part.says(fmt.Sprintf(">%v</option>", one))
				}
				if def := p.Value.Schema.Value.Default; def != nil {
					part.says(fmt.Sprintf(`<td class="nb"><code>%v</code></td>`, def))
				}
			}
			for status, response := range op.Responses.Map() {
				part.says("<dt>" + status + "</dt>")
				says(*response.Value.Description)
				if status == "200" {
					for name := range response.Value.Headers {
						part.says(`<a href="#en-tete-` + strings.ToLower(name) + `"><code>` + name + `</code></a>`)
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

// fields holds that all fields of an answer are listed at their depth.
func fields(part *reply, s *openapi3.Schema, depth int) {
	part.t.Helper()
	for name, property := range s.Properties {
		inner := property.Value
		if inner.Items != nil {
			inner, name = inner.Items.Value, name+"[]"
		}
		part.says(fmt.Sprintf(`<th scope="row" class="d%d"><code>%s</code></th>`, depth, name))
		fields(part, inner, depth+1)
	}
}

// shows holds that an example of the document is on the page, unchanged.
func shows(part *reply, example *openapi3.Example) {
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
	page := openDemo(t).get("/docs").ok()
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
			t.Errorf("%s is said to be %s and is %s", code, got, want)
		}
	}
}

// sampleOf is the code in an element of the reference.
func (r *reply) sampleOf(id string) string {
	r.t.Helper()
	_, after, ok := strings.Cut(r.body, `<pre id="`+id+`"><code>`)
	if !ok {
		r.t.Fatalf("%s has no sample %s", r.what, id)
	}
	code, _, _ := strings.Cut(after, "</code>")
	return html.UnescapeString(code)
}

// run runs a program in a folder, with a key, and gives what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PALMARES_KEY=plm_essai", "PYTHONUTF8=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, stderr.String())
	}
	return string(out)
}

// installed tells whether a program can be run here. Go always can; without the
// others, the address that a sample calls is called instead.
func installed(t *testing.T, name string) bool {
	t.Helper()
	_, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

var addressPattern = regexp.MustCompile(`http://[^"']+`)

func TestEverySampleOfTheReferenceRuns(t *testing.T) {
	v := openDemo(t)
	page := v.get("/docs").ok()
	for path, item := range document(t).Paths.Map() {
		id := item.Get.OperationID
		part := page.operation(id)
		t.Run(id, func(t *testing.T) {
			curl := part.sampleOf(id + ".curl")
			address := addressPattern.FindString(curl)
			if want, _, _ := strings.Cut(path, "{"); !strings.HasPrefix(address, v.url+want) {
				t.Fatalf("the samples of %s call %s", path, address)
			}
			answer := v.get(strings.TrimPrefix(address, v.url), "Authorization: Bearer plm_essai").ok().body
			for _, language := range []string{"javascript", "python", "go"} {
				if code := part.sampleOf(id + "." + language); addressPattern.FindString(code) != address {
					t.Errorf("in %s another address is called: %s", language, code)
				}
			}
			if installed(t, "curl") {
				same(t, "curl", run(t, "", "sh", "-c", curl), answer)
			}
			if installed(t, "python3") {
				same(t, "Python", run(t, "", "python3", "-c", part.sampleOf(id+".python")), answer)
			}
			if installed(t, "node") {
				script := strings.Replace(part.sampleOf(id+".javascript"), "console.log(body)", "console.log(JSON.stringify(body))", 1)
				same(t, "JavaScript", run(t, "", "node", "--input-type=module", "-e", script), answer)
			}
			program := part.sampleOf(id + ".go")
			if formatted, err := format.Source([]byte(program)); err != nil || strings.TrimSpace(string(formatted)) != program {
				t.Errorf("the Go sample is not as gofmt has it (%v):\n%s", err, program)
			}
			if id == "listTools" || id == "getEmbeddings" { // one with a key and one without; to build all would take a minute
				file := filepath.Join(t.TempDir(), "main.go")
				if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
					t.Fatal(err)
				}
				same(t, "Go", run(t, "", "go", "run", file), answer)
			}
			// What "try it" begins with, and what opens without a script.
			if item.Get.Security == nil || len(*item.Get.Security) > 1 {
				part.says(`href="` + html.EscapeString(strings.TrimPrefix(address, v.url)) + `"`)
			}
		})
	}
}

// same holds that two texts are the same JSON.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(got), &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Errorf("%s: %v\n%s", what, err, got)
	} else if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("%s does not print the answer: %s", what, diff)
	}
}

func TestTheWorkedExamplesRun(t *testing.T) {
	v := openDemo(t)
	page := v.get("/docs").ok()
	if first := page.sampleOf("premier-appel"); !strings.Contains(first, v.url+"/api/v1/tools?limit=1") {
		t.Errorf("the first call is %s", first)
	}
	page.says("&#34;slug&#34;") // its answer, of this catalogue
	if installed(t, "python3") {
		if got := run(t, "", "python3", "-c", page.sampleOf("pagination.python")); got != "66 outils\n" {
			t.Errorf("all pages: %q", got)
		}
		dir := t.TempDir()
		found := run(t, dir, "python3", "-c", page.sampleOf("recherche.python"), "entretien d’une chaudière")
		if !strings.Contains(found, "À lire : "+v.url+"/avis/babilune#") || !strings.HasSuffix(found, "Source : Palmarès (démonstration) ("+v.url+")\n") {
			t.Errorf("the search found %s", found)
		}
		// What was read is kept: the second time nothing is new, and the answer the same.
		if again := run(t, dir, "python3", "-c", page.sampleOf("recherche.python"), "entretien d’une chaudière"); again != found {
			t.Errorf("the second time it found %s", again)
		}
	}
	if installed(t, "curl") {
		dir := t.TempDir()
		line := page.sampleOf("cache.curl") + " -s -w '%{http_code}'"
		if first, second := run(t, dir, "sh", "-c", line), run(t, dir, "sh", "-c", line); first != "200" || second != "304" {
			t.Errorf("the two calls with an ETag answer %s, then %s", first, second)
		}
		kept, err := os.ReadFile(filepath.Join(dir, "stats.json"))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the file", string(kept), v.get("/api/v1/stats").ok().body)
	}
}

func TestSamplesCallTheServerThatCallersSee(t *testing.T) {
	v := listen(t, site.Config{BaseURL: "https://api.essai.example", Demo: func(*snapshot.Snapshot) bool { return false }})
	v.publish(small(), 1)
	page := v.get("/docs").ok().says(
		"curl &#39;https://api.essai.example/api/v1/tools?category=chat&amp;score_min=8&#39;",
		"https://api.essai.example/api/v1/comparatifs/abeille-vs-bourdon",
		`BASE = &#34;https://api.essai.example&#34;`, `CREDIT = &#34;Source : Essai (https://essai.example)&#34;`,
	)
	page.operation("getTool").says(`value="abeille"`)
	v.get("/llms.txt").ok().says("(https://api.essai.example/outils.md)")
}

func TestAnEmptyCatalogueHasAReferenceToo(t *testing.T) {
	v := open(t, &catalog.Catalog{Name: "Vide", URL: "https://vide.example"})
	page := v.get("/docs").ok()
	page.operation("getTool").says("https://vide.example/api/v1/tools/{slug}", "mettez un nom du catalogue à la place de <code>{slug}</code>", `value="" placeholder="{slug}"`, `<form data-try="/api/v1/tools/{slug}"`).
		saysNot("Ouvrir la réponse dans le navigateur")
	page.operation("listTools").saysNot("mettez un nom").says("Ouvrir la réponse dans le navigateur")
	v.get("/docs.md").ok().says("/api/v1/tools/{slug}'", "mettez un nom du catalogue à la place de `{slug}`")
}

func TestTheReferenceLeadsToTheAccountAndItsWebhooks(t *testing.T) {
	v := openDemo(t)
	v.get("/tarifs").ok().says(`<a href="/docs#webhooks">Webhooks signés</a>`, `<a href="/compte">Créer un compte</a>`)
	v.get("/docs").ok().says(`<a href="/compte">ouvrez un compte</a>`, `<a href="/webhooks/v1/openapi.json">document OpenAPI</a>`, "<code>comparatif.unpublished</code>, <code>embeddings.updated</code>")
	v.get("/docs.md").ok().says("/compte", "/webhooks/v1/openapi.json", "`tool.created`, `tool.updated`")
}

func TestTheReferenceIsRenderedOnceWhateverTheParameters(t *testing.T) {
	v := openDemo(t)
	tag := v.get("/docs?a=1").ok().header.Get("ETag")
	v.get("/docs").ok().is("ETag", tag)
	v.get("/docs.md?a=1").ok().is("Content-Type", "text/markdown; charset=utf-8")
}
