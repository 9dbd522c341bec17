package search

import (
	"cmp"
	"context"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// Build indexes the names, categories, taglines and reviews of a catalogue, whose tools
// must be sorted by slug and not change afterwards. It uses all cores; a hundred thousand tools
// take seconds, during which it yields the processor after every tool. It returns the
// context's error if the context ends first.
func Build(ctx context.Context, c *catalog.Catalog) (*Index, error) {
	all := make([]int32, len(c.Tools))
	for i := range all {
		all[i] = int32(i)
	}
	categories := categoryTexts(c)
	parts, err := readTools(ctx, c.Tools, all, categories)
	if err != nil {
		return nil, err
	}
	return parts.index(c, categories), nil
}

// readTools reads some of the tools of a catalogue, given by their indexes in ascending order.
func readTools(ctx context.Context, tools []catalog.Tool, which []int32, categories map[string]string) (parts, error) {
	const least = 1_000 // tools that are worth a goroutine
	parts := make(parts, max(min(runtime.GOMAXPROCS(0), len(which)/least), 1))
	var wait sync.WaitGroup
	for i := range parts {
		own := which[len(which)*i/len(parts) : len(which)*(i+1)/len(parts)]
		parts[i] = newBuilder(own, categories)
		wait.Go(func() {
			for _, at := range own {
				if ctx.Err() != nil {
					return
				}
				parts[i].add(&tools[at])
				runtime.Gosched() // otherwise requests would wait for a time slice
			}
		})
	}
	wait.Wait()
	return parts, ctx.Err()
}

// categoryTexts returns, by slug, what is indexed of a category: its label, and the words
// of its slugs that the label does not have, such as "code" for « Développement ».
func categoryTexts(c *catalog.Catalog) map[string]string {
	texts := map[string]string{}
	for _, category := range c.Categories {
		text := category.Label
		known := keyWords(text)
		for _, slug := range append([]string{category.Slug}, category.Aliases...) {
			for _, word := range keyWords(slug) {
				if !slices.Contains(known, word) {
					known = append(known, word)
					text += " " + word
				}
			}
		}
		texts[category.Slug] = text
	}
	return texts
}

// A builder reads tools one by one. Words are numbered in order of appearance; index
// then assigns their positions in the sorted lexicons.
type builder struct {
	which      []int32 // the tools, ascending
	categories map[string]string

	split splitter
	stem  stemmer

	forms  map[string]uint32 // number of each form
	termOf []uint32          // by form
	used   []uint32          // by form, number of occurrences
	stop   []bool            // by form
	terms  map[string]uint32 // number of each stem
	stems  []string          // by term
	tools  []uint32          // by list, number of tools in it

	// By term, the number of reviews with a heading that has it, and of those that have
	// it only there.
	inHeadings, onlyHeadings []uint32
	reviews                  int

	// By term, its number as the first and as the second word of phrases, or 0.
	phrases       *phraseTable
	opens, closes []uint16

	// The current tool.
	field   field
	before  uint16 // what the previous word is in opens
	lengths [fieldCount]int
	counts  [][fieldCount]uint16 // by term; zero for those not in present
	present []uint32

	// The entries of all tools so far, in order. Blocks are released as they are
	// sorted into the index, so that not everything is held twice.
	blocks []*block
	ends   []int // by tool, number of entries up to its end
	count  int
}

type block struct {
	lists   [blockSize]uint32
	weights [blockSize]uint8
	plain   [blockSize]uint8 // the weight without headings; 0 if there is nothing else
}

const blockSize = 1 << 16

func newBuilder(which []int32, categories map[string]string) *builder {
	b := &builder{
		which:      which,
		categories: categories,
		phrases:    phraseTables(),
		stem:       newStemmer(),
		forms:      map[string]uint32{},
		terms:      map[string]uint32{},
		ends:       make([]int, 0, len(which)),
	}
	b.split.emit = b.word
	return b
}

func (b *builder) add(t *catalog.Tool) {
	b.read(inName, t.Name)
	for _, alias := range t.Aliases {
		b.read(inAlias, alias)
	}
	b.read(inCategory, cmp.Or(b.categories[t.Category], t.Category))
	b.read(inTagline, t.Tagline)
	if b.before = 0; t.Body != "" {
		b.reviews++
	}
	markdown.Skim(t.Body, func(text string, heading bool) {
		b.field = inText
		if heading {
			b.field = inHeading
		}
		b.split.add(text)
	})
	b.split.end()
	for _, term := range b.present {
		b.addTerm(term)
		b.counts[term] = [fieldCount]uint16{}
	}
	b.present = b.present[:0]
	b.lengths = [fieldCount]int{}
	b.ends = append(b.ends, b.count)
}

// addTerm adds the entries of a term of the current tool.
func (b *builder) addTerm(term uint32) {
	var weights [fieldCount]float64
	counts := &b.counts[term]
	for f, count := range counts {
		if count > 0 {
			weights[f] = fields[f].weight * saturated(field(f), int(count), b.lengths[f])
		}
	}
	if head := weights[inName] + weights[inAlias] + weights[inCategory] + weights[inTagline]; head > 0 {
		weight := headBytes.of(head)
		b.push(headList(term), weight, weight)
	}
	if weights[inHeading]+weights[inText] == 0 {
		return
	}
	plain := uint8(0)
	if weights[inText] > 0 {
		plain = textBytes.of(weights[inText])
	} else {
		b.onlyHeadings[term]++
	}
	if weights[inHeading] > 0 {
		b.inHeadings[term]++
	}
	b.push(textList(term), textBytes.of(weights[inHeading]+weights[inText]), plain)
}

func (b *builder) read(f field, text string) {
	b.field, b.before = f, 0
	b.split.split(text)
}

func (b *builder) word(word []byte, extra bool) {
	form, ok := b.forms[string(word)]
	if !ok {
		form = b.newForm(string(word))
	}
	b.used[form]++
	// A name may consist of stop words.
	if b.stop[form] && b.field != inName {
		return
	}
	term := b.termOf[form]
	b.occur(term)
	if extra {
		return
	}
	b.lengths[b.field]++
	if b.before > 0 && b.closes[term] > 0 {
		if phrase, ok := b.phrases.joined[[2]uint16{b.before, b.closes[term]}]; ok {
			form := b.formOf(phrase)
			b.used[form]++
			b.occur(b.termOf[form])
		}
	}
	b.before = b.opens[term]
}

// occur counts an occurrence of a term in the current field.
func (b *builder) occur(term uint32) {
	counts := &b.counts[term]
	if *counts == [fieldCount]uint16{} {
		b.present = append(b.present, term)
	}
	if counts[b.field] < 1<<16-1 {
		counts[b.field]++
	}
}

func (b *builder) formOf(word string) uint32 {
	if form, ok := b.forms[word]; ok {
		return form
	}
	return b.newForm(word)
}

func (b *builder) newForm(word string) uint32 {
	form := uint32(len(b.termOf))
	b.forms[word] = form
	stem := b.stem.stem(word)
	term, ok := b.terms[stem]
	if !ok {
		term = uint32(len(b.stems))
		b.terms[stem] = term
		b.stems = append(b.stems, stem)
		b.tools = append(b.tools, 0, 0)
		b.inHeadings = append(b.inHeadings, 0)
		b.onlyHeadings = append(b.onlyHeadings, 0)
		b.opens = append(b.opens, b.phrases.first[stem])
		b.closes = append(b.closes, b.phrases.second[stem])
		b.counts = append(b.counts, [fieldCount]uint16{})
	}
	b.termOf = append(b.termOf, term)
	b.used = append(b.used, 0)
	b.stop = append(b.stop, isStop(word))
	return form
}

func (b *builder) push(list uint32, weight, plain uint8) {
	at := b.count % blockSize
	if at == 0 {
		b.blocks = append(b.blocks, &block{})
	}
	last := b.blocks[len(b.blocks)-1]
	last.lists[at], last.weights[at], last.plain[at] = list, weight, plain
	b.tools[list]++
	b.count++
}

// parts are the builders of some tools, in the order of these.
type parts []*builder

// index makes the index of a catalogue, all of whose tools have been read.
func (p parts) index(c *catalog.Catalog, categories map[string]string) *Index {
	x := &Index{tools: c.Tools, categories: categories, labels: labelWords(c), reviews: p.reviews()}
	x.workspaces.New = x.newWorkspace
	stems := p.words(func(b *builder) map[string]uint32 { return b.terms })
	x.stems = newLexicon(stems)
	terms := p.numbers() // in x.stems
	for i, stem := range stems {
		for k, b := range p {
			if term, ok := b.terms[stem]; ok {
				terms[k][term] = uint32(i)
			}
		}
	}
	x.indexForms(p, terms)
	x.inHeadings = make([]uint32, len(stems))
	p.countHeadings(terms, func(term, reviews uint32) { x.inHeadings[term] += reviews })
	var wait sync.WaitGroup
	wait.Go(func() { x.postings = p.postings(terms, x.plan()) })
	wait.Go(x.indexNames)
	wait.Go(func() { x.indexKin(stems) })
	x.boost = make([]float32, len(x.tools))
	x.pricing = make([]uint8, len(x.tools))
	x.monthly = make([]float32, len(x.tools))
	for i := range x.tools {
		x.indexFigures(i)
	}
	wait.Wait()
	return x
}

// labelWords returns the words of the labels of categories.
func labelWords(c *catalog.Catalog) map[string]bool {
	labels := map[string]bool{}
	for i := range c.Categories {
		for _, word := range keyWords(c.Categories[i].Label) {
			labels[word] = true
		}
	}
	return labels
}

// indexFigures keeps what queries compare of a tool, which would be slow to parse for every
// tool of a large catalogue.
func (x *Index) indexFigures(tool int) {
	t := &x.tools[tool]
	x.boost[tool] = boostOf(t)
	x.pricing[tool] = pricingNumber(t.Pricing)
	euros, ok := catalog.Monthly(t.Price)
	if x.monthly[tool] = float32(toCents(euros)); !ok {
		x.monthly[tool] = float32(math.Inf(1))
	}
}

func (x *Index) indexForms(p parts, terms [][]uint32) {
	forms := p.words(func(b *builder) map[string]uint32 { return b.forms })
	x.forms = newLexicon(forms)
	x.termOf = make([]uint32, len(forms))
	x.used = make([]uint32, len(forms))
	for i, word := range forms {
		for k, b := range p {
			if form, ok := b.forms[word]; ok {
				x.termOf[i] = terms[k][b.termOf[form]]
				x.used[i] += b.used[form]
			}
		}
	}
}

// reviews returns the number of tools that have a review.
func (p parts) reviews() int {
	n := 0
	for _, b := range p {
		n += b.reviews
	}
	return n
}

// words returns the words of all parts, sorted.
func (p parts) words(of func(*builder) map[string]uint32) []string {
	var all []string
	for _, b := range p {
		all = slices.AppendSeq(all, maps.Keys(of(b)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// numbers returns room for a number by part and term.
func (p parts) numbers() [][]uint32 {
	numbers := make([][]uint32, len(p))
	for k, b := range p {
		numbers[k] = make([]uint32, len(b.stems))
	}
	return numbers
}

// countHeadings calls add with the number of reviews that have a term in a heading. terms
// holds, by part, what its terms are in an index.
func (p parts) countHeadings(terms [][]uint32, add func(term, reviews uint32)) {
	for k, b := range p {
		for n, term := range terms[k] {
			add(term, b.inHeadings[n])
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
			head, text := b.sizes(n, plan[term])
			sizes[headList(term)] += head
			sizes[textList(term)] += text
		}
	}
	return sizes
}

// sizes returns the number of postings in the two lists of a term.
func (b *builder) sizes(term int, isPlan bool) (head, text uint32) {
	head, text = b.tools[headList(uint32(term))], b.tools[textList(uint32(term))]
	if isPlan {
		text -= b.onlyHeadings[term]
	}
	return head, text
}

// postings sorts the entries of all parts by list.
func (p parts) postings(terms [][]uint32, plan []bool) postings {
	all := newPostings(p.sizes(terms, plan))
	at := slices.Clone(all.start)
	var wait sync.WaitGroup
	for k, b := range p {
		next := make([]nextPlace, len(b.tools))
		for n, term := range terms[k] {
			head, text := b.sizes(n, plan[term])
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

// appendNames appends the names of a tool.
func appendNames(names []name, tools []catalog.Tool, i int) []name {
	key, ends := nameKey(tools[i].Name)
	names = append(names, name{key, ends, uint32(i)})
	for _, alias := range tools[i].Aliases {
		key, ends := nameKey(alias)
		names = append(names, name{key, ends, uint32(i)})
	}
	return names
}

func sortNames(names []name) {
	slices.SortStableFunc(names, func(a, b name) int { return strings.Compare(a.key, b.key) })
}

func (x *Index) indexNames() {
	all := make([]name, 0, len(x.tools))
	for i := range x.tools {
		all = appendNames(all, x.tools, i)
	}
	sortNames(all)
	keys := make([]string, len(all))
	x.nameOf = make([]uint32, len(all))
	x.nameEnds = make([]uint64, len(all))
	for i, n := range all {
		keys[i], x.nameOf[i], x.nameEnds[i] = n.key, n.tool, n.ends
	}
	x.names = newLexicon(keys)
}
