package search

import (
	"slices"
	"strings"
)

var (
	excluding = set("sauf hormis excepte except excluding")
	otherThan = []string{"autre que", "autres que", "other than", "a part", "apart from"}
	negating  = set("pas not non ni nor")
	lacking   = set("sans without")
	wanting   = set("veux veut voulons voudrais voudrait souhaite souhaitons cherche want need")
	telling   = set("ne n pourquoi do does don doesn is isn am are aren can cannot did didn should would will won has have")
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
		case n.begins(i, otherThan) > 0:
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
	isTelling := func(w token) bool { return telling[w.key] }
	return i == 0 || wanting[n.words[i-1].key] || !slices.ContainsFunc(n.words[max(0, i-4):i], isTelling)
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
		c := Constraint{start: n.words[from].start}
		switch {
		case ok:
			c.Without = n.text(at, m.words, " ")
			at += m.words
		case onlyNames:
			return
		default:
			end := n.subjectEnd(at)
			if end == at {
				return
			}
			c.Without, c.About = n.text(at, end-at, " "), true
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
	for end := at; ; end++ {
		if end == len(n.words) || end == at+longest || end > at && n.words[end-1].stop {
			return end
		}
		key := n.words[end].key
		if ending[key] || isStop(key) || end == at && (notMeant[key] || fillers[key]) {
			return end
		}
	}
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
