package search

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// Build indexes the names, taglines and reviews of a catalogue, whose tools must be
// sorted by slug and not change afterwards. It uses all cores; a hundred thousand tools
// take seconds, during which it yields the processor after every tool. It returns the
// context's error if the context ends first.
func Build(ctx context.Context, c *catalog.Catalog) (*Index, error) {
	const least = 1_000 // tools that are worth a goroutine
	parts := make(parts, min(runtime.GOMAXPROCS(0), 1+len(c.Tools)/least))
	var wait sync.WaitGroup
	for i := range parts {
		first, end := len(c.Tools)*i/len(parts), len(c.Tools)*(i+1)/len(parts)
		parts[i] = newBuilder(first, end-first)
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
	return parts.index(c.Tools), nil
}

// A builder reads consecutive tools one by one. Words are numbered in order of
// appearance; index then assigns their positions in the sorted lexicons.
type builder struct {
	first int // tool

	split splitter
	stem  stemmer

	forms  map[string]uint32 // number of each form
	termOf []uint32          // by form
	stop   []bool            // by form
	terms  map[string]uint32 // number of each stem
	inName []bool            // by term
	tools  []uint32          // by term, number of tools that have it

	// The current tool.
	field   field
	lengths [fieldCount]int
	counts  [][fieldCount]uint16 // by term; zero for those not in present
	present []uint32

	// The terms of all tools so far, in order. Blocks are released as they are
	// sorted into the index, so that not everything is held twice.
	blocks []*block
	ends   []int // by tool, number of entries up to its end
	count  int
}

type block struct {
	terms   [blockSize]uint32
	weights [blockSize]uint8
}

const blockSize = 1 << 16

func newBuilder(first, tools int) *builder {
	b := &builder{
		first: first,
		stem:  newStemmer(),
		forms: map[string]uint32{},
		terms: map[string]uint32{},
		ends:  make([]int, 0, tools),
	}
	b.split.emit = b.word
	return b
}

func (b *builder) add(t *catalog.Tool) {
	b.read(inName, t.Name)
	for _, alias := range t.Aliases {
		b.read(inAlias, alias)
	}
	b.read(inTagline, t.Tagline)
	markdown.Skim(t.Body, func(text string, heading bool) {
		b.field = inText
		if heading {
			b.field = inHeading
		}
		b.split.add(text)
	})
	b.split.end()
	for _, term := range b.present {
		weight := 0.0
		for f, count := range b.counts[term] {
			if count > 0 {
				weight += fields[f].weight * saturated(field(f), int(count), b.lengths[f])
			}
		}
		b.push(term, weightByte(weight))
		b.inName[term] = b.inName[term] || b.counts[term][inName]+b.counts[term][inAlias] > 0
		b.tools[term]++
		b.counts[term] = [fieldCount]uint16{}
	}
	b.present = b.present[:0]
	b.lengths = [fieldCount]int{}
	b.ends = append(b.ends, b.count)
}

func (b *builder) read(f field, text string) {
	b.field = f
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
	if !extra {
		b.lengths[b.field]++
	}
	term := b.termOf[form]
	counts := &b.counts[term]
	if *counts == [fieldCount]uint16{} {
		b.present = append(b.present, term)
	}
	if counts[b.field] < 1<<16-1 {
		counts[b.field]++
	}
}

func (b *builder) newForm(word string) uint32 {
	form := uint32(len(b.termOf))
	b.forms[word] = form
	stem := b.stem.stem(word)
	term, ok := b.terms[stem]
	if !ok {
		term = uint32(len(b.tools))
		b.terms[stem] = term
		b.tools = append(b.tools, 0)
		b.inName = append(b.inName, false)
		b.counts = append(b.counts, [fieldCount]uint16{})
	}
	b.termOf = append(b.termOf, term)
	b.stop = append(b.stop, isStop(word))
	return form
}

func (b *builder) push(term uint32, weight uint8) {
	at := b.count % blockSize
	if at == 0 {
		b.blocks = append(b.blocks, &block{})
	}
	last := b.blocks[len(b.blocks)-1]
	last.terms[at], last.weights[at] = term, weight
	b.count++
}

// parts are the builders of a catalogue, in the order of its tools.
type parts []*builder

// index sorts the entries of all parts by term.
func (p parts) index(tools []catalog.Tool) *Index {
	x := &Index{tools: tools}
	x.workspaces.New = x.newWorkspace

	stems := p.words(func(b *builder) map[string]uint32 { return b.terms })
	x.stems = newLexicon(stems)
	x.start = make([]uint32, len(stems)+1)
	x.inName = make([]bool, len(stems))
	next := make([][]uint32, len(p)) // by part and number of a term, the place of its next posting
	for k, b := range p {
		next[k] = make([]uint32, len(b.tools))
	}
	for i, stem := range stems {
		x.start[i+1] = x.start[i]
		for k, b := range p {
			if number, ok := b.terms[stem]; ok {
				next[k][number] = x.start[i+1]
				x.start[i+1] += b.tools[number]
				x.inName[i] = x.inName[i] || b.inName[number]
			}
		}
	}
	forms := p.words(func(b *builder) map[string]uint32 { return b.forms })
	x.forms = newLexicon(forms)
	x.termOf = make([]uint32, len(forms))
	stem := newStemmer()
	for i, word := range forms {
		term, _ := x.stems.find(stem.stem(word))
		x.termOf[i] = uint32(term)
	}
	x.docs = make([]uint32, x.start[len(stems)])
	x.weight = make([]uint8, len(x.docs))
	var wait sync.WaitGroup
	for k, b := range p {
		wait.Go(func() { b.place(x, next[k]) })
	}
	wait.Wait()

	x.boost = make([]float32, len(tools))
	for i := range tools {
		x.boost[i] = boostOf(&tools[i])
	}
	x.indexNames()
	return x
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

// place copies the entries to their places in the index and releases them.
func (b *builder) place(x *Index, next []uint32) {
	tool := 0
	for entry := range b.count {
		for entry >= b.ends[tool] {
			tool++
		}
		from, i := b.blocks[entry/blockSize], entry%blockSize
		at := &next[from.terms[i]]
		x.docs[*at], x.weight[*at] = uint32(b.first+tool), from.weights[i]
		*at++
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
