package snapshot

import (
	"context"
	"sync/atomic"
)

// Live holds the snapshot being served. Requests never wait for it: they load the
// pointer once and use that snapshot to the end.
type Live struct {
	current atomic.Pointer[Snapshot]
	load    func(context.Context) (*Snapshot, error)
}

// NewLive loads the first snapshot. load builds the newest version.
func NewLive(ctx context.Context, load func(context.Context) (*Snapshot, error)) (*Live, error) {
	l := &Live{load: load}
	return l, l.Refresh(ctx)
}

// Snapshot returns the newest loaded version. It is never nil.
func (l *Live) Snapshot() *Snapshot { return l.current.Load() }

// Refresh replaces the snapshot with the newest version. If that fails, the current
// one remains.
func (l *Live) Refresh(ctx context.Context) error {
	next, err := l.load(ctx)
	if err != nil {
		return err
	}
	l.current.Store(next)
	return nil
}
