package snapshot

import (
	"context"
	"sync/atomic"
)

// Live holds the snapshot that is being served. Requests never wait for it: they
// take the pointer, and go on with what they took.
type Live struct {
	current atomic.Pointer[Snapshot]
	load    func(context.Context) (*Snapshot, error)
}

// NewLive loads the first snapshot; load builds the newest version there is.
func NewLive(ctx context.Context, load func(context.Context) (*Snapshot, error)) (*Live, error) {
	l := &Live{load: load}
	return l, l.Refresh(ctx)
}

// Snapshot is the newest version loaded; it is never nil.
func (l *Live) Snapshot() *Snapshot { return l.current.Load() }

// Refresh replaces the snapshot by the newest version. When that fails, the one
// that is there goes on being served.
func (l *Live) Refresh(ctx context.Context) error {
	next, err := l.load(ctx)
	if err != nil {
		return err
	}
	l.current.Store(next)
	return nil
}
