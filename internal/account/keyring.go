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
)

// A Keyring checks keys on the request's path. A key that it has seen is
// answered from memory; one that it has not is looked up once. Forget empties
// the memory, which is how a revocation made elsewhere takes hold.
//
// The memory is cut into shards by the key's hash, so that requests with
// different keys share no lock.
type Keyring struct {
	lookup func(ctx context.Context, hash [sha256.Size]byte) (Key, error)
	now    func() time.Time
	shards [64]shard
	epoch  atomic.Uint64 // counts the calls of Forget
}

type shard struct {
	mu   sync.RWMutex
	keys map[[sha256.Size]byte]*Key
	_    [64]byte // a cache line of its own
}

// NewKeyring makes an empty keyring. lookup finds a key by its hash and gives
// ErrInvalidKey when there is none.
func NewKeyring(lookup func(ctx context.Context, hash [sha256.Size]byte) (Key, error), now func() time.Time) *Keyring {
	return &Keyring{lookup: lookup, now: now}
}

// Check tells whose key a token is. An error that is none of the three reasons
// means that the key could not be looked up. The key is shared: it must not be changed.
func (k *Keyring) Check(ctx context.Context, token string) (*Key, error) {
	if !CheckKey(token) {
		return nil, ErrInvalidKey
	}
	hash := HashKey(token)
	s := &k.shards[hash[0]%byte(len(k.shards))]
	s.mu.RLock()
	key := s.keys[hash]
	s.mu.RUnlock()
	if key == nil {
		epoch := k.epoch.Load()
		found, err := k.lookup(ctx, hash)
		if err != nil {
			return nil, err
		}
		key = &found
		s.mu.Lock()
		if k.epoch.Load() == epoch { // else what was found may be what was to be forgotten
			if s.keys == nil {
				s.keys = map[[sha256.Size]byte]*Key{}
			}
			s.keys[hash] = key
		}
		s.mu.Unlock()
	}
	switch {
	case !key.RevokedAt.IsZero():
		return nil, ErrRevokedKey
	case !key.ExpiresAt.IsZero() && !k.now().Before(key.ExpiresAt):
		return nil, ErrExpiredKey
	}
	return key, nil
}

// Forget drops every key from memory; each is looked up again when next used.
func (k *Keyring) Forget() {
	k.epoch.Add(1)
	for i := range k.shards {
		s := &k.shards[i]
		s.mu.Lock()
		s.keys = nil
		s.mu.Unlock()
	}
}
