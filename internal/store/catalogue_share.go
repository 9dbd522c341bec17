package store

import (
	"context"
	"crypto/sha256"
	"strings"

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

// differs reports whether a published tool differs from that of the new catalogue and must
// be kept to compare the two. With Reviews, its Body is also only compared, and becomes
// that of the new tool, or another one.
func (p *publication) differs(was *catalog.Tool) bool {
	is := p.next.Tool(was.Slug)
	if p.opts.Reviews != nil && was.Body != "" {
		if is != nil && p.opts.Reviews.Is(is.Body, was.Body) {
			was.Body = is.Body
		} else {
			sum := sha256.Sum256([]byte(was.Body))
			was.Body = string(sum[:])
		}
	}
	if is != nil && is.UpdatedAt == "" {
		was.UpdatedAt = strings.Clone(was.UpdatedAt) // the new tool may get it, without the row around it
	}
	return !p.unchanged.Settle(was, p.opts.Mirror != nil, catalog.Day(p.now))
}

// sections returns what splits the reviews of both catalogues into sections.
func (p *publication) sections(ctx context.Context) *sections {
	s := &sections{text: map[string]func() (string, error){}}
	if p.opts.Reviews == nil {
		return s
	}
	// Only reviews of the top sets are compared.
	for _, t := range p.old.Catalog.TopTools() {
		s.text[t.Body] = func() (text string, err error) {
			err = p.tx.QueryRowContext(ctx, `SELECT body FROM tools WHERE slug = $1`, t.Slug).Scan(&text)
			return text, err
		}
	}
	for _, t := range p.next.TopTools() {
		s.text[t.Body] = func() (string, error) { return p.opts.Reviews.Text(t.Body) }
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
