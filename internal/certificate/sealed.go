package certificate

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// sealed are the values of a Store.
type sealed struct {
	opened atomic.Pointer[openedStore] // nil until the database is open
}

type openedStore struct {
	Store
	sealer Sealer
}

func (v *sealed) open(store Store, sealer Sealer) { v.opened.Store(&openedStore{store, sealer}) }

// get returns a value, "" if there is none. What a former key sealed is sealed again.
func (v *sealed) get(ctx context.Context, name string) (string, error) {
	s := v.opened.Load()
	if s == nil {
		return "", errors.New("the database is not open yet")
	}
	text, err := s.Get(ctx, name)
	if err != nil || text == "" {
		return "", err
	}
	if id := s.sealer.Missing(text); id != "" {
		return "", fmt.Errorf("it is sealed with key %s, which is not in --secret-key: add the previous key, after a comma "+
			"if there is a new one", id)
	}
	value, err := s.sealer.Open(name, text)
	if err != nil {
		return "", errors.New("it is damaged: restore the database from a backup")
	}
	if !s.sealer.Current(text) {
		err = v.put(ctx, name, value)
	}
	return value, err
}

// put stores a value. It is bound to its name.
func (v *sealed) put(ctx context.Context, name, value string) error {
	s := v.opened.Load()
	return s.Put(ctx, name, s.sealer.Seal(name, value))
}

func (v *sealed) remove(ctx context.Context, name string) error {
	return v.opened.Load().Delete(ctx, name)
}
