package site

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// source returns a text of a folder of the catalogue for a page in Markdown: safe,
// with links to the Markdown form of other pages and the addresses of pictures.
// Authors write paths to files, which mean nothing at the address of the page.
func (v *view) source(folder, body string) string {
	return markdown.WithAddresses(markdown.EscapeHTML(body), inMarkdown{v.addresses.In(folder), v})
}

// inMarkdown resolves links to the Markdown form of pages.
type inMarkdown struct {
	markdown.Resolver
	view *view
}

// Link implements markdown.Resolver.
func (m inMarkdown) Link(destination string) (address string, reason error) {
	address, reason = m.Resolver.Link(destination)
	if reason != nil {
		return "", reason
	}
	return m.view.inMarkdown(address), nil
}

// markdownForms are the pages that exist in Markdown, by the first part of their path, beside those of records.
var markdownForms = []string{"avis", "alternatives", "categories", "prix", "docs", "donnees", "licence"}

// inMarkdown returns the address of the Markdown form of a page, if it has one.
func (v *view) inMarkdown(address string) string {
	path := address
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	k := catalog.KindIn(first)
	hasForm := k != nil && k.List != "" || slices.Contains(markdownForms, first) || v.snap.Catalog.Page(first) != nil
	if strings.HasSuffix(path, feedSuffix) || strings.HasSuffix(path, ".svg") || !hasForm {
		return address
	}
	return markdownPath(address)
}
