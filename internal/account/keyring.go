package account

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// The reasons why a key is refused.
var (
	ErrInvalidKey = errors.New("the key is malformed, mistyped or unknown")
	ErrRevokedKey = errors.New("the key was revoked")
	ErrExpiredKey = errors.New("the key has expired")
	// ErrSuspendedKey is for a key above the number of its account's plan.
	ErrSuspendedKey = errors.New("the key is suspended")
)

// ErrCrowded is no reason to refuse a key: it was not looked up, as too many that
// nobody knows are being looked up at once.
var ErrCrowded = errors.New("too many unknown keys are being looked up at once: try again in a moment")

const (
	// maxKnown is how many keys a shard remembers. With 64 shards 131,072 keys are
	// answered from memory, in about 60 MB; only keys that exist are remembered, so that
	// a stranger cannot fill it.
	maxKnown = 2048
	// lookups is how many keys are looked up at once, of those that were seen before
	// and of those that were not. SQLite has four readers and PostgreSQL ten
	// connections: whoever else asks waits for one lookup at most.
	lookups = 2
	// maxWaiting is how many keys that were never seen may wait for that: the customers
	// of a large service who all come back after a restart. Those beyond are ErrCrowded.
	maxWaiting = 1024
	// lookupTimeout is how long a request waits for the store at most, its turn
	// included: a quarter of a second is what callers are promised, and the rest is for
	// the way there and back.
	lookupTimeout = 200 * time.Millisecond
	// For failurePause after a lookup that failed, keys that are known are not looked up
	// again: their owners would wait for nothing, one after the other.
	failurePause = time.Second
	// A key's last use is noted once in useEvery.
	useEvery = time.Minute
)

// A Keyring checks keys on the request's path. A key that it has seen is
// answered from memory; one that it has not is looked up once. Forget has every key
// looked up again, which is how a revocation made elsewhere takes hold.
//
// The memory is cut into shards by the key's hash, so that requests with
// different keys share no lock.
//
// A key that does not exist is looked up each time: remembering that would not help
// against a stranger who makes up another key for every request, and would hurt the
// owner of a key made a moment ago. What keeps such a stranger from flooding the
// store is that few lookups run at once. Keys that were seen before have lookups
// of their own, so that their owners do not wait behind strangers.
type Keyring struct {
	lookup func(ctx context.Context, hash [sha256.Size]byte) (Key, error)
	now    func() time.Time
	shards [64]shard
	epoch  atomic.Uint64 // counts the calls of Forget

	doubted atomic.Bool  // what is known no longer holds while the store is away
	failed  atomic.Int64 // when a known key last could not be looked up, in Unix milliseconds

	waiting atomic.Int64  // keys never seen that are looked up, or wait for it
	unseen  chan struct{} // holds a token for each lookup of one of them
	seen    chan struct{} // and of the others
}

type shard struct {
	mu   sync.RWMutex
	keys map[[sha256.Size]byte]*known
	_    [64]byte // a cache line of its own
}

// known is a key as it was found in one epoch. It does not change; a later lookup
// makes another with the same use.
type known struct {
	key   Key
	epoch uint64
	use   *use
}

// use is when a key was used, in Unix milliseconds.
type use struct {
	last atomic.Int64
	told int64 // what Used gave; its own
}

// NewKeyring makes an empty keyring. lookup finds a key by its hash and gives
// ErrInvalidKey when there is none.
func NewKeyring(lookup func(ctx context.Context, hash [sha256.Size]byte) (Key, error), now func() time.Time) *Keyring {
	return &Keyring{lookup: lookup, now: now, unseen: make(chan struct{}, lookups), seen: make(chan struct{}, lookups)}
}

// Check tells whose key a token is. An error that is none of the four reasons
// means that the key could not be looked up. The key is shared: it must not be changed.
func (k *Keyring) Check(ctx context.Context, token string) (*Key, error) {
	if len(token) != keyLength {
		return nil, ErrInvalidKey
	}
	hash := HashKey(token)
	s := &k.shards[hash[0]%byte(len(k.shards))]
	found := s.known(hash)
	if found == nil && !CheckKey(token) { // a key that is known has no typo
		return nil, ErrInvalidKey
	}
	if found == nil || found.epoch != k.epoch.Load() && !k.trusts() {
		newer, err := k.find(ctx, s, hash, found != nil)
		switch {
		case err == nil:
			found = newer
		case found == nil || errors.Is(err, ErrInvalidKey) || k.doubted.Load():
			return nil, err
		}
		// Otherwise the store is away, and what is known of the key still holds.
	}
	key, now := &found.key, k.now()
	switch {
	case !key.RevokedAt.IsZero():
		return nil, ErrRevokedKey
	case !key.ExpiresAt.IsZero() && !now.Before(key.ExpiresAt):
		return nil, ErrExpiredKey
	case !key.SuspendedAt.IsZero():
		return nil, ErrSuspendedKey
	}
	// Requests that come at once may all write here; once in a minute that does no harm.
	if at := now.UnixMilli(); at-found.use.last.Load() >= useEvery.Milliseconds() {
		found.use.last.Store(at)
	}
	return key, nil
}

// trusts tells whether what is known is to be taken without asking: the store failed
// a moment ago, and its word is still good.
func (k *Keyring) trusts() bool {
	since := k.now().UnixMilli() - k.failed.Load()
	return since >= 0 && since < failurePause.Milliseconds() && !k.doubted.Load()
}

func (s *shard) known(hash [sha256.Size]byte) *known {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys[hash]
}

// find looks a key up, when its turn has come and nobody else did so meanwhile.
func (k *Keyring) find(ctx context.Context, s *shard, hash [sha256.Size]byte, wasSeen bool) (*known, error) {
	turns := k.seen
	if !wasSeen {
		turns = k.unseen
		defer k.waiting.Add(-1)
		if k.waiting.Add(1) > maxWaiting {
			return nil, ErrCrowded
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	select {
	case turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-turns }()

	epoch := k.epoch.Load() // before the lookup: what is forgotten during it may be what it finds
	if found := s.known(hash); found != nil && found.epoch == epoch {
		return found, nil
	}
	key, err := k.lookup(ctx, hash)
	if err != nil {
		switch {
		case errors.Is(err, ErrInvalidKey):
			s.forget(hash, epoch)
		case wasSeen && !errors.Is(err, context.Canceled):
			// A caller who leaves says nothing of the store, nor does a crowd of strangers,
			// who might keep a revoked key alive with it.
			k.failed.Store(k.now().UnixMilli())
		}
		return nil, err
	}
	return s.keep(hash, known{key: key, epoch: epoch}), nil
}

// keep remembers what was found, unless something newer is remembered already.
func (s *shard) keep(hash [sha256.Size]byte, found known) *known {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.keys[hash]
	switch {
	case old != nil && old.epoch > found.epoch:
		return old
	case old != nil:
		found.use = old.use // a request that holds the old one may be about to note its use
	default:
		found.use = new(use)
	}
	if s.keys == nil {
		s.keys = map[[sha256.Size]byte]*known{}
	}
	if old == nil && len(s.keys) >= maxKnown {
		for any := range s.keys { // a map begins anywhere; a key in use is back at once
			delete(s.keys, any)
			break
		}
	}
	s.keys[hash] = &found
	return &found
}

// forget drops a key that no longer exists, unless it was found since.
func (s *shard) forget(hash [sha256.Size]byte, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.keys[hash]; old != nil && old.epoch <= epoch {
		delete(s.keys, hash)
	}
}

// Forget has every key looked up again when it is next used. A request that
// begins after it is answered by a lookup that begins after it.
func (k *Keyring) Forget() { k.epoch.Add(1) }

// Doubt ends the trust in what is known of keys for as long as the store is away,
// or restores it. By default a key that was forgotten and cannot be looked up
// again is taken for what it was; after long enough that would keep a revoked one
// alive.
func (k *Keyring) Doubt(doubted bool) {
	if k.doubted.Swap(doubted) != doubted {
		k.Forget()
	}
}

// A Use is when a key was last used, give or take a minute.
type Use struct {
	KeyID string
	At    time.Time
}

// Used gives the keys that were used since it was last called, which one goroutine
// does about once a minute. A key that is used all the time has one Use a minute
// at most. Forget loses none; a key that memory had no room for may be missed.
func (k *Keyring) Used() []Use {
	var list []Use
	for i := range k.shards {
		s := &k.shards[i]
		s.mu.RLock()
		for _, found := range s.keys {
			if last := found.use.last.Load(); last > found.use.told {
				found.use.told = last
				list = append(list, Use{found.key.ID, time.UnixMilli(last)})
			}
		}
		s.mu.RUnlock()
	}
	return list
}
