package catalog

import (
	"slices"
	"sort"
)

// A Step says how a sorted list of records became the next one, so that what was made of the
// records that stayed the same need not be made again. The zero value means that the list is the
// same.
type Step struct {
	Moved []int32 // by record of the old list, its index in the next one; -1 if it was removed or changed
	Fresh []int32 // indexes in the next list of the records that are new or changed, ascending
}

// None reports whether the list is the same.
func (s *Step) None() bool { return s.Moved == nil }

// replace returns old without the records of the given slugs, and with those of fresh,
// whose slugs are among them. Both lists are sorted by slug.
func replace[T any](old, fresh []T, slugs []string, slug func(*T) string) ([]T, Step) {
	if len(slugs) == 0 {
		return old, Step{}
	}
	slugs = slices.Clone(slugs)
	slices.Sort(slugs)
	find := func(from int, s string) int { // of the first record from there whose slug is not less
		return from + sort.Search(len(old)-from, func(i int) bool { return slug(&old[from+i]) >= s })
	}
	gone := make([]int, 0, len(slugs)) // indexes in old
	for _, s := range slices.Compact(slugs) {
		if i := find(0, s); i < len(old) && slug(&old[i]) == s {
			gone = append(gone, i)
		}
	}
	next := make([]T, 0, len(old)-len(gone)+len(fresh))
	step := Step{Moved: make([]int32, len(old)), Fresh: make([]int32, 0, len(fresh))}
	from := 0
	keep := func(end int) { // the records of old up to end
		for i := from; i < end; i++ {
			step.Moved[i] = int32(len(next) + i - from)
		}
		next = append(next, old[from:end]...)
		from = end
	}
	for len(gone) > 0 || len(fresh) > 0 {
		if len(gone) > 0 && (len(fresh) == 0 || slug(&old[gone[0]]) <= slug(&fresh[0])) {
			keep(gone[0])
			step.Moved[gone[0]] = -1
			from, gone = gone[0]+1, gone[1:]
			continue
		}
		keep(find(from, slug(&fresh[0])))
		step.Fresh = append(step.Fresh, int32(len(next)))
		next = append(next, fresh[0])
		fresh = fresh[1:]
	}
	keep(len(old))
	return next, step
}
