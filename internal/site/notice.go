package site

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"palmares/internal/catalog"
)

// A notice tells visitors that the name they search for belongs to a tool that was
// retired or renamed.
type notice struct {
	Name    string // of the retired tool, or the current name
	Href    string
	Retired bool
}

// notices returns a notice for the tool that has the search as an alias, and for retired tools
// that it names.
func (v *view) notices(search string, retired []*catalog.Retired) (list []notice) {
	if slug, ok := v.snap.Aliases[catalog.ToolKind][normalize(search)]; ok {
		list = append(list, notice{Name: v.snap.Catalog.Tool(slug).Name, Href: "/outils/" + slug})
	}
	for _, t := range retired {
		list = append(list, notice{Name: t.Name, Href: catalog.RetiredKind.Address + t.Slug, Retired: true})
	}
	return list
}

// normalize returns the words of a text in the form of a slug: lower case, without
// accents and punctuation, joined by hyphens.
func normalize(text string) string {
	return strings.Join(strings.FieldsFunc(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
}
