package snapshot

import (
	"context"
	"sync/atomic"
)

// Live holds the snapshot being served. Requests never wait for it: they load the
// pointer once and use that snapshot to the end.
type Live struct {
	current atomic.Pointer[served]
	load    func(ctx context.Context, before *Snapshot) (*Snapshot, error)
}

// served is a snapshot for as long as it is the newest.
type served struct {
	snapshot *Snapshot
	replaced chan struct{} // closed when there is a newer one
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
	l.current.Store(&served{snapshot: s})
	return l
}

// Snapshot returns the newest loaded version. It is never nil.
func (l *Live) Snapshot() *Snapshot { return l.current.Load().snapshot }

// Watch returns the newest loaded version, and a channel that is closed when it no longer
// is the newest.
func (l *Live) Watch() (*Snapshot, <-chan struct{}) {
	now := l.current.Load()
	return now.snapshot, now.replaced
}

// Refresh replaces the snapshot with the newest version. If that fails, the current
// one remains.
func (l *Live) Refresh(ctx context.Context) error {
	var serving *Snapshot
	if now := l.current.Load(); now != nil {
		serving = now.snapshot
	}
	next, err := l.load(ctx, serving)
	if err != nil {
		return err
	}
	if before := l.current.Swap(&served{snapshot: next, replaced: make(chan struct{})}); before != nil {
		close(before.replaced)
	}
	return nil
}
