package site

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// menus are the links of every page of a version: those of the product, and those
// of the publisher's own pages.
type menus struct {
	Header, Footer []link
	Licence        string // name of the publisher's own terms of use; "" for ours
}

// product are the links that every catalogue has.
var product = menus{
	Header: []link{
		{"/outils", "Outils"},
		{"/comparatifs", "Comparatifs"},
		{"/prix", "Prix"},
		{mapPath, "Carte"},
		{"/cimetiere", "Cimetière"},
		{"/docs", "API"},
		{"/compte", "Compte"},
	},
	Footer: []link{
		{comparePath, "Comparer des outils"},
		{upcomingPath, "À venir"},
		{"/docs", "Documentation de l’API"},
		{datasetPath, "Données à télécharger"},
		{"/tarifs", "Tarifs de l’API"},
		{"/licence", "Licence"},
		{"/confidentialite", "Confidentialité"},
		{"/flux.atom", "Flux Atom"},
		{"/api/v1/openapi.json", "OpenAPI"},
	},
}

// ownFrom is where the publisher's pages begin in the main menu: after the lists,
// before the API.
const ownFrom = 5

// articlesFrom is where the articles are, once there are any: after the comparisons.
const articlesFrom = 2

// newMenus adds the pages of the publisher, which replace links of the product to
// the same address.
func newMenus(c *catalog.Catalog) menus {
	var header, footer []link
	replaced := map[string]bool{}
	m := menus{}
	m.Licence, _ = c.Terms()
	m.Licence = markdown.NoBreak(m.Licence)
	for i := range c.Pages {
		p := &c.Pages[i]
		to := link{"/" + p.Slug, markdown.NoBreak(p.Title)}
		replaced[to.Href] = true
		switch p.Menu {
		case "header":
			header = append(header, to)
		case "none":
		default:
			footer = append(footer, to)
		}
	}
	m.Header = append(m.Header, product.Header[:ownFrom]...)
	if len(c.Articles) > 0 {
		m.Header = slices.Insert(m.Header, articlesFrom, link{articlesPath, "Articles"})
	}
	m.Header = append(append(m.Header, header...), product.Header[ownFrom:]...)
	if len(c.Authors) > 0 {
		footer = append(footer, link{authorsPath, "Auteurs"})
	}
	m.Footer = footer
	for _, l := range product.Footer {
		if !replaced[l.Href] && (l.Href != datasetPath || c.Settings.Dataset != catalog.DatasetOff) {
			m.Footer = append(m.Footer, l)
		}
	}
	return m
}

// contact returns the link to the contact of the publisher, a mail address or a URL; nil
// for none.
func contact(to string) *link {
	switch {
	case to == "":
		return nil
	case strings.HasPrefix(to, "https://"), strings.HasPrefix(to, "http://"):
		return &link{to, "Contact"}
	}
	return &link{"mailto:" + to, to}
}
