package search

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
)

const (
	maxSimilar  = 8   // words considered as what was meant
	maxSpelling = 3   // tools whose spelling of it is looked up
	maxNamed    = 100 // tools whose names are compared with them
)

// suggest returns the text as it was understood, if words of it are unknown and the best
// tools have similar ones instead, or "". Accents are those of these tools. A similar word that
// makes a phrase of the next or the previous one is meant in any case.
func (x *Index) suggest(w *workspace, text string, best []uint64) string {
	suggestion, stem := text, newStemmer()
	for i := range w.words {
		q := &w.words[i]
		isFound := func(key uint64) bool { return w.found[toolOf(key)]&(1<<i) != 0 }
		similar := q.similar
		isInPhrase := func(word string) bool {
			return i > 0 && phraseTables().find(stem, w.words[i-1].text, word) != "" ||
				i+1 < len(w.words) && phraseTables().find(stem, word, w.words[i+1].text) != ""
		}
		if at := slices.IndexFunc(similar, isInPhrase); at >= 0 {
			similar = similar[at : at+1]
		} else if !slices.ContainsFunc(best[:min(len(best), maxSpelling)], isFound) {
			continue
		}
		if len(similar) == 0 {
			continue
		}
		forms := map[string]int{} // with their rank
		for rank, word := range similar {
			forms[word] = rank
		}
		meant := ""
		for _, key := range best[:min(len(best), maxSpelling)] {
			meant = x.spelling(x.tools[toolOf(key)], forms)
			if meant != "" {
				break
			}
		}
		if meant == "" {
			meant = x.anySpelling(similar[0])
		}
		suggestion = replaceWord(suggestion, q.text, meant)
	}
	if suggestion == text || len(best) == 0 {
		return ""
	}
	return suggestion
}

// similarlyNamed returns which of the best tools have a word in their name that is similar to an
// unknown one.
func (x *Index) similarlyNamed(w *workspace, best []uint64) (tools []int) {
	for _, key := range best {
		for _, word := range Words(x.tools[toolOf(key)].Name) {
			isSimilar := func(q queryWord) bool { return slices.Contains(q.similar, word) }
			if slices.ContainsFunc(w.words, isSimilar) {
				tools = append(tools, toolOf(key))
				break
			}
		}
	}
	return tools
}

// anySpelling returns how one of the tools that have a word spells it, with accents, or the word.
func (x *Index) anySpelling(word string) string {
	form, ok := x.forms.find(word)
	if !ok {
		return word
	}
	first, end := x.start[headList(x.termOf[form])], x.start[textList(x.termOf[form])+1]
	for _, tool := range x.docs[first:min(end, first+maxSpelling*maxSimilar)] {
		if found := x.spelling(x.tools[tool], map[string]int{word: 0}); found != "" {
			return found
		}
	}
	return word
}

// spelling returns how a tool spells the first of the forms that it has, or "".
func (x *Index) spelling(t *catalog.Tool, forms map[string]int) string {
	found, rank := "", len(forms)
	look := func(text string, keepCase bool) {
		for start, end := range wordsOf(text) {
			key, _ := nameKey(text[start:end])
			if r, ok := forms[key]; ok && r < rank {
				found, rank = text[start:end], r
				if !keepCase {
					found = strings.ToLower(found)
				}
			}
		}
	}
	look(t.Name, true)
	look(t.Tagline, false)
	look(x.categories[t.Category], false)
	Prose(t.Body, func(text string, _ bool) { look(text, false) })
	return found
}

// replaceWord replaces a folded word wherever it occurs in a text.
func replaceWord(text, word, by string) string {
	var b strings.Builder
	last := 0
	for start, end := range wordsOf(text) {
		if key, _ := nameKey(text[start:end]); key == word {
			b.WriteString(text[last:start] + by)
			last = end
		}
	}
	return b.String() + text[last:]
}
