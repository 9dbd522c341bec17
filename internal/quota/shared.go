package quota

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// minCountTime is how much time a request must have left until its deadline to be counted
// in the store. With less, because looking up its key took long, the store would hardly
// respond in time: the request is counted here, and its count saved later.
const minCountTime = 60 * time.Millisecond

// sharedCounts counts requests in the store, exactly across nodes, in groups: while the
// query of one group runs, the next group forms, and the request that opened a group sends
// its query when its turn comes. So only one query runs at a time however many requests
// there are, and no goroutine is needed for it.
//
// If the store does not respond, every request is counted here until Run finds that it
// responds again.
type sharedCounts struct {
	dayClock    *dayClock
	unreachable atomic.Bool
	turn        chan struct{} // holds one element while the query of a group runs

	mu      sync.Mutex
	forming *group // which requests may join; nil for none
}

// A group is a number of requests that are counted by one query. Its counts change only
// while it is forming.
type group struct {
	day      *day
	deadline time.Time // zero for none
	accounts map[string]int64
	networks map[Pseudonym]NetworkCount
	done     chan struct{} // closed when there is a result

	tally Tally
	err   error
}

var errNotAsked = errors.New("the store did not respond to an earlier query")

// take counts one request, or none, in the store. The outcome is closed if it is another
// day there, and uncounted if the request is to be counted here: those of Pro, on whose
// number only a chart depends, and those for which the store does not respond in time.
func (c *sharedCounts) take(ctx context.Context, d *day, s Subject, requests int64) (used uint32, is outcome) {
	if c == nil || s.Tier == Pro || c.unreachable.Load() || !d.isStored(s.Tier) || !hasTime(ctx) {
		return 0, uncounted
	}
	var network Pseudonym
	if s.Tier == Anonymous {
		network = d.counterOf(s)
		used = d.networks.used(network)
	} else {
		used = d.accounts.used(s.Account)
	}
	limit := s.limit()
	if used >= limit {
		return used, refused // no node grants it any more
	}

	g, position, leads := c.join(ctx, d, s, network, requests)
	if leads {
		c.lead(ctx, g)
	} else if !g.wait(ctx) {
		return 0, uncounted
	}
	if g.err != nil {
		return 0, uncounted
	}
	if !g.tally.Open {
		return 0, closed
	}

	result, known := g.tally.Accounts[s.Account]
	if s.Tier == Anonymous {
		result, known = g.tally.Networks[network]
	}
	switch {
	case !known:
		return 0, uncounted
	case requests == 0:
		return uint32(min(result.Used, fullCounter)), taken
	case position >= result.Granted:
		return uint32(min(max(result.Used, int64(limit)), fullCounter)), refused
	}
	return uint32(result.Used - result.Granted + position + 1), taken
}

// hasTime reports whether the store can still respond before the deadline of ctx.
func hasTime(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return !limited || time.Until(deadline) >= minCountTime
}

// join adds requests of a subject, one or none, to a group of its day and returns their
// position among those of the subject. The first request of a group leads it, and its
// deadline is that of the group.
func (c *sharedCounts) join(
	ctx context.Context, d *day, s Subject, network Pseudonym, requests int64,
) (g *group, position int64, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g = c.forming
	if g == nil || g.day != d {
		deadline, _ := ctx.Deadline()
		g = &group{
			day: d, deadline: deadline, done: make(chan struct{}),
			accounts: map[string]int64{}, networks: map[Pseudonym]NetworkCount{},
		}
		c.forming = g
		leads = true
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

// lead sends the query of a group when its turn comes.
func (c *sharedCounts) lead(ctx context.Context, g *group) {
	defer close(g.done)
	ctx = context.WithoutCancel(ctx) // the leader's caller may hang up, the others stay
	if !g.deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, g.deadline)
		defer cancel()
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		g.err = errNotAsked
	}
	c.mu.Lock()
	if c.forming == g {
		c.forming = nil
	}
	c.mu.Unlock()
	if c.unreachable.Load() {
		g.err = errNotAsked
	}
	if g.err == nil {
		c.send(ctx, g)
	}
}

// send sends the query of a group, and raises the counts in memory to the result.
func (c *sharedCounts) send(ctx context.Context, g *group) {
	var asked Usage
	for id, n := range g.accounts {
		asked.Accounts = append(asked.Accounts, AccountCount{id, n})
	}
	for _, n := range g.networks {
		asked.Networks = append(asked.Networks, n)
	}
	g.tally, g.err = c.count(ctx, g.day.name, asked)
	if g.err != nil && c.unreachable.CompareAndSwap(false, true) {
		c.dayClock.cfg.Log.Error("the database does not respond: this node counts requests alone, "+
			"with the same limits, until it does", "error", g.err)
	}
	for id, n := range g.tally.Accounts {
		g.day.accounts.raise(id, n.Used)
	}
	for network, n := range g.tally.Networks {
		g.day.networks.raise(network, n.Used)
	}
}

// count counts in the store and reads its clock.
func (c *sharedCounts) count(ctx context.Context, day string, asked Usage) (Tally, error) {
	begin := c.dayClock.cfg.Now()
	tally, err := c.dayClock.cfg.Counters.Count(ctx, day, asked)
	if err != nil {
		return Tally{}, err
	}
	c.dayClock.setClock(begin, tally.Now)
	return tally, nil
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
