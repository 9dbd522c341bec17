package keyring

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"palmares/internal/account"
)

// maxPerShard is how many keys a shard remembers. With 64 shards, 131,072 keys are
// checked from memory, in about 60 MB. Only keys that exist are remembered, so that
// made-up keys cannot fill it.
const maxPerShard = 2048

type shard struct {
	mu      sync.RWMutex
	entries map[[sha256.Size]byte]*entry
	_       [64]byte // a cache line of its own
}

// entry is a key as it was read in one epoch. It does not change; a later lookup
// replaces it and takes over its use.
type entry struct {
	key   account.Key
	epoch uint64
	use   *use
}

// use is when a key was last used, in Unix milliseconds.
type use struct {
	last     atomic.Int64
	reported int64 // what Used returned last; only Used touches it
}

func (k *Keyring) shard(hash [sha256.Size]byte) *shard {
	return &k.shards[hash[0]%byte(len(k.shards))]
}

func (s *shard) get(hash [sha256.Size]byte) *entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.entries[hash]
}

// put remembers an entry, and returns it or the newer one that is remembered already.
func (s *shard) put(hash [sha256.Size]byte, e entry) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.entries[hash]
	switch {
	case old != nil && old.epoch > e.epoch:
		return old
	case old != nil:
		e.use = old.use // a request that holds the old entry may be about to record its use
	default:
		e.use = new(use)
	}
	if s.entries == nil {
		s.entries = map[[sha256.Size]byte]*entry{}
	}
	if old == nil && len(s.entries) >= maxPerShard {
		for any := range s.entries { // map order is random, and a key in use soon returns
			delete(s.entries, any)
			break
		}
	}
	s.entries[hash] = &e
	return &e
}

// remove drops a key that does not exist, unless it was read in a later epoch.
func (s *shard) remove(hash [sha256.Size]byte, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.entries[hash]; old != nil && old.epoch <= epoch {
		delete(s.entries, hash)
	}
}
