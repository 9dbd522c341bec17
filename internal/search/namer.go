package search

import (
	"math"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// A namer finds what a query says about tools that it names.
type namer struct {
	x       *Index
	words   []token
	retired func(key string) *catalog.Retired // nil for none
}

type mention struct {
	words    int // how many it has
	tool     int // -1 if it is retired, or one word of several names
	name     string
	category string
}

// at returns the longest name that begins with the i-th word. Everyday words and those of categories
// are not names on their own.
func (n *namer) at(i int) (m mention, ok bool) {
	for m.words = min(maxNameWords, len(n.words)-i); m.words > 0; m.words-- {
		key := n.text(i, m.words, "")
		if len(key) < 2 || isStop(key) || m.words == 1 && (fillers[key] || n.x.labels[key]) {
			continue
		}
		if at, found := n.x.names.find(key); found {
			m.tool = int(n.x.nameOf[at])
			m.name, m.category = n.x.tools[m.tool].Name, n.x.tools[m.tool].Category
			return m, true
		}
		if n.retired == nil {
			continue
		}
		if t := n.retired(key); t != nil {
			m.tool, m.name, m.category = -1, t.Name, t.Category
			return m, true
		}
	}
	return m, false
}

// partAt returns the first name of which the i-th word is the first one.
func (n *namer) partAt(i int) (m mention, ok bool) {
	key := n.words[i].key
	if len(key) < 3 || len(key) > 63 || isStop(key) || fillers[key] || n.x.labels[key] {
		return m, false
	}
	first, end := n.x.names.prefixed(key)
	for at := first; at < end; at++ {
		if n.x.nameEnds[at]&(1<<len(key)) != 0 {
			t := n.x.tools[n.x.nameOf[at]]
			return mention{1, -1, t.Name, t.Category}, true
		}
	}
	return m, false
}

// text returns some words, folded, with a separator.
func (n *namer) text(i, words int, separator string) string {
	var all []string
	for _, w := range n.words[i : i+words] {
		all = append(all, w.key)
	}
	return strings.Join(all, separator)
}

// articles are what may be between « pas » or « alternative à » and a name.
var articles = set("le la les l de d des du un une pour avec en sur the a an of for any from with using to au aux")

// after returns the first word from the i-th on that is no article.
func (n *namer) after(i int) int {
	for i < len(n.words) && articles[n.words[i].key] {
		i++
	}
	return i
}

// begins returns how many words the phrase has that begins with the i-th word, 0 if it is none of
// phrases.
func (n *namer) begins(i int, phrases []string) int {
	const longest = 4
	text := n.text(i, min(longest, len(n.words)-i), " ") + " "
	for _, phrase := range phrases {
		if strings.HasPrefix(text, phrase+" ") {
			return 1 + strings.Count(phrase, " ")
		}
	}
	return 0
}

// insteadOf are words that ask for alternatives to what follows them, perhaps after others:
// « alternative gratuite à ».
var insteadOf = set(`alternative alternatives equivalent equivalents equivalente concurrent concurrents remplacant remplacants
	remplacement substitut competitor competitors replacement substitute`)

// replacing are those that a name follows at once; those that begin with a word of cheaper ask for
// what costs less.
var (
	replacing = strings.Split("remplacer,remplace,replace,replacing,similaire a,similaires a,similar to,semblable a,a la place de,a la place d,"+
		"au lieu de,au lieu d,instead of,plutot que,rather than,comme,like,moins cher que,moins chere que,moins chers que,moins cheres que,"+
		"cheaper than,less expensive than", ",")
	cheaper = set("moins cheaper less")
)

// readInstead finds a tool whose alternatives are wanted.
func (n *namer) readInstead(r *Request) {
	for i := range n.words {
		from, before := i, n.begins(i, replacing)
		isNoun := insteadOf[n.words[i].key]
		if isNoun {
			before = slices.IndexFunc(n.words[i:min(i+5, len(n.words))], func(w token) bool { return articles[w.key] })
			from = i + max(before, 0)
		}
		at := n.after(i + max(before, 0))
		if before <= 0 || at == len(n.words) {
			continue
		}
		m, ok := n.at(at)
		if !ok && isNoun {
			m, ok = n.partAt(at)
		}
		if !ok {
			continue
		}
		c := Constraint{
			Instead: m.name, Without: n.text(at, m.words, " "), group: n.x.groupOf(m.category),
			start: n.words[from].start, end: n.words[at+m.words-1].end,
		}
		if m.tool >= 0 && (r.Sort() == ByPrice || cheaper[n.words[i].key]) {
			switch euros := float64(n.x.monthly[m.tool]); { // which may not be known
			case euros == 0 || n.x.pricing[m.tool] == free: // nothing costs less
				c.Pricing = "gratuit"
			case !math.IsInf(euros, 1):
				c.PriceMax = (math.Round(euros*100) - 1) / 100
			}
		}
		r.add(c)
		return
	}
}

var (
	versusWords = set("ou vs versus contre or")
	pairWords   = set("et and avec with a to")
	comparing   = set("comparer compare comparaison comparatif comparison difference differences entre between match duel choisir")
)

// versus returns two tools that a query compares: « X ou Y », « comparer X et Y ».
func (n *namer) versus(r *Request) []int {
	isComparing := slices.ContainsFunc(n.words, func(w token) bool { return comparing[w.key] })
	before, end := -1, 0
	for i := 0; i < len(n.words); i++ {
		m, ok := n.at(i)
		if !ok || m.tool < 0 || r.overlaps(n.words[i].start, n.words[i].end) {
			continue
		}
		if before >= 0 && before != m.tool && i == end+1 &&
			(versusWords[n.words[end].key] || isComparing && pairWords[n.words[end].key]) {
			return []int{before, m.tool}
		}
		before, end = m.tool, i+m.words
		i = end - 1
	}
	return nil
}
