package keyring

import (
	"cmp"
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"net/netip"
	"sync"

	"palmares/internal/account"
)

// ErrTooManyLookups means that a key was not looked up because too many unknown keys
// are being looked up already. It says nothing about the key.
var ErrTooManyLookups = errors.New("too many unknown keys are being looked up at once: try again in a moment")

const (
	// maxLookups is how many lookups run at once, of remembered keys and of unknown keys
	// separately; those of unknown keys are of whole groups. SQLite has four readers for
	// all queries. On PostgreSQL lookups share three connections with State only
	// (lookupConnections in package sqldb). So neither kind can occupy them all.
	maxLookups = 2
	// maxWaiting is how many unseen keys may wait for their lookup: the customers of a
	// large service who all return after a restart.
	maxWaiting = 8192
	// maxWaitingPerNetwork leaves room for others when one network floods. All callers
	// share one network if the operator forgot --trusted-proxies.
	maxWaitingPerNetwork = 2048
	// maxGroup is how many keys one query looks up.
	maxGroup = 500
)

// unseen are the lookups of keys that are not in memory. They wait in lines, one for each
// network, and are looked up in groups, one query for each: a group takes one lookup of
// every line in turn, in the order of their arrival, until it is full or nobody waits. So
// a network that makes up keys is mostly delayed by itself, and an invented key costs a
// fraction of a query.
type unseen struct {
	mu      sync.Mutex
	running int                            // groups being looked up, at most maxLookups
	waiting int                            // lookups in lines
	lines   map[netip.Prefix]*list.Element // in turns
	turns   list.List                      // of *line, the next to be served first; none is empty
	byHash  map[[sha256.Size]byte]*lookup  // those in lines
}

// A line is what waits for one network.
type line struct {
	network netip.Prefix
	lookups list.List // of *lookup, oldest first
}

// A lookup is one unseen key, for all requests that asked for it before its group was
// formed.
type lookup struct {
	hash    [sha256.Size]byte
	callers int           // who wait for it
	group   *group        // nil while it is in a line
	turn    *list.Element // its line
	place   *list.Element // in its line
	done    chan struct{} // closed when there is a result

	found *entry
	err   error
}

// A group is a number of keys that one query looks up. It is cancelled when nobody waits
// for it any more.
type group struct {
	lookups []*lookup
	callers int
	cancel  context.CancelFunc
}

// lookUpUnseen asks the store for a key that is not in memory.
func (k *Keyring) lookUpUnseen(ctx context.Context, hash [sha256.Size]byte, network netip.Prefix) (*entry, error) {
	l, lead := k.unseen.join(hash, network)
	if l == nil {
		return nil, ErrTooManyLookups
	}
	if lead {
		// Not in this goroutine: its caller may hang up or have less time than the others.
		// It ends with its queries, and these at the latest when nobody waits for them.
		go k.runGroups(context.WithoutCancel(ctx))
	}
	select {
	case <-l.done:
		return l.found, l.err
	case <-ctx.Done():
		k.unseen.leave(l)
		return nil, ctx.Err()
	}
}

// join puts a key into the line of its network, nil if that is too long. If lead is true,
// the caller must see to it that runGroups runs.
func (u *unseen) join(hash [sha256.Size]byte, network netip.Prefix) (l *lookup, lead bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if l := u.byHash[hash]; l != nil {
		l.callers++
		return l, false
	}
	turn := u.lines[network]
	if u.waiting >= maxWaiting || turn != nil && turn.Value.(*line).lookups.Len() >= maxWaitingPerNetwork {
		return nil, false
	}
	if u.lines == nil {
		u.lines, u.byHash = map[netip.Prefix]*list.Element{}, map[[sha256.Size]byte]*lookup{}
	}
	if turn == nil {
		turn = u.turns.PushBack(&line{network: network})
		u.lines[network] = turn
	}
	l = &lookup{hash: hash, callers: 1, turn: turn, done: make(chan struct{})}
	l.place = turn.Value.(*line).lookups.PushBack(l)
	u.byHash[hash] = l
	u.waiting++
	lead = u.running < maxLookups
	if lead {
		u.running++
	}
	return l, lead
}

// leave is for a caller who does not wait any longer.
func (u *unseen) leave(l *lookup) {
	u.mu.Lock()
	defer u.mu.Unlock()
	l.callers--
	switch {
	case l.group != nil:
		l.group.callers--
		if l.group.callers == 0 {
			l.group.cancel()
		}
	case l.callers == 0:
		u.remove(l)
	}
}

// remove takes a lookup out of its line.
func (u *unseen) remove(l *lookup) {
	of := l.turn.Value.(*line)
	of.lookups.Remove(l.place)
	if of.lookups.Len() == 0 {
		u.turns.Remove(l.turn)
		delete(u.lines, of.network)
	}
	delete(u.byHash, l.hash)
	u.waiting--
}

// next forms a group. It returns nil if nobody waits; then the caller must not ask again.
func (u *unseen) next(cancel context.CancelFunc) *group {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting == 0 {
		u.running--
		return nil
	}
	g := &group{cancel: cancel}
	for u.waiting > 0 && len(g.lookups) < maxGroup {
		turn := u.turns.Front()
		l := turn.Value.(*line).lookups.Front().Value.(*lookup)
		u.turns.MoveToBack(turn)
		u.remove(l)
		l.group = g
		g.lookups, g.callers = append(g.lookups, l), g.callers+l.callers
	}
	return g
}

// runGroups looks up groups until nobody waits. A group belongs to all of its callers, not
// to the request that came first, so its context ends when the last of them gives up.
func (k *Keyring) runGroups(ctx context.Context) {
	for {
		ofGroup, cancel := context.WithCancel(ctx)
		g := k.unseen.next(cancel)
		if g != nil {
			k.lookUpGroup(ofGroup, g)
		}
		cancel()
		if g == nil {
			return
		}
	}
}

func (k *Keyring) lookUpGroup(ctx context.Context, g *group) {
	hashes := make([][sha256.Size]byte, len(g.lookups))
	for i, l := range g.lookups {
		hashes[i] = l.hash
	}
	epoch := k.epoch.Load() // before the query, as in lookUp
	found, err := k.store.ByHashes(ctx, hashes)
	for _, l := range g.lookups {
		if key, ok := found[l.hash]; ok && err == nil {
			l.found = k.shard(l.hash).put(l.hash, entry{key: key, epoch: epoch})
		} else {
			l.err = cmp.Or(err, error(account.ErrInvalidKey))
		}
		close(l.done)
	}
}
