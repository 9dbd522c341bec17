package search

import (
	"cmp"
	"context"
	"maps"
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
	const least = 1_000 // tools that are worth a goroutine
	parts := make(parts, min(runtime.GOMAXPROCS(0), 1+len(c.Tools)/least))
	categories := categoryTexts(c)
	var wait sync.WaitGroup
	for i := range parts {
		first, end := len(c.Tools)*i/len(parts), len(c.Tools)*(i+1)/len(parts)
		parts[i] = newBuilder(first, end-first, categories)
		wait.Go(func() {
			for at := first; at < end && ctx.Err() == nil; at++ {
				parts[i].add(&c.Tools[at])
				runtime.Gosched() // otherwise requests would wait for a time slice
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return parts.index(c, categories), nil
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

// A builder reads consecutive tools one by one. Words are numbered in order of
// appearance; index then assigns their positions in the sorted lexicons.
type builder struct {
	first      int // tool
	categories map[string]string

	split splitter
	stem  stemmer

	forms  map[string]uint32 // number of each form
	termOf []uint32          // by form
	stop   []bool            // by form
	terms  map[string]uint32 // number of each stem
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

func newBuilder(first, tools int, categories map[string]string) *builder {
	b := &builder{
		first:      first,
		categories: categories,
		phrases:    phraseTables(),
		stem:       newStemmer(),
		forms:      map[string]uint32{},
		terms:      map[string]uint32{},
		ends:       make([]int, 0, tools),
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
			b.occur(b.termOf[b.formOf(phrase)])
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
		term = uint32(len(b.opens))
		b.terms[stem] = term
		b.tools = append(b.tools, 0, 0)
		b.inHeadings = append(b.inHeadings, 0)
		b.onlyHeadings = append(b.onlyHeadings, 0)
		b.opens = append(b.opens, b.phrases.first[stem])
		b.closes = append(b.closes, b.phrases.second[stem])
		b.counts = append(b.counts, [fieldCount]uint16{})
	}
	b.termOf = append(b.termOf, term)
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

// parts are the builders of a catalogue, in the order of its tools.
type parts []*builder

// index sorts the entries of all parts by list.
func (p parts) index(c *catalog.Catalog, categories map[string]string) *Index {
	x := &Index{tools: c.Tools, categories: categories, labels: map[string]bool{}}
	x.workspaces.New = x.newWorkspace
	for i := range c.Categories {
		for _, word := range keyWords(c.Categories[i].Label) {
			x.labels[word] = true
		}
	}
	stems := p.words(func(b *builder) map[string]uint32 { return b.terms })
	x.stems = newLexicon(stems)
	next := p.setLists(x, stems)
	forms := p.words(func(b *builder) map[string]uint32 { return b.forms })
	x.forms = newLexicon(forms)
	x.termOf = make([]uint32, len(forms))
	stem := newStemmer()
	for i, word := range forms {
		term, _ := x.stems.find(stem.stem(word))
		x.termOf[i] = uint32(term)
	}
	x.docs = make([]uint32, x.start[len(x.start)-1])
	x.weight = make([]uint8, len(x.docs))
	var wait sync.WaitGroup
	for k, b := range p {
		wait.Go(func() { b.place(x, next[k]) })
	}
	wait.Go(x.indexNames)
	wait.Go(x.indexPrices)
	wait.Go(func() { x.indexKin(stems) })
	x.boost = make([]float32, len(x.tools))
	for i := range x.tools {
		x.boost[i] = boostOf(&x.tools[i])
	}
	wait.Wait()
	return x
}

// A nextPlace is where the next posting of a list goes.
type nextPlace struct {
	at    uint32
	plain bool // headings are left out
}

// setLists sets where the list of every term begins. It returns, by part and list of that
// part, the place of the next posting.
func (p parts) setLists(x *Index, stems []string) [][]nextPlace {
	x.start = make([]uint32, 2*len(stems)+1)
	next := make([][]nextPlace, len(p))
	reviews := 0
	for k, b := range p {
		next[k] = make([]nextPlace, len(b.tools))
		reviews += b.reviews
	}
	numbers := make([]int, len(p)) // by part, of the current term
	at := uint32(0)
	for i, stem := range stems {
		inHeadings := 0
		for k, b := range p {
			numbers[k] = -1
			if number, ok := b.terms[stem]; ok {
				numbers[k] = int(number)
				inHeadings += int(b.inHeadings[number])
			}
		}
		plain := isPlan(inHeadings, reviews)
		for _, listOf := range []func(uint32) uint32{headList, textList} {
			x.start[listOf(uint32(i))] = at
			for k, b := range p {
				if numbers[k] < 0 {
					continue
				}
				list := listOf(uint32(numbers[k]))
				next[k][list] = nextPlace{at, plain}
				at += b.tools[list]
				if plain && list%2 == 1 {
					at -= b.onlyHeadings[numbers[k]]
				}
			}
		}
	}
	x.start[len(x.start)-1] = at
	return next
}

// isPlan reports whether a word of headings belongs to the plan that the reviews of a
// catalogue share, such as « Points forts ». It says nothing about a tool.
func isPlan(inHeadings, reviews int) bool { return inHeadings > max(5, reviews/10) }

// words returns the words of all parts, sorted.
func (p parts) words(of func(*builder) map[string]uint32) []string {
	var all []string
	for _, b := range p {
		all = slices.AppendSeq(all, maps.Keys(of(b)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// place copies the entries to their places in the index and releases them.
func (b *builder) place(x *Index, next []nextPlace) {
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
			x.docs[next.at], x.weight[next.at] = uint32(b.first+tool), weight
			next.at++
		}
		if i == blockSize-1 {
			b.blocks[entry/blockSize] = nil
			runtime.Gosched()
		}
	}
}

func (x *Index) indexNames() {
	type name struct {
		key  string
		ends uint64
		tool uint32
	}
	all := make([]name, 0, len(x.tools))
	for i := range x.tools {
		key, ends := nameKey(x.tools[i].Name)
		all = append(all, name{key, ends, uint32(i)})
		for _, alias := range x.tools[i].Aliases {
			key, ends := nameKey(alias)
			all = append(all, name{key, ends, uint32(i)})
		}
	}
	slices.SortStableFunc(all, func(a, b name) int { return strings.Compare(a.key, b.key) })
	keys := make([]string, len(all))
	x.nameOf = make([]uint32, len(all))
	x.nameEnds = make([]uint64, len(all))
	for i, n := range all {
		keys[i], x.nameOf[i], x.nameEnds[i] = n.key, n.tool, n.ends
	}
	x.names = newLexicon(keys)
}
