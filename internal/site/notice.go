package site

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A notice tells visitors that the name they search for belongs to a tool that was
// retired or renamed.
type notice struct {
	Name    string // of the retired tool, or the current name
	Href    string
	Retired bool
}

const (
	maxNotices     = 3  // more would push the results down
	maxNoticeWords = 16 // of a search, since every sequence of them is looked up
)

// notices returns a notice for the tool that has the search as an alias, and for
// retired tools whose whole name occurs in it.
func (v *view) notices(search string) []notice {
	search = normalize(search)
	if search == "" {
		return nil
	}
	var list []notice
	if slug, ok := v.snap.Aliases[search]; ok {
		list = append(list, notice{Name: v.snap.Catalog.Tool(slug).Name, Href: "/outils/" + slug})
	}
	words := strings.Split(search, "-")
	words = words[:min(len(words), maxNoticeWords)]
	seen := map[string]bool{}
	for n := len(words); n > 0; n-- { // the longest names first
		for i := range len(words) - n + 1 {
			for _, t := range v.retired[strings.Join(words[i:i+n], "-")] {
				if seen[t.Slug] {
					continue
				}
				if len(list) == maxNotices {
					return list
				}
				seen[t.Slug] = true
				list = append(list, notice{Name: t.Name, Href: v.retiredHref(t.Slug), Retired: true})
			}
		}
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
