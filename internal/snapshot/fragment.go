package snapshot

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// fragments holds rendered records in large blocks, so that a hundred thousand of them are
// few objects for the garbage collector. Versions share their blocks: the next one adds
// those of its new records.
type fragments struct {
	blocks  [][]byte // nil where all records of a block are gone
	places  []place
	digests []wire.Digest
}

// A place is where a record is.
type place struct{ block, start, size uint32 }

// blockSize is the usual size of a block.
const blockSize = 1 << 20

// render renders n records, on all cores.
func render(n int, item func(i int32) any) fragments {
	const least = 1_000 // records that are worth a goroutine
	parts := make([]fragments, min(runtime.GOMAXPROCS(0), 1+n/least))
	var wait sync.WaitGroup
	for k := range parts {
		first, end := n*k/len(parts), n*(k+1)/len(parts)
		wait.Go(func() {
			f := fragments{places: make([]place, end-first), digests: make([]wire.Digest, end-first)}
			w := f.writer()
			for i := range end - first {
				w.render(i, item(int32(first+i)))
			}
			w.close()
			parts[k] = f
		})
	}
	wait.Wait()
	if len(parts) == 1 {
		return parts[0]
	}
	f := fragments{places: make([]place, 0, n), digests: make([]wire.Digest, 0, n)}
	for _, p := range parts {
		for _, at := range p.places {
			at.block += uint32(len(f.blocks))
			f.places = append(f.places, at)
		}
		f.blocks = append(f.blocks, p.blocks...)
		f.digests = append(f.digests, p.digests...)
	}
	return f
}

// one renders a single record.
func one(item any) fragments { return render(1, func(int32) any { return item }) }

// next returns the fragments of the list that follows that of f, of n records. Only fresh
// ones are rendered.
func (f *fragments) next(m *catalog.Moves, n int, item func(i int32) any) fragments {
	if m.None() {
		return *f
	}
	next := fragments{blocks: slices.Clone(f.blocks), places: make([]place, n), digests: make([]wire.Digest, n)}
	for i, to := range m.Moved {
		if to >= 0 {
			next.places[to], next.digests[to] = f.places[i], f.digests[i]
		}
	}
	w := next.writer()
	for _, i := range m.Fresh {
		w.render(int(i), item(i))
	}
	w.compact()
	w.close()
	return next
}

// A blockWriter adds records to fragments, in blocks of their own.
type blockWriter struct {
	*fragments
	buf   []byte
	block int    // of open
	open  []byte // is not among the blocks yet
}

func (f *fragments) writer() *blockWriter { return &blockWriter{fragments: f, block: -1} }

// render sets record i.
func (w *blockWriter) render(i int, item any) {
	w.buf = wire.AppendJSON(w.buf[:0], item)
	w.digests[i] = wire.Sum(w.buf)
	w.places[i] = w.put(w.buf)
}

func (w *blockWriter) put(b []byte) place {
	if w.block < 0 || cap(w.open)-len(w.open) < len(b) {
		w.close()
		w.block = slices.IndexFunc(w.blocks, func(b []byte) bool { return b == nil })
		if w.block < 0 {
			w.block = len(w.blocks)
			w.blocks = append(w.blocks, nil)
		}
		w.blocks[w.block] = []byte{} // taken
		w.open = make([]byte, 0, max(blockSize, len(b)))
	}
	at := place{uint32(w.block), uint32(len(w.open)), uint32(len(b))}
	w.open = append(w.open, b...)
	return at
}

// close adds the open block, without its unused capacity if that is large.
func (w *blockWriter) close() {
	if w.block < 0 {
		return
	}
	if len(w.open) < cap(w.open)*7/8 {
		w.open = slices.Clone(w.open)
	}
	w.blocks[w.block], w.block, w.open = w.open, -1, nil
}

// compact releases blocks most of whose records are gone, and joins small ones. It copies
// the rest of them, a small part of everything at a time, since both versions are in
// memory meanwhile.
func (w *blockWriter) compact() {
	live := make([]int, len(w.blocks))
	total := 0
	for _, at := range w.places {
		live[at.block] += int(at.size)
		total += int(at.size)
	}
	var worst []int
	for k, b := range w.blocks {
		switch {
		case k == w.block || b == nil:
		case live[k] == 0:
			w.blocks[k] = nil
		case live[k] < len(b)/8*7 || len(b) < blockSize/16:
			worst = append(worst, k)
		}
	}
	wasted := func(k int) int { return len(w.blocks[k]) - live[k] }
	slices.SortFunc(worst, func(a, b int) int { return cmp.Compare(wasted(b)*live[a], wasted(a)*live[b]) })
	chosen := make([]bool, len(w.blocks)+1)
	if len(worst) == 0 {
		return
	}
	for room := max(total/16, 1); len(worst) > 0 && room > 0; worst = worst[1:] {
		chosen[worst[0]] = true
		room -= live[worst[0]]
	}
	before := slices.Clone(w.blocks)
	for i, at := range w.places {
		if int(at.block) < len(before) && chosen[at.block] {
			w.places[i] = w.put(before[at.block][at.start : at.start+at.size])
		}
	}
	for k := range before {
		if chosen[k] {
			w.blocks[k] = nil
		}
	}
}

func (f *fragments) count() int32 { return int32(len(f.places)) }

func (f *fragments) at(i int32) []byte {
	p := f.places[i]
	end := p.start + p.size
	return f.blocks[p.block][p.start:end:end]
}

func (f *fragments) body(i int32) wire.Body { return wire.NewBody(f.digests[i], f.at(i)) }
