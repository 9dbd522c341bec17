package synthetic

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
)

// Two times in three a syllable loses its accent, so that many names differ only in
// accents.
var syllables = []string{
	"bâ", "bé", "bri", "bou", "ça", "cé", "chan", "cli", "cô", "cra", "da", "dè",
	"dia", "dô", "dra", "eau", "él", "em", "fâ", "fê", "fi", "flo", "fou", "fré",
	"ga", "gé", "gla", "grâ", "guî", "hâ", "hé", "îl", "ïo", "ja", "jé", "joû",
	"ka", "ki", "là", "lé", "li", "lou", "lû", "mâ", "mé", "mi", "mô", "mü",
	"na", "né", "nî", "noë", "nu", "œu", "or", "où", "pâ", "pê", "pi", "plu",
	"pré", "qua", "qué", "râ", "ré", "rî", "rô", "rou", "sa", "sé", "si", "sô",
	"tâ", "tè", "ti", "tô", "tra", "tré", "tu", "ùl", "va", "vé", "vî", "vo",
	"vré", "xi", "ya", "zé", "zo", "zoù",
}

var secondWords = []string{
	"IA", "Studio", "Atelier", "Pro", "Labo", "Plus", "Code", "Voix",
	"Images", "Copilote", "direct", "numérique", "Côté Sud", "Étoile", "à la carte", "Express",
	"zéro", "2", "3", "360", "libre", "& Cie", "Agents", "d’été",
}

var (
	unaccented = strings.NewReplacer(
		"â", "a", "à", "a", "ç", "c", "é", "e", "è", "e", "ê", "e", "ë", "e", "î", "i", "ï", "i",
		"ô", "o", "œ", "oe", "û", "u", "ù", "u", "ü", "u",
	)
	dashed = strings.NewReplacer(" ", "-", "\u00a0", "-", "’", "-", "&", "et")
)

// name generates a name and the corresponding slug, which need not be unique: about
// one tool in two hundred has the name of an earlier one on purpose.
func (m *generator) name(earlier []*catalog.Tool) (name, slug string) {
	if len(earlier) > 0 && m.below(200) == 0 {
		twin := earlier[m.below(len(earlier))]
		return twin.Name, twin.Slug
	}
	// Short names are rare, because there are not enough of them for a million tools.
	count, second := 4, false
	switch n := m.below(100); {
	case n < 5:
		count, second = 2, true
	case n < 25:
		count = 3
	case n < 70:
		count, second = 3, true
	}
	for range count {
		syllable := pick(m, syllables)
		if m.chance(67) {
			syllable = unaccented.Replace(syllable)
		}
		name += syllable
	}
	switch n := m.below(100); {
	case n < 90:
		first, size := utf8.DecodeRuneInString(name)
		name = string(unicode.ToUpper(first)) + name[size:]
	case n < 94:
		name = strings.ToUpper(name)
	}
	if second {
		name += pick(m, []string{" ", " ", "\u00a0"}) + pick(m, secondWords)
	}
	return name, dashed.Replace(unaccented.Replace(strings.ToLower(name)))
}

// unique returns the slug itself the first time, and numbered ones after that.
// Active tools, aliases and retired tools share one namespace.
func (m *generator) unique(slug string) string {
	n := m.next[slug]
	if n == 0 {
		m.next[slug] = 2
		return slug
	}
	for ; ; n++ {
		numbered := slug + "-" + strconv.Itoa(n)
		if m.next[numbered] == 0 {
			m.next[slug], m.next[numbered] = n+1, 2
			return numbered
		}
	}
}
