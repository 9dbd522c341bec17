package synthetic

import (
	"strings"

	"palmares/internal/catalog"
)

// retired generates a retired tool. Some have one of tools, which must not be empty,
// as successor.
func (m *generator) retired(tools []*catalog.Tool, reason catalog.Reason) catalog.Retired {
	name, base := m.name(nil)
	successor := tools[m.below(len(tools))]
	r := catalog.Retired{
		Slug: m.unique(base), Name: name, Category: successor.Category, Reason: reason,
		RetiredAt: m.days[m.between(daysCovered-1500, daysCovered-1)],
	}
	if reason != "mort" && m.chance(70) {
		r.Successor = successor.Slug
	}
	if len(r.Slug)%3 == 0 {
		r.Sources, r.FirstSlug = []string{"https://" + r.Slug + ".example/fin"}, r.Slug+"-beta"
	}
	about := subject{field: fieldOf(successor.Category), name: name, rival: successor.Name}
	r.Note = m.line(pick(m, texts["retired "+string(reason)]), about)
	if m.chance(60) {
		r.Note += "\n\n" + m.line(pick(m, texts["retired endings"]), about)
	}
	// The only markup of a note is the emphasis of the name at its start.
	r.Body = "**" + name + "**" + strings.TrimPrefix(r.Note, name)
	return r
}
