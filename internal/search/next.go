package search

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"palmares/internal/catalog"
)

// Next returns the index of c, the catalogue that follows that of x. It is the index that
// Build would make, but only the texts that differ are read: those of the tools that are
// fresh, and of those that are gone. The rest is copied. Next calls Build if a third of the
// tools differ, if a category does, or if a word became part of the plan that reviews share.
func (x *Index) Next(ctx context.Context, c *catalog.Catalog, s catalog.Step) (*Index, error) {
	n := &next{old: x, moved: s.Moved, fresh: s.Fresh}
	for i, to := range s.Moved {
		if to < 0 {
			n.gone = append(n.gone, int32(i))
		}
	}
	const part = 3 // to read a third of the tools, both old and new, takes nearly as long as Build
	if len(n.gone) > len(x.tools)/part || len(n.fresh) > len(c.Tools)/part ||
		!maps.Equal(x.categories, categoryTexts(c)) || !maps.Equal(x.labels, labelWords(c)) {
		return Build(ctx, c)
	}
	if err := n.read(ctx, c); err != nil {
		return nil, err
	}
	n.Index = &Index{tools: c.Tools, categories: x.categories, labels: x.labels, slugs: x.slugs}
	n.workspaces.New = n.newWorkspace
	n.mergeForms()
	n.mergeStems()
	if n.countHeadings(); n.planDiffers() {
		return Build(ctx, c)
	}
	var wait sync.WaitGroup
	wait.Go(n.mergeNames)
	wait.Go(n.indexKin)
	wait.Go(n.copyFigures)
	err := n.mergePostings(ctx)
	wait.Wait()
	if err != nil {
		return nil, err
	}
	return n.Index, nil
}

// A next makes an index from the previous one.
type next struct {
	*Index // being made
	old    *Index

	moved       []int32 // see catalog.Step
	fresh, gone []int32 // tools of the next and of the old catalogue

	added, dropped           parts      // what was read of fresh and gone
	addedTerms, droppedTerms [][]uint32 // of the next and of the old index, by part and term of that part

	newForms  []newForm // sorted
	formsFrom []int32   // see lexicon.merge
	stemsFrom []int32
	termTo    []int32 // by old term, the new one, or -1
}

// A newForm is a form that the old index does not have.
type newForm struct {
	word, stem string
	used       uint32
}

// read reads the texts that differ.
func (n *next) read(ctx context.Context, c *catalog.Catalog) error {
	var wait sync.WaitGroup
	var err error
	wait.Go(func() { n.dropped, err = readTools(ctx, n.old.tools, n.gone, n.old.categories) })
	added, _ := readTools(ctx, c.Tools, n.fresh, n.old.categories) // the same error
	n.added = added
	wait.Wait()
	return err
}

// mergeForms counts the forms again, adds the new ones and drops those that no longer occur.
func (n *next) mergeForms() {
	used := slices.Clone(n.old.used)
	for _, b := range n.dropped {
		for form, word := range b.forms.list {
			at, _ := n.old.forms.find(word)
			used[at] -= b.ofForms[form].used
		}
	}
	unknown := map[string]newForm{}
	for _, b := range n.added {
		for i, word := range b.forms.list {
			form := b.ofForms[i]
			if at, ok := n.old.forms.find(word); ok {
				used[at] += form.used
			} else {
				unknown[word] = newForm{word, b.stems.list[form.term], unknown[word].used + form.used}
			}
		}
	}
	n.newForms = slices.SortedFunc(maps.Values(unknown), func(a, b newForm) int { return strings.Compare(a.word, b.word) })
	words := make([]string, len(n.newForms))
	for i, f := range n.newForms {
		words[i] = f.word
	}
	n.formsFrom = mergedOrder(len(used), func(form int) bool { return used[form] > 0 }, n.old.forms.places(words))
	n.forms = n.old.forms.merge(n.formsFrom, words)
	n.used = make([]uint32, len(n.formsFrom))
	for i, from := range n.formsFrom {
		if from >= 0 {
			n.used[i] = used[from]
		} else {
			n.used[i] = n.newForms[^from].used
		}
	}
}

// mergeStems keeps the stems of the forms.
func (n *next) mergeStems() {
	n.termTo = make([]int32, n.old.stems.len())
	for i := range n.termTo {
		n.termTo[i] = -1
	}
	for _, from := range n.formsFrom {
		if from >= 0 {
			n.termTo[n.old.termOf[from]] = 0
		}
	}
	var added []string
	for _, form := range n.newForms {
		if term, ok := n.old.stems.find(form.stem); ok {
			n.termTo[term] = 0
		} else {
			added = append(added, form.stem)
		}
	}
	slices.Sort(added)
	added = slices.Compact(added)
	n.stemsFrom = mergedOrder(len(n.termTo), func(term int) bool { return n.termTo[term] >= 0 },
		n.old.stems.places(added))
	n.stems = n.old.stems.merge(n.stemsFrom, added)
	for term, from := range n.stemsFrom {
		if from >= 0 {
			n.termTo[from] = int32(term)
		}
	}
	n.termOf = make([]uint32, len(n.formsFrom))
	for i, from := range n.formsFrom {
		if from >= 0 {
			n.termOf[i] = uint32(n.termTo[n.old.termOf[from]])
		} else {
			term, _ := n.stems.find(n.newForms[^from].stem)
			n.termOf[i] = uint32(term)
		}
	}
	n.droppedTerms, n.addedTerms = n.dropped.termsIn(&n.old.stems), n.added.termsIn(&n.stems)
}

// termsIn returns, by part and term of that part, the indexes of stems.
func (p parts) termsIn(stems *lexicon) [][]uint32 {
	terms := make([][]uint32, len(p))
	for k, b := range p {
		for _, stem := range b.stems.list {
			at, _ := stems.find(stem)
			terms[k] = append(terms[k], uint32(at))
		}
	}
	return terms
}

// countHeadings counts the reviews, and those that have a term in a heading.
func (n *next) countHeadings() {
	n.reviews = n.old.reviews - n.dropped.reviews() + n.added.reviews()
	n.inHeadings = make([]uint32, len(n.stemsFrom))
	for term, from := range n.stemsFrom {
		if from >= 0 {
			n.inHeadings[term] = n.old.inHeadings[from]
		}
	}
	n.dropped.countHeadings(n.droppedTerms, func(term, reviews uint32) {
		if to := n.termTo[term]; to >= 0 {
			n.inHeadings[to] -= reviews
		}
	})
	n.added.countHeadings(n.addedTerms, func(term, reviews uint32) { n.inHeadings[term] += reviews })
}

// planDiffers reports whether postings that would be copied depend on the plan of reviews,
// which has got another word or lost one.
func (n *next) planDiffers() bool {
	kept := slices.Clone(n.inHeadings) // without those added
	n.added.countHeadings(n.addedTerms, func(term, reviews uint32) { kept[term] -= reviews })
	for term, from := range n.stemsFrom {
		if kept[term] > 0 &&
			isPlan(int(n.old.inHeadings[from]), n.old.reviews) != isPlan(int(n.inHeadings[term]), n.reviews) {
			return true
		}
	}
	return false
}

// mergePostings copies the lists, without the tools that are gone and with the fresh ones.
func (n *next) mergePostings(ctx context.Context) error {
	fresh := n.added.postings(n.addedTerms, n.plan())
	gone := n.dropped.sizes(n.droppedTerms, n.old.plan())
	sizes := make([]uint32, 2*len(n.stemsFrom))
	for list := range sizes {
		sizes[list] = fresh.start[list+1] - fresh.start[list]
		if old, ok := n.oldList(list); ok {
			sizes[list] += n.old.start[old+1] - n.old.start[old] - gone[old]
		}
	}
	n.postings = newPostings(sizes)
	parts := runtime.GOMAXPROCS(0)
	var wait sync.WaitGroup
	for k := range parts {
		wait.Go(func() {
			end := n.listAt(len(n.docs) * (k + 1) / parts)
			for list := n.listAt(len(n.docs) * k / parts); list < end && ctx.Err() == nil; list++ {
				n.mergeList(list, &fresh)
				runtime.Gosched()
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}

// oldList returns the list of the same term in the old index.
func (n *next) oldList(list int) (old int, ok bool) {
	from := n.stemsFrom[list/2]
	return 2*int(from) + list%2, from >= 0
}

// listAt returns the first list that begins at a posting or after it.
func (n *next) listAt(posting int) int {
	return sort.Search(len(n.start)-1, func(list int) bool { return int(n.start[list]) >= posting })
}

func (n *next) mergeList(list int, fresh *postings) {
	const none = 1<<32 - 1 // what -1 is, too
	at := n.start[list]
	added, addedEnd := fresh.start[list], fresh.start[list+1]
	limit := func() uint32 {
		if added < addedEnd {
			return fresh.docs[added]
		}
		return none
	}
	before := limit()
	if old, ok := n.oldList(list); ok {
		first, end := n.old.start[old], n.old.start[old+1]
		docs, weight := n.old.docs[first:end], n.old.weight[first:end]
		for i, doc := range docs {
			to := uint32(n.moved[doc])
			if to == none {
				continue
			}
			for before < to {
				n.docs[at], n.weight[at] = before, fresh.weight[added]
				at++
				added++
				before = limit()
			}
			n.docs[at], n.weight[at] = to, weight[i]
			at++
		}
	}
	copy(n.docs[at:], fresh.docs[added:addedEnd])
	copy(n.weight[at:], fresh.weight[added:addedEnd])
}

func (n *next) mergeNames() {
	var added []name
	for _, tool := range n.fresh {
		added = appendNames(added, n.tools, int(tool))
	}
	added, keys := sortNames(added)
	places := make([]int, len(added))
	old := n.old
	at := 0
	for i, name := range added {
		if i == 0 || name.key != keys[i-1] {
			at, _ = old.names.find(name.key)
		}
		for at < old.names.len() && n.moved[old.nameOf[at]] < int32(name.tool) && old.names.at(at) == name.key {
			at++
		}
		places[i] = at
	}
	order := mergedOrder(old.names.len(), func(i int) bool { return n.moved[old.nameOf[i]] >= 0 }, places)
	n.names = old.names.merge(order, keys)
	n.nameOf = make([]uint32, len(order))
	n.nameEnds = make([]uint64, len(order))
	for i, from := range order {
		if from >= 0 {
			n.nameOf[i], n.nameEnds[i] = uint32(n.moved[old.nameOf[from]]), old.nameEnds[from]
		} else {
			n.nameOf[i], n.nameEnds[i] = added[^from].tool, added[^from].ends
		}
	}
}

// copyFigures copies what is known of each tool.
func (n *next) copyFigures() {
	n.boost = make([]float32, len(n.tools))
	n.pricing = make([]uint8, len(n.tools))
	n.group = make([]uint16, len(n.tools))
	n.monthly = make([]float32, len(n.tools))
	for tool, to := range n.moved {
		if to >= 0 {
			n.boost[to], n.pricing[to], n.monthly[to] = n.old.boost[tool], n.old.pricing[tool], n.old.monthly[tool]
			n.group[to] = n.old.group[tool]
		}
	}
	for _, tool := range n.fresh {
		n.indexFigures(int(tool))
	}
}
