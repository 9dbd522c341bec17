package account

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"slices"
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
	// believeFor is how long after a change a key is taken for what it was, when it can
	// neither be renewed nor looked up although the store answers others.
	believeFor = 5 * time.Second
	// trustFor is the same while the store is away. Keys that were used within it are
	// kept up to date.
	trustFor = 15 * time.Minute
	// renewedAtOnce is how many keys are renewed by one question.
	renewedAtOnce = 1000
)

// InVain is the wait of a request for whose key the store was asked and gave no
// answer: it is not to be asked for anything else.
const InVain = time.Duration(math.MaxInt64)

// A Keyring checks keys on the request's path. A key that it has seen is
// answered from memory; one that it has not is looked up once. When a key has changed
// anywhere, Forget ends what is known and Renew reads the keys in use again, beside the
// requests, which is how a revocation made elsewhere takes hold. Until that is done
// keys in use are what they were; others are looked up when they are next used.
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

	mu       sync.Mutex    // of changes to epoch, settled and changed
	settled  atomic.Uint64 // the epoch in which the keys in use were last all up to date
	changed  atomic.Int64  // the first Forget since, in Unix milliseconds; 0 for none
	grace    atomic.Int64  // the same, or when the store was back since
	renewing atomic.Bool

	away    atomic.Bool  // the store answers nobody
	doubted atomic.Bool  // for so long that what is known no longer holds
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
	key, _, err := k.CheckTimed(ctx, token)
	return key, err
}

// CheckTimed is Check, and tells how long the store was waited for: mostly not at
// all, see InVain.
func (k *Keyring) CheckTimed(ctx context.Context, token string) (good *Key, waited time.Duration, err error) {
	if len(token) != keyLength {
		return nil, 0, ErrInvalidKey
	}
	hash := HashKey(token)
	s := &k.shards[hash[0]%byte(len(k.shards))]
	found := s.known(hash)
	if found == nil && !CheckKey(token) { // a key that is known has no typo
		return nil, 0, ErrInvalidKey
	}
	if found == nil || found.epoch != k.epoch.Load() && !k.trusts(found) {
		begin := time.Now()
		newer, err := k.find(ctx, s, hash, found != nil)
		waited = time.Since(begin)
		switch {
		case err == nil:
			found = newer
		case found == nil || errors.Is(err, ErrInvalidKey) || !k.believes(found):
			return nil, waited, err
		default:
			waited = InVain // and what is known of the key still holds
		}
	}
	key, now := &found.key, k.now()
	switch {
	case !key.RevokedAt.IsZero():
		return nil, waited, ErrRevokedKey
	case !key.ExpiresAt.IsZero() && !now.Before(key.ExpiresAt):
		return nil, waited, ErrExpiredKey
	case !key.SuspendedAt.IsZero():
		return nil, waited, ErrSuspendedKey
	}
	// Requests that come at once may all write here; once in a minute that does no harm.
	if at := now.UnixMilli(); at-found.use.last.Load() >= useEvery.Milliseconds() {
		found.use.last.Store(at)
	}
	return key, waited, nil
}

// trusts tells whether a forgotten key is to be taken for what it was without asking:
// it is being renewed, or the store failed a moment ago.
func (k *Keyring) trusts(found *known) bool {
	failed := k.now().UnixMilli() - k.failed.Load()
	return (k.renewing.Load() || failed >= 0 && failed < failurePause.Milliseconds()) && k.believes(found)
}

// believes tells whether a forgotten key that cannot be looked up is taken for what it
// was: up to date until the change that has not been read, and that is not long ago.
// Otherwise a store that is merely too slow for requests would keep a revoked key
// alive.
func (k *Keyring) believes(found *known) bool {
	now, changed := k.now().UnixMilli(), k.changed.Load()
	switch {
	case k.doubted.Load() || found.epoch < k.settled.Load() || changed == 0 || now-changed >= trustFor.Milliseconds():
		return false
	case k.away.Load():
		return true
	}
	return now-k.grace.Load() < believeFor.Milliseconds()
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

// Forget says that keys may have changed: each is looked up again when it is next
// used, unless Renew comes first. Without one under way, a request that begins after
// it is answered by a lookup that begins after it.
func (k *Keyring) Forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changed.Load() == 0 {
		now := k.now().UnixMilli()
		k.grace.Store(now)
		k.changed.Store(now)
	}
	k.epoch.Add(1)
}

// IsForgotten tells whether there is anything for Renew to do.
func (k *Keyring) IsForgotten() bool { return k.changed.Load() != 0 }

// Renew reads the forgotten keys again that were used lately, those used last first.
// find gives those that exist. Meanwhile requests take them for what they were. What
// an error leaves, the next call reads.
func (k *Keyring) Renew(ctx context.Context, find func(ctx context.Context, hashes [][sha256.Size]byte) (map[[sha256.Size]byte]Key, error)) error {
	k.renewing.Store(true)
	defer k.renewing.Store(false)
	for {
		epoch := k.epoch.Load() // before they are read: what is forgotten meanwhile may be what is found
		for some := range slices.Chunk(k.inUse(epoch), renewedAtOnce) {
			found, err := find(ctx, some)
			if err != nil {
				return err
			}
			for _, hash := range some {
				s := &k.shards[hash[0]%byte(len(k.shards))]
				if key, ok := found[hash]; ok {
					s.keep(hash, known{key: key, epoch: epoch})
				} else {
					s.forget(hash, epoch)
				}
			}
		}
		if k.settle(epoch) {
			return nil
		}
	}
}

// inUse gives the keys that were used lately and are not known as of epoch.
func (k *Keyring) inUse(epoch uint64) [][sha256.Size]byte {
	type used struct {
		hash [sha256.Size]byte
		last int64
	}
	var list []used
	since := k.now().Add(-trustFor).UnixMilli()
	for i := range k.shards {
		s := &k.shards[i]
		s.mu.RLock()
		for hash, found := range s.keys {
			if last := found.use.last.Load(); found.epoch < epoch && last > since {
				list = append(list, used{hash, last})
			}
		}
		s.mu.RUnlock()
	}
	slices.SortFunc(list, func(a, b used) int { return cmp.Compare(b.last, a.last) })
	hashes := make([][sha256.Size]byte, len(list))
	for i, u := range list {
		hashes[i] = u.hash
	}
	return hashes
}

// settle notes that the keys in use are up to date, unless they were forgotten again.
func (k *Keyring) settle(epoch uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.epoch.Load() != epoch {
		return false
	}
	k.settled.Store(epoch)
	k.changed.Store(0)
	return true
}

// Away says whether the store answers at all. While it does not, a key that was
// forgotten and cannot be looked up is taken for what it was. Doubt ends that, when
// it has lasted so long that a revoked one would be kept alive, or restores it.
func (k *Keyring) Away(away bool) {
	if k.away.Swap(away) && !away {
		k.grace.Store(k.now().UnixMilli()) // they could not be renewed before
	}
}

// Doubt: see Away.
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
