package search

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
)

// words numbers words in order of appearance. It is a hash table in flat slices: looking up
// words is most of the work of Build, and a map of strings takes several times as long.
type words struct {
	slots []slot // a power of two, at most half of them in use
	key   uint64 // of the hash, random, so that nobody can write texts that make the table slow
	long  maphash.Seed
	text  []byte // all words
	ends  []uint32
}

type slot struct {
	head   uint64 // the first bytes of the word
	hash   uint32
	number uint32 // plus 1; 0 if the slot is empty
}

func newWords() words {
	return words{slots: make([]slot, 1<<10), key: rand.Uint64(), long: maphash.MakeSeed()}
}

func (w *words) len() int { return len(w.ends) }

func (w *words) at(number uint32) []byte {
	start := uint32(0)
	if number > 0 {
		start = w.ends[number-1]
	}
	return w.text[start:w.ends[number]]
}

// number returns the number of a word, which is new if it is the former len.
func (w *words) number(word []byte) uint32 {
	head := head(word)
	high, low := bits.Mul64(head^w.key, 0x9e3779b97f4a7c15)
	hash := uint32(high ^ low)
	if len(word) > 8 {
		hash ^= uint32(maphash.Bytes(w.long, word))
	}
	mask := uint32(len(w.slots) - 1)
	i := hash & mask
	for ; w.slots[i].number > 0; i = (i + 1) & mask {
		// Less than eight bytes are the whole word.
		if s := &w.slots[i]; s.head == head && (len(word) < 8 || s.hash == hash && string(w.at(s.number-1)) == string(word)) {
			return s.number - 1
		}
	}
	number := uint32(len(w.ends))
	w.text = append(w.text, word...)
	w.ends = append(w.ends, uint32(len(w.text)))
	w.slots[i] = slot{head, hash, number + 1}
	if 2*len(w.ends) > len(w.slots) {
		w.grow()
	}
	return number
}

// head returns the first eight bytes of a word, or all of them and zeros. Words have no zeros.
func head(word []byte) uint64 {
	le := binary.LittleEndian
	switch n := len(word); {
	case n >= 8:
		return le.Uint64(word)
	case n >= 4: // two halves, which may overlap
		return uint64(le.Uint32(word)) | uint64(le.Uint32(word[n-4:]))<<(8*(n-4))
	case n >= 2:
		return uint64(le.Uint16(word)) | uint64(le.Uint16(word[n-2:]))<<(8*(n-2))
	case n == 1:
		return uint64(word[0])
	}
	return 0
}

func (w *words) grow() {
	slots := make([]slot, 2*len(w.slots))
	mask := uint32(len(slots) - 1)
	for _, s := range w.slots {
		if s.number == 0 {
			continue
		}
		i := s.hash & mask
		for slots[i].number > 0 {
			i = (i + 1) & mask
		}
		slots[i] = s
	}
	w.slots = slots
}

// appendTo appends all words to a list, by number.
func (w *words) appendTo(list []string) []string {
	text := string(w.text)
	start := uint32(0)
	for _, end := range w.ends {
		list = append(list, text[start:end])
		start = end
	}
	return list
}

// sortedOrder returns the indexes of words in the order of the words, those of equal words in
// ascending order.
func sortedOrder(words []string) []uint32 {
	type entry struct {
		prefix uint64 // decides nearly always, without a look at the words
		index  uint32
	}
	entries := make([]entry, len(words))
	for i, word := range words {
		var prefix [8]byte
		copy(prefix[:], word)
		entries[i] = entry{binary.BigEndian.Uint64(prefix[:]), uint32(i)}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if order := strings.Compare(words[a.index], words[b.index]); order != 0 {
			return order
		}
		return cmp.Compare(a.index, b.index)
	})
	order := make([]uint32, len(words))
	for i, e := range entries {
		order[i] = e.index
	}
	return order
}
