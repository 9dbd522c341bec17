package content

import (
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// A claim records where a slug is used, since no other record may use it.
type claim struct {
	as   use
	line int
	by   *record
}

// A use is the code of what a slug is of the record that claims it.
type use string

const (
	activeTool use = "is-active-tool"
	alias      use = "is-alias"
)

// what describes a claim for a message.
func (c claim) what() problem.Text { return problem.New(string(c.as), c.by.slug) }

// An index holds the slugs and aliases of a folder by kind; those of retired tools are among those of tools. Authors have
// their names besides, behind a space.
type index map[*catalog.Kind]map[string]claim

func (x index) active(slug string) *record {
	if c, ok := x[catalog.ToolKind][slug]; ok && c.as == activeTool {
		return c.by
	}
	return nil
}

// assemble builds the catalogue as it is now, and checks it as it is and as it will be. It returns
// nil if there are so many problems that not all records were read.
func (f *folder) assemble(now string) *catalog.Catalog {
	for _, b := range f.batches {
		keep(&f.problems, b.problems...)
		keep(&f.warnings, b.warnings...)
		b.problems, b.warnings = nil, nil
	}
	c := f.assembleAt(now)
	f.checkFiles(now)
	if len(f.problems) == maxFindings {
		return nil
	}
	f.checkFuture(now)
	return c
}

// assembleAt builds the catalogue of an instant and checks its records against each other, in
// reading order: of two records that collide, the later one is the problem.
func (f *folder) assembleAt(at string) *catalog.Catalog {
	f.settle(at)
	c := new(f.catalogue) // f has all records, which must not live as long as the catalogue
	records := 0
	for _, b := range f.batches {
		records += len(b.records)
	}
	x := index{}
	for _, k := range catalog.WrittenKinds {
		x[k] = map[string]claim{}
	}
	x[catalog.ToolKind] = make(map[string]claim, records)
	tools := 0
	for k, r := range f.present() {
		f.claimSlugs(x, k, r)
		if r.tool() != nil {
			tools++
		}
	}
	c.Tools = slices.Grow(c.Tools, tools)
	if len(f.problems) == maxFindings {
		return nil
	}
	for k, r := range f.present() {
		switch {
		case r.comparison() != nil:
			f.checkSides(r, x)
		case r.retired() != nil:
			for _, ref := range r.refs {
				f.checkSuccessor(r, ref, x)
			}
		case r.article() != nil:
			f.checkTools(r, x)
		}
		// A comparison that is complete and not published is stored.
		if !r.isHidden && (!r.isDraft() || r.comparison() != nil && !r.comparison().Draft) {
			add(c, r)
		} else if r.hasEnded && !r.isMarked {
			c.Ended = append(c.Ended, k.Folder+"/"+r.slug)
		}
	}
	f.checkProtocols(x)
	f.checkAffiliates(x)
	f.markPictures(f.checkMentions(c))
	f.warnTogether(x)
	return c
}

func add(c *catalog.Catalog, r *record) {
	c.Add(r.of)
	if r.tool() != nil {
		c.DropDefaultURLs(r.tool())
	}
}

// addDrafts adds the records that assemble left out, and shows texts that wait instead of those that
// they will replace.
func (f *folder) addDrafts(c *catalog.Catalog) {
	for _, r := range f.present() {
		if r.isDraft() && (r.comparison() == nil || r.comparison().Draft || r.isHidden) {
			if r.isHidden {
				r = r.draft() // its hour is needed again; see Result.With
			}
			add(c, r)
		}
	}
	c.Sort()
	for _, r := range f.all() {
		if r.isNext && r.isAbsent && r.of != nil {
			c.Put(r.draft().of)
		}
	}
}

// draft returns a copy of a record that is marked as a draft.
func (r *record) draft() *record {
	marked := r.clone()
	*catalog.ValueOf[bool](catalog.KindOf(marked.of).Fields, catalog.Draft, marked.of) = true
	return &marked
}

// claimSlugs adds the slugs of a record to the index. A Markdown record that could
// not be read still has the slug of its file name, so that no problem is reported
// for references to it.
func (f *folder) claimSlugs(x index, k *catalog.Kind, r *record) {
	own := claim{use("is-" + k.Name), r.line, r}
	taken, aliases := x[k], r.aliases
	switch k {
	case catalog.ToolKind:
		own.as, aliases = activeTool, r.refs
	case catalog.RetiredKind:
		if x.active(r.slug) != nil && r.isDraft() {
			return // the obituary of a tool that is still active
		}
		taken = x[catalog.ToolKind]
	}
	f.claim(taken, r.slug, "slug", own)
	for _, ref := range aliases {
		f.claim(taken, ref.slug, "alias", claim{alias, ref.line, r})
	}
	if r.author() == nil || r.author().Name == "" {
		return
	}
	name := " " + r.author().Name // is no slug
	if first, ok := taken[name]; ok {
		f.problem(r.file, r.line, "author-name-taken", r.author().Name, first.by.file, first.line)
		return
	}
	taken[name] = own
}

// claim reserves a slug for a record, or adds a problem if it is taken.
func (f *folder) claim(taken map[string]claim, slug, as string, c claim) {
	if slug == "" || !catalog.IsSlug(slug) {
		return
	}
	if first, ok := taken[slug]; ok {
		f.problem(c.by.file, c.line, "taken", as, slug, first.what(), first.by.file, first.line)
		return
	}
	taken[slug] = c
}

// checkProtocols checks that the pages that explain protocols are pages of the folder.
func (f *folder) checkProtocols(x index) {
	if f.settings.references == nil {
		return
	}
	for _, ref := range f.settings.refs {
		if page, known := x[catalog.PageKind][ref.slug]; !known || page.as == alias {
			f.problem(f.settings.file, ref.line, "protocol-not-in-pages", ref.slug, ref.slug)
		} else if page.by.page() != nil && page.by.page().UnpublishAt != "" {
			f.problem(page.by.file, page.by.line, "protocol-unpublished")
		}
	}
}

// checkSides checks that both tools of a comparison are active and tested. Only a
// draft may compare a draft; one that is marked as a draft need not wait for the tests.
func (f *folder) checkSides(r *record, x index) {
	for _, ref := range r.refs {
		other, isTaken := x[catalog.ToolKind][ref.slug]
		isActive, tool := isTaken && other.as == activeTool, other.by
		switch {
		case isActive && tool.isDraft():
			if !r.isDraft() {
				f.problem(r.file, ref.line, "side-hidden", ref.field, ref.slug, tool.status(), tool.file, tool.line)
			}
			r.isHidden = true
		case isActive && (r.comparison().Draft || r.isHidden):
		case isActive && tool.tool() != nil && !tool.tested:
			f.problem(r.file, ref.line, "side-untested", ref.field, ref.slug, tool.file, tool.line)
		case isActive:
		case isTaken && other.as == alias && other.by.slug != "":
			f.problem(r.file, ref.line, "side-former", ref.field, ref.slug, other.by.slug)
		case isTaken:
			f.problem(r.file, ref.line, "side-not-active", ref.field, ref.slug, other.what(), other.by.file, other.line)
		default:
			f.problem(r.file, ref.line, "not-a-tool", ref.field, ref.slug)
		}
	}
}

// checkTools checks that the tools of an article are in the folder, active or retired. Only a draft may list a draft.
func (f *folder) checkTools(r *record, x index) {
	for _, ref := range r.refs {
		switch tool, known := x[catalog.ToolKind][ref.slug]; {
		case !known:
			f.problem(r.file, ref.line, "listed-unknown", ref.slug)
		case tool.as == alias && tool.by.slug != "":
			f.problem(r.file, ref.line, "listed-former", ref.slug, tool.by.slug)
		case tool.by.isDraft() && !r.isDraft():
			f.problem(r.file, ref.line, "listed-hidden", ref.slug, tool.by.status(), tool.by.file, tool.by.line)
		}
	}
}

// checkSuccessor checks that the successor of a tool that is retired, or will be, is another tool
// of the folder, be it active, retired or an alias.
func (f *folder) checkSuccessor(r *record, ref reference, x index) {
	_, known := x[catalog.ToolKind][ref.slug]
	switch {
	case ref.slug == r.slug:
		f.problem(r.file, ref.line, "successor-itself", r.slug)
	case x.active(ref.slug) != nil && x.active(ref.slug).isDraft() && !r.isDraft():
		f.problem(r.file, ref.line, "successor-hidden", ref.slug, x.active(ref.slug).status())
	case !known:
		f.problem(r.file, ref.line, "not-a-tool", "successor", ref.slug)
	}
}
