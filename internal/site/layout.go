package site

import (
	"embed"
	"html/template"
	"io/fs"
	"path"
	"strings"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are the pages by name: each is a file that defines "content", joined
// with the layout and the parts that several pages share (files named _*.html).
var templates = func() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/_*.html"))
	pages := map[string]*template.Template{}
	names, err := fs.Glob(templateFiles, "templates/[a-z]*.html")
	if err != nil {
		panic(err) // only for a pattern that is wrong
	}
	for _, name := range names {
		t := template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, name))
		pages[strings.TrimSuffix(path.Base(name), ".html")] = t
	}
	return pages
}()

// functions are what templates may call: the typography, and nothing that
// decides anything.
var functions = template.FuncMap{
	"count":  count,
	"date":   date,
	"figure": figure,
	"plural": plural,
	"price":  price,
}

// A link leads somewhere.
type link struct {
	Href, Text string
}

// navigation is the main menu, the same on every page.
var navigation = []link{
	{"/outils", "Outils"},
	{"/comparatifs", "Comparatifs"},
	{"/prix", "Prix"},
	{"/cimetiere", "Cimetière"},
	{"/docs", "API"},
	{"/compte", "Compte"},
}

// footer is the menu at the end of every page.
var footer = []link{
	{"/docs", "Documentation de l’API"},
	{"/tarifs", "Tarifs de l’API"},
	{"/licence", "Licence"},
	{"/confidentialite", "Confidentialité"},
	{"/flux.atom", "Flux Atom"},
	{"/api/v1/openapi.json", "OpenAPI"},
}

// page is what the layout needs of every page; each page's own data embeds it.
type page struct {
	Service     string // name of the catalogue
	Edition     string // what stands behind the name in brackets, set apart in the masthead
	Title       string // of this page, without the name
	Description string
	Canonical   string // absolute; "" for a page that has no address of its own
	Section     string // path of the menu entry this page belongs to
	Path        string
	NoIndex     bool
	Demo        bool
	Article     bool   // for Open Graph: a text with an author, rather than a part of the site
	UpdatedAt   string // "" before anything was published
	Style       string
	Script      string
	MoreStyle   string // of this page alone; "" for none
	MoreScript  string
	Credit      string // the line that reuse requires
	Markdown    string // where the same stands in Markdown; "" for nowhere
	Icon        string
	Navigation  []link
	Footer      []link
	Linked      any // JSON-LD, nil for none
}

// page fills in the layout. The path is where the page lives on the catalogue's
// own site, which need not be this server.
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
		Navigation: navigation, Footer: footer, Credit: creditLine(c.Name, c.URL), Markdown: s.markdown(r),
	}
}
