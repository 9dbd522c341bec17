package quota

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// minCountTime is how much time a request must have left until its deadline to be counted
// in the store. With less, because looking up its key took long, the store would hardly
// respond in time: the request is counted here, and its count saved later.
const minCountTime = 60 * time.Millisecond

// A Tally is the result of Counters.Count.
type Tally struct {
	Now  time.Time // by the store's clock
	Open bool      // it is that day; otherwise nothing was counted
	// The result for each subject; those that the store does not know are missing.
	Accounts map[string]Counted
	Networks map[Pseudonym]Counted
}

// Counted is the result for one subject.
type Counted struct {
	Granted int64 // of those requested
	Used    int64 // on that day so far, including those
}

// sharedCounts makes counts exact across nodes. Requests are counted in groups: while the
// query of one group runs, the next group forms, and the request that opened a group sends
// its query when its turn comes. So only one query runs at a time however many requests
// there are, and no goroutine is needed for it.
//
// If the store does not respond, every request is counted here until Run finds that it
// responds again.
type sharedCounts struct {
	unreachable atomic.Bool
	sole        atomic.Bool // there is no other node: requests are counted in memory

	inMemory sync.RWMutex // held by requests that are counted in memory for either reason

	mu    sync.Mutex
	busy  bool     // the query of a group is running
	queue []*group // groups that form or wait for their turn
}

// A group is a number of requests that are counted by one query. Its counts change only
// while it is in the queue.
type group struct {
	day      *day
	deadline time.Time // zero for none
	accounts map[string]int64
	networks map[Pseudonym]NetworkCount
	turn     chan struct{} // closed when its leader may send the query
	done     chan struct{} // closed when there is a result

	tally Tally
	err   error
}

var (
	errNotAsked = errors.New("the store did not respond to an earlier query")
	errMoved    = errors.New("requests are counted in memory now")
)

// join adds requests of a subject, one or none, to a group of its day and returns their
// position among those of the subject. The first request of a group leads it, and its
// deadline is that of the group.
func (c *sharedCounts) join(ctx context.Context, d *day, s Subject, network Pseudonym, requests int64) (g *group, position int64, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.queue); n > 0 && c.queue[n-1].day == d {
		g = c.queue[n-1]
	} else {
		deadline, _ := ctx.Deadline()
		g = &group{
			day: d, deadline: deadline, accounts: map[string]int64{}, networks: map[Pseudonym]NetworkCount{},
			turn: make(chan struct{}), done: make(chan struct{}),
		}
		c.queue = append(c.queue, g)
		leads = true
		if !c.busy {
			c.next()
		}
	}
	if s.Tier == Anonymous {
		position = g.networks[network].Requests
		g.networks[network] = NetworkCount{network, position + requests, int64(s.Calls)}
	} else {
		position = g.accounts[s.Account]
		g.accounts[s.Account] += requests
	}
	return g, position, leads
}

// next gives the group at the head of the queue its turn. The caller holds the lock.
func (c *sharedCounts) next() {
	if c.busy = len(c.queue) > 0; c.busy {
		close(c.queue[0].turn)
	}
}

// leave removes a group from the queue, so that no request joins it any more. It reports
// whether the group had its turn; then end must be called.
func (c *sharedCounts) leave(g *group) (hadTurn bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = slices.DeleteFunc(c.queue, func(other *group) bool { return other == g })
	select {
	case <-g.turn:
		return true
	default:
		return false
	}
}

// end gives the next group its turn.
func (c *sharedCounts) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next()
}

// hold waits until no query of a group is running, and keeps others from being sent until
// end is called.
func (c *sharedCounts) hold() {
	g := &group{turn: make(chan struct{})} // of no day, so that no request joins it
	c.mu.Lock()
	c.queue = append(c.queue, g)
	if !c.busy {
		c.next()
	}
	c.mu.Unlock()
	<-g.turn
	c.leave(g)
}

// lead sends the query of a group, and raises the counts in memory to the result.
func (m *Meter) lead(g *group) {
	ctx := m.base // not the leader's: its caller may hang up, the others stay
	if !g.deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, g.deadline)
		defer cancel()
	}
	select {
	case <-g.turn:
	case <-ctx.Done():
	}
	hadTurn := m.shared.leave(g)
	if hadTurn {
		defer m.shared.end()
	}
	defer close(g.done)
	if !hadTurn || m.shared.unreachable.Load() {
		g.err = errNotAsked
		return
	}
	if m.shared.sole.Load() {
		g.err = errMoved
		return
	}
	var asked Usage
	for id, n := range g.accounts {
		asked.Accounts = append(asked.Accounts, AccountCount{id, n})
	}
	for _, n := range g.networks {
		asked.Networks = append(asked.Networks, n)
	}
	if m.isLate() { // this process was stopped, or renewals fail
		_, g.err = m.renew(ctx)
	}
	if g.err == nil {
		g.tally, g.err = m.count(ctx, g.day.name, asked)
	}
	if g.err != nil {
		m.fallBack(g.err)
	}
	for id, c := range g.tally.Accounts {
		g.day.accounts.raise(id, c.Used)
	}
	for network, c := range g.tally.Networks {
		g.day.networks.raise(network, c.Used)
	}
}

// fallBack counts requests here until Run has reconnected.
func (m *Meter) fallBack(err error) {
	if !m.shared.unreachable.CompareAndSwap(false, true) {
		return
	}
	if errors.Is(err, errRemoved) {
		m.cfg.Log.Error("this node was silent for too long, and others count without it: it counts requests alone, with the same limits, until they know of it again")
		return
	}
	m.cfg.Log.Error("the database does not respond: this node counts requests alone, with the same limits, until it does", "error", err)
}

// count counts in the store and reads its clock.
func (m *Meter) count(ctx context.Context, day string, asked Usage) (Tally, error) {
	begin := m.cfg.Now()
	tally, err := m.cfg.Counters.Count(ctx, day, asked)
	if err != nil {
		return Tally{}, err
	}
	end := m.cfg.Now()
	took := end.Sub(begin)
	there := tally.Now.Add(took / 2)
	// The reading is off by at most half the round trip. Differences within that are
	// ignored.
	if off := there.Sub(m.now()); m.clock.Load() == nil || off.Abs() > max(took, maxJitter) {
		if m.clock.Load() != nil && off.Abs() > maxDrift {
			m.cfg.Log.Warn("the database's clock has jumped: it decides which day it is", "by", off.Round(time.Second).String(), "to", there.UTC().Format(time.RFC3339))
		}
		m.clock.Store(&clockReading{here: end, there: there})
	}
	return tally, nil
}

// maxJitter is less than the two seconds around midnight in which the store accepts either
// day.
const maxJitter = 250 * time.Millisecond

// maxDrift exceeds any plausible drift of two clocks between two readings.
const maxDrift = time.Minute

// A clockReading is what the store's clock showed at a time of ours. Between two readings
// time is measured here, by the monotonic clock.
type clockReading struct{ here, there time.Time }

// now returns the time by the store's clock where nodes share it, by ours otherwise.
func (m *Meter) now() time.Time {
	now := m.cfg.Now()
	if r := m.clock.Load(); r != nil {
		return r.there.Add(now.Sub(r.here))
	}
	return now
}

// Alone reports whether this node counts by itself because the store that it shares with
// others does not respond.
func (m *Meter) Alone() bool { return m.shared.unreachable.Load() }

// isShared reports whether a request of s is counted in the store. Those of Pro are not:
// only a chart depends on their number.
func (m *Meter) isShared(ctx context.Context, s Subject, d *day) bool {
	return m.cfg.Shared && s.Tier != Pro && hasTime(ctx) && !m.shared.unreachable.Load() && d.ready.Load() && !(d.private && s.Tier == Anonymous)
}

// hasTime reports whether the store can still answer before the deadline of ctx.
func hasTime(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return !limited || time.Until(deadline) >= minCountTime
}

// takeShared counts one request, or none, in the store. It fails if the store does not
// respond in time, or not for this subject; then the request is counted here. It also
// fails, with moved, if this node has become the only one meanwhile.
func (m *Meter) takeShared(ctx context.Context, d *day, s Subject, requests int64) (used uint32, is outcome, ok bool) {
	var network Pseudonym
	if s.Tier == Anonymous {
		network = d.counterOf(s)
		used = d.networks.used(network)
	} else {
		used = d.accounts.used(s.Account)
	}
	limit := s.limit()
	if used >= limit {
		return used, refused, true // no node grants it any more
	}
	g, position, leads := m.shared.join(ctx, d, s, network, requests)
	switch {
	case leads:
		m.lead(g)
	default:
		if !g.wait(ctx) {
			return 0, taken, false
		}
	}
	if errors.Is(g.err, errMoved) {
		return 0, moved, false
	}
	if g.err != nil {
		return 0, taken, false
	}
	if !g.tally.Open {
		return 0, closed, false
	}
	c, known := g.tally.Accounts[s.Account]
	if s.Tier == Anonymous {
		c, known = g.tally.Networks[network]
	}
	switch {
	case !known:
		return 0, taken, false
	case requests == 0:
		return uint32(min(c.Used, fullCounter)), taken, true
	case position >= c.Granted:
		return uint32(min(max(c.Used, int64(limit)), fullCounter)), refused, true
	}
	return uint32(c.Used - c.Granted + position + 1), taken, true
}

// wait waits for the result of a group until the deadline of ctx, and reports whether
// there is one. A request that does not wait for it may be counted twice, there and here;
// so a caller who hangs up does not end the wait.
func (g *group) wait(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	if !limited || !g.deadline.IsZero() && !deadline.Before(g.deadline) {
		<-g.done // in time: the group is usually older than this request
		return true
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-g.done:
		return true
	case <-timer.C:
		return false
	}
}

// reconnectTimeout is for a new connection and a query. No request waits for it, but a
// query that was lost must not delay the next attempt for long.
const reconnectTimeout = time.Second

// brief returns a context with that timeout, which does not end with ctx.
func brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), reconnectTimeout)
}

// reconnect checks whether the store responds again, saves what was counted here
// meanwhile, and then lets requests be counted there.
func (m *Meter) reconnect(ctx context.Context) {
	query, cancel := brief(ctx)
	defer cancel()
	if _, err := m.count(query, "", Usage{}); err != nil {
		return
	}
	if err := m.save(ctx); err != nil { // most of it, before requests wait for the rest
		return
	}
	m.nodes.claim.Store(false) // otherwise two nodes that count alone would wait for each other
	query, cancel = brief(ctx)
	defer cancel()
	if may, err := m.joins(query); !may || err != nil {
		return
	}
	if err := m.countInStore(ctx); err != nil {
		return
	}
	m.cfg.Log.Info("requests are counted across all nodes again")
}
