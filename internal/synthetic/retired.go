package synthetic

import (
	"strings"

	"palmares/internal/catalog"
)

// retired invents the obituary of a tool that is none of tools, of which there is
// at least one. Some name the tool that took over.
func (m *maker) retired(tools []catalog.Tool, reason catalog.Reason) catalog.Retired {
	name, base := m.name(nil)
	heir := &tools[m.below(len(tools))]
	r := catalog.Retired{
		Slug: m.claim(base), Name: name, Category: heir.Category, Reason: reason,
		RetiredAt: m.days[m.between(daysCovered-1500, daysCovered-1)],
	}
	if reason != "mort" && m.chance(70) {
		r.Successor = heir.Slug
	}
	about := subject{trade: tradeOf(heir.Category), name: name, rival: heir.Name}
	r.Note = m.line(pick(m, obituaries[reason]), about)
	if m.chance(60) {
		r.Note += "\n\n" + m.line(pick(m, condolences), about)
	}
	// The only markup of an obituary is the emphasis of the name that opens it.
	r.Body = "**" + name + "**" + strings.TrimPrefix(r.Note, name)
	return r
}
