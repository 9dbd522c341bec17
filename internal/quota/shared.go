package quota

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// minCountTime is what a request must have left until its deadline for the store to be
// asked. With less, because the lookup of its key took long, the store would hardly
// answer in time: the request is counted here, and its count saved later.
const minCountTime = 60 * time.Millisecond

// A Tally is what a Count made of what it was asked.
type Tally struct {
	Now  time.Time // by the store's clock
	Open bool      // it is that day; otherwise nothing was counted
	// What became of each subject; one that the store does not know is missing.
	Accounts map[string]Counted
	Networks map[Pseudonym]Counted
}

// Counted is what became of the requests of one subject.
type Counted struct {
	Granted int64 // of those asked for
	Used    int64 // on that day until now, those included
}

// A counting is what makes the count exact among several nodes. Requests ask the
// store together: while a group of them is under way the next one gathers, and whoever
// opened a group leads it, when its turn comes. So no matter how many requests come,
// one question is under way, and no goroutine is needed to ask it.
//
// When the store does not answer, everybody counts here until Run has found it well
// again.
type counting struct {
	away atomic.Bool

	mu    sync.Mutex
	busy  bool     // a group is under way
	queue []*group // those that gather, or wait for their turn
}

// A group is what several requests ask of the store together. Its numbers change
// only while it is in the queue.
type group struct {
	day      *day
	deadline time.Time // zero for none
	accounts map[string]int64
	networks map[Pseudonym]int64
	turn     chan struct{} // closed when its leader may ask
	done     chan struct{} // closed when there is an answer

	tally Tally
	err   error
}

var errSilent = errors.New("the store did not answer a moment ago")

// join enters requests of a subject, one or none, into a group of its day and gives
// their place among those of the subject; the first of all leads, and its deadline is
// that of the group.
func (c *counting) join(ctx context.Context, d *day, s Subject, network Pseudonym, requests int64) (g *group, place int64, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.queue); n > 0 && c.queue[n-1].day == d {
		g = c.queue[n-1]
	} else {
		deadline, _ := ctx.Deadline()
		g = &group{
			day: d, deadline: deadline, accounts: map[string]int64{}, networks: map[Pseudonym]int64{},
			turn: make(chan struct{}), done: make(chan struct{}),
		}
		c.queue = append(c.queue, g)
		leads = true
		if !c.busy {
			c.next()
		}
	}
	if s.Tier == Anonymous {
		place = g.networks[network]
		g.networks[network] += requests
	} else {
		place = g.accounts[s.Account]
		g.accounts[s.Account] += requests
	}
	return g, place, leads
}

// next calls the group at the head of the queue. It is called under the lock.
func (c *counting) next() {
	if c.busy = len(c.queue) > 0; c.busy {
		close(c.queue[0].turn)
	}
}

// leave takes a group out of the queue: nobody joins it any more. It tells whether it
// was called, and so is to end.
func (c *counting) leave(g *group) (called bool) {
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

// end lets the next group go.
func (c *counting) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next()
}

// lead asks for a whole group.
func (m *Meter) lead(g *group) {
	ctx := m.base // not the leader's: its caller may leave, the others stay
	if !g.deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, g.deadline)
		defer cancel()
	}
	select {
	case <-g.turn:
	case <-ctx.Done():
	}
	called := m.shared.leave(g)
	if called {
		defer m.shared.end()
	}
	defer close(g.done)
	if !called || m.shared.away.Load() {
		g.err = errSilent
		return
	}
	var asked Usage
	for id, n := range g.accounts {
		asked.Accounts = append(asked.Accounts, AccountCount{id, n})
	}
	for network, n := range g.networks {
		asked.Networks = append(asked.Networks, NetworkCount{network, n})
	}
	g.tally, g.err = m.ask(ctx, g.day.name, asked)
	if g.err != nil && m.shared.away.CompareAndSwap(false, true) {
		m.cfg.Log.Error("the store does not count: requests are counted on this node alone, at the same limits, until it does", "error", g.err)
	}
}

// ask asks the store and learns what time it is there.
func (m *Meter) ask(ctx context.Context, day string, asked Usage) (Tally, error) {
	begin := m.cfg.Now()
	tally, err := m.cfg.Count(ctx, day, asked)
	if err != nil {
		return Tally{}, err
	}
	end := m.cfg.Now()
	took := end.Sub(begin)
	there := tally.Now.Add(took / 2)
	// What a round trip tells is off by half of it at most. A clock that only trembles
	// with that is left alone.
	if off := there.Sub(m.now()); m.clock.Load() == nil || off.Abs() > max(took, maxTremble) {
		m.clock.Store(&reading{here: end, there: there})
	}
	return tally, nil
}

// maxTremble is less than the two seconds around midnight in which the store
// takes either day.
const maxTremble = 250 * time.Millisecond

// A reading is what the store's clock showed at a moment of ours. Between two of
// them time is measured here, by a clock that nobody sets.
type reading struct{ here, there time.Time }

// now is the time by the store's clock where nodes share it, and by ours on one.
func (m *Meter) now() time.Time {
	now := m.cfg.Now()
	if r := m.clock.Load(); r != nil {
		return r.there.Add(now.Sub(r.here))
	}
	return now
}

// Alone tells whether this node counts by itself, as the store it shares with
// others does not answer.
func (m *Meter) Alone() bool { return m.shared.away.Load() }

// isShared tells whether requests of s are to be asked of the store. Those of Pro
// are not: nothing depends on their number but a chart.
func (m *Meter) isShared(ctx context.Context, s Subject, d *day) bool {
	return m.cfg.Count != nil && s.Tier != Pro && hasTime(ctx) && !m.shared.away.Load() && d.ready.Load() && !(d.private && s.Tier == Anonymous)
}

// hasTime reports whether the store can still answer before the deadline of ctx.
func hasTime(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return !limited || time.Until(deadline) >= minCountTime
}

// takeShared is take among several nodes, of one request or none. It fails when the
// store gave no answer in time, or none for this subject; then the request is counted
// here.
func (m *Meter) takeShared(ctx context.Context, d *day, s Subject, requests int64) (used uint32, is outcome, ok bool) {
	var network Pseudonym
	if s.Tier == Anonymous {
		network = d.pseudonym(s.Network)
		used = d.networks.used(network)
	} else {
		used = d.accounts.used(s.Account)
	}
	limit := counted[s.Tier]
	if used >= limit {
		return used, refused, true // no node will grant it any more
	}
	g, place, leads := m.shared.join(ctx, d, s, network, requests)
	switch {
	case leads:
		m.lead(g)
	default:
		if !g.wait(ctx) {
			return 0, taken, false
		}
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
		d.networks.learn(network, c.Used)
	} else {
		d.accounts.learn(s.Account, c.Used)
	}
	switch {
	case !known:
		return 0, taken, false
	case requests == 0:
		return uint32(min(c.Used, fullCounter)), taken, true
	case place >= c.Granted:
		return uint32(min(max(c.Used, int64(limit)), fullCounter)), refused, true
	}
	return uint32(c.Used - c.Granted + place + 1), taken, true
}

// wait waits for the answer to a group until the deadline of ctx. A request that goes
// before the answer is there may be counted twice, there and here; so a caller who
// leaves does not end the wait.
func (g *group) wait(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	if !limited || !g.deadline.IsZero() && !deadline.Before(g.deadline) {
		<-g.done // in time: mostly the group is older than this request
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

// recoverTimeout is for a new connection and a question, on a long way too: nobody
// waits for it. A question that was lost must not be waited for when the store is back.
const recoverTimeout = time.Second

// recover asks a store that was away whether it is well, saves what was counted here
// meanwhile, and then has everybody ask it again.
func (m *Meter) recover(ctx context.Context) {
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), recoverTimeout)
	defer cancel()
	if _, err := m.ask(asking, "", Usage{}); err != nil {
		return
	}
	if err := m.save(ctx); err != nil {
		return
	}
	m.shared.away.Store(false)
	m.cfg.Log.Info("requests are counted among all nodes again")
}
