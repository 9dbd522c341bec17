package content

import (
	"hash/maphash"
	"maps"
	"path"
	"slices"
	"time"

	"palmares/internal/catalog"
)

// A Memory keeps what was decoded from the Markdown files of a folder, so that reading
// the folder again decodes only those that changed. The result is that of a fresh read.
// The records of one read share their lists with those of the next: whoever changes a
// list must copy it first. The zero value is empty; one read at a time may use it.
type Memory struct {
	Published *catalog.Catalog // sorted; its texts are not kept a second time. It may be nil

	basis basis
	files map[string]*decoded // of the last read, by name
}

// A basis is what decoding a file depends on, apart from its name and text.
type basis struct {
	declared categories
	days     dates
	zone     *time.Location
	site     string // the address of the catalogue

	ignored []string // kinds of warnings
}

func (b basis) equal(o basis) bool {
	return maps.EqualFunc(b.declared, o.declared, (*catalog.Category).Same) && (b.declared == nil) == (o.declared == nil) && b.days == o.days &&
		b.zone.String() == o.zone.String() && b.site == o.site && slices.Equal(b.ignored, o.ignored)
}

// A decoded is what became of a Markdown file.
type decoded struct {
	name     string
	sum      uint64 // of its text, which is not kept
	record   record
	problems []Problem
	warnings []Warning
}

// textSeed is of the sums of texts: 64 bits do not meet by accident, and nobody can make them.
var textSeed = maphash.MakeSeed()

// recall returns what the file name became when it was decoded before, or nil if that
// was with another text or on another basis.
func (m *Memory) recall(on basis, name, text string) *decoded {
	if m == nil || !m.basis.equal(on) {
		return nil
	}
	if d := m.files[name]; d != nil && d.sum == maphash.String(textSeed, text) {
		return d
	}
	return nil
}

// shareText gives a record the text of the published one if both are equal.
func (m *Memory) shareText(k *catalog.Kind, r *record) {
	if m == nil || m.Published == nil || r.isEmpty() || k.Body(r.of) == "" {
		return
	}
	if i, found := k.Find(m.Published, r.slug); found {
		if text := k.Body(k.At(m.Published, i)); text == k.Body(r.of) {
			*catalog.ValueOf[string](k.Fields, catalog.Body, r.of) = text
		}
	}
}

// replace makes the memory that of a folder that was just read.
func (m *Memory) replace(on basis, batches []*batch) {
	if m == nil {
		return
	}
	m.basis, m.files = on, map[string]*decoded{}
	for _, b := range batches {
		for _, d := range b.decoded {
			m.files[d.name] = d
		}
		b.decoded = nil
	}
}

// With returns what reading the folder again returns if one of its Markdown files has another text, and
// the record of that file: its value in Catalog. The links of other records to it are not checked. It
// reports false if the whole folder must be read. r must have been read with a memory; one call at a time
// may use it, and what came of it.
func (r *Result) With(name, text string) (next *Result, of any, ok bool) {
	k := catalog.KindIn(path.Dir(name))
	if r.folder == nil || k == nil || slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.File != name }) {
		return nil, nil, false
	}
	file := decodeMarkdown(r.folder.basis, k, name, text, nil)
	if !catalog.IsSlug(file.record.slug) {
		return nil, nil, false
	}
	f := new(*r.folder)
	f.only, f.problems, f.warnings = name, file.problems, file.warnings
	own, was := f.replace(k, file.record.clone())
	f.assembleAt(f.now)
	f.checkFuture(f.now)
	next = &Result{
		Problems: finish(f.problems, "full-of-problems"), Pictures: &Pictures{}, Proofs: r.Proofs, folder: f,
	}
	next.Warnings = slices.DeleteFunc(slices.Clone(r.Warnings), func(w Warning) bool { return w.File == name })
	next.Warnings = append(next.Warnings, slices.DeleteFunc(f.warnings, func(w Warning) bool { return w.File != name })...)
	sortByPlace(next.Warnings)
	if len(f.problems) > 0 || r.Catalog == nil {
		return next, nil, len(f.problems) > 0
	}
	for name, image := range f.images {
		if _, isThere := r.Catalog.Pictures[name]; !isThere && (image.isUsed || image.inDraft) {
			return nil, nil, false // its bytes were not read
		}
	}
	if own.isNext || own.isHidden || was.publishAt != "" || own.retired() != nil && r.Catalog.Tool(own.slug) != nil {
		return nil, nil, false
	}
	if own.tool() != nil {
		f.catalogue.DropDefaultURLs(own.tool())
	}
	next.Catalog = r.Catalog.Clone()
	next.Catalog.Put(own.of)
	if own.tool() != nil && f.hasProofs && !samePrice(r.Catalog.Tool(own.slug), own.tool()) {
		next.Catalog.Proofs = nil // what was seen of the price may be of another one
		f.readProofs(next.Catalog)
	}
	return next, own.of, len(f.problems) == 0
}

// samePrice reports whether two tools, of which the first may be nil, have the same price with the same quotation.
func samePrice(a, b *catalog.Tool) bool {
	return a != nil && a.Pricing == b.Pricing && a.Price == b.Price && a.PriceSource == b.PriceSource && a.PriceQuote == b.PriceQuote
}

// replace puts a record in the place of that of the same file, which it returns, or after all others. The
// folder that f is a copy of stays as it is.
func (f *folder) replace(k *catalog.Kind, r record) (own *record, was record) {
	f.batches = slices.Clone(f.batches)
	for i, b := range f.batches {
		if at := slices.IndexFunc(b.records, func(o record) bool { return o.file == r.file }); at >= 0 {
			records := slices.Clone(b.records)
			was, records[at] = records[at], r
			f.batches[i] = &batch{kind: k, records: records}
			return &records[at], was
		}
	}
	f.batches = append(f.batches, &batch{kind: k, records: []record{r}})
	return &f.batches[len(f.batches)-1].records[0], was
}
