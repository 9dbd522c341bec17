package content

import (
	"maps"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/problem"
)

// A mention is a link or a picture in a body. What it leads to is known only once
// the whole folder has been read.
type mention struct {
	line    int
	prefix  problem.Text // of the sentence, for bodies in JSON lines
	written string       // the destination, as in the body
	alt     string       // of a picture

	hidesTitle bool // of a picture whose title is no caption
	isAbsolute bool // a link with the host of the catalogue before it
}

// in returns a sentence about a mention, with its prefix.
func (m mention) in(what problem.Text) problem.Text {
	if m.prefix.English == "" {
		return what
	}
	return problem.New("at", m.prefix, what).Coded(what.Code)
}

// mention keeps the links and pictures that were found in a text for checkMentions. at
// returns the place of one of its lines.
func (d *decoder) mention(found markdown.Report, at func(line int) mention) {
	add := func(links []markdown.Link, isAbsolute bool) {
		for _, link := range links {
			m := at(link.Line)
			m.written, m.isAbsolute = link.Destination, isAbsolute
			d.links = append(d.links, m)
		}
	}
	add(found.Links, false)
	add(found.LinksTo(d.site), true)
	for _, picture := range found.Pictures {
		m := at(picture.Line)
		m.written, m.alt, m.hidesTitle = picture.Destination, picture.Alt, picture.HidesTitle
		d.pictures = append(d.pictures, m)
	}
}

func (d *decoder) bodyPlace(line int) mention {
	if d.isMarkdown {
		return mention{line: max(d.BodyLine+line-1, 1)}
	}
	return mention{line: d.line, prefix: problem.New("line-of", "body", line)}
}

// A pictureUse is a place of a record that shows a picture, or links to one.
type pictureUse struct {
	path    string // from the root of the folder: images/ecran.png
	record  *record
	mention mention
}

// checkMentions checks that the links in bodies lead to something that visitors see,
// and that their pictures are in the folder. Drafts may also link to drafts. It
// returns the uses of pictures that exist.
func (f *folder) checkMentions(c *catalog.Catalog) []pictureUse {
	var uses []pictureUse
	published := f.addresses(c)
	drafts := &markdown.Addresses{Catalog: c, Unread: maps.Clone(published.Unread)}
	for name := range published.Drafts {
		drafts.Unread[name] = true
	}
	check := func(r *record, folder string, addresses *markdown.Addresses) {
		for _, m := range r.links {
			if file, reason := markdown.PicturePath(folder, m.written); reason == nil {
				uses = append(uses, pictureUse{file, r, m})
			} else if _, reason := addresses.In(folder).Link(m.written); reason == nil {
				continue
			} else if m.isAbsolute && !addresses.IsOfRecord(m.written) {
				what := m.in(problem.Of(reason))
				f.warnOf(r.file, m.line, problem.New("ignore-elsewhere", what).Coded(what.Code))
			} else {
				f.tell(r.file, m.line, m.in(problem.Of(reason)))
			}
		}
		for _, m := range r.pictures {
			if file, reason := markdown.PicturePath(folder, m.written); reason != nil {
				f.tell(r.file, m.line, m.in(problem.Of(reason)))
			} else {
				uses = append(uses, pictureUse{file, r, m})
			}
		}
	}
	if f.only == "" {
		check(&f.settings, "", published)
	}
	for k, r := range f.present() {
		switch {
		case f.only != "" && r.file != f.only:
		case r.isDraft():
			check(r, k.Folder, drafts)
		default:
			check(r, k.Folder, published)
		}
	}
	return f.existing(uses)
}

// existing returns the uses of pictures that are in the folder, and adds problems
// for the others.
func (f *folder) existing(uses []pictureUse) []pictureUse {
	return slices.DeleteFunc(uses, func(u pictureUse) bool {
		exists := f.images[imageKey(u.path)] != nil
		if !exists {
			f.tell(u.record.file, u.mention.line, u.mention.in(
				problem.New("picture-absent", u.mention.written, u.path, f.similar(u.path))))
		}
		return !exists
	})
}

// addresses returns what the links of the folder may lead to.
func (f *folder) addresses(c *catalog.Catalog) *markdown.Addresses {
	a := &markdown.Addresses{Catalog: c, Drafts: map[string]problem.Text{}, Unread: map[string]bool{}}
	for k, r := range f.present() {
		switch {
		case r.of == nil:
			a.Unread[k.Folder+"/"+r.slug] = true
		case r.isDraft():
			a.Drafts[k.Folder+"/"+r.slug] = r.status()
		}
	}
	return a
}

// isDraft reports whether visitors do not see a record.
func (r *record) isDraft() bool {
	return r.isHidden || r.isMarked || r.comparison() != nil && !r.comparison().Published
}

// status says why visitors do not see a record.
func (r *record) status() problem.Text {
	switch {
	case r.hasEnded:
		return problem.New("is-hidden-now")
	case r.isHidden && r.publishAt != "":
		return problem.New("is-hidden-before", r.publishAt)
	}
	return problem.New("is-draft")
}
