package search

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"palmares/internal/catalog"
)

// Build indexes the names, categories, taglines, usages, verdicts and reviews of a catalogue, whose tools
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
// of its slugs that the label does not have, such as "code" for « Développement »; and the labels
// of its usages, by usageKey.
func categoryTexts(c *catalog.Catalog) map[string]string {
	texts := map[string]string{}
	for _, category := range c.Categories {
		text := category.Label
		known := Words(text)
		for _, slug := range append([]string{category.Slug}, category.Aliases...) {
			for _, word := range Words(slug) {
				if !slices.Contains(known, word) {
					known = append(known, word)
					text += " " + word
				}
			}
		}
		texts[category.Slug] = text
		for _, usage := range category.Usages {
			texts[usageKey(category.Slug, usage.Slug)] = usage.Label
		}
	}
	return texts
}

// usageKey returns under which key the texts of categories have the label of a usage.
func usageKey(category, usage string) string { return category + "/" + usage }

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
	for _, usage := range t.Usages {
		b.read(inUsage, b.categories[usageKey(t.Category, usage)])
	}
	b.read(inSummary, t.Summary)
	for _, strong := range t.Pros {
		b.read(inSummary, strong)
	}
	b.before = 0
	if t.Body != "" {
		b.reviews++
	}
	Prose(t.Body, func(text string, isHeading bool) {
		b.field = inText
		if isHeading {
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
	head := weights[inName] + weights[inAlias] + weights[inCategory] + weights[inTagline] + weights[inUsage]
	if head > 0 {
		weight := headBytes.of(head)
		b.push(headList(number), weight, weight)
		term.inHead++
	}
	text := weights[inSummary] + weights[inText]
	if weights[inHeading]+text == 0 {
		return
	}
	plain := uint8(0)
	if text > 0 {
		plain = textBytes.of(text)
	} else {
		term.onlyHeadings++
	}
	if weights[inHeading] > 0 {
		term.inHeadings++
	}
	b.push(textList(number), textBytes.of(weights[inHeading]+text), plain)
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
