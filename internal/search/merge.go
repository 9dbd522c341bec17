package search

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"palmares/internal/catalog"
)

// parts are the builders of some tools, in the order of these.
type parts []*builder

// index makes the index of a catalogue, all of whose tools have been read.
func (p parts) index(c *catalog.Catalog, categories map[string]string) *Index {
	x := &Index{tools: c.Tools, categories: categories, labels: labelWords(c), slugs: categorySlugs(c), reviews: p.reviews()}
	x.workspaces.New = x.newWorkspace
	terms := p.indexWords(x)
	x.inHeadings = make([]uint32, x.stems.len())
	p.countHeadings(terms, func(term, reviews uint32) { x.inHeadings[term] += reviews })
	var wait sync.WaitGroup
	wait.Go(func() { x.postings = p.postings(terms, x.plan()) })
	wait.Go(x.indexNames)
	wait.Go(x.indexKin)
	x.boost = make([]float32, len(x.tools))
	x.pricing = make([]uint8, len(x.tools))
	x.group = make([]uint16, len(x.tools))
	x.monthly = make([]float32, len(x.tools))
	for i := range x.tools {
		x.indexFigures(i)
	}
	wait.Wait()
	return x
}

func categorySlugs(c *catalog.Catalog) []string {
	slugs := []string{}
	for i := range c.Categories {
		slugs = append(slugs, c.Categories[i].Slug)
	}
	slices.Sort(slugs)
	return slugs
}

func labelWords(c *catalog.Catalog) map[string]bool {
	labels := map[string]bool{}
	for i := range c.Categories {
		for _, word := range Words(c.Categories[i].Label) {
			labels[word] = true
		}
	}
	return labels
}

// groupOf returns the number of a category: its place in slugs, or else their number.
func (x *Index) groupOf(category string) uint16 {
	if at, ok := slices.BinarySearch(x.slugs, category); ok {
		return uint16(at)
	}
	return uint16(len(x.slugs))
}

// indexFigures keeps what queries compare of a tool, which would be slow to parse for every
// tool of a large catalogue.
func (x *Index) indexFigures(tool int) {
	t := x.tools[tool]
	x.boost[tool] = boostOf(t)
	x.pricing[tool] = pricingNumber(t.Pricing)
	x.group[tool] = x.groupOf(t.Category)
	x.monthly[tool] = float32(math.Inf(1))
	if euros, ok := catalog.Monthly(t.Pricing, t.Price); ok {
		x.monthly[tool] = float32(toCents(euros))
	}
}

// indexWords sorts the words of all parts. It returns, by part and term of that part, the terms of
// the index.
func (p parts) indexWords(x *Index) (terms [][]uint32) {
	var wait sync.WaitGroup
	wait.Go(func() {
		stems, places := p.sortWords(func(b *builder) *words { return &b.stems })
		x.stems, terms = newLexicon(stems), places
	})
	words, forms := p.sortWords(func(b *builder) *words { return &b.forms })
	x.forms = newLexicon(words)
	wait.Wait()
	x.termOf = make([]uint32, len(words))
	x.used = make([]uint32, len(words))
	for k, b := range p {
		for i, form := range forms[k] {
			x.termOf[form] = terms[k][b.ofForms[i].term]
			x.used[form] += b.ofForms[i].used
		}
	}
	return terms
}

// sortWords returns the words of all parts, sorted, and where those of each part are among them.
func (p parts) sortWords(of func(*builder) *words) (sorted []string, places [][]uint32) {
	var all []string
	for _, b := range p {
		all = append(all, of(b).list...)
	}
	place := make([]uint32, len(all))
	for _, i := range sortedOrder(all) {
		if len(sorted) == 0 || sorted[len(sorted)-1] != all[i] {
			sorted = append(sorted, all[i])
		}
		place[i] = uint32(len(sorted) - 1)
	}
	for _, b := range p {
		n := len(of(b).list)
		places = append(places, place[:n])
		place = place[n:]
	}
	return sorted, places
}

// reviews returns the number of tools that have a review.
func (p parts) reviews() int {
	n := 0
	for _, b := range p {
		n += b.reviews
	}
	return n
}

// countHeadings calls add with the number of reviews that have a term in a heading. terms
// holds, by part, what its terms are in an index.
func (p parts) countHeadings(terms [][]uint32, add func(term, reviews uint32)) {
	for k, b := range p {
		for n, term := range terms[k] {
			add(term, b.terms[n].inHeadings)
		}
	}
}

// plan returns the terms that are part of the plan of reviews.
func (x *Index) plan() []bool {
	plan := make([]bool, len(x.inHeadings))
	for term, n := range x.inHeadings {
		plan[term] = isPlan(int(n), x.reviews)
	}
	return plan
}

// isPlan reports whether a word of headings belongs to the plan that the reviews of a
// catalogue share, such as « Points forts ». It says nothing about a tool.
func isPlan(inHeadings, reviews int) bool { return inHeadings > max(5, reviews/10) }

// sizes returns the number of postings by list of an index.
func (p parts) sizes(terms [][]uint32, plan []bool) []uint32 {
	sizes := make([]uint32, 2*len(plan))
	for k, b := range p {
		for n, term := range terms[k] {
			head, text := b.terms[n].sizes(plan[term])
			sizes[headList(term)] += head
			sizes[textList(term)] += text
		}
	}
	return sizes
}

// sizes returns the number of postings in the two lists of a term.
func (t *termData) sizes(isPlan bool) (head, text uint32) {
	if isPlan {
		return t.inHead, t.inReview - t.onlyHeadings
	}
	return t.inHead, t.inReview
}

// postings sorts the entries of all parts by list.
func (p parts) postings(terms [][]uint32, plan []bool) postings {
	all := newPostings(p.sizes(terms, plan))
	at := slices.Clone(all.start)
	var wait sync.WaitGroup
	for k, b := range p {
		next := make([]nextPlace, 2*len(b.terms))
		for n, term := range terms[k] {
			head, text := b.terms[n].sizes(plan[term])
			next[headList(uint32(n))] = nextPlace{at[headList(term)], false}
			next[textList(uint32(n))] = nextPlace{at[textList(term)], plan[term]}
			at[headList(term)] += head
			at[textList(term)] += text
		}
		wait.Go(func() { b.place(&all, next) })
	}
	wait.Wait()
	return all
}

// A nextPlace is where the next posting of a list goes.
type nextPlace struct {
	at    uint32
	plain bool // headings are left out
}

// place copies the entries to their places and releases them.
func (b *builder) place(to *postings, next []nextPlace) {
	tool := 0
	for entry := range b.count {
		for entry >= b.ends[tool] {
			tool++
		}
		from, i := b.blocks[entry/blockSize], entry%blockSize
		next, weight := &next[from.lists[i]], from.weights[i]
		if next.plain {
			weight = from.plain[i]
		}
		if weight > 0 {
			to.docs[next.at], to.weight[next.at] = uint32(b.which[tool]), weight
			next.at++
		}
		if i == blockSize-1 {
			b.blocks[entry/blockSize] = nil
			runtime.Gosched()
		}
	}
}

// A name is a name or former slug of a tool.
type name struct {
	key  string
	ends uint64
	tool uint32
}

func appendNames(names []name, tools []*catalog.Tool, i int) []name {
	key, ends := nameKey(tools[i].Name)
	names = append(names, name{key, ends, uint32(i)})
	for _, alias := range tools[i].Aliases {
		key, ends := nameKey(alias)
		names = append(names, name{key, ends, uint32(i)})
	}
	return names
}

// sortNames returns names sorted by key, those with the same key in their order, and the keys.
func sortNames(names []name) (sorted []name, keys []string) {
	keys = make([]string, len(names))
	for i := range names {
		keys[i] = names[i].key
	}
	sorted = make([]name, len(names))
	for i, at := range sortedOrder(keys) {
		sorted[i] = names[at]
	}
	for i := range sorted {
		keys[i] = sorted[i].key
	}
	return sorted, keys
}

func (x *Index) indexNames() {
	all := make([]name, 0, len(x.tools))
	for i := range x.tools {
		all = appendNames(all, x.tools, i)
	}
	sorted, keys := sortNames(all)
	x.names = newLexicon(keys)
	x.nameOf = make([]uint32, len(all))
	x.nameEnds = make([]uint64, len(all))
	for i, n := range sorted {
		x.nameOf[i], x.nameEnds[i] = n.tool, n.ends
	}
}
