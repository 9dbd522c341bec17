package web

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"palmares/internal/quota"
)

// A Limit bounds the work that is under way, by number or by bytes. What finds no room waits for its
// turn, in order, and is refused if that takes too long.
type Limit struct {
	room *semaphore.Weighted
	most int
	wait time.Duration
}

// NewLimit returns a limit of most, of which one may wait for some time.
func NewLimit(most int, wait time.Duration) *Limit {
	return &Limit{semaphore.NewWeighted(int64(most)), most, wait}
}

// Enter waits for room of a size; Leave must be called with the same size. Work that is larger than
// the limit needs all of it. The error is what to respond with.
func (l *Limit) Enter(ctx context.Context, size int) error {
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	err := l.room.Acquire(ctx, int64(min(size, l.most)))
	if err != nil {
		return NewError(CodeUnavailable, "Trop de visites à la fois en ce moment : réessayez dans quelques secondes.")
	}
	return nil
}

// Leave gives room back.
func (l *Limit) Leave(size int) { l.room.Release(int64(min(size, l.most))) }

// A sharedLimit is a limit of which one caller may have a part.
type sharedLimit struct {
	all  *Limit
	part int

	mu      sync.Mutex
	callers map[quota.Subject]*callerLimit
}

// A callerLimit is that of a caller who has work under way, or waits.
type callerLimit struct {
	*Limit
	users int
}

// enter waits for room of a size for a caller, until leave is called, also after an error.
func (l *sharedLimit) enter(ctx context.Context, caller quota.Subject, size int) (leave func(), err error) {
	l.mu.Lock()
	mine := l.callers[caller]
	if mine == nil {
		mine = &callerLimit{Limit: NewLimit(l.part, l.all.wait)}
		l.callers[caller] = mine
	}
	mine.users++
	l.mu.Unlock()
	left := []func(){func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		mine.users--
		if mine.users == 0 {
			delete(l.callers, caller)
		}
	}}
	leave = func() {
		for _, undo := range left {
			undo()
		}
	}
	for _, limit := range []*Limit{mine.Limit, l.all} {
		if err := limit.Enter(ctx, size); err != nil {
			return leave, err
		}
		left = append(left, func() { limit.Leave(size) })
	}
	return leave, nil
}
