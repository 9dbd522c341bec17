package keyring

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"palmares/internal/account"
)

// refreshBatch is how many keys one query of Refresh reads.
const refreshBatch = 1000

// Invalidate makes everything that is remembered stale, because a key may have changed.
// Unless Refresh is running or the store fails, a check that starts after it is decided
// by a lookup that starts after it.
func (k *Keyring) Invalidate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changedAt.Load() == 0 {
		now := k.now().UnixMilli()
		k.graceSince.Store(now)
		k.changedAt.Store(now)
	}
	k.epoch.Add(1)
}

// NeedsRefresh reports whether Invalidate was called since the last complete Refresh.
func (k *Keyring) NeedsRefresh() bool { return k.changedAt.Load() != 0 }

// Refresh reads the stale keys that were used lately from the store, most recently used
// first. After an error the next call continues where this one stopped.
func (k *Keyring) Refresh(ctx context.Context) error {
	k.refreshing.Store(true)
	defer k.refreshing.Store(false)
	for {
		epoch := k.epoch.Load() // before the query, as in lookUp
		for hashes := range slices.Chunk(k.staleInUse(epoch), refreshBatch) {
			found, err := k.store.ByHashes(ctx, hashes)
			if err != nil {
				return err
			}
			for _, hash := range hashes {
				if key, ok := found[hash]; ok {
					k.shard(hash).put(hash, entry{key: key, epoch: epoch})
				} else {
					k.shard(hash).remove(hash, epoch)
				}
			}
		}
		if k.markRefreshed(epoch) {
			return nil
		}
	}
}

// staleInUse returns the keys that were used lately and were last read before epoch.
func (k *Keyring) staleInUse(epoch uint64) [][sha256.Size]byte {
	type used struct {
		hash [sha256.Size]byte
		last int64
	}
	var list []used
	since := k.now().Add(-maxStaleUnreachable).UnixMilli()
	for i := range k.shards {
		s := &k.shards[i]
		s.mu.RLock()
		for hash, e := range s.entries {
			if last := e.use.last.Load(); e.epoch < epoch && last > since {
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

// markRefreshed records that the keys in use are current as of epoch. It reports false
// if Invalidate was called since.
func (k *Keyring) markRefreshed(epoch uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.epoch.Load() != epoch {
		return false
	}
	k.refreshed.Store(epoch)
	k.changedAt.Store(0)
	return true
}

// SetReachable says whether the store responds at all.
func (k *Keyring) SetReachable(reachable bool) {
	if k.unreachable.Swap(!reachable) && reachable {
		k.graceSince.Store(k.now().UnixMilli()) // keys could not be refreshed before
	}
}

// Distrust says whether the store has been unreachable for so long that nothing
// remembered may be used.
func (k *Keyring) Distrust(distrusted bool) {
	if k.distrusted.Swap(distrusted) != distrusted {
		k.Invalidate()
	}
}

// Used returns the keys that were used since it was last called. One goroutine calls it,
// about once a minute. A key that is used all the time is returned at most once a
// minute. Invalidate loses no use; that of a key evicted from memory may be missed.
func (k *Keyring) Used() []account.KeyUse {
	var list []account.KeyUse
	for i := range k.shards {
		s := &k.shards[i]
		s.mu.RLock()
		for _, e := range s.entries {
			if last := e.use.last.Load(); last > e.use.reported {
				e.use.reported = last
				list = append(list, account.KeyUse{KeyID: e.key.ID, At: time.UnixMilli(last)})
			}
		}
		s.mu.RUnlock()
	}
	return list
}
