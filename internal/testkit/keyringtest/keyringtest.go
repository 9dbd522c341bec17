// Package keyringtest provides a keyring.Store for tests.
package keyringtest

import (
	"context"
	"crypto/sha256"
	"errors"

	"palmares/internal/account"
)

// Store is a keyring.Store made of functions.
type Store struct {
	// Find must not be nil. It is ByHash.
	Find func(ctx context.Context, hash [sha256.Size]byte) (account.Key, error)
	// FindAll is ByHashes. If nil, Find is called for each key.
	FindAll func(ctx context.Context, hashes [][sha256.Size]byte) (map[[sha256.Size]byte]account.Key, error)
}

// ByHash implements keyring.Store.
func (s Store) ByHash(ctx context.Context, hash [sha256.Size]byte) (account.Key, error) {
	return s.Find(ctx, hash)
}

// ByHashes implements keyring.Store.
func (s Store) ByHashes(ctx context.Context, hashes [][sha256.Size]byte) (map[[sha256.Size]byte]account.Key, error) {
	if s.FindAll != nil {
		return s.FindAll(ctx, hashes)
	}
	found := map[[sha256.Size]byte]account.Key{}
	for _, hash := range hashes {
		key, err := s.Find(ctx, hash)
		switch {
		case err == nil:
			found[hash] = key
		case !errors.Is(err, account.ErrInvalidKey):
			return nil, err
		}
	}
	return found, nil
}
