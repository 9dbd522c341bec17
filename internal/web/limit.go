package web

import (
	"context"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"palmares/internal/cache"
	"palmares/internal/clientip"
	"palmares/internal/problem"
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
	need := int64(min(size, l.most))
	if l.room.TryAcquire(need) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	if err := l.room.Acquire(ctx, need); err != nil {
		return NewError(CodeUnavailable, problem.New("too-many-visits"))
	}
	return nil
}

// Leave gives room back.
func (l *Limit) Leave(size int) { l.room.Release(int64(min(size, l.most))) }

// Places are those for work that keeps a processor busy for milliseconds, such as a search or a page
// that is not cached. Nobody else waits for a network that sends a flood: it may have half of them.
type Places struct {
	networks *sharedLimit[netip.Prefix]
	trusted  []netip.Prefix
}

// placeWait is how long a visitor waits for the work of others.
const placeWait = 2 * time.Second

// NewPlaces returns as many places as processors. The proxies that are trusted say which network a
// request is from.
func NewPlaces(trusted []netip.Prefix) *Places {
	most := max(2, runtime.GOMAXPROCS(0))
	return &Places{newSharedLimit[netip.Prefix](most, most/2, placeWait), trusted}
}

// Enter waits for a place for the network of a request, which it has until leave is called. The error
// is what to respond with. Without places, nil, nobody waits.
func (p *Places) Enter(r *http.Request) (leave func(), err error) {
	if p == nil {
		return func() {}, nil
	}
	return p.networks.enter(r.Context(), clientip.Network(clientip.Addr(r, p.trusted)), 1)
}

// A sharedLimit is a limit of which one user may have a part.
type sharedLimit[K comparable] struct {
	all   *Limit
	parts *cache.Cache[K, *Limit]
	part  int
}

func newSharedLimit[K comparable](most, part int, wait time.Duration) *sharedLimit[K] {
	const room = 1 << 20 // for thousands of users
	return &sharedLimit[K]{NewLimit(most, wait), cache.New(room, func(K, *Limit) int { return 0 }), part}
}

// enter waits for room of a size for a user, who has it until leave is called.
func (l *sharedLimit[K]) enter(ctx context.Context, user K, size int) (leave func(), err error) {
	own, _ := l.parts.Load(user, func() (*Limit, error) { return NewLimit(l.part, l.all.wait), nil })
	if err := own.Enter(ctx, size); err != nil {
		return nil, err
	}
	if err := l.all.Enter(ctx, size); err != nil {
		own.Leave(size)
		return nil, err
	}
	return sync.OnceFunc(func() {
		l.all.Leave(size)
		own.Leave(size)
	}), nil
}
