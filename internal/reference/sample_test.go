package reference_test

import (
	"encoding/json"
	"go/format"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/snapshot"
)

var addressPattern = regexp.MustCompile(`http://[^"']+`)

func TestEverySampleRuns(t *testing.T) {
	s := serveDemo(t)
	for path, item := range document(t).Paths.Map() {
		id := item.Get.OperationID
		part := s.page.operation(id)
		t.Run(id, func(t *testing.T) {
			curl := part.sample(id + ".curl")
			address := addressPattern.FindString(curl)
			if want, _, _ := strings.Cut(path, "{"); !strings.HasPrefix(address, s.url+want) {
				t.Fatalf("the samples of %s call %s", path, address)
			}
			answer := s.get(t, address)
			for _, language := range []string{"javascript", "python", "go"} {
				if code := part.sample(id + "." + language); addressPattern.FindString(code) != address {
					t.Errorf("in %s another address is called: %s", language, code)
				}
			}
			if installed(t, "curl") {
				sameJSON(t, "curl", run(t, "", "sh", "-c", curl), answer)
			}
			if installed(t, "python3") {
				sameJSON(t, "Python", run(t, "", "python3", "-c", part.sample(id+".python")), answer)
			}
			if installed(t, "node") {
				script := strings.Replace(part.sample(id+".javascript"), "console.log(body)", "console.log(JSON.stringify(body))", 1)
				sameJSON(t, "JavaScript", run(t, "", "node", "--input-type=module", "-e", script), answer)
			}
			program := part.sample(id + ".go")
			if formatted, err := format.Source([]byte(program)); err != nil || strings.TrimSpace(string(formatted)) != program {
				t.Errorf("the Go sample is not gofmt-formatted (%v):\n%s", err, program)
			}
			if id == "listTools" || id == "getEmbeddings" { // one with a key and one without: building all takes a minute
				file := filepath.Join(t.TempDir(), "main.go")
				if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
					t.Fatal(err)
				}
				sameJSON(t, "Go", run(t, "", "go", "run", file), answer)
			}
			// The link that replaces the form without a script.
			if item.Get.Security == nil || len(*item.Get.Security) > 1 {
				part.contains(`href="` + html.EscapeString(strings.TrimPrefix(address, s.url)) + `"`)
			}
		})
	}
}

func TestTheWorkedExamplesRun(t *testing.T) {
	s := serveDemo(t)
	if first := s.page.sample("premier-appel"); !strings.Contains(first, s.url+"/api/v1/tools?limit=1") {
		t.Errorf("the first call is %s", first)
	}
	s.page.contains("&#34;slug&#34;") // in its answer
	if installed(t, "python3") {
		if got := run(t, "", "python3", "-c", s.page.sample("pagination.python")); got != "66 outils\n" {
			t.Errorf("all pages: %q", got)
		}
	}
	if installed(t, "curl") {
		dir := t.TempDir()
		line := s.page.sample("cache.curl") + " -s -w '%{http_code}'"
		if first, second := run(t, dir, "sh", "-c", line), run(t, dir, "sh", "-c", line); first != "200" || second != "304" {
			t.Errorf("the two calls with an ETag answer %s, then %s", first, second)
		}
		kept, err := os.ReadFile(filepath.Join(dir, "stats.json"))
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, "the file", string(kept), s.get(t, s.url+"/api/v1/stats"))
	}
}

// A catalogue may have the address of the example, and be served at another one.
func TestTheWorkedExampleKeepsTheCreditLine(t *testing.T) {
	c := demoCatalog(t)
	_, markdown := render(t, snapshot.Build(c, 1, snapshot.NewestUpdate(c)), "http://127.0.0.1:8080")
	markdown.contains("\nBASE = \"http://127.0.0.1:8080\"\n", "\nCREDIT = \""+c.CreditLine()+"\"\n")
}

// The worked example cuts reviews at their headings, and keeps every character of them.
func TestTheWorkedExampleCutsReviewsAtTheirHeadings(t *testing.T) {
	if !installed(t, "python3") {
		t.Skip("there is no python3")
	}
	_, code, _ := strings.Cut(serveDemo(t).page.sample("recherche.python"), "FENCE = ")
	code, _, _ = strings.Cut(code, "def replace(")
	code = "import json, re, sys\nFENCE = " + code + `
print(json.dumps([text for _, text in cut({"avis_url": "", "body": sys.argv[1]})]))`
	for _, parts := range [][]string{
		{"Début.", "## Un ##\n\nTexte.", " ## Deux\nTexte.", "##\tTrois\n### Quatre\n##Cinq"},
		{"```make all``` suffit.", "## Suite\n\n``````\n```\n## commentaire\n``````", "## Fin\n~~~ `a`\n## commentaire\n```\n~~~", "## Fin\n"},
		{"1. ```sh\n   ## commentaire\n   ```\n2. - ~~~\n     ## commentaire\n     ~~~", "## Suite\n> ```\n> ## commentaire\n> ```", "## Fin"},
		{"- -5 °C, \\*sans\\* emphase, [lien](https://a.example) et `code`", "## Code\n\n    ## indenté\n    - a"},
		{"    ## du code, dès le début\n\ntexte"},
	} {
		var got []string
		out := run(t, "", "python3", "-c", code, strings.Join(parts, "\n"))
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		want := append([]string(nil), parts...)
		want[len(want)-1] = strings.TrimRight(want[len(want)-1], "\n")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got): %s", diff)
		}
	}
}
