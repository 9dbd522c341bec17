package store

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"
)

// faults are failures that the next query may not show: a full disk stops writes and not
// reads, and damage shows only where it is.
type faults struct {
	unwritable atomic.Pointer[fault] // no space, or a disk that fails; nil for none
	damaged    atomic.Pointer[fault] // only another file ends it, and that needs a restart
}

type fault struct {
	err error
	at  time.Time
}

// note remembers an error if it is a fault.
func (f *faults) note(err error) {
	switch {
	case errors.Is(err, ErrFull), errors.Is(err, ErrDisk):
		f.unwritable.Store(&fault{err, time.Now()})
	case errors.Is(err, ErrDamaged):
		f.damaged.Store(&fault{err, time.Now()})
	}
}

// unwritableFor is how long Health returns a write that failed. Others may have succeeded
// since: a full disk often has room for a few bytes and not for a publication.
const unwritableFor = time.Minute

// Health returns what is wrong with the database although it may still answer: its file
// is gone, replaced or damaged, or its disk is full. It returns nil if nothing is known
// to be wrong.
func (s *Store) Health(ctx context.Context) error {
	if err := s.dialect.inspect(ctx); err != nil {
		return s.explain(ctx, err)
	}
	if f := s.faults.damaged.Load(); f != nil {
		return f.err
	}
	f := s.faults.unwritable.Load()
	if f == nil {
		return nil
	}
	if time.Since(f.at) < s.unwritableFor {
		return f.err
	}
	err := s.withWait(retryWait).write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE account_state SET revision = revision`)
		return err
	})
	if err == nil {
		s.faults.unwritable.CompareAndSwap(f, nil)
	}
	return err
}
