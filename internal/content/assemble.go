package content

import (
	"fmt"

	"palmares/internal/catalog"
)

// A claim is what holds a slug that no other may take.
type claim struct {
	what string // "an active tool"
	file string
	line int
}

// assemble makes the catalogue and checks its records against each other, in the
// order of the format: of two that collide, the later one is the problem.
func (f *folder) assemble() *catalog.Catalog {
	c := &f.catalogue
	tools := map[string]claim{} // active slugs, aliases and retired slugs
	comparisons := map[string]claim{}
	active := map[string]*record{}
	owners := map[string]string{} // of aliases

	for _, b := range f.batches {
		f.problems = append(f.problems, b.problems...)
		for i := range b.records {
			r := &b.records[i]
			// A record that could not be read still has the name of its file, so that
			// those who refer to it are not blamed for it.
			switch b.kind.folder {
			case "outils":
				if f.claim(tools, r.slug, "slug", r.line, r, "an active tool") {
					active[r.slug] = r
				}
				for _, ref := range r.refs {
					if f.claim(tools, ref.slug, "alias", ref.line, r, fmt.Sprintf("an alias of %q", r.slug)) {
						owners[ref.slug] = r.slug
					}
				}
			case "comparatifs":
				f.claim(comparisons, r.slug, "slug", r.line, r, "a comparison")
			case "cimetiere":
				f.claim(tools, r.slug, "slug", r.line, r, "a retired tool")
			}
			switch {
			case r.tool != nil:
				c.Tools = append(c.Tools, *r.tool)
			case r.comparison != nil:
				c.Comparisons = append(c.Comparisons, *r.comparison)
			case r.retired != nil:
				c.Retired = append(c.Retired, *r.retired)
			}
		}
	}

	for _, b := range f.batches {
		for i := range b.records {
			switch r := &b.records[i]; {
			case r.comparison != nil:
				f.checkSides(r, active, owners, tools)
			case r.retired != nil:
				f.checkSuccessor(r, tools)
			}
		}
	}
	return c
}

// claim takes a slug for a record, unless it is taken.
func (f *folder) claim(taken map[string]claim, slug, as string, line int, r *record, what string) bool {
	if slug == "" || !catalog.IsSlug(slug) {
		return false
	}
	if first, ok := taken[slug]; ok {
		f.problem(r.file, line, "%s %q is taken: it is %s (%s:%d)", as, slug, first.what, first.file, first.line)
		return false
	}
	taken[slug] = claim{what, r.file, line}
	return true
}

// checkSides checks that both tools of a comparison are active and tested.
func (f *folder) checkSides(r *record, active map[string]*record, owners map[string]string, tools map[string]claim) {
	for _, ref := range r.refs {
		tool, isActive := active[ref.slug]
		owner := owners[ref.slug]
		other, isTaken := tools[ref.slug]
		switch {
		case isActive && tool.tool != nil && !tool.tested:
			f.problem(r.file, ref.line, "%s %q has no score (%s:%d); only tested tools are compared", ref.field, ref.slug, tool.file, tool.line)
		case isActive:
		case owner != "":
			f.problem(r.file, ref.line, "%s %q is a former slug; write %q", ref.field, ref.slug, owner)
		case isTaken:
			f.problem(r.file, ref.line, "%s %q is %s (%s:%d); only active tools are compared", ref.field, ref.slug, other.what, other.file, other.line)
		default:
			f.problem(r.file, ref.line, "%s %q is not a tool of this folder", ref.field, ref.slug)
		}
	}
}

// checkSuccessor checks that the successor of a retired tool is known, if only
// as a former or a retired one.
func (f *folder) checkSuccessor(r *record, tools map[string]claim) {
	for _, ref := range r.refs {
		_, known := tools[ref.slug]
		switch {
		case ref.slug == r.slug:
			f.problem(r.file, ref.line, "successor must be another tool than %q itself", r.slug)
		case !known:
			f.problem(r.file, ref.line, "successor %q is not a tool of this folder", ref.slug)
		}
	}
}
