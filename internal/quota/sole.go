package quota

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"time"
)

// Where nodes share the counters, each has a row there, which it renews all the time. A
// node that finds no other row counts in memory, as on SQLite, until it finds one.
//
// No clock is compared with another. A node writes, and only what it reads after that
// decides: before it counts in memory it marks its row, then reads that there is no other;
// before a new node counts at all it writes its row, then reads that no other is marked.
// So of two nodes at least one sees the other. A node ends its mark only when what it
// counted in memory is saved; requests that could not wait for that follow with the next
// save. The row of a node that is gone is removed by others when it
// was not renewed for some time by their clocks; a node whose row was removed counts on
// its own, as if the store did not respond, until it has joined again.
const (
	// soleTimeout is for the row of a node that counts in memory, for which others wait.
	soleTimeout = 3 * time.Second
	// nodeTimeout is for other rows, which only keep nodes from counting in memory. It
	// exceeds what a busy machine or a lost packet delays.
	nodeTimeout = 30 * time.Second
	// A node stops using its row so long before others may remove it.
	rowMargin = 500 * time.Millisecond
	// soleRetry is how long a node that could not begin to count in memory waits.
	soleRetry = 30 * time.Second
	// joinInterval is how often a node that starts looks whether it may count.
	joinInterval = 100 * time.Millisecond
)

// A Node is the row of a node.
type Node struct {
	ID       string
	Renewals int64
	Sole     bool // it counts in memory
}

var errRemoved = errors.New("this node was silent for too long, and others count without it")

// registration is the row of this node and what is known of the others.
type registration struct {
	id      string
	claim   atomic.Bool               // this node counts in memory or is about to: the next renewal says so
	marked  atomic.Bool               // the row may say so, as of the last renewal
	others  atomic.Bool               // there are others, as of the last renewal
	renewed atomic.Pointer[time.Time] // when the last renewal was sent
	crowded chan struct{}             // wakes Run when others come

	retry time.Time // when to try again to count in memory; used only by Run

	turn     chan struct{} // one renewal at a time
	renewals int64
	seen     map[string]sighting
}

func newRegistration() registration {
	return registration{id: rand.Text(), crowded: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
}

// A sighting is the row of another node, and when it was first seen like that.
type sighting struct {
	Node
	since time.Time
}

// renew renews the row of this node, removes those of silent ones, and reports whether
// another node counts in memory. It returns errRemoved if there is no row.
func (m *Meter) renew(ctx context.Context) (isOtherSole bool, err error) {
	r := &m.nodes
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	sent := m.cfg.Now()
	if m.isLate() {
		r.seen = nil // the others may not have reached the store either
	}
	var silent []Node
	for _, s := range r.seen {
		if sent.Sub(s.since) >= timeout(s.Sole) {
			silent = append(silent, s.Node)
		}
	}
	r.renewals++
	claim := r.claim.Load()
	if claim {
		r.marked.Store(true) // also if the response is lost
	}
	nodes, err := m.cfg.Counters.Renew(ctx, Node{r.id, r.renewals, claim}, silent)
	if err != nil {
		return false, err
	}
	now, before := m.cfg.Now(), r.seen
	r.seen = map[string]sighting{}
	err = errRemoved
	for _, n := range nodes {
		if n.ID == r.id {
			err = nil
			continue
		}
		isOtherSole = isOtherSole || n.Sole
		r.seen[n.ID] = sighting{n, now}
		if old, ok := before[n.ID]; ok && old.Renewals == n.Renewals {
			r.seen[n.ID] = old
		}
	}
	r.others.Store(len(r.seen) > 0)
	if err == nil {
		r.renewed.Store(&sent)
		r.marked.Store(claim)
	}
	return isOtherSole, err
}

// isLate reports whether others may be about to remove the row of this node.
func (m *Meter) isLate() bool {
	renewed := m.nodes.renewed.Load()
	return renewed == nil || m.cfg.Now().Sub(*renewed) >= timeout(m.nodes.marked.Load())-rowMargin
}

// timeout returns after how much silence the row of a node is removed.
func timeout(isSole bool) time.Duration {
	if isSole {
		return soleTimeout
	}
	return nodeTimeout
}

// joins gives this node a row, and reports whether it may count in the store.
func (m *Meter) joins(ctx context.Context) (bool, error) {
	if err := m.cfg.Counters.Join(ctx, m.nodes.id); err != nil {
		return false, err
	}
	isOtherSole, err := m.renew(ctx)
	return err == nil && !isOtherSole, err
}

// join waits until this node may count in the store.
func (m *Meter) join(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		if may, err := m.joins(ctx); may || err != nil {
			return err
		}
		if attempt == 0 {
			m.cfg.Log.Info("waiting until another node has saved the requests that it counted in memory")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(joinInterval):
		}
	}
}

// stay renews the row until ctx ends.
func (m *Meter) stay(ctx context.Context) {
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if m.shared.unreachable.Load() {
			continue // reconnect does it
		}
		query, cancel := brief(ctx)
		_, err := m.renew(query)
		cancel()
		switch {
		case errors.Is(err, errRemoved), err != nil && m.shared.sole.Load() && m.isLate():
			m.fallBack(err)
		case m.shared.sole.Load() && m.nodes.others.Load():
			select {
			case m.nodes.crowded <- struct{}{}:
			default: // Run is about to see it
			}
		}
	}
}

// settle begins to count in memory if there is no other node, and ends it if there is one.
func (m *Meter) settle(ctx context.Context) {
	isSole, others := m.shared.sole.Load(), m.nodes.others.Load()
	switch {
	case !m.cfg.Shared || m.shared.unreachable.Load():
	case isSole && others:
		_ = m.countInStore(ctx) // it has logged why not, and Run tries again
	case !isSole && !others && !m.cfg.Now().Before(m.nodes.retry):
		if err := m.becomeSole(ctx); err != nil {
			m.nodes.retry = m.cfg.Now().Add(soleRetry)
			m.cfg.Log.Warn("this is the only node, but it goes on counting requests in the database, which is slower", "error", err, "retry", soleRetry.String())
		}
	}
}

// becomeSole makes this node count in memory, if it is the only one.
func (m *Meter) becomeSole(ctx context.Context) error {
	today := m.day.Load()
	if !today.ready.Load() || today.private {
		return nil
	}
	r, c := &m.nodes, &m.shared
	r.claim.Store(true)
	defer func() {
		if !c.sole.Load() {
			r.claim.Store(false)
		}
	}()
	query, cancel := brief(ctx)
	defer cancel()
	for range 2 { // what the second reads is newer than what the first wrote
		_, err := m.renew(query)
		if errors.Is(err, errRemoved) {
			m.fallBack(err)
			return nil
		}
		if err != nil {
			return err
		}
		if r.others.Load() {
			r.claim.Store(false)
			_, _ = m.renew(query) // without the mark; if it fails, stay does it
			return nil
		}
	}
	// From here on only this node counts, still in the store, and lead keeps memory up to
	// date. Nothing is saved meanwhile, which would be in neither.
	ctx, cancel = detached(ctx)
	defer cancel()
	usage, err := m.cfg.Counters.Load(ctx, today.name)
	if err != nil {
		return err
	}
	for _, n := range usage.Accounts {
		today.accounts.raise(n.Account, n.Requests)
	}
	for _, n := range usage.Networks {
		today.networks.raise(n.Network, n.Requests)
	}
	if err := m.prepareNext(ctx, true); err != nil { // others may have counted on it around midnight
		return err
	}
	c.hold()
	defer c.end()
	c.sole.Store(m.day.Load() == today && !c.unreachable.Load() && !m.isLate())
	return nil
}

// countInStore ends counting in memory: as the only node, or because the store did not
// respond. Requests wait meanwhile, so that when the first is counted in the store the
// others are saved there.
func (m *Meter) countInStore(ctx context.Context) error {
	c := &m.shared
	c.hold()
	defer c.end()
	c.inMemory.Lock() // waits for those that are being counted
	c.sole.Store(false)
	c.unreachable.Store(false)
	c.inMemory.Unlock()
	err := m.save(ctx)
	if err == nil {
		err = m.save(ctx) // those that could not wait for the first, which are few
	}
	if err == nil {
		m.nodes.claim.Store(false)
		query, cancel := brief(ctx)
		defer cancel()
		_, err = m.renew(query)
	}
	if err != nil {
		m.fallBack(err)
	}
	return err
}

// takeInMemory counts a request in memory if this node is the only one, or counts on its
// own. Requests of Pro do not need it.
func (m *Meter) takeInMemory(d *day, s Subject, now time.Time) (g Grant, ok bool) {
	c := &m.shared
	c.inMemory.RLock()
	defer c.inMemory.RUnlock()
	if !c.sole.Load() && !c.unreachable.Load() {
		return Grant{}, false
	}
	return m.takeHere(d, s, now), true
}
