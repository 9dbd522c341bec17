package site

import (
	"bytes"
	"embed"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"text/template"

	"palmares/internal/markdown"
)

// Most pages also stand in Markdown, for programs that read: under the same path
// and .md, from the same data, by a template of its own. No slug holds a dot, so
// no page can be hidden by that.
const textSuffix = ".md"

const markdownType = "text/markdown; charset=utf-8"

//go:embed templates/*.md
var textFiles embed.FS

// texts are the Markdown templates by the name of their page, with the parts
// that they share (files named _*.md).
var texts = func() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(textFunctions).ParseFS(textFiles, "templates/_*.md"))
	pages := map[string]*template.Template{}
	names, err := fs.Glob(textFiles, "templates/[a-z]*.md")
	if err != nil {
		panic(err) // only for a pattern that is wrong
	}
	for _, name := range names {
		t := template.Must(template.Must(shared.Clone()).ParseFS(textFiles, name))
		pages[strings.TrimSuffix(path.Base(name), textSuffix)] = t.Lookup(path.Base(name))
	}
	return pages
}()

// textFunctions are those of the pages and what keeps the words of a record from
// being read as markup. Nothing is escaped by itself here: every text of a record
// goes through md, whole or body.
var textFunctions = template.FuncMap{
	"count":  count,
	"date":   date,
	"figure": figure,
	"plural": plural,
	"price":  price,
	"md":     markdown.Escape,
	"body":   markdown.EscapeHTML,
	"to":     textPath,
}

// textPath is where the Markdown of a page of ours stands; the query and the
// anchor stay.
func textPath(href string) string {
	end := strings.IndexAny(href, "?#")
	if end < 0 {
		end = len(href)
	}
	return href[:end] + textSuffix + href[end:]
}

// form gives a path of ours in the form that was asked for.
func (r *request) form(href string) string {
	if r.text {
		return textPath(href)
	}
	return href
}

// markdown is where the page that is asked for stands in Markdown, "" for nowhere:
// all pages of a slug do, and those whose pattern both has registered twice.
func (s *Site) markdown(r *request) string {
	if !s.inText[r.Pattern] && !strings.Contains(r.Pattern, "{slug}") {
		return ""
	}
	to := url.URL{Path: r.URL.Path + textSuffix, RawQuery: r.URL.RawQuery}
	return to.String()
}

// renderText makes the Markdown of a page. The page itself is its canonical form.
func renderText(name string, p page, data any) *answer {
	var b bytes.Buffer
	if err := texts[name].Execute(&b, data); err != nil {
		panic(err) // a template that does not fit its data is a mistake that tests find
	}
	a := found(markdownType, b.Bytes())
	a.canonical = p.Canonical
	return a
}

// failureText says what went wrong to whom asked for Markdown.
func failureText(f *failure) *answer {
	text := "# " + markdown.Escape(f.title) + "\n\n" + markdown.Escape(f.text) + "\n"
	if f.link != nil {
		text += "\n- [" + markdown.Escape(f.link.Text) + "](" + textPath(f.link.Href) + ")\n"
	}
	return found(markdownType, []byte(text))
}
