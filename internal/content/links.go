package content

import (
	"fmt"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A mention is a link or a picture in a body. What it leads to is known only once
// the whole folder has been read.
type mention struct {
	line    int
	prefix  string // of the sentence, for bodies in JSON lines
	written string // the destination, as in the body
	alt     string // of a picture
}

// mention keeps the links and pictures of a body for checkMentions.
func (d *decoder) mention(found markdown.Report) {
	at := func(line int) mention {
		if d.isMarkdown {
			return mention{line: max(d.bodyLine+line-1, 1)}
		}
		return mention{line: d.line, prefix: fmt.Sprintf("body, line %d: ", line)}
	}
	for _, link := range found.Links {
		m := at(link.Line)
		m.written = link.Destination
		d.links = append(d.links, m)
	}
	for _, picture := range found.Pictures {
		m := at(picture.Line)
		m.written, m.alt = picture.Destination, picture.Alt
		d.pictures = append(d.pictures, m)
	}
}

// checkMentions checks that the links in bodies lead to something that visitors see,
// and that their pictures are in the folder. Drafts may also link to drafts.
func (f *folder) checkMentions(c *catalog.Catalog) {
	published, all := f.addresses(c), (*markdown.Addresses)(nil)
	for _, b := range f.batches {
		for i := range b.records {
			r := &b.records[i]
			if len(r.links) == 0 {
				continue
			}
			addresses := published
			if r.isDraft() {
				if all == nil {
					all = f.addresses(c)
					for file := range all.Drafts {
						all.Unread[file] = true
					}
				}
				addresses = all
			}
			resolver := addresses.In(b.kind.folder)
			for _, m := range r.links {
				if _, reason := resolver.Link(m.written); reason != "" {
					f.problem(r.file, m.line, "%s%s", m.prefix, reason)
				}
			}
		}
	}
}

// addresses returns what the links of the folder may lead to.
func (f *folder) addresses(c *catalog.Catalog) *markdown.Addresses {
	a := &markdown.Addresses{Catalog: c, Drafts: map[string]bool{}, Unread: map[string]bool{}}
	for _, b := range f.batches {
		for i := range b.records {
			r := &b.records[i]
			file := b.kind.folder + "/" + r.slug
			switch {
			case !r.isRead():
				a.Unread[file] = true
			case r.isDraft():
				a.Drafts[file] = true
			}
		}
	}
	return a
}

// isRead reports whether the fields of a record could be read.
func (r *record) isRead() bool { return r.tool != nil || r.comparison != nil || r.retired != nil }

// isDraft reports whether visitors do not see a record.
func (r *record) isDraft() bool {
	switch {
	case r.tool != nil:
		return r.tool.Draft
	case r.comparison != nil:
		return r.comparison.Draft || !r.comparison.Published
	case r.retired != nil:
		return r.retired.Draft
	}
	return false
}
