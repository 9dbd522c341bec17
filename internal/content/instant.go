package content

import (
	"maps"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/markdown"
	"palmares/internal/problem"
	canonical "palmares/internal/record"
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

// An instant is a folder at an hour: the catalogue, and what is wrong or odd of its records together.
type instant struct {
	findings
	folder     *folder
	catalog    *catalog.Catalog
	index      index
	obituaries map[string]*record // by slug, those with an hour
}

// at builds the catalogue of an instant and checks its records against each other, in
// reading order: of two records that collide, the later one is the problem.
func (f *folder) at(hour string) *instant {
	s := &instant{findings: findings{silenced: f.silenced}, folder: f, index: index{}, obituaries: f.batches.settle(hour)}
	s.catalog = new(f.catalogue) // f has all records, which must not live as long as the catalogue
	records, tools := 0, 0
	for _, b := range f.batches {
		records += len(b.records)
	}
	for _, k := range catalog.WrittenKinds {
		s.index[k] = map[string]claim{}
	}
	s.index[catalog.ToolKind] = make(map[string]claim, records)
	for k, r := range f.batches.present() {
		s.claimSlugs(k, r)
		if r.tool() != nil {
			tools++
		}
	}
	s.catalog.Tools = slices.Grow(s.catalog.Tools, tools)
	for k, r := range f.batches.present() {
		switch {
		case r.comparison() != nil:
			s.checkSides(r)
		case r.retired() != nil:
			for _, ref := range r.refs {
				s.checkSuccessor(r, ref)
			}
		case r.article() != nil:
			s.checkTools(r)
		}
		// A comparison that is complete and not published is stored.
		if !r.isHidden && (!r.isDraft() || r.comparison() != nil && !r.comparison().Draft) {
			s.catalog.Add(r.of)
		} else if r.hasEnded && !r.isMarked {
			s.catalog.Ended = append(s.catalog.Ended, k.Folder+"/"+r.slug)
		}
	}
	s.checkProtocols()
	s.checkAffiliates()
	s.checkMentions()
	s.checkPictures()
	s.warnTogether()
	return s
}

// complete completes a catalogue without problems, and sorts it.
func (s *instant) complete(withDrafts bool) {
	for _, r := range s.folder.batches.all() {
		if r.tool() != nil {
			s.catalog.DropDefaultURLs(r.tool())
		}
		if r.isWaiting(s.folder.now) {
			s.catalog.Scheduled = append(s.catalog.Scheduled, catalog.Scheduled{Due: r.publishAt, Record: r.of})
		}
	}
	catalog.SortScheduled(s.catalog.Scheduled)
	if withDrafts {
		s.addDrafts()
	} else if len(s.catalog.Scheduled) > 0 {
		canonical.SettlePictures(s.catalog)
	}
	s.catalog.Sort()
	if s.folder.hasProofs {
		s.folder.readProofs(s.catalog)
	}
}

// addDrafts adds the records that assemble left out, and shows texts that wait instead of those that
// they will replace.
func (s *instant) addDrafts() {
	for _, r := range s.folder.batches.present() {
		if r.isDraft() && (r.comparison() == nil || r.comparison().Draft || r.isHidden) {
			if r.isHidden {
				r = r.draft() // its hour is needed again; see Result.With
			}
			s.catalog.Add(r.of)
		}
	}
	s.catalog.Sort()
	for _, r := range s.folder.batches.all() {
		if r.isNext && r.isAbsent && r.of != nil {
			s.catalog.Put(r.draft().of)
		}
	}
}

// claimSlugs adds the slugs of a record to the index. A Markdown record that could
// not be read still has the slug of its file name, so that no problem is reported
// for references to it.
func (s *instant) claimSlugs(k *catalog.Kind, r *record) {
	own := claim{use("is-" + k.Name), r.line, r}
	taken, aliases := s.index[k], r.aliases
	switch k {
	case catalog.ToolKind:
		own.as, aliases = activeTool, r.refs
	case catalog.RetiredKind:
		if s.index.active(r.slug) != nil && r.isDraft() {
			return // the obituary of a tool that is still active
		}
		taken = s.index[catalog.ToolKind]
	}
	s.claim(taken, r.slug, "slug", own)
	for _, ref := range aliases {
		s.claim(taken, ref.slug, "alias", claim{alias, ref.line, r})
	}
	if r.author() == nil || r.author().Name == "" {
		return
	}
	name := " " + r.author().Name // is no slug
	if first, ok := taken[name]; ok {
		s.problem(r.file, r.line, "author-name-taken", r.author().Name, first.by.file, first.line)
		return
	}
	taken[name] = own
}

// claim reserves a slug for a record, or adds a problem if it is taken.
func (s *instant) claim(taken map[string]claim, slug, as string, c claim) {
	if slug == "" || !catalog.IsSlug(slug) {
		return
	}
	if first, ok := taken[slug]; ok {
		s.problem(c.by.file, c.line, "taken", as, slug, first.what(), first.by.file, first.line)
		return
	}
	taken[slug] = c
}

// checkProtocols checks that the pages that explain protocols are pages of the folder.
func (s *instant) checkProtocols() {
	if s.folder.settings.references == nil {
		return
	}
	for _, ref := range s.folder.settings.refs {
		if page, known := s.index[catalog.PageKind][ref.slug]; !known || page.as == alias {
			s.problem(s.folder.settings.file, ref.line, "protocol-not-in-pages", ref.slug, ref.slug)
		} else if page.by.page() != nil && page.by.page().UnpublishAt != "" {
			s.problem(page.by.file, page.by.line, "protocol-unpublished")
		}
	}
}

// checkSides checks that both tools of a comparison are active and tested. Only a
// draft may compare a draft; one that is marked as a draft need not wait for the tests.
func (s *instant) checkSides(r *record) {
	for _, ref := range r.refs {
		other, isTaken := s.index[catalog.ToolKind][ref.slug]
		isActive, tool := isTaken && other.as == activeTool, other.by
		switch {
		case isActive && tool.isDraft():
			if !r.isDraft() {
				s.problem(r.file, ref.line, "side-hidden", ref.field, ref.slug, tool.status(), tool.file, tool.line)
			}
			r.isHidden = true
		case isActive && (r.comparison().Draft || r.isHidden):
		case isActive && tool.tool() != nil && !tool.tested:
			s.problem(r.file, ref.line, "side-untested", ref.field, ref.slug, tool.file, tool.line)
		case isActive:
		case isTaken && other.as == alias && other.by.slug != "":
			s.problem(r.file, ref.line, "side-former", ref.field, ref.slug, other.by.slug)
		case isTaken:
			s.problem(r.file, ref.line, "side-not-active", ref.field, ref.slug, other.what(), other.by.file, other.line)
		default:
			s.problem(r.file, ref.line, "not-a-tool", ref.field, ref.slug)
		}
	}
}

// checkTools checks that the tools of an article are in the folder, active or retired. Only a draft may list a draft.
func (s *instant) checkTools(r *record) {
	for _, ref := range r.refs {
		switch tool, known := s.index[catalog.ToolKind][ref.slug]; {
		case !known:
			s.problem(r.file, ref.line, "listed-unknown", ref.slug)
		case tool.as == alias && tool.by.slug != "":
			s.problem(r.file, ref.line, "listed-former", ref.slug, tool.by.slug)
		case tool.by.isDraft() && !r.isDraft():
			s.problem(r.file, ref.line, "listed-hidden", ref.slug, tool.by.status(), tool.by.file, tool.by.line)
		}
	}
}

// checkSuccessor checks that the successor of a tool that is retired, or will be, is another tool
// of the folder, be it active, retired or an alias.
func (s *instant) checkSuccessor(r *record, ref reference) {
	_, known := s.index[catalog.ToolKind][ref.slug]
	switch {
	case ref.slug == r.slug:
		s.problem(r.file, ref.line, "successor-itself", r.slug)
	case s.index.active(ref.slug) != nil && s.index.active(ref.slug).isDraft() && !r.isDraft():
		s.problem(r.file, ref.line, "successor-hidden", ref.slug, s.index.active(ref.slug).status())
	case !known:
		s.problem(r.file, ref.line, "not-a-tool", "successor", ref.slug)
	}
}

// checkAffiliates checks that a page tells visitors about affiliate links, if there are any.
func (s *instant) checkAffiliates() {
	page, known := s.index[catalog.PageKind][catalog.TransparencyPage]
	if known && !page.by.isHidden && !page.by.isDraft() {
		return
	}
	for _, r := range s.folder.batches.present() {
		if r.tool() != nil && r.affiliateLine > 0 && !r.isDraft() {
			s.problem(r.file, r.affiliateLine, "affiliate-without-page", catalog.TransparencyPage)
			return // one page is enough for all
		}
	}
}

// checkRetirement checks the successor of an announced retirement, and warns if that would not happen.
func (s *instant) checkRetirement(r *record) {
	for _, a := range r.tool().Announced {
		if a.Retire == "" {
			continue
		}
		if a.Successor != "" {
			s.checkSuccessor(r, reference{slug: a.Successor, line: r.line})
		}
		switch o := s.obituaries[r.slug]; {
		case o == nil:
			s.warn(r.file, r.line, "retirement-not-scheduled", a.From, r.slug)
		case o.publishAt < catalog.FormatTime(catalog.FirstMinute(a.From, s.folder.zone)):
			s.warn(o.file, o.line, "obituary-too-early", o.publishAt, a.From, r.file)
		}
	}
}

func (s *instant) warnTogether() {
	s.warnAuthors()
	domains := make(map[string]*record, len(s.index[catalog.ToolKind]))
	pairs := map[[2]string]*record{}
	for _, r := range s.folder.batches.present() {
		switch {
		case r.isDraft():
		case r.tool() != nil && s.index.active(r.slug) == r:
			s.checkRetirement(r)
			domain := strings.ToLower(r.tool().Domain)
			if first, ok := domains[domain]; ok && domain != "" {
				s.warn(r.file, r.keyLine, "domain-twice", domain, first.slug, first.file, first.keyLine)
				continue
			}
			domains[domain] = r
		case r.comparison() != nil:
			s.warnWinner(r)
			s.warnPair(r, pairs)
		}
	}
}

// warnAuthors warns about authors who are called nearly like one who has a page: they are not linked to it.
func (s *instant) warnAuthors() {
	var names []string
	for _, own := range s.index[catalog.AuthorKind] {
		if own.by.author() != nil && own.by.author().Name != "" && !slices.Contains(names, own.by.author().Name) {
			names = append(names, own.by.author().Name)
		}
	}
	slices.Sort(names)
	meant := map[string]string{} // by what is written
	for _, r := range s.folder.batches.present() {
		var authors []string
		switch {
		case len(names) == 0 || r.isDraft():
		case r.tool() != nil:
			authors = r.tool().Authors
		case r.article() != nil:
			authors = r.article().Authors
		}
		for _, written := range authors {
			name, isKnown := meant[written]
			if _, hasPage := s.index[catalog.AuthorKind][" "+written]; !isKnown && !hasPage {
				name = nearest(written, names)
				if own := s.index[catalog.AuthorKind][written].by; own != nil && own.author() != nil {
					name = own.author().Name
				}
				meant[written] = name
			}
			if name != "" {
				s.warn(r.file, r.authorLine, "author-without-page", written, name)
			}
		}
	}
}

// warnWinner warns about a winner with the lower score.
func (s *instant) warnWinner(r *record) {
	winner, loser := r.comparison().ToolA, r.comparison().ToolB
	if r.comparison().Winner == loser {
		winner, loser = loser, winner
	}
	won, lost := s.index.active(winner), s.index.active(loser)
	if r.comparison().Winner != winner || won == nil || lost == nil || won.tool() == nil || lost.tool() == nil {
		return
	}
	if a, b := won.tool().Score, lost.tool().Score; a != nil && b != nil && *a < *b {
		s.warn(r.file, r.keyLine, "winner-scores-less", winner, figure(*a), loser, figure(*b))
	}
}

// warnPair warns about the second comparison of two tools.
func (s *instant) warnPair(r *record, pairs map[[2]string]*record) {
	pair := [2]string{r.comparison().ToolA, r.comparison().ToolB}
	if pair[0] == "" || pair[1] == "" {
		return
	}
	slices.Sort(pair[:])
	if first, ok := pairs[pair]; ok {
		s.warn(r.file, r.refs[0].line, "pair-twice", pair[0], pair[1], first.file, first.refs[0].line)
		return
	}
	pairs[pair] = r
}

// checkMentions checks that the links in bodies lead to something that visitors see,
// and that their pictures are in the folder. Drafts may also link to drafts.
func (s *instant) checkMentions() {
	published := &markdown.Addresses{Catalog: s.catalog, Drafts: map[string]problem.Text{}, Unread: map[string]bool{}}
	for k, r := range s.folder.batches.present() {
		switch {
		case r.of == nil:
			published.Unread[k.Folder+"/"+r.slug] = true
		case r.isDraft():
			published.Drafts[k.Folder+"/"+r.slug] = r.status()
		}
	}
	drafts := &markdown.Addresses{Catalog: s.catalog, Unread: maps.Clone(published.Unread)}
	for name := range published.Drafts {
		drafts.Unread[name] = true
	}
	check := func(r *record, folder string, addresses *markdown.Addresses) {
		for _, m := range r.links {
			if file, reason := markdown.PicturePath(folder, m.written); reason == nil {
				s.use(r, m, file)
			} else if _, reason := addresses.In(folder).Link(m.written); reason == nil {
				continue
			} else if m.isAbsolute && !addresses.IsOfRecord(m.written) {
				what := m.in(problem.Of(reason))
				s.warnOf(r.file, m.line, problem.New("ignore-elsewhere", what).Coded(what.Code))
			} else {
				s.tell(r.file, m.line, m.in(problem.Of(reason)))
			}
		}
		for _, m := range r.pictures {
			if file, reason := markdown.PicturePath(folder, m.written); reason != nil {
				s.tell(r.file, m.line, m.in(problem.Of(reason)))
			} else {
				s.use(r, m, file)
			}
		}
	}
	if s.folder.only == "" {
		check(&s.folder.settings, "", published)
	}
	for k, r := range s.folder.batches.present() {
		switch {
		case s.folder.only != "" && r.file != s.folder.only:
		case r.isDraft():
			check(r, k.Folder, drafts)
		default:
			check(r, k.Folder, published)
		}
	}
}

// use notes that a text shows a picture, or links to one, and checks that the folder has it.
func (s *instant) use(r *record, m mention, file string) {
	if !s.folder.images.mark(file, r.isDraft()) {
		s.tell(r.file, m.line, m.in(problem.New("picture-absent", m.written, file, s.folder.images.similar(file))))
	}
}

// checkPictures notes which pictures fields use, and checks that the folder has them.
func (s *instant) checkPictures() {
	check := func(r *record) {
		for _, use := range r.fieldPictures {
			if !s.folder.images.mark(use.path, r.isDraft()) {
				hint := s.folder.images.similar(use.path)
				s.problem(r.file, use.line, "field-picture-absent", use.at, tree.Quoted(use.path), hint)
			}
		}
	}
	check(&s.folder.settings)
	for _, r := range s.folder.batches.present() {
		check(r)
	}
}
