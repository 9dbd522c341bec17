package content

import (
	"maps"
	"time"

	"palmares/internal/catalog"
)

// A Memory keeps what was decoded from the Markdown files of a folder, so that reading
// the folder again decodes only those that changed. The result is that of a fresh read.
// The records of one read share their lists with those of the next: whoever changes a
// list must copy it first. The zero value is empty; one read at a time may use it.
type Memory struct {
	basis basis
	files map[string]*decoded // of the last read, by name
}

// A basis is what decoding a file depends on, apart from its name and text.
type basis struct {
	declared categories
	days     calendar
	zone     *time.Location
	site     string // the address of the catalogue

	headsOnly bool // bodies were left out
}

func (b basis) equal(o basis) bool {
	return maps.EqualFunc(b.declared, o.declared, (*catalog.Category).Same) && (b.declared == nil) == (o.declared == nil) && b.days == o.days &&
		b.zone.String() == o.zone.String() && b.site == o.site && b.headsOnly == o.headsOnly
}

// A decoded is what became of a Markdown file.
type decoded struct {
	name, text string
	record     record
	problems   []Problem
	warnings   []Warning
}

// recall returns what the file name became when it was decoded before, or nil if that
// was with another text or on another basis.
func (m *Memory) recall(on basis, name, text string) *decoded {
	if m == nil || !m.basis.equal(on) {
		return nil
	}
	if d := m.files[name]; d != nil && d.text == text {
		return d
	}
	return nil
}

// replace makes the memory that of a folder that was just read.
func (m *Memory) replace(on basis, batches []*batch) {
	if m == nil {
		return
	}
	m.basis, m.files = on, map[string]*decoded{}
	for _, b := range batches {
		for _, d := range b.decoded {
			m.files[d.name] = d
		}
		b.decoded = nil
	}
}
