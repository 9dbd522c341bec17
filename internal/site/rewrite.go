package site

import (
	"regexp"
	"strings"

	"palmares/internal/markdown"
)

// destination matches where a link or a picture of a Markdown text leads, in the text
// itself or in a definition below it.
var destination = regexp.MustCompile(`(?m)(\]\([ \t]*<?|^ {0,3}\[[^\]\n]+\]:[ \t]*<?)([^()<>\s]+)`)

// source returns a text of a folder of the catalogue for a page in Markdown: safe,
// with links to the Markdown form of other pages and the addresses of pictures.
// Authors write paths to files, which mean nothing at the address of the page.
func (v *view) source(folder, body string) string {
	at := v.addresses.In(folder)
	return destination.ReplaceAllStringFunc(markdown.EscapeHTML(body), func(found string) string {
		parts := destination.FindStringSubmatch(found)
		to := parts[2]
		if strings.HasPrefix(to, "#") || strings.HasPrefix(to, "//") || strings.Contains(to, ":") {
			return found
		}
		if p, reason := at.Picture(to); reason == "" {
			return parts[1] + markdown.MediaPath(p.Hash, p.Ext)
		}
		address, reason := at.Link(to)
		if reason != "" {
			return found
		}
		return parts[1] + v.inMarkdown(address)
	})
}

// bodyOf returns the same if the page is requested in Markdown, and "" otherwise.
func (r *request) bodyOf(folder, body string) string {
	if !r.markdown {
		return ""
	}
	return r.source(folder, body)
}

// markdownForms are the pages that exist in Markdown, by the first part of their path.
var markdownForms = map[string]bool{
	"outils": true, "avis": true, "alternatives": true, "categories": true, "comparatifs": true,
	"prix": true, "cimetiere": true, "docs": true, "licence": true,
}

// inMarkdown returns the address of the Markdown form of a page, if it has one.
func (v *view) inMarkdown(address string) string {
	path := address
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if strings.HasSuffix(path, feedSuffix) || !markdownForms[first] && v.custom(first) == nil {
		return address
	}
	return markdownPath(address)
}
