package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// A field is an indexed part of a tool.
type field int

const (
	inName  field = iota
	inAlias       // a former slug
	inCategory
	inTagline
	inUsage   // the label of one
	inSummary // the verdict, and strong points
	inHeading
	inText
	fieldCount
)

// fields holds the weight of a word in each field, the usual number of words (in a longer
// field each word counts less), and how quickly repetition saturates, as k1 of BM25. Each
// field is saturated on its own before the weights are added, so that a review that
// repeats a word never counts as much as a name. The usual lengths are constants, not
// averages, so that the score of a tool does not change when another tool is published.
var fields = [fieldCount]struct{ weight, usual, k1 float64 }{
	inName:     {8, 2, 1.2},
	inAlias:    {6, 2, 1.2},
	inCategory: {4, 3, 1.2},
	inTagline:  {4, 10, 1.2},
	inUsage:    {3, 4, 1.2},
	inSummary:  {1, 40, 1.2},
	inHeading:  {2, 12, 1.2},
	inText:     {1, 300, 2},
}

// saturated returns the part, from 0 to 1, of a field's weight for a word that
// occurs count times in a field of length words.
func saturated(f field, count, length int) float64 {
	const b = 0.5 // how much the length matters, as in BM25
	norm := fields[f].k1 * (1 - b + b*float64(length)/fields[f].usual)
	return float64(count) / (float64(count) + norm)
}

// Every term has two lists of tools: those that have it in their head (name, category,
// tagline, usages) and those that have it in their review. Words that are in every review may
// say much in a tagline, so each list has its own frequency.
func headList(term uint32) uint32 { return 2 * term }
func textList(term uint32) uint32 { return 2*term + 1 }

// Weights are stored in a byte, on a quadratic scale, which keeps small weights
// apart: a word in a name weighs many times one in a category.
type weightScale struct {
	most  float64
	table [256]float32
}

var (
	headBytes = newWeightScale(inName, inAlias, inCategory, inTagline, inUsage)
	textBytes = newWeightScale(inSummary, inHeading, inText)
)

func newWeightScale(of ...field) *weightScale {
	s := &weightScale{}
	for _, f := range of {
		s.most += fields[f].weight
	}
	for b := range s.table {
		s.table[b] = float32(s.most * float64(b*b) / (255 * 255))
	}
	return s
}

func (s *weightScale) of(weight float64) uint8 {
	return uint8(max(math.Round(255*math.Sqrt(weight/s.most)), 1))
}

// boostOf returns a preference for tested tools, high scores and well-known tools among tools that
// match about as well.
func boostOf(t *catalog.Tool) float32 {
	boost := 1.0
	if t.Score != nil {
		boost += 0.02 + *t.Score*scoreBoost
	}
	if t.Mainstream {
		boost += mainstreamBoost
	}
	if t.Tier > 0 && t.Tier < 3 {
		boost += tierBoost / float64(t.Tier)
	}
	return float32(boost)
}

const (
	scoreBoost      = 0.004 // a point
	mainstreamBoost = 0.015
	tierBoost       = 0.01 // of the first
)

// rate turns scores into ratings, which order the tools of one level: tools that lack a
// word come later. The constant makes the boost, see collect, count for tools that match by name
// only, such as by a single letter. It returns the best rating of the tools that have enough of the query.
func (x *Index) rate(w *workspace, enough float32) float32 {
	best := float32(0)
	whole := max(w.whole(), 1e-6)
	for _, tool := range w.candidates {
		have := w.weights[w.found[tool]]
		rating := x.favour(w, tool, w.score[tool]*(have/whole))
		w.score[tool] = rating
		if have >= enough {
			best = max(best, rating)
		}
	}
	for _, tool := range w.named {
		x.addCandidate(w, int(tool))
	}
	return best
}

func (x *Index) favour(w *workspace, tool uint32, score float32) float32 {
	rating := score + 0.1
	if w.preferFree && x.pricing[tool] == free {
		rating *= freeFactor
	}
	return rating
}

const (
	voters       = 20      // tools that say which categories a query is about
	foreign      = 0.9     // the rating of a tool of a category that none of them has
	asMany       = 2.0 / 3 // of the votes for the first category: a query may be about two
	worthWeighed = 0.4     // of the best rating
)

// weighCategories lowers the ratings of tools whose categories few of the best have: what most good
// answers have in common is what is asked for. It does not choose between categories that many have.
func (x *Index) weighCategories(w *workspace) {
	votes := make([]float32, len(x.slugs)+1)
	most, top := float32(0), float32(0)
	for _, key := range best(w.keys, min(voters, len(w.keys))) {
		group, rating := x.group[toolOf(key)], w.score[toolOf(key)]
		votes[group] += rating * rating
		most, top = max(most, votes[group]), max(top, rating)
	}
	if most == 0 {
		return
	}
	for n, key := range w.keys {
		if i := toolOf(key); w.score[i] >= top*worthWeighed {
			w.score[i] *= foreign + (1-foreign)*min(1, votes[x.group[i]]/(most*asMany))
			w.keys[n] = sortKey(w.level[i], w.score[i], i)
		}
	}
}

// addCandidate adds a tool that has no word of the query, unless it is known already.
func (x *Index) addCandidate(w *workspace, i int) {
	if w.score[i] == 0 && x.allows(w, i) {
		w.score[i] = x.favour(w, uint32(i), 0)
		w.candidates = append(w.candidates, uint32(i))
	}
}

const freeFactor = 1.25

// The confidence that a term is the one that was meant.
const (
	exact      = 1.0
	joined     = 0.9 // with the next word: "chat gpt" for chatgpt
	related    = 0.8 // of the same family: transcrire for transcription
	synonymous = 0.6
	evoked     = 0.3 // what those who use one word often need: compte rendu for transcrire
	unfinished = 0.5
	mistyped   = 0.4 // halved for a second typo, and if also unfinished

	partOfPhrase = 0.2 // a word of a phrase, without the other
)

// add adds the value of a word to every tool that has one of its terms (the best of
// them), and sets the bit of the word. A word counts more the fewer tools have it, as in
// BM25. It returns how much the word tells tools apart; a word of a phrase does not make
// it a common one.
func (x *Index) add(w *workspace, q *queryWord, bit uint16) float32 {
	factor := float32(1)
	if q.filler {
		factor = fillerFactor
	}
	found, onlyParts := 0, 0
	for _, list := range []struct {
		of    func(uint32) uint32
		scale *weightScale
	}{{headList, headBytes}, {textList, textBytes}} {
		w.touched = w.touched[:0]
		meant := x.addTerms(w, q.terms, list.of, list.scale)
		for i, doc := range w.touched {
			w.score[doc] += factor * w.best[doc]
			w.best[doc] = 0
			if i < meant {
				found += w.find(doc, bit)
			} else {
				onlyParts += w.find(doc, bit)
			}
		}
	}
	if found == 0 {
		found = onlyParts
	}
	return x.idf(found)
}

// find sets the bit of a word that a tool has, and returns 1 if it was not set before.
func (w *workspace) find(tool uint32, bit uint16) int {
	before := w.found[tool]
	if before&bit != 0 {
		return 0
	}
	if before == 0 {
		w.candidates = append(w.candidates, tool)
	}
	w.found[tool] = before | bit
	return 1
}

// setLevel records how the name of a tool matches.
func (w *workspace) setLevel(tool uint32, level uint8) {
	if w.level[tool] == 0 {
		w.named = append(w.named, tool)
	}
	w.level[tool] = max(w.level[tool], level)
}

// addTerms collects in w.touched the tools of one kind of list, with their values in
// w.best. Kin are as rare as they are, but no rarer than the word itself: a common word
// of its family does not make a word common. It returns how many of the tools, the first
// ones, have more than a word of a phrase.
func (x *Index) addTerms(w *workspace, terms []queryTerm, listOf func(uint32) uint32, scale *weightScale) (meant int) {
	for _, t := range terms {
		if !t.kin {
			x.addList(w, listOf(t.term), t.confidence, scale)
		}
	}
	idf := x.idf(len(w.touched)) // the highest, if the word itself is unknown
	for _, doc := range w.touched {
		w.best[doc] *= idf
	}
	for _, isPart := range []bool{false, true} {
		if isPart {
			meant = len(w.touched)
		}
		for _, t := range terms {
			if t.kin && (t.confidence <= partOfPhrase) == isPart {
				list := listOf(t.term)
				own := min(idf, x.idf(int(x.start[list+1]-x.start[list])))
				x.addList(w, list, t.confidence*max(own, 1e-6), scale)
			}
		}
	}
	return meant
}

func (x *Index) addList(w *workspace, list uint32, factor float32, scale *weightScale) {
	first, end := x.start[list], x.start[list+1]
	docs, weight := x.docs[first:end], x.weight[first:end]
	for k, doc := range docs {
		value := factor * scale.table[weight[k]]
		if before := w.best[doc]; before == 0 {
			w.touched = append(w.touched, doc)
			w.best[doc] = value
		} else if value > before {
			w.best[doc] = value
		}
	}
}

// idf returns how much a word tells that have tools have: the inverse document frequency
// of BM25.
func (x *Index) idf(have int) float32 {
	all, some := float64(len(x.tools)), float64(have)
	return float32(math.Log(1 + (all-some+0.5)/(some+0.5)))
}

// The levels of a match by name; higher ones come first.
const (
	nameInQuery    = 1 + iota // the query contains the name
	namePrefix                // the name begins with the query
	nameWordPrefix            // the same, and a word ends there
	nameFolded                // equal, ignoring accents and punctuation
	nameEqual                 // equal, ignoring case
)

// matchNames sets the level of the names that equal or begin with the text, and
// reports whether there are any.
func (x *Index) matchNames(w *workspace, text string) bool {
	key, _ := nameKey(text)
	if key == "" {
		return false
	}
	open := isOpen(text)
	found := false
	first, end := x.names.prefixed(key)
	for i := first; i < end; i++ {
		level := uint8(namePrefix)
		switch tool := x.nameOf[i]; {
		case len(x.names.at(i)) == len(key) && strings.EqualFold(x.tools[tool].Name, strings.TrimSpace(text)):
			level = nameEqual
		case len(x.names.at(i)) == len(key):
			level = nameFolded
		case len(key) < 64 && x.nameEnds[i]&(1<<len(key)) != 0:
			level = nameWordPrefix
		case !open:
			continue
		}
		w.setLevel(x.nameOf[i], level)
		found = true
	}
	return found
}

// Named returns the one tool that has a text as its name or former slug, ignoring case, accents
// and punctuation.
func (x *Index) Named(text string) (tool int, ok bool) {
	key, _ := nameKey(text)
	first, found := x.names.find(key)
	if key == "" || !found {
		return 0, false
	}
	for i := first; i < x.names.len() && x.names.at(i) == key; i++ {
		if x.nameOf[i] != x.nameOf[first] {
			return 0, false
		}
	}
	return int(x.nameOf[first]), true
}

// The limits of the names looked up within a query.
const (
	maxNameWords   = 6
	maxWordsWithin = 2 * maxWords // more than maxWords, because stop words count here
)

// namesWithin calls found for the tools whose names occur in a text among other
// words: a query for the price of a tool means that tool, whether or not its review
// has the word "price". Where names overlap, the longest one from the left counts.
// Stop words, everyday words, words of categories and single letters are not matched with
// names. It reports whether other words than these remain.
func (x *Index) namesWithin(text string, found func(tool uint32)) (others bool) {
	words := Words(text)
	words = words[:min(len(words), maxWordsWithin)]
	for i := 0; i < len(words); i++ {
		n := min(maxNameWords, len(words)-i)
		for ; n > 0; n-- {
			key := strings.Join(words[i:i+n], "")
			if len(key) < 2 || isStop(key) || n == 1 && len(words) > 1 && (fillers[key] || x.labels[key]) {
				continue
			}
			at, ok := x.names.find(key)
			if !ok {
				continue
			}
			for ; at < x.names.len() && x.names.at(at) == key; at++ {
				found(x.nameOf[at])
			}
			i += n - 1
			break
		}
		others = others || n == 0 && !isStop(words[i]) && !fillers[words[i]]
	}
	return others
}

// sortKey packs the order of a hit into a number, larger for better hits: 4 bits of
// level, 28 of score, and 32 for the slug, which is the order of the catalogue. A
// score is at most that of 12 words of weight 25 and idf 15 (one tool in a million
// has them), which leaves steps of 1/32768.
func sortKey(level uint8, score float32, tool int) uint64 {
	const steps = 1 << 15
	fixed := min(uint64(float64(score)*steps), 1<<28-1)
	return uint64(level)<<60 | fixed<<32 | uint64(math.MaxUint32-uint32(tool))
}

func toolOf(key uint64) int { return int(math.MaxUint32 - uint32(key)) }

// best returns the n largest keys, in descending order. It may reorder keys.
func best(keys []uint64, n int) []uint64 {
	const few = 256
	if n > few || n >= len(keys)/8 { // then sorting all of them is as fast
		slices.Sort(keys)
		slices.Reverse(keys)
		return keys[:n]
	}
	descending := func(a, b uint64) int { return cmp.Compare(b, a) }
	top := make([]uint64, 0, n+1)
	for _, key := range keys {
		if len(top) < n || n > 0 && key > top[n-1] {
			at, _ := slices.BinarySearchFunc(top, key, descending)
			top = slices.Insert(top, at, key)[:min(len(top)+1, n)]
		}
	}
	return top
}
