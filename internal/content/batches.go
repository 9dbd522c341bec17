package content

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// batches are all records of a folder, in reading order.
type batches []*batch

// isWaiting reports whether a record becomes public by itself after an instant.
func (r *record) isWaiting(at string) bool {
	return r.of != nil && r.publishAt > at && !r.isMarked
}

func (b batches) all() iter.Seq2[*catalog.Kind, *record] {
	return func(yield func(*catalog.Kind, *record) bool) {
		for _, part := range b {
			for i := range part.records {
				if !yield(part.kind, &part.records[i]) {
					return
				}
			}
		}
	}
}

// present yields the records that there are at the instant of settle.
func (b batches) present() iter.Seq2[*catalog.Kind, *record] {
	return func(yield func(*catalog.Kind, *record) bool) {
		for k, r := range b.all() {
			if !r.isAbsent && !yield(k, r) {
				return
			}
		}
	}
}

// settle decides which records there are at an instant, and which of them visitors see. It returns the obituaries
// with an hour, by slug.
func (b batches) settle(at string) (obituaries map[string]*record) {
	replaced, retired := map[string]bool{}, map[string]bool{} // files without suffix, slugs of tools
	obituaries = map[string]*record{}
	for k, r := range b.all() {
		if r.publishAt == "" || r.isMarked {
			continue // without an hour, or with one that does nothing
		}
		if r.retired() != nil {
			obituaries[r.slug] = r
		}
		if r.publishAt <= at && r.isNext {
			replaced[k.Folder+"/"+r.slug] = true
		}
		if r.publishAt <= at && r.retired() != nil {
			retired[r.slug] = true
		}
	}
	for k, r := range b.all() {
		isPast := r.publishAt <= at
		r.isAbsent = r.isNext != replaced[k.Folder+"/"+r.slug] || k == catalog.ToolKind && retired[r.slug]
		r.hasEnded = isPast && r.end != "" && r.end <= at
		r.isHidden = !isPast || r.hasEnded
	}
	return obituaries
}

// hours returns the instants after one at which the records that visitors see change.
func (b batches) hours(after string) []string {
	found := map[string]bool{}
	for _, r := range b.all() {
		if r.isWaiting(after) {
			found[r.publishAt] = true
		}
		if r.end > after {
			found[r.end] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// with returns the batches with a record in the place of that of the same file, which it returns, or after all others.
func (b batches) with(k *catalog.Kind, r record) (next batches, own *record, was record) {
	next = slices.Clone(b)
	for i, part := range next {
		if at := slices.IndexFunc(part.records, func(o record) bool { return o.file == r.file }); at >= 0 {
			records := slices.Clone(part.records)
			was, records[at] = records[at], r
			next[i] = &batch{kind: k, records: records}
			return next, &records[at], was
		}
	}
	next = append(next, &batch{kind: k, records: []record{r}})
	return next, &next[len(next)-1].records[0], was
}

// recordLines are where a record gives what warnings are about that compare it with what is published.
type recordLines struct {
	slug                           string
	updated, price, score, checked int32 // lines; 0 for none
	inBulk                         bool  // in the .jsonl file
}

// lines returns where the records give their dates and figures, by folder.
func (b batches) lines() map[string][]recordLines {
	found := map[string][]recordLines{}
	for k, r := range b.present() {
		if r.updatedLine+r.priceLine > 0 {
			found[k.Folder] = append(found[k.Folder], recordLines{
				r.slug, int32(r.updatedLine), int32(r.priceLine), int32(r.scoreLine), int32(r.checkedLine),
				strings.HasSuffix(r.file, ".jsonl"),
			})
		}
	}
	return found
}
