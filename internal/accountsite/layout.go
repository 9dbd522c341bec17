package accountsite

import (
	"embed"
	"strings"

	"palmares/internal/site"
)

//go:embed templates/*.html
var templateFiles embed.FS

var templates = site.ParseTemplates(templateFiles)

// page is what surrounds the content of every page; the data of each page embeds it.
type page struct {
	Title  string
	Notice string  // what was just done; "" for nothing
	Menu   []entry // empty if nobody is signed in
	Offer  bool    // the Pro plan may be mentioned
	Guide  bool    // the site has /docs/webhooks
}

func (p page) title() string { return p.Title }

type entry struct {
	Href, Text string
	Current    string // value of aria-current: "page", "true" for a page below it, or ""
}

// menu is the same on every page of an owner.
var menu = []entry{
	{Href: homePath, Text: "Compte"},
	{Href: keysPath, Text: "Clés"},
	{Href: usagePath, Text: "Usage"},
	{Href: endpointsPath, Text: "Webhooks"},
	{Href: planPath, Text: "Formule"},
	{Href: sessionsPath, Text: "Sessions"},
	{Href: dataPath, Text: "Données"},
}

// section returns the path of the menu entry that a page belongs to.
func section(path string) string {
	switch {
	case strings.HasPrefix(path, deliveriesPath+"/"):
		return endpointsPath
	case strings.HasPrefix(path, deletionPath):
		return dataPath
	}
	rest, ok := strings.CutPrefix(path, homePath+"/")
	if !ok {
		return ""
	}
	part, _, _ := strings.Cut(rest, "/")
	return homePath + "/" + part
}

// page fills in what surrounds a page.
func (r *request) page(title string) page {
	p := page{Title: title, Notice: notices[r.URL.Query().Get("fait")], Offer: r.offer, Guide: r.guide}
	if r.owner != nil {
		for _, e := range menu {
			if !r.offer && (e.Href == endpointsPath || e.Href == planPath) {
				continue
			}
			switch e.Href {
			case r.URL.Path:
				e.Current = "page"
			case section(r.URL.Path):
				e.Current = "true"
			}
			p.Menu = append(p.Menu, e)
		}
	}
	return p
}
