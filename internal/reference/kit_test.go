package reference_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"palmares/demo"
	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/reference"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// A server is the API over the demo catalogue, and the page that explains it.
type server struct {
	url      string
	page     *text
	markdown *text
}

func demoCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	r, err := content.ReadFS(t.Context(), demo.Folder, content.Options{InMemory: true})
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r)
	}
	catalog.CarryOver(&catalog.Catalog{}, r.Catalog, snapshot.NewestUpdate(r.Catalog))
	return r.Catalog
}

func serveDemo(t *testing.T) *server {
	t.Helper()
	c := demoCatalog(t)
	var snap *snapshot.Snapshot
	srv := httptest.NewServer(api.New(api.Config{
		Snapshot: func() *snapshot.Snapshot { return snap },
		Callers: web.Authorizer(func(_ context.Context, r *http.Request) (web.Caller, error) {
			if r.Header.Get("Authorization") == "" {
				return web.Caller{}, nil
			}
			return web.Caller{Key: &account.Key{}}, nil
		}),
	}))
	t.Cleanup(srv.Close)
	c.URL = srv.URL
	snap = snapshot.Build(c, 1, snapshot.NewestUpdate(c))
	page, markdown := render(t, snap, srv.URL)
	return &server{srv.URL, page, markdown}
}

// render returns all pages in both forms, one after the other.
func render(t *testing.T, snap *snapshot.Snapshot, base string) (page, markdown *text) {
	t.Helper()
	ref := reference.New(api.Document())
	page, markdown = &text{t, "the page", ""}, &text{t, "the page in Markdown", ""}
	for _, one := range append([]reference.Page{{Path: reference.Path}}, ref.Pages()...) {
		page.body += strings.ReplaceAll(string(ref.HTML(one.Path, snap, base)), "&nbsp;", "\u00a0")
		markdown.body += ref.Markdown(one.Path, snap, base)
	}
	return page, markdown
}

// get calls the API with a key and returns the body of a 200 answer.
func (s *server) get(t *testing.T, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer plm_essai")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d, %v\n%s", address, answer.StatusCode, err, body)
	}
	return string(body)
}

// A text is the page or a part of it.
type text struct {
	t    *testing.T
	what string
	body string
}

func (p *text) contains(parts ...string) *text {
	p.t.Helper()
	for _, part := range parts {
		if !strings.Contains(p.body, part) {
			p.t.Errorf("%s does not contain %q", p.what, part)
		}
	}
	return p
}

func (p *text) lacks(parts ...string) *text {
	p.t.Helper()
	for _, part := range parts {
		if strings.Contains(p.body, part) {
			p.t.Errorf("%s contains %q", p.what, part)
		}
	}
	return p
}

// operation returns the part of the page on one operation.
func (p *text) operation(id string) *text {
	p.t.Helper()
	_, after, ok := strings.Cut(p.body, `<h2 id="`+id+`">`)
	if !ok {
		p.t.Fatalf("%s does not show %s", p.what, id)
	}
	part, _, _ := strings.Cut(after, "</section>")
	return &text{p.t, p.what + "#" + id, part}
}

// sample returns the code in an element of the page.
func (p *text) sample(id string) string {
	p.t.Helper()
	_, after, ok := strings.Cut(p.body, `<pre id="`+id+`"><code>`)
	if !ok {
		p.t.Fatalf("%s has no sample %s", p.what, id)
	}
	code, _, _ := strings.Cut(after, "</code>")
	return html.UnescapeString(code)
}

func document(t *testing.T) *openapi3.T {
	t.Helper()
	d, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var tagsPattern = regexp.MustCompile(`<[^<>]*>`)

// plain returns the text of a part of the page, without markup.
func plain(s string) string { return html.UnescapeString(tagsPattern.ReplaceAllString(s, "")) }

// words makes texts of the document and of the page comparable: without code marks,
// with one kind of space and of hyphen.
func words(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("`", "", "\u00a0", " ", "\u2011", "-").Replace(s)), " ")
}

// run runs a program in a folder, with a key, and returns what it prints.
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

// installed reports whether a program is installed. Go always is; without the others,
// only the address in a sample is tested.
func installed(t *testing.T, name string) bool {
	t.Helper()
	_, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// sameJSON requires that two texts are the same JSON.
func sameJSON(t *testing.T, what, got, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(got), &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Errorf("%s: %v\n%s", what, err, got)
	} else if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("%s does not print the answer: %s", what, diff)
	}
}
