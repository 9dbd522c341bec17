package search

import (
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

// A mention is a name in a query.
type mention struct {
	words    int // how many it has
	tool     int // -1 if it is retired, or one word of several names
	name     string
	category string
}

func (x *Index) isName(key string) bool {
	_, found := x.names.find(key)
	return found && key != ""
}

// at returns the longest name that begins with the i-th word. Everyday words and those of categories
// are not names on their own.
func (n *namer) at(i int) (m mention, ok bool) {
	for m.words = min(maxNameWords, len(n.words)-i); m.words > 0; m.words-- {
		key := n.join(i, m.words)
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

func (n *namer) join(i, words int) string {
	var b strings.Builder
	for _, w := range n.words[i : i+words] {
		b.WriteString(w.key)
	}
	return b.String()
}

// articles are what may be between « pas » or « alternative à » and a name.
var articles = set("le la les l de d des du un une pour avec en sur the a an for any from with using to au aux")

// after returns the first word from the i-th on that is no article.
func (n *namer) after(i int) int {
	for i < len(n.words) && articles[n.words[i].key] {
		i++
	}
	return i
}

// insteadOf are words that ask for alternatives to what follows them.
var insteadOf = set(`alternative alternatives equivalent equivalents equivalente concurrent concurrents remplacant remplacants
	remplacement substitut competitor competitors replacement substitute`)

// replacing are those that a name follows at once.
var replacing = [][]string{
	{"remplacer"},
	{"remplace"},
	{"replace"},
	{"replacing"},
	{"similaire", "a"},
	{"similaires", "a"},
	{"similar", "to"},
	{"semblable", "a"},
	{"a", "la", "place", "de"},
	{"a", "la", "place", "d"},
	{"au", "lieu", "de"},
	{"au", "lieu", "d"},
	{"instead", "of"},
	{"plutot", "que"},
	{"rather", "than"},
	{"comme"},
	{"like"},
}

// readInstead finds a tool whose alternatives are wanted.
func (n *namer) readInstead(r *Request) {
	for i := range n.words {
		from := -1
		if insteadOf[n.words[i].key] {
			for to := i + 1; to < min(i+5, len(n.words)) && from < 0; to++ { // « alternative gratuite à »
				if articles[n.words[to].key] || n.words[to].key == "of" {
					from = to
				}
			}
		}
		for _, words := range replacing {
			if n.has(i, words) {
				from = i
			}
		}
		if from < 0 {
			continue
		}
		at := from
		for at < len(n.words) && (articles[n.words[at].key] || slices.ContainsFunc(replacing, func(words []string) bool { return slices.Contains(words, n.words[at].key) })) {
			at++
		}
		if at == len(n.words) {
			return
		}
		m, ok := n.at(at)
		if !ok && insteadOf[n.words[i].key] {
			m, ok = n.partAt(at)
		}
		if ok {
			r.add(Constraint{
				Instead: m.name, Without: n.text(at, m.words), category: m.category,
				start: n.words[from].start, end: n.words[at+m.words-1].end,
			})
			return
		}
	}
}

// has reports whether words begin with the i-th.
func (n *namer) has(i int, words []string) bool {
	if i+len(words) > len(n.words) {
		return false
	}
	for k, word := range words {
		if n.words[i+k].key != word {
			return false
		}
	}
	return true
}

// text returns some words, folded.
func (n *namer) text(i, words int) string {
	var all []string
	for _, w := range n.words[i : i+words] {
		all = append(all, w.key)
	}
	return strings.Join(all, " ")
}

var (
	excluding = set("sauf hormis excepte except excluding")
	negating  = set("pas not non ni nor")
	lacking   = set("sans without")
	wanting   = set("veux veut voulons voudrais voudrait souhaite souhaitons cherche want need")
	verbs     = set("do does don doesn is isn am are aren can cannot did didn should would will won has have")
	joining   = set("et ou ni or and nor")
	// What is not wanted ends at these, and begins with none of those.
	ending   = set("et ou mais qui que pour avec et ni or and but that which for with gratuit gratuite free payant under")
	notMeant = set(`mal trop tres que seulement forcement cher chere chers cheres tellement encore loin assez tout toujours envie sur
		possible obligatoire payer payant payante gratuit gratuite free paid expensive too very only just sure coder plus moins a pas more less than`)
)

// readWithout finds what a query excludes: names, and what tools are about.
func (n *namer) readWithout(r *Request) {
	for i := range n.words {
		key, next := n.words[i].key, i+1
		onlyNames, isLacking := false, lacking[key]
		switch {
		case isLacking:
			onlyNames = true
		case excluding[key]:
		case n.has(i, []string{"autre", "que"}), n.has(i, []string{"autres", "que"}), n.has(i, []string{"other", "than"}),
			n.has(i, []string{"a", "part"}), n.has(i, []string{"apart", "from"}):
			next++
		case negating[key]:
			onlyNames = key != "pas" && key != "not" || !n.isRefusal(i)
		default:
			continue
		}
		n.exclude(r, i, n.after(next), onlyNames, isLacking)
	}
}

// isRefusal reports whether the negation at the i-th word is about what follows it: « mais pas
// pour adultes » and « je ne veux pas de vidéo » are, « il ne sait pas compter » is not.
func (n *namer) isRefusal(i int) bool {
	if i == 0 {
		return true
	}
	before := n.words[i-1].key
	if wanting[before] {
		return true
	}
	for k := max(0, i-4); k < i; k++ {
		if key := n.words[k].key; key == "ne" || key == "n" || verbs[key] || key == "pourquoi" {
			return false
		}
	}
	return true
}

// exclude reads what is excluded from the at-th word on; the i-th says so.
func (n *namer) exclude(r *Request, i, at int, onlyNames, isLacking bool) {
	from := i
	if from > 0 && (n.words[from-1].key == "mais" || n.words[from-1].key == "but") {
		from--
	}
	for at < len(n.words) {
		m, ok := n.at(at)
		if !ok && (!isLacking || !isOrdinary(newStemmer(), n.words[at].key)) {
			m, ok = n.partAt(at)
		}
		if ok && isLacking && phraseTables().find(newStemmer(), "sans", n.words[at].key) != "" {
			return
		}
		c := Constraint{Without: "", start: n.words[from].start}
		switch {
		case ok:
			c.Without = n.text(at, m.words)
			at += m.words
		case onlyNames:
			return
		default:
			end := n.subjectEnd(at)
			if end == at {
				return
			}
			c.Without, c.About = n.text(at, end-at), true
			at = end
		}
		c.end = n.words[at-1].end
		r.add(c)
		if at == len(n.words) || !joining[n.words[at].key] && !n.words[at-1].stop {
			return
		}
		from = at
		if joining[n.words[at].key] {
			at = n.after(at + 1)
		}
		onlyNames = true // « pas X ou Y » excludes both, « pas X et rapide » does not
	}
}

// subjectEnd returns where what is not wanted ends, which begins with the at-th word.
func (n *namer) subjectEnd(at int) int {
	const longest = 3
	end := at
	for end < min(at+longest, len(n.words)) {
		key := n.words[end].key
		if ending[key] || isStop(key) || end == at && (notMeant[key] || fillers[key]) {
			break
		}
		end++
		if n.words[end-1].stop {
			break
		}
	}
	return end
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

// bar marks the tools that the constraints of a query exclude by their names, or by what they are
// about.
func (x *Index) bar(w *workspace) {
	w.barred = w.barred[:0]
	for _, c := range w.query.Constraints {
		if c.Without == "" {
			continue
		}
		if len(w.barred) == 0 {
			w.barred = append(w.barred, make([]uint64, (len(x.tools)+63)/64)...)
		}
		key := strings.ReplaceAll(c.Without, " ", "")
		for i := range x.names.len() {
			if x.hasWithin(i, key) {
				tool := x.nameOf[i]
				w.barred[tool/64] |= 1 << (tool % 64)
			}
		}
		if c.About {
			x.barSubject(w, strings.Fields(c.Without))
		}
	}
}

// hasWithin reports whether the i-th name contains a key; a short one has to be a word of it.
func (x *Index) hasWithin(i int, key string) bool {
	name := x.names.at(i)
	at := strings.Index(name, key)
	if at < 0 || len(key) > 2 {
		return at >= 0
	}
	isEnd := func(place int) bool {
		return place == 0 || place == len(name) || place < 64 && x.nameEnds[i]&(1<<place) != 0
	}
	return isEnd(at) && isEnd(at+len(key))
}

// barSubject marks the tools that have all words, or their families, in their heads.
func (x *Index) barSubject(w *workspace, words []string) {
	stem := newStemmer()
	var all []uint64
	for _, word := range words {
		set := make([]uint64, len(w.barred))
		terms := x.appendFamily(nil, rootOf(stem.stem(word)), related)
		if term, ok := x.term(stem, word); ok {
			terms = append(terms, queryTerm{term: term})
		}
		for _, t := range terms {
			list := headList(t.term)
			for _, tool := range x.docs[x.start[list]:x.start[list+1]] {
				set[tool/64] |= 1 << (tool % 64)
			}
		}
		for i := range set {
			if all != nil {
				set[i] &= all[i]
			}
		}
		all = set
	}
	for i := range all {
		w.barred[i] |= all[i]
	}
}
