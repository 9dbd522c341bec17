package search

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// Build indexes the names, taglines and reviews of a catalogue, whose tools must be
// sorted by slug and not change afterwards. A hundred thousand tools take several
// seconds, during which it yields the processor after every tool. It returns the
// context's error if the context ends first.
func Build(ctx context.Context, c *catalog.Catalog) (*Index, error) {
	b := newBuilder(len(c.Tools))
	for i := range c.Tools {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b.add(&c.Tools[i])
		runtime.Gosched() // otherwise, on one core, requests would wait for a time slice
	}
	return b.index(c.Tools), nil
}

// A builder reads tools one by one. Words are numbered in order of appearance;
// index then assigns their positions in the sorted lexicons.
type builder struct {
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

func newBuilder(tools int) *builder {
	b := &builder{
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
	for i, section := range markdown.Sections(t.Body) {
		heading, rest := "", section.Text
		if i > 0 || section.ID != "introduction" { // which has no heading
			heading, rest, _ = strings.Cut(section.Text, "\n\n")
		}
		b.read(inHeading, heading)
		b.read(inText, rest)
	}
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

// index sorts the entries by term.
func (b *builder) index(tools []catalog.Tool) *Index {
	x := &Index{tools: tools}
	x.workspaces.New = x.newWorkspace

	stems := slices.Sorted(maps.Keys(b.terms))
	x.stems = newLexicon(stems)
	position := make([]uint32, len(stems)) // by number of a term
	x.start = make([]uint32, len(stems)+1)
	x.inName = make([]bool, len(stems))
	for i, stem := range stems {
		number := b.terms[stem]
		position[number] = uint32(i)
		x.start[i+1] = x.start[i] + b.tools[number]
		x.inName[i] = b.inName[number]
	}
	forms := slices.Sorted(maps.Keys(b.forms))
	x.forms = newLexicon(forms)
	x.termOf = make([]uint32, len(forms))
	for i, word := range forms {
		x.termOf[i] = position[b.termOf[b.forms[word]]]
	}
	b.sortPostings(x, position)

	x.boost = make([]float32, len(tools))
	for i := range tools {
		x.boost[i] = boostOf(&tools[i])
	}
	x.indexNames()
	return x
}

func (b *builder) sortPostings(x *Index, position []uint32) {
	x.docs = make([]uint32, b.count)
	x.weight = make([]uint8, b.count)
	next := slices.Clone(x.start)
	tool := 0
	for entry := range b.count {
		for entry >= b.ends[tool] {
			tool++
		}
		from, i := b.blocks[entry/blockSize], entry%blockSize
		at := &next[position[from.terms[i]]]
		x.docs[*at], x.weight[*at] = uint32(tool), from.weights[i]
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
