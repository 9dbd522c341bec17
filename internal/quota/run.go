package quota

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// saveEvery leaves a save half a second to take place in, within the second that
	// a crash may forget.
	saveEvery = 500 * time.Millisecond
	// saveTimeout is for a store that is stuck. A save is never cut by the end of the
	// process: one that was committed and then reported as cut would be made twice.
	saveTimeout = 10 * time.Second
	// Where nodes share the store a save is made in pieces, so that none holds the rows
	// that another node wants for longer than a request waits, and one that hangs is
	// given up before the store could be back unnoticed.
	pieceSize    = 1000
	pieceTimeout = 2 * time.Second
	// lastAttempts is how often the end of the process tries again. A store that is
	// busy takes five seconds to say so, and a stop may last 15.
	lastAttempts = 2
	// A day's key and networks are kept for an hour after it, for a restart with a clock
	// that is a little behind, and for nodes whose clocks differ.
	keepNetworks = time.Hour
	// keepAccounts is in months: a year's chart, and the month it is compared with.
	keepAccounts = 13
)

// Run saves what is counted until ctx ends, and then what is left; it makes the next
// day ready and destroys what is too old. ctx must outlast the last request. The
// error says what could not be saved in the end; what fails before is logged, kept
// and tried again.
func (m *Meter) Run(ctx context.Context) error {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if m.shared.away.Load() {
			m.recover(ctx) // and save nothing before: each attempt might hang
		} else {
			m.report(m.tend(ctx))
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	// A publication may hold the store for a while: the last counts are worth waiting for.
	err := m.save(ctx)
	for range lastAttempts {
		if err == nil {
			break
		}
		err = m.save(ctx)
	}
	if err != nil {
		return fmt.Errorf("the last requests counted could not be saved and will be forgotten: %w", err)
	}
	return nil
}

// tend is one round of Run.
func (m *Meter) tend(ctx context.Context) error {
	return errors.Join(m.save(ctx), m.prepareNext(ctx), m.prune(ctx))
}

// outlive gives what touches the store its own time, whatever ends meanwhile.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
}

// report logs the beginning and the end of trouble, not each of its half seconds.
func (m *Meter) report(err error) {
	switch {
	case err != nil && !m.failed:
		m.cfg.Log.Error("requests are counted in memory only, as the store cannot take them: a restart would forget them", "error", err)
	case err == nil && m.failed:
		m.cfg.Log.Info("all requests counted are saved again")
	}
	m.failed = err != nil
}

// save writes what was counted, first of the days that are over.
func (m *Meter) save(ctx context.Context) error {
	ctx, cancel := outlive(ctx)
	defer cancel()
	today := m.today(m.now()) // turns the day also when nobody asks
	if err := m.savePast(ctx); err != nil {
		return err
	}
	if !today.settled {
		if err := m.settle(ctx, today); err != nil {
			return err
		}
	}
	networks := today.networks
	if today.private {
		networks = nil
	}
	return m.saveTables(ctx, today.name, today.accounts, networks)
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
			m.past = append(past[i:], m.past...) // a day may have turned meanwhile
			m.mu.Unlock()
			return err
		}
	}
	return nil
}

// saveTables writes what two tables have to save. Without networks it leaves them
// alone. What a failure leaves is given back.
func (m *Meter) saveTables(ctx context.Context, day string, accounts *table[string], networks *table[Pseudonym]) error {
	ofAccounts := accounts.collect()
	var ofNetworks []delta[Pseudonym]
	if networks != nil {
		ofNetworks = networks.collect()
	}
	for len(ofAccounts)+len(ofNetworks) > 0 {
		a, n := len(ofAccounts), len(ofNetworks)
		if m.cfg.Count != nil {
			a = min(a, pieceSize)
			n = min(n, pieceSize-a)
		}
		var added Usage
		for _, d := range ofAccounts[:a] {
			added.Accounts = append(added.Accounts, AccountCount{d.key, int64(d.requests)})
		}
		for _, d := range ofNetworks[:n] {
			added.Networks = append(added.Networks, NetworkCount{d.key, int64(d.requests)})
		}
		if err := m.savePiece(ctx, day, added); err != nil {
			accounts.giveBack(ofAccounts)
			if networks != nil {
				networks.giveBack(ofNetworks)
			}
			return fmt.Errorf("saving the counts of %s: %w", day, err)
		}
		ofAccounts, ofNetworks = ofAccounts[a:], ofNetworks[n:]
	}
	return nil
}

// savePiece gives each piece its own time.
func (m *Meter) savePiece(ctx context.Context, day string, added Usage) error {
	if m.cfg.Count != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), pieceTimeout)
		defer cancel()
	}
	return m.cfg.Save(ctx, day, added)
}

// prepareNext makes tomorrow ready as early as today, so that the store may be away
// for a day before a day begins without it.
func (m *Meter) prepareNext(ctx context.Context) error {
	m.mu.Lock()
	today, ready := m.day.Load(), m.next != nil
	m.mu.Unlock()
	if ready {
		return nil
	}
	ctx, cancel := outlive(ctx)
	defer cancel()
	next, err := m.prepare(ctx, today.end)
	if err != nil {
		return fmt.Errorf("making %s ready: %w", dayName(today.end), err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.day.Load() == today {
		m.next = next
	}
	return nil
}

// prune destroys what is too old, when Run begins and once after each day.
func (m *Meter) prune(ctx context.Context) error {
	now := m.now().UTC()
	networks := now.Add(-keepNetworks).Format(time.DateOnly)
	if networks == m.pruned {
		return nil
	}
	ctx, cancel := outlive(ctx)
	defer cancel()
	if err := m.cfg.Prune(ctx, networks, now.AddDate(0, -keepAccounts, 0).Format(time.DateOnly)); err != nil {
		return fmt.Errorf("destroying the keys and counts before %s: %w", networks, err)
	}
	m.pruned = networks
	return nil
}
