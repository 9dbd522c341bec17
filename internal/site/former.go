package site

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A former is a name that somebody looks for and the list no longer has: the tool
// is gone, or it goes by another name now.
type former struct {
	Name string
	Href string
	Gone bool
}

const (
	formersShown = 3  // more would bury the results under obituaries
	formerWords  = 16 // of a search are looked at; all runs of them are
)

// formers finds what a search may mean besides the tools it lists: the tool whose
// former address it is, and retired tools whose whole name stands in it.
func (e *edition) formers(text string) []former {
	text = folded(text)
	if text == "" {
		return nil
	}
	var list []former
	if now, ok := e.snap.Alias(text); ok {
		list = append(list, former{Name: e.snap.Catalog.Tool(now).Name, Href: "/outils/" + now})
	}
	words := strings.Split(text, "-")
	words = words[:min(len(words), formerWords)]
	seen := map[string]bool{}
	for n := len(words); n > 0; n-- { // the longest names first
		for i := range len(words) - n + 1 {
			for _, gone := range e.retired[strings.Join(words[i:i+n], "-")] {
				if seen[gone.Slug] {
					continue
				}
				if len(list) == formersShown {
					return list
				}
				seen[gone.Slug] = true
				list = append(list, former{Name: gone.Name, Href: e.obituary(gone.Slug), Gone: true})
			}
		}
	}
	return list
}

// folded writes words the way a slug has them: without case, accents and signs.
func folded(text string) string {
	return strings.Join(strings.FieldsFunc(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
}
