// Package reference turns the OpenAPI document of the API into the pages that
// explain it, in HTML and in Markdown: an introduction, one page per group of
// operations, one of the error codes and one of the headers.
//
// Everything that the document says is taken from it when the program starts. What
// depends on the catalogue is added for each published version: samples name its
// records, so that every call on a page returns something. The pages have no layout
// of their own; package site shows them in the layout of the site.
package reference

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"slices"
	"strings"
	texttemplate "text/template"

	"palmares/internal/markdown"
	"palmares/internal/openapi"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// Path is where the introduction is; the other pages are below it.
const Path = "/docs"

const (
	errorsPath     = Path + "/erreurs"
	headersPath    = Path + "/en-tetes"
	embeddingsPath = Path + "/embeddings" // explains retrieval, too
)

// DocumentPath is where the API serves the document.
const DocumentPath = "/api/v1/openapi.json"

// A Reference is what the document says, ready to be shown. It does not change and
// may be used by any number of goroutines.
type Reference struct {
	version       string
	guide         []chapter
	groups        []group
	headers       []header
	errors        []web.CodeInfo
	quotaExceeded template.HTML
	hidesPro      bool
}

// New reads an OpenAPI document. It panics on an invalid one: the document is part
// of the program.
func New(raw []byte) *Reference {
	d := parseDocument(raw)
	ref := &Reference{
		version: d.Info.Version, errors: errorCodes(),
		quotaExceeded: highlight(d.Components.Examples["QuotaAnonymous"].Value),
	}
	for _, part := range markdown.HTML(d.Info.Description, nil, "") {
		if part.Heading != "" {
			heading := markdown.NoBreak(part.Heading)
			ref.guide = append(ref.guide,
				chapter{part.ID, heading, template.HTML(part.HTML), chapterSource(d.Info.Description, heading)})
		}
	}
	headers := headerCollector{document: d}
	for _, tag := range d.Tags {
		id := markdown.HTML("## "+tag.Name, nil, "")[0].ID
		g := group{
			ID: "operations-" + id, Path: Path + "/" + id, Name: tag.Name, Text: markdown.NoBreak(tag.Description),
		}
		for _, path := range d.Paths {
			if op := path.Value.Get; slices.Contains(op.Tags, tag.Name) {
				g.Operations = append(g.Operations, d.operation(path.Name, op))
				headers.add(op)
			}
		}
		ref.groups = append(ref.groups, g)
	}
	ref.headers = headers.all()
	return ref
}

// chapterSource returns the Markdown of a chapter of the document's description.
func chapterSource(description, heading string) string {
	for part := range strings.SplitSeq("\n"+description, "\n## ") {
		if title, text, ok := strings.Cut(part, "\n"); ok && markdown.NoBreak(title) == heading {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

var (
	//go:embed templates
	templateFiles embed.FS

	htmlTemplate     = template.Must(template.ParseFS(templateFiles, "templates/page.html"))
	markdownTemplate = texttemplate.Must(texttemplate.New("").Funcs(texttemplate.FuncMap{"md": markdown.Escape}).
				ParseFS(templateFiles, "templates/page.md"))
)

// A Page is a page of the reference.
type Page struct {
	Path, Title, About string
}

// Pages returns the pages below the introduction.
func (ref *Reference) Pages() []Page {
	var all []Page
	for _, g := range ref.groups {
		all = append(all, Page{g.Path, "API\u00a0: " + g.Name, g.Text})
	}
	return append(all, Page{
		errorsPath, "API\u00a0: codes d’erreur", "Ce que veulent dire les erreurs de l’API, et que faire.",
	}, Page{
		headersPath, "API\u00a0: en-têtes de réponse", "Ce que disent les en-têtes des réponses de l’API.",
	})
}

// templateOf returns the name of the template of a page.
func templateOf(path string) string {
	switch path {
	case Path:
		return "index"
	case errorsPath:
		return "errors"
	case headersPath:
		return "headers"
	}
	return "group"
}

// HTML returns a page for one version of the catalogue, for callers who find the API at
// base.
func (ref *Reference) HTML(path string, snap *snapshot.Snapshot, base string) template.HTML {
	var b bytes.Buffer
	if err := htmlTemplate.ExecuteTemplate(&b, templateOf(path), ref.page(path, snap, base)); err != nil {
		panic(err) // the template does not fit its data: any test of the page finds that
	}
	return template.HTML(openapi.Terms(snap, b.String()))
}

// Markdown returns the same page in Markdown.
func (ref *Reference) Markdown(path string, snap *snapshot.Snapshot, base string) string {
	var b bytes.Buffer
	if err := markdownTemplate.ExecuteTemplate(&b, templateOf(path), ref.page(path, snap, base)); err != nil {
		panic(err) // as above
	}
	return openapi.Terms(snap, b.String())
}

//go:embed static
var static embed.FS

// Static returns the style sheet and the script of the page, docs.css and docs.js.
func Static() fs.FS {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // only for an invalid path
	}
	return files
}
