package search

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
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
func readTools(ctx context.Context, tools []*catalog.Tool, which []int32, categories map[string]string) (parts, error) {
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
				parts[i].add(tools[at])
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

	forms   words
	ofForms []formData // by form
	stems   words
	terms   []termData // by stem
	phrases *phraseTable
	reviews int

	// The current tool.
	field   field
	before  uint16 // what the previous word opens
	lengths [fieldCount]int
	present []uint32 // terms

	// The entries of all tools so far, in order. Blocks are released as they are
	// sorted into the index, so that not everything is held twice.
	blocks []*block
	ends   []int // by tool, number of entries up to its end
	count  int
}

type formData struct {
	term uint32
	used uint32 // number of occurrences
	stop bool
}

// termData is what is known of a term. It is all in one place, because terms are looked up at
// random.
type termData struct {
	counts        [fieldCount]uint16 // in the current tool; zero if it is not present
	opens, closes uint16             // its number as the first and as the second word of phrases, or 0

	// Numbers of tools that have it in their head, in their review, in a heading of it, and only
	// there.
	inHead, inReview, inHeadings, onlyHeadings uint32
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
		forms:      newWords(),
		stems:      newWords(),
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
	b.before = 0
	if t.Body != "" {
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
	}
	b.present = b.present[:0]
	b.lengths = [fieldCount]int{}
	b.ends = append(b.ends, b.count)
}

// addTerm adds the entries of a term of the current tool.
func (b *builder) addTerm(number uint32) {
	term := &b.terms[number]
	var weights [fieldCount]float64
	for f, count := range term.counts {
		if count > 0 {
			weights[f] = fields[f].weight * saturated(field(f), int(count), b.lengths[f])
		}
	}
	term.counts = [fieldCount]uint16{}
	if head := weights[inName] + weights[inAlias] + weights[inCategory] + weights[inTagline]; head > 0 {
		weight := headBytes.of(head)
		b.push(headList(number), weight, weight)
		term.inHead++
	}
	if weights[inHeading]+weights[inText] == 0 {
		return
	}
	plain := uint8(0)
	if weights[inText] > 0 {
		plain = textBytes.of(weights[inText])
	} else {
		term.onlyHeadings++
	}
	if weights[inHeading] > 0 {
		term.inHeadings++
	}
	b.push(textList(number), textBytes.of(weights[inHeading]+weights[inText]), plain)
	term.inReview++
}

func (b *builder) read(f field, text string) {
	b.field, b.before = f, 0
	b.split.split(text)
}

func (b *builder) word(word []byte, extra bool) {
	form := b.form(word)
	// A name may consist of stop words.
	if form.stop && b.field != inName {
		return
	}
	term := b.occur(form.term)
	if extra {
		return
	}
	b.lengths[b.field]++
	before := b.before
	b.before = term.opens
	if before > 0 && term.closes > 0 {
		if phrase, ok := b.phrases.joined[[2]uint16{before, term.closes}]; ok {
			b.occur(b.form([]byte(phrase)).term)
		}
	}
}

// form counts an occurrence of a form.
func (b *builder) form(word []byte) *formData {
	number := b.forms.number(word)
	if int(number) == len(b.ofForms) {
		b.ofForms = append(b.ofForms, b.newForm(string(word)))
	}
	form := &b.ofForms[number]
	form.used++
	return form
}

func (b *builder) newForm(word string) formData {
	stem := b.stem.stem(word)
	term := b.stems.number([]byte(stem))
	if int(term) == len(b.terms) {
		b.terms = append(b.terms, termData{opens: b.phrases.first[stem], closes: b.phrases.second[stem]})
	}
	return formData{term: term, stop: isStop(word)}
}

// occur counts an occurrence of a term in the current field.
func (b *builder) occur(number uint32) *termData {
	term := &b.terms[number]
	if term.counts == [fieldCount]uint16{} {
		b.present = append(b.present, number)
	}
	if term.counts[b.field] < 1<<16-1 {
		term.counts[b.field]++
	}
	return term
}

func (b *builder) push(list uint32, weight, plain uint8) {
	at := b.count % blockSize
	if at == 0 {
		b.blocks = append(b.blocks, &block{})
	}
	last := b.blocks[len(b.blocks)-1]
	last.lists[at], last.weights[at], last.plain[at] = list, weight, plain
	b.count++
}

// parts are the builders of some tools, in the order of these.
type parts []*builder

// index makes the index of a catalogue, all of whose tools have been read.
func (p parts) index(c *catalog.Catalog, categories map[string]string) *Index {
	x := &Index{tools: c.Tools, categories: categories, labels: labelWords(c), reviews: p.reviews()}
	x.workspaces.New = x.newWorkspace
	stems, terms := p.indexWords(x)
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
	t := x.tools[tool]
	x.boost[tool] = boostOf(t)
	x.pricing[tool] = pricingNumber(t.Pricing)
	x.monthly[tool] = float32(math.Inf(1))
	if euros, ok := catalog.Monthly(t.Price); ok {
		x.monthly[tool] = float32(toCents(euros))
	}
}

// indexWords sorts the words of all parts. It returns the stems, and, by part and term of that
// part, the terms of the index.
func (p parts) indexWords(x *Index) (stems []string, terms [][]uint32) {
	var wait sync.WaitGroup
	wait.Go(func() {
		stems, terms = p.sortWords(func(b *builder) *words { return &b.stems })
		x.stems = newLexicon(stems)
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
	return stems, terms
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

// appendNames appends the names of a tool.
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
