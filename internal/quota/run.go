package quota

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// saveInterval leaves a save half a second to finish within the second that a crash
	// may lose.
	saveInterval = 500 * time.Millisecond
	// saveTimeout is for a store that hangs. A save is never cut off by the end of the
	// process: one that was committed and then reported as failed would be made twice.
	saveTimeout = 10 * time.Second
	// Where nodes share the counters a save is made in batches, so that none locks rows
	// that another node needs for longer than a request waits, and so that a batch that
	// hangs times out before the store could be back unnoticed.
	batchSize    = 1000
	batchTimeout = 2 * time.Second
	// finalRetries is how often the last save is retried. A busy store takes five seconds
	// to say so, and a shutdown may take 15.
	finalRetries = 2
	// A day's key and networks are kept for an hour after it, for a restart with a clock
	// that is slightly behind, and for nodes whose clocks differ.
	keepNetworks = time.Hour
	// clockTimeout is for a new connection and a query. No request waits for it, but a
	// query that was lost must not delay the next attempt for long.
	clockTimeout = time.Second
	// keepAccounts is in months: a year's chart, and the month it is compared with.
	keepAccounts = 13
)

// Run saves the counts until ctx ends, and once more then; it prepares the next day and
// destroys what is too old. ctx must outlast the last request. It returns an error only if
// the final save fails; earlier failures are logged and retried.
func (m *Meter) Run(ctx context.Context) error {
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if m.Alone() {
			m.reconnect(ctx) // without a save before it, which might hang
		}
		if !m.Alone() {
			m.report(m.runOnce(ctx))
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	// A publication may block the store for a while: the last counts are worth waiting for.
	err := m.save(ctx)
	for n := 0; err != nil && n < finalRetries; n++ {
		err = m.save(ctx)
	}
	if err != nil {
		return fmt.Errorf("could not save the last request counts, which are lost: %w", err)
	}
	return nil
}

// runOnce is one iteration of Run.
func (m *Meter) runOnce(ctx context.Context) error {
	return errors.Join(m.save(ctx), m.prepareNext(ctx), m.prune(ctx))
}

// detached returns a context with a timeout of its own, which does not end with ctx.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
}

// report logs the first failure and the recovery, not every failure in between.
func (m *Meter) report(err error) {
	switch {
	case err != nil && !m.failed:
		m.cfg.Log.Error("could not save request counts: they are kept in memory and lost by a restart", "error", err)
	case err == nil && m.failed:
		m.cfg.Log.Info("request counts are saved again")
	}
	m.failed = err != nil
}

// save saves all counts, first those of past days.
func (m *Meter) save(ctx context.Context) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	if err := m.readClock(ctx); err != nil {
		return err
	}
	if err := m.stepBack(ctx); err != nil {
		return err
	}
	today := m.today(m.now()) // starts a new day even without requests
	if err := m.savePast(ctx); err != nil {
		return err
	}
	if !today.ready.Load() {
		// It started unprepared. Before its first save only what other nodes counted is loaded.
		key, err := m.cfg.Counters.DayKey(ctx, today.name, today.key)
		if err != nil {
			return err
		}
		if err := m.load(ctx, today, key); err != nil {
			return err
		}
	}
	networks := today.networks
	if today.private {
		networks = nil
	}
	return m.saveTables(ctx, today.name, today.accounts, networks)
}

// reconnect checks whether the store responds again, saves what was counted here
// meanwhile, and then lets requests be counted there.
func (m *Meter) reconnect(ctx context.Context) {
	if m.save(ctx) != nil {
		return
	}
	m.shared.unreachable.Store(false)
	m.cfg.Log.Info("requests are counted across all nodes again")
}

// readClock reads the store's clock where nodes share it. Requests do so as well, but not
// those that are refused from memory.
func (m *Meter) readClock(ctx context.Context) error {
	if m.shared == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	_, err := m.shared.count(ctx, "", Usage{})
	return err
}

// stepBack switches back to the correct day after a clock that was ahead has been
// corrected. A few minutes are not worth it: see today. What was counted on the day that is
// left stays there.
func (m *Meter) stepBack(ctx context.Context) error {
	d, now := m.day.Load(), m.now()
	if now.Unix() >= d.start-int64(maxAhead.Seconds()) {
		return nil
	}
	if err := m.savePast(ctx); err != nil { // the day to return to may be among them
		return err
	}
	back, err := m.prepare(ctx, startOfDay(now))
	if err != nil {
		return err
	}
	m.mu.Lock()
	if m.day.Load() == d {
		m.follow(d, back)
	}
	m.mu.Unlock()
	m.cfg.Log.Error("the clock that decides which day it is was ahead and has been corrected: "+
		"requests are counted on the correct day again", "was", d.name, "is", back.name)
	return nil
}

func (m *Meter) savePast(ctx context.Context) error {
	m.mu.Lock()
	past := m.past
	m.past = nil
	m.mu.Unlock()
	for i, d := range past {
		d.accounts.close()
		if err := m.saveTables(ctx, d.name, d.accounts, nil); err != nil {
			m.mu.Lock()
			m.past = append(past[i:], m.past...) // another day may have ended meanwhile
			m.mu.Unlock()
			return err
		}
	}
	return nil
}

// saveTables saves the unsaved counts of two tables; networks may be nil. After a failure
// the rest is unsaved again.
func (m *Meter) saveTables(
	ctx context.Context, day string, accounts *table[string], networks *table[Pseudonym],
) error {
	ofAccounts, ofNetworks := accounts.collect(), networks.collect()
	var all Usage
	for id, n := range ofAccounts {
		all.Accounts = append(all.Accounts, AccountCount{id, int64(n)})
	}
	for network, n := range ofNetworks {
		all.Networks = append(all.Networks, NetworkCount{Network: network, Requests: int64(n)})
	}
	most := len(all.Accounts) + len(all.Networks)
	if m.cfg.Shared {
		most = batchSize
	}
	for len(ofAccounts)+len(ofNetworks) > 0 {
		a := min(len(all.Accounts), most)
		n := min(len(all.Networks), most-a)
		added := Usage{all.Accounts[:a], all.Networks[:n]}
		all = Usage{all.Accounts[a:], all.Networks[n:]}
		if err := m.saveBatch(ctx, day, added); err != nil {
			accounts.giveBack(ofAccounts)
			networks.giveBack(ofNetworks)
			return fmt.Errorf("saving the counts of %s: %w", day, err)
		}
		for _, saved := range added.Accounts {
			delete(ofAccounts, saved.Account)
		}
		for _, saved := range added.Networks {
			delete(ofNetworks, saved.Network)
		}
	}
	return nil
}

func (m *Meter) saveBatch(ctx context.Context, day string, added Usage) error {
	if m.cfg.Shared {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
		defer cancel()
	}
	return m.cfg.Counters.Save(ctx, day, added)
}

// prepareNext prepares tomorrow a day ahead, so that the store may be unreachable for a
// day before a day starts unprepared.
func (m *Meter) prepareNext(ctx context.Context) error {
	m.mu.Lock()
	today, ready := m.day.Load(), m.next != nil
	m.mu.Unlock()
	if ready {
		return nil
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	next, err := m.prepare(ctx, today.end)
	if err != nil {
		return fmt.Errorf("preparing %s: %w", dayName(today.end), err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.day.Load() == today {
		m.next = next
	}
	return nil
}

// prune destroys what is too old, when Run starts and once after each day.
func (m *Meter) prune(ctx context.Context) error {
	now := m.now().UTC()
	if own := m.cfg.Now().UTC(); own.Before(now) {
		now = own // the store's clock may be ahead by mistake, and what is destroyed is gone
	}
	networks := now.Add(-keepNetworks).Format(time.DateOnly)
	if networks == m.pruned {
		return nil
	}
	accounts := now.AddDate(0, -keepAccounts, 0).Format(time.DateOnly)
	ctx, cancel := detached(ctx)
	defer cancel()
	if err := m.cfg.Counters.Prune(ctx, networks, accounts); err != nil {
		return fmt.Errorf("destroying the keys and counts before %s: %w", networks, err)
	}
	m.pruned = networks
	return nil
}
