package store

import (
	"context"
	"crypto/sha256"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// Reviews has the reviews of the tools of a catalogue whose Body only refers to them.
type Reviews interface {
	// Text returns the review that a Body refers to.
	Text(body string) (string, error)
	// Is reports whether a Body refers to a text.
	Is(body, text string) bool
}

// review returns the review of a tool of the new catalogue.
func (p *publication) review(t *catalog.Tool) (string, error) {
	if p.opts.Reviews == nil {
		return t.Body, nil
	}
	return p.opts.Reviews.Text(t.Body)
}

// share has a published tool share the texts and lists that the new catalogue has as well:
// most tools stay as they are, and need little memory then. With Reviews, the Body of the
// published tool is also only compared, and becomes that of the new one, or another one.
func (p *publication) share(was *catalog.Tool) {
	is := p.next.Tool(was.Slug)
	if p.opts.Reviews != nil && was.Body != "" {
		if is != nil && p.opts.Reviews.Is(is.Body, was.Body) {
			was.Body = is.Body
		} else {
			sum := sha256.Sum256([]byte(was.Body))
			was.Body = string(sum[:])
		}
	}
	if is != nil {
		shareFields(toolColumns, was, is)
	}
}

// forget drops the published tools that stay as they are, once they have been compared.
func (p *publication) forget() {
	old := *p.old.Catalog
	slugs := slices.Concat(p.diff.Tools.Changed, p.diff.Tools.Removed, p.diff.Listed)
	slices.Sort(slugs)
	old.Tools = nil
	for _, slug := range slugs {
		old.Tools = append(old.Tools, *p.old.Catalog.Tool(slug))
	}
	p.old.Catalog = &old
}

// sections returns what splits the reviews of both catalogues into sections.
func (p *publication) sections(ctx context.Context) *sections {
	s := &sections{text: map[string]func() (string, error){}}
	if p.opts.Reviews == nil {
		return s
	}
	// Only reviews of the top sets are compared.
	old := p.old.Catalog
	for _, i := range old.TopSet() {
		slug := old.Tools[i].Slug
		s.text[old.Tools[i].Body] = func() (text string, err error) {
			err = p.tx.QueryRowContext(ctx, `SELECT body FROM tools WHERE slug = $1`, slug).Scan(&text)
			return text, err
		}
	}
	for _, i := range p.next.TopSet() {
		body := p.next.Tools[i].Body
		s.text[body] = func() (string, error) { return p.opts.Reviews.Text(body) }
	}
	return s
}

// sections splits reviews into their sections.
type sections struct {
	text map[string]func() (string, error) // by Body, of those that are not the text itself
	err  error
}

func (s *sections) of(body string) []catalog.Section {
	read, ok := s.text[body]
	if !ok {
		return markdown.Sections(body)
	}
	text, err := read()
	if err != nil {
		s.err = err
		return nil
	}
	return markdown.Sections(text)
}
