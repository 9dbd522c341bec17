package content

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"palmares/internal/catalog"
	"palmares/internal/problem"
	"palmares/internal/theme"
)

// A rule says what a text of a form must be.
type rule struct {
	isValid func(string) bool
	want    problem.Text // completes the message "must be …"
}

var slugRule = problem.New("slug-rule")

var (
	slugs = rule{catalog.IsSlug, problem.New("want-slug", slugRule)}
	rules = [catalog.Objects + 1]rule{ // none for other forms
		catalog.OwnSlug:    slugs,
		catalog.ToolSlug:   slugs,
		catalog.PageSlug:   slugs,
		catalog.Slugs:      slugs,
		catalog.ToolSlugs:  slugs,
		catalog.UsageSlugs: slugs,
		catalog.Domain:     {isDomain, problem.New("want-domain")},
		catalog.Date:       {catalog.IsDate, problem.New("want-date")},
		catalog.Zone:       {zoneName.MatchString, problem.New("want-zone")},
		catalog.Contact:    {isContact, problem.New("want-contact")},
		catalog.Image:      {isImagePath, problem.New("want-picture")},
		catalog.Colour:     {isColour, problem.New("want-colour")},
		catalog.Digest:     {isDigest, problem.New("want-digest")},
		catalog.Links:      {isURL, problem.New("want-url")},
		catalog.Link:       {isPageURL, problem.New("want-page-url")},
		catalog.Site:       {isSiteURL, problem.New("want-site-url")},
	}
)

// zonePattern is the form of the names of time zones.
const zonePattern = `^[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*$`

var zoneName = regexp.MustCompile(zonePattern)

// quoteForm matches quotations: words or numbers, whatever stands around them.
var quoteForm = regexp.MustCompile(`[\p{L}\p{Nd}]`)

// controlCharacter returns the first control character of s that is not allowed:
// JSON, XML and PostgreSQL each reject some.
func controlCharacter(s, allowed string) (rune, bool) {
	for _, r := range s {
		if unicode.IsControl(r) && !strings.ContainsRune(allowed, r) {
			return r, true
		}
	}
	return 0, false
}

// hidden are the characters that have no place in a short text, as nobody sees them: those that
// break lines, change the direction of the text around them, have no width or look like a space.
// They are Default_Ignorable_Code_Point of Unicode, and some that should be.
var hidden = [][2]rune{
	{0xad, 0xad},
	{0x34f, 0x34f},
	{0x61c, 0x61c},
	{0x115f, 0x1160},
	{0x17b4, 0x17b5},
	{0x180b, 0x180f},
	{0x200b, 0x200f},
	{0x2028, 0x202e},
	{0x2060, 0x206f},
	{0x2800, 0x2800},
	{0x3164, 0x3164},
	{0xfe00, 0xfe0f},
	{0xfeff, 0xfeff},
	{0xffa0, 0xffa0},
	{0xfff0, 0xfffb},
	{0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a},
	{0xe0000, 0xe0fff},
}

func isHidden(r rune) bool {
	return slices.ContainsFunc(hidden, func(span [2]rune) bool { return span[0] <= r && r <= span[1] })
}

// hiddenCharacter returns the first hidden character of s. The one that makes an emoji of the symbol
// before it, or text of an emoji, is none.
func hiddenCharacter(s string) (rune, bool) {
	var before rune
	for _, r := range s {
		isSelector := r == '\ufe0e' || r == '\ufe0f'
		isSymbol := unicode.IsSymbol(before) || unicode.IsPunct(before) || '0' <= before && before <= '9'
		if isHidden(r) && !(isSelector && isSymbol) {
			return r, true
		}
		before = r
	}
	return 0, false
}

func isColour(s string) bool {
	_, ok := theme.Parse(s)
	return ok
}
