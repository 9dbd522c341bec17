package site

import (
	"embed"
	"html/template"
	"io/fs"
	pathpkg "path"
	"strings"
	"sync"

	"palmares/internal/catalog"
	"palmares/internal/french"
)

//go:embed templates/*.html
var templateFiles embed.FS

var templates = ParseTemplates(templateFiles)

// ParseTemplates parses the pages in the folder templates of files when they are first asked for: most commands show
// none. Each defines "content", and may define "deck", which frame.html shows. All are one set, in which a page has the
// name of its file; what files named _*.html, and _bars.html of the site, define is shared.
func ParseTemplates(files fs.FS) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		set := template.New("").Funcs(french.Functions()).Funcs(pageFunctions)
		set = template.Must(template.Must(set.ParseFS(templateFiles, "templates/_bars.html")).ParseFS(files, "templates/_*.html"))
		read := func(path string) string {
			text, err := fs.ReadFile(files, path)
			if err != nil {
				panic(err) // it is embedded
			}
			return string(text)
		}
		frame := read(framePath)
		names, _ := fs.Glob(files, "templates/[a-z]*.html") // fails only for an invalid pattern
		for _, path := range names {
			if path == framePath {
				continue
			}
			name := strings.TrimSuffix(pathpkg.Base(path), ".html")
			own := strings.NewReplacer(` "content"`, ` "`+name+` content"`, ` "deck"`, ` "`+name+` deck"`)
			template.Must(set.New(name + ".html").Parse(own.Replace(frame)))
			template.Must(set.New(path).Parse(own.Replace(read(path))))
		}
		return set
	})
}

const framePath = "templates/frame.html"

type link struct {
	Href, Text string
}

// A page is what templates read: the layout, and what the page is about.
type page struct {
	*request
	Catalog     *catalog.Catalog
	Base        string // where callers find the API
	Of          any    // a record, a list, or a struct with several
	Service     string // name of the catalogue
	Edition     string // the part of the name in brackets, such as "démonstration"
	Title       string // without the name of the catalogue
	Description string
	Canonical   string // absolute URL; "" for a page without an address of its own
	Section     string // path of the menu entry this page belongs to
	Path        string
	NoIndex     bool
	Demo        bool
	Preview     *Preview // nil on a public site
	Draft       string   // what the record that the page shows is, if visitors do not see it; see view.mark
	Article     bool     // og:type article rather than website
	UpdatedAt   string   // "" before the first publication
	Style       string
	Theme       *pageTheme // nil for the default
	PrintStyle  string
	Script      string
	MoreStyle   string // of this page only; "" for none
	MoreScript  string
	DeskStyle   string // beside MoreStyle; "" for none
	Markdown    string // path of the Markdown form; "" for none
	Icon        icon
	Logo        *img         // of the catalogue; nil for none
	Image       *sharedImage // for previews on other sites; nil for none
	LargeImage  bool         // Image is about this page, not a logo
	Contact     *link        // nil for none
	Menus       menus
	Feed        *link  // of this page alone; nil for none
	JSON        string // path of the record in the API; "" for none
	JSONLD      any    // nil for none
}

// An icon is the small picture of the site in a browser's tab.
type icon struct{ Href, Type string }

// share sets the picture of the page in previews, if it has one.
func (p *page) share(image *sharedImage) {
	if image != nil {
		p.Image, p.LargeImage = image, image.Width >= 600
	}
}

// splitName returns the name of a catalogue and what follows it in brackets, such as "démonstration".
func splitName(name string) (service, edition string) {
	service, edition, _ = strings.Cut(name, " (")
	return service, strings.TrimSuffix(edition, ")")
}

// page fills in the layout. The path is that of the page on the catalogue's own
// site, which may not be this server.
func (s *Site) page(r *request, title, description, path string) page {
	c := r.snap.Catalog
	name, edition := splitName(c.Name)
	section, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch section {
	case "avis", "alternatives", "categories":
		section = "outils"
	case "auteurs":
		section = "articles"
	}
	p := page{
		request: r, Catalog: c, Base: s.baseURL(r), Service: name, Edition: edition, Title: title, Description: description,
		Canonical: c.URL + path, Section: "/" + section, Path: r.URL.Path,
		NoIndex: r.demo, Demo: r.demo, UpdatedAt: r.updatedAt,
		Style: s.assets.paths["site.css"], PrintStyle: s.assets.paths["print.css"], Script: s.assets.paths["site.js"],
		Icon: icon{s.assets.paths["icon.svg"], "image/svg+xml"}, Theme: r.theme,
		Menus: r.menus, Markdown: s.alternateMarkdown(r),
		Logo: r.brand(c.Settings.Logo), Image: r.shared(c.Settings.Logo), Contact: contact(c.Settings.Contact),
	}
	p.share(r.shared(c.Settings.ShareImage))
	if r.theme != nil {
		p.Icon.Href = r.theme.Icon
	}
	if s.cfg.Preview != nil {
		p.NoIndex, p.Preview = true, s.cfg.Preview(r.snap)
	}
	if p.Logo != nil {
		p.Icon = icon{p.Logo.Src, pictureTypes[strings.TrimPrefix(pathpkg.Ext(p.Logo.Src), ".")]}
	}
	return p
}
