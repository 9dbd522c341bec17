package snapshot

import (
	"context"
	"sync/atomic"
)

// Live holds the snapshot being served. Requests never wait for it: they load the
// pointer once and use that snapshot to the end.
type Live struct {
	current atomic.Pointer[Snapshot]
	load    func(ctx context.Context, before *Snapshot) (*Snapshot, error)
}

// NewLive loads the first snapshot. load builds the newest version; before is the one that
// is served, nil at first.
func NewLive(ctx context.Context, load func(ctx context.Context, before *Snapshot) (*Snapshot, error)) (*Live, error) {
	l := &Live{load: load}
	return l, l.Refresh(ctx)
}

// Fixed returns a Live that serves one snapshot for ever: Refresh must not be called.
func Fixed(s *Snapshot) *Live {
	l := &Live{}
	l.current.Store(s)
	return l
}

// Snapshot returns the newest loaded version. It is never nil.
func (l *Live) Snapshot() *Snapshot { return l.current.Load() }

// Refresh replaces the snapshot with the newest version. If that fails, the current
// one remains.
func (l *Live) Refresh(ctx context.Context) error {
	next, err := l.load(ctx, l.current.Load())
	if err != nil {
		return err
	}
	l.current.Store(next)
	return nil
}
