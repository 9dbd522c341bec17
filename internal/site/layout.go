package site

import (
	"embed"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"palmares/internal/french"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are the HTML templates by page name.
var templates = ParseTemplates(templateFiles)

// ParseTemplates parses the pages in the folder templates of files, by name. Each
// defines "content"; files named _*.html are shared by all.
func ParseTemplates(files fs.FS) map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(french.Functions()).Funcs(template.FuncMap{"breakable": breakable}).ParseFS(files, "templates/_*.html"))
	pages := map[string]*template.Template{}
	names, err := fs.Glob(files, "templates/[a-z]*.html")
	if err != nil {
		panic(err) // only for an invalid pattern
	}
	for _, name := range names {
		t := template.Must(template.Must(shared.Clone()).ParseFS(files, name))
		pages[strings.TrimSuffix(path.Base(name), ".html")] = t
	}
	return pages
}

type link struct {
	Href, Text string
}

// navigation is the main menu of every page.
var navigation = []link{
	{"/outils", "Outils"},
	{"/comparatifs", "Comparatifs"},
	{"/prix", "Prix"},
	{"/cimetiere", "Cimetière"},
	{"/docs", "API"},
	{"/compte", "Compte"},
}

// footer is the menu at the bottom of every page.
var footer = []link{
	{"/docs", "Documentation de l’API"},
	{"/tarifs", "Tarifs de l’API"},
	{"/licence", "Licence"},
	{"/confidentialite", "Confidentialité"},
	{"/flux.atom", "Flux Atom"},
	{"/api/v1/openapi.json", "OpenAPI"},
}

// page is what the layout needs; the data of each page has it as its field Page.
type page struct {
	Service     string // name of the catalogue
	Edition     string // the part of the name in brackets, such as "démonstration"
	Title       string // without the name of the catalogue
	Description string
	Canonical   string // absolute URL; "" for a page without an address of its own
	Section     string // path of the menu entry this page belongs to
	Path        string
	NoIndex     bool
	Demo        bool
	Article     bool   // og:type article rather than website
	UpdatedAt   string // "" before the first publication
	Style       string
	Script      string
	MoreStyle   string // of this page only; "" for none
	MoreScript  string
	Credit      string // the line that reuse requires
	Markdown    string // path of the Markdown form; "" for none
	Icon        string
	Navigation  []link
	Footer      []link
	JSONLD      any // nil for none
}

// page fills in the layout. The path is that of the page on the catalogue's own
// site, which may not be this server.
func (s *Site) page(r *request, title, description, path string) page {
	c := r.snap.Catalog
	name, edition, _ := strings.Cut(c.Name, " (")
	section, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch section {
	case "avis", "alternatives", "categories":
		section = "outils"
	}
	return page{
		Service: name, Edition: strings.TrimSuffix(edition, ")"), Title: title, Description: description,
		Canonical: c.URL + path, Section: "/" + section, Path: r.URL.Path,
		NoIndex: r.demo, Demo: r.demo, UpdatedAt: r.updatedAt,
		Style: s.assets.paths["site.css"], Script: s.assets.paths["site.js"], Icon: s.assets.paths["icon.svg"],
		Navigation: navigation, Footer: footer, Credit: c.CreditLine(), Markdown: s.alternateMarkdown(r),
	}
}
