package site

import (
	"bytes"
	"embed"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"sync"
	"text/template"

	"palmares/internal/french"
	"palmares/internal/markdown"
)

// Most pages also exist in Markdown, for programs: at the same path plus .md, from
// the same data, with a template of their own. No slug contains a dot, so the
// suffix hides no page.
const markdownSuffix = ".md"

//go:embed templates/*.md
var markdownFiles embed.FS

// markdownTemplates are the Markdown templates by page name. Files named _*.md are
// shared by all.
var markdownTemplates = sync.OnceValue(func() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(french.Functions()).Funcs(markdownFunctions).ParseFS(markdownFiles,
		"templates/_*.md"))
	pages := map[string]*template.Template{}
	names, _ := fs.Glob(markdownFiles, "templates/[a-z]*.md") // fails only for an invalid pattern
	for _, name := range names {
		t := template.Must(template.Must(shared.Clone()).ParseFS(markdownFiles, name))
		pages[strings.TrimSuffix(path.Base(name), markdownSuffix)] = t.Lookup(path.Base(name))
	}
	return pages
})

// markdownFunctions escape the text of records. Nothing is escaped automatically:
// templates must pass every text of a record to md; bodies come from (*view).source.
var markdownFunctions = template.FuncMap{
	"md":     markdown.Escape,
	"prices": prices,
	"to":     markdownPath,
}

// markdownPath returns the path of the Markdown form of a page; the query and the
// fragment stay.
func markdownPath(href string) string {
	end := strings.IndexAny(href, "?#")
	if end < 0 {
		end = len(href)
	}
	return href[:end] + markdownSuffix + href[end:]
}

// sameForm returns the path of a page in the form of the request: HTML or Markdown.
func (r *request) sameForm(href string) string {
	if r.markdown {
		return markdownPath(href)
	}
	return href
}

// alternateMarkdown returns the path of the Markdown form of the requested page, or
// "" if there is none.
func (s *Site) alternateMarkdown(r *request) string {
	if !s.hasMarkdown[r.Pattern] && !strings.Contains(r.Pattern, "{slug}") {
		return ""
	}
	to := url.URL{Path: r.URL.Path + markdownSuffix, RawQuery: r.query}
	return to.String()
}

// renderMarkdown executes the Markdown template of a page. The HTML page is its
// canonical form.
func renderMarkdown(name string, p page, data any) *response {
	a := newResponse(markdownType, markdownText(name, data))
	a.canonical = p.Canonical
	return a
}

func markdownText(name string, data any) []byte {
	var b bytes.Buffer
	if err := markdownTemplates()[name].Execute(&b, data); err != nil {
		panic(err) // the template does not fit its data; tests render every page
	}
	return b.Bytes()
}
