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

//go:embed templates/*.md templates/*.xml
var textFiles embed.FS

// textTemplates are the templates of Markdown and of XML by file name. Files named _*.md are shared by all. Nothing
// is escaped automatically: templates must pass every text of a record to md or xml; bodies come from (*view).source.
var textTemplates = sync.OnceValue(func() map[string]*template.Template {
	functions := template.FuncMap{"md": markdown.Escape, "xml": escapeXML, "to": markdownPath}
	shared := template.Must(template.New("").Funcs(french.Functions()).Funcs(pageFunctions).Funcs(functions).ParseFS(textFiles, "templates/_*.md"))
	pages := map[string]*template.Template{}
	names, _ := fs.Glob(textFiles, "templates/[a-z]*") // fails only for an invalid pattern
	for _, name := range names {
		pages[path.Base(name)] = template.Must(template.Must(shared.Clone()).ParseFS(textFiles, name)).Lookup(path.Base(name))
	}
	return pages
})

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

// textOf executes a template of Markdown or XML.
func textOf(file string, data any) []byte {
	var b bytes.Buffer
	if err := textTemplates()[file].Execute(&b, data); err != nil {
		panic(err) // the template does not fit its data; tests render every page
	}
	return b.Bytes()
}
