// Package keyring checks API keys on the path of every request, from memory where it
// can, so that most requests never wait for the database.
//
// A Keyring remembers the keys it has looked up. When any key changes on any node,
// Invalidate marks everything it remembers as stale, and Refresh reads the keys in use
// again while requests go on. That is how a revocation made elsewhere takes effect.
//
// What Check returns depends on what is in memory and on the store:
//
//	in memory   store                                  result
//	unknown     finds the key                          its state, which is remembered
//	unknown     has no such key                        account.ErrInvalidKey, which is not remembered
//	unknown     fails, or is too slow for ctx          that error
//	unknown     not asked: too many are waiting        ErrTooManyLookups
//	current     not asked                              the remembered state
//	stale       not asked: Refresh is running, or a    the remembered state if it is still usable;
//	            lookup failed less than 1 s ago        otherwise the store is asked
//	stale       finds the key                          its state, which is remembered
//	stale       has no such key                        account.ErrInvalidKey, and the key is forgotten
//	stale       fails, or is too slow for ctx          the remembered state if it is still usable;
//	                                                   otherwise that error
//
// A remembered state is current until the next Invalidate, however long the store is
// unreachable. A stale state is usable if it became stale after the last complete
// Refresh, and if the first Invalidate after that Refresh is
//
//   - less than 5 seconds ago, or the store became reachable less than 5 seconds ago, or
//   - less than 15 minutes ago while the store is unreachable (SetReachable).
//
// Otherwise a store that is merely too slow for requests would keep a revoked key
// alive. Distrust makes everything stale and nothing usable: the caller sets it once the
// store has been unreachable for so long that a revocation may have been missed.
//
// A token that is malformed or has a wrong checksum is account.ErrInvalidKey without a
// lookup. A key found to be revoked, expired or suspended is refused with
// account.ErrRevokedKey, ErrExpiredKey or ErrSuspendedKey; expiry is decided by the
// clock at each check, not when the key was read.
//
// A key goes through the files from top to bottom: Check in keyring.go, the lookup of an unknown key
// in unseen.go, what is remembered in memory.go. What refresh.go does is in the background.
package keyring

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"palmares/internal/account"
)

const (
	// For failurePause after a failed lookup, remembered keys are not looked up again:
	// their owners would wait for nothing, one after the other.
	failurePause = time.Second
	// A key's last use is recorded once per useInterval.
	useInterval = time.Minute
	// maxStale is how long after a change a stale state is usable while the store responds.
	maxStale = 5 * time.Second
	// maxStaleUnreachable is the same while the store is unreachable. Keys that were used
	// within it are refreshed.
	maxStaleUnreachable = 15 * time.Minute
)

// A Store is where the keys are.
type Store interface {
	// ByHash returns the key with a hash, revoked and expired ones included. It
	// returns account.ErrInvalidKey if there is none.
	ByHash(ctx context.Context, hash [sha256.Size]byte) (account.Key, error)
	// ByHashes returns those of the keys with these hashes that exist.
	ByHashes(ctx context.Context, hashes [][sha256.Size]byte) (map[[sha256.Size]byte]account.Key, error)
}

// A Keyring checks keys; see the package comment. It is safe for concurrent use.
//
// Its memory is split into shards by the key's hash, so that requests with different
// keys share no lock.
//
// A key that does not exist is looked up each time: remembering it would not help
// against someone who makes up another key for every request, and would hurt the owner
// of a key created a moment ago. Looking up many in one query is what protects the store;
// see unseen. Remembered keys have lookups of their own, so that their owners do not
// queue behind made-up keys.
type Keyring struct {
	store  Store
	now    func() time.Time
	shards [64]shard
	epoch  atomic.Uint64 // counts the calls of Invalidate

	mu         sync.Mutex    // held to change epoch, refreshed and changedAt together
	refreshed  atomic.Uint64 // the epoch at which the keys in use were last all current
	changedAt  atomic.Int64  // the first Invalidate since then, in Unix milliseconds; 0 for none
	graceSince atomic.Int64  // changedAt, or when the store became reachable after it
	refreshing atomic.Bool

	unreachable atomic.Bool
	distrusted  atomic.Bool
	failedAt    atomic.Int64 // when a remembered key last could not be looked up, in Unix milliseconds

	unseen     unseen        // lookups of unknown keys
	knownSlots chan struct{} // holds a value for each running lookup of a remembered key
}

// StoreTimeout is how long one request may wait for the store, to look up its key and to count it together.
// Callers are promised a response within 250 ms; the rest is for the network. It is a variable for tests on
// machines of any speed.
var StoreTimeout = 240 * time.Millisecond

// New returns an empty keyring. Neither store nor now may be nil.
func New(store Store, now func() time.Time) *Keyring {
	if store == nil || now == nil {
		panic("keyring: a store and a clock are required")
	}
	return &Keyring{store: store, now: now, knownSlots: make(chan struct{}, maxLookups)}
}

// Check returns the key for a token. An error other than the four reasons of package
// account means that the key could not be looked up. network is where the request came
// from: lookups of keys that are not in memory are queued per network. The key is shared:
// callers must not change it. A lookup, including the wait for its turn, ends when ctx
// does, or after StoreTimeout.
func (k *Keyring) Check(ctx context.Context, token string, network netip.Prefix) (*account.Key, error) {
	if len(token) != account.KeyLength {
		return nil, account.ErrInvalidKey
	}
	hash := account.HashKey(token)
	s := k.shard(hash)
	found := s.get(hash)
	if found == nil && !account.CheckKey(token) { // a remembered key has passed this
		return nil, account.ErrInvalidKey
	}
	if found == nil || found.epoch != k.epoch.Load() && !k.skipsLookup(found) {
		ctx, cancel := context.WithTimeout(ctx, StoreTimeout)
		defer cancel()
		newer, err := k.read(ctx, s, hash, network, found != nil)
		if err == nil && newer.epoch != k.epoch.Load() {
			// Invalidate overtook it, and the Refresh that follows may have missed it.
			again, failed := k.read(ctx, s, hash, network, found != nil)
			if failed == nil || errors.Is(failed, account.ErrInvalidKey) {
				newer, err = again, failed
			}
		}
		switch {
		case err == nil:
			found = newer
		case errors.Is(err, account.ErrInvalidKey):
			return nil, err
		default: // Refresh or another request may have read it meanwhile
			found = s.get(hash)
			if found == nil || found.epoch != k.epoch.Load() && !k.isUsable(found) {
				return nil, err
			}
		}
	}
	now := k.now()
	if err := refusals[found.key.State(now)]; err != nil {
		return nil, err
	}
	// Concurrent requests may all write here; once a minute that does no harm.
	if at := now.UnixMilli(); at-found.use.last.Load() >= useInterval.Milliseconds() {
		found.use.last.Store(at)
	}
	return &found.key, nil
}

// refusals are the reasons why a key is refused.
var refusals = map[account.KeyState]error{
	account.KeyRevoked:   account.ErrRevokedKey,
	account.KeyExpired:   account.ErrExpiredKey,
	account.KeySuspended: account.ErrSuspendedKey,
}

// read asks the store for a key, which is remembered or not.
func (k *Keyring) read(
	ctx context.Context, s *shard, hash [sha256.Size]byte, network netip.Prefix, remembered bool,
) (*entry, error) {
	if remembered {
		return k.lookUp(ctx, s, hash)
	}
	return k.lookUpUnseen(ctx, hash, network)
}

// skipsLookup reports whether a stale entry is used without asking the store.
func (k *Keyring) skipsLookup(stale *entry) bool {
	sinceFailure := k.now().UnixMilli() - k.failedAt.Load()
	return (k.refreshing.Load() || sinceFailure >= 0 && sinceFailure < failurePause.Milliseconds()) && k.isUsable(stale)
}

// isUsable reports whether a stale entry may be used; see the package comment.
func (k *Keyring) isUsable(stale *entry) bool {
	now, changed := k.now().UnixMilli(), k.changedAt.Load()
	switch {
	case k.distrusted.Load(), stale.epoch < k.refreshed.Load(),
		changed == 0, now-changed >= maxStaleUnreachable.Milliseconds():
		return false
	case k.unreachable.Load():
		return true
	}
	return now-k.graceSince.Load() < maxStale.Milliseconds()
}

// lookUp asks the store for a remembered key once a slot is free, unless another request
// has done so meanwhile.
func (k *Keyring) lookUp(ctx context.Context, s *shard, hash [sha256.Size]byte) (*entry, error) {
	select {
	case k.knownSlots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-k.knownSlots }()

	epoch := k.epoch.Load() // before the query: an Invalidate during it may be about what it reads
	if found := s.get(hash); found != nil && found.epoch == epoch {
		return found, nil
	}
	key, err := k.store.ByHash(ctx, hash)
	if err != nil {
		switch {
		case errors.Is(err, account.ErrInvalidKey):
			s.remove(hash, epoch)
		case !errors.Is(err, context.Canceled):
			// A caller who hangs up says nothing about the store. Nor do failed lookups of
			// unknown keys, with which anyone could keep a revoked key alive.
			k.failedAt.Store(k.now().UnixMilli())
		}
		return nil, err
	}
	return s.put(hash, entry{key: key, epoch: epoch}), nil
}
