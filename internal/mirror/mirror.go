// Package mirror keeps a database an exact copy of what another server of Palmarès serves.
//
// A Follower asks for the manifest of its origin once a minute, and with a key it also hears
// at once when the origin publishes something. If the origin has another
// state, it reads what differs, from the feed of changes or from the export; makes a
// content folder of all records, so that they pass the checks of package content; and
// stores the result in one transaction, if it has the state of the origin. Whatever goes
// wrong before changes nothing.
package mirror

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"palmares/internal/catalogdb"
	"palmares/internal/peer"
)

// Config is what a Follower works with. All fields are required unless they say otherwise.
type Config struct {
	Origin   string // its URL
	Key      string // of an account there; may be empty
	Store    *catalogdb.Store
	Shared   bool          // other nodes use the same database
	Interval time.Duration // between two requests for the manifest
	Now      func() time.Time
	Log      *slog.Logger
	TempDir  string // "" for the temporary folder of the system
	Memory   int64  // how many bytes the process may use; 0 for no limit
}

// A Follower keeps a database in step with an origin.
type Follower struct {
	cfg    Config
	client *Client
	node   string // this one, among those that share the database
	few    int64

	seen   *manifest        // the last one that was copied; nil if unknown
	seenAs catalogdb.Origin // what it was recorded as

	leading *catalogdb.Origin // what was copied last, if this node is the one that follows
	checked atomic.Int64      // when the origin was last seen to have nothing else, in Unix milliseconds
}

// fewChanges is how many changes are read from the feed. More are read from the export,
// which is smaller and does not change while it is read.
const fewChanges = 3000

// New returns a follower. It reports an origin or a key that cannot be right.
func New(cfg Config) (*Follower, error) {
	client, err := NewClient(cfg.Origin, cfg.Key)
	if err != nil {
		return nil, err
	}
	f := &Follower{cfg: cfg, client: client, node: rand.Text(), few: fewChanges}
	f.checked.Store(cfg.Now().UnixMilli())
	return f, nil
}

// Begin makes an empty database a mirror, and learns from one that is how old its copy is.
// It returns an error for one that has a catalogue of its own.
func (f *Follower) Begin(ctx context.Context) error {
	o, err := f.cfg.Store.Mirror.Begin(ctx, f.client.URL)
	if err == nil && !o.CheckedAt.IsZero() {
		f.checked.Store(o.CheckedAt.UnixMilli())
	}
	return err
}

// Age returns how many seconds ago the origin was last seen to have nothing else; before
// the first time, how long this process has tried.
func (f *Follower) Age() float64 {
	return max(0, f.cfg.Now().Sub(time.UnixMilli(f.checked.Load())).Seconds())
}

// Run follows the origin until ctx ends. What is wrong is logged when it changes.
func (f *Follower) Run(ctx context.Context) error {
	defer f.end(ctx)
	if f.client.key == "" {
		f.cfg.Log.Warn("PALMARES_MIRROR_KEY is not set: the origin counts every request of the mirror, "+
			"and answers about a hundred a day", "origin", f.client.URL)
	}
	listener := &listener{news: make(chan struct{})}
	defer listener.running.Wait()
	said, failures := "", 0
	for {
		err := f.Check(ctx)
		if ctx.Err() != nil {
			return nil
		}
		wait := f.cfg.Interval
		if f.client.key == "" {
			wait = max(wait, f.client.allowance.Load().pause(f.cfg.Now()))
		}
		if err == nil {
			failures = 0
			if said != "" {
				f.cfg.Log.Info("the mirror follows its origin again", "origin", f.client.URL)
				said = ""
			}
			f.listen(ctx, listener)
		} else {
			wait = f.delay(failures, err)
			failures++
			if text := err.Error(); text != said {
				f.cfg.Log.Error("the mirror cannot follow its origin; serving what is here",
					"error", text, "retry_in", wait.Round(time.Second).String())
				said = text
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-listener.news:
			timer.Stop()
		}
	}
}

// A listener hears at once when the origin has published something, so that a copy does
// not wait for the next check. It does that with a stream of its changes, which counts as
// one request, four times an hour. Without it, checks are enough.
type listener struct {
	news    chan struct{} // the origin has something new
	running sync.WaitGroup
	open    atomic.Bool

	position int64     // from which the last stream began
	opened   time.Time // when
}

// listen opens a stream from where the mirror is, unless one is open: once for each
// position, or else once in an interval. It needs a key.
func (f *Follower) listen(ctx context.Context, l *listener) {
	o := f.leading
	if o == nil || f.client.key == "" || l.open.Load() ||
		o.Position == l.position && time.Since(l.opened) < f.cfg.Interval {
		return
	}
	l.position, l.opened = o.Position, time.Now()
	l.open.Store(true)
	l.running.Go(func() {
		err := f.client.Wait(ctx, o.Feed, o.Position)
		l.open.Store(false)
		if err == nil {
			select {
			case l.news <- struct{}{}:
			case <-ctx.Done():
			}
		}
	})
}

// end lets another node lead.
func (f *Follower) end(ctx context.Context) {
	f.client.Close()
	if f.cfg.Shared {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseMargin)
		defer cancel()
		if err := f.cfg.Store.Mirror.Leave(ctx, f.node); err != nil {
			f.cfg.Log.Warn("another node follows the origin only later", "error", err)
		}
	}
}

// firstRetry is the pause after the first failure. It doubles with each, up to five
// intervals.
const firstRetry = 5 * time.Second

// delay returns the pause after a number of failures and another one.
func (f *Follower) delay(failures int, err error) time.Duration {
	wait := min(min(firstRetry, f.cfg.Interval)<<min(failures, 10), 5*f.cfg.Interval)
	wait += time.Duration((mathrand.Float64() - 0.5) / 2 * float64(wait)) // so that mirrors do not all come at once
	if r, ok := errors.AsType[*peer.Error](err); ok {
		wait = max(wait, r.Retry)
	}
	return wait
}

// leaseMargin is how much longer than to its next check a node leads without saying so
// again.
const leaseMargin = 5 * time.Second

// Check brings the mirror to what its origin has, if this node is the one that does.
func (f *Follower) Check(ctx context.Context) error {
	if err := f.Begin(ctx); err != nil {
		return err
	}
	if !f.cfg.Shared {
		return f.checkOften(ctx)
	}
	lease := f.cfg.Interval + leaseMargin
	lead := func() (bool, error) {
		now := f.cfg.Now()
		return f.cfg.Store.Mirror.Lead(ctx, f.node, now, now.Add(lease))
	}
	leads, err := lead()
	if err != nil {
		return err
	}
	if !leads {
		f.leading = nil
		return nil // Begin has read how the one that leads is doing
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a large copy takes longer than the lease
		tick := time.NewTicker(leaseMargin / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_, _ = lead() // if that fails, another node takes over, and the copy of one is refused
			}
		}
	}()
	return f.checkOften(ctx)
}

// maxTries is how often an origin that publishes all the time is read again at once.
const maxTries = 3

func (f *Follower) checkOften(ctx context.Context) (err error) {
	for range maxTries {
		err = f.checkOnce(ctx)
		if _, moved := errors.AsType[*movedError](err); !moved {
			return err
		}
	}
	return err
}

// checkOnce asks for the manifest and copies what is new.
func (f *Follower) checkOnce(ctx context.Context) error {
	base, err := f.cfg.Store.Mirror.Origin(ctx)
	if err != nil {
		return err
	}
	tag := ""
	if f.seen != nil && base.Feed == f.seenAs.Feed && base.Version == f.seenAs.Version && base.State == f.seenAs.State {
		tag = f.seen.tag
	}
	m, err := f.client.announcement(ctx, tag, base)
	if err != nil {
		return err
	}
	if m == nil {
		return f.confirm(ctx, base, base)
	}
	copied := m.origin(f.client.URL)
	if err := f.permit(base, &copied); err != nil {
		return err
	}
	if m.Feed == base.Feed && m.State == base.State && m.updatedAt == base.UpdatedAt {
		copied.Records = base.Records
		err = f.confirm(ctx, base, copied)
	} else {
		start := time.Now()
		copied, err = f.copy(ctx, base, m)
		if err == nil {
			f.checked.Store(f.cfg.Now().UnixMilli())
			f.leading = &copied
			f.cfg.Log.Info("copied what the origin has published", "origin", f.client.URL,
				"version", copied.Version, "records", copied.Records,
				"took", time.Since(start).Round(time.Millisecond).String())
		}
	}
	if err == nil {
		f.seen, f.seenAs = m, copied
	}
	return err
}

// confirm stores that the mirror has what the origin has.
func (f *Follower) confirm(ctx context.Context, base, now catalogdb.Origin) error {
	now.URL, now.CheckedAt = f.client.URL, f.cfg.Now()
	if err := f.cfg.Store.Mirror.Checked(ctx, base, now); err != nil {
		return err
	}
	f.checked.Store(now.CheckedAt.UnixMilli())
	f.leading = &now
	return nil
}

// permit returns an error if a mirror of base must not become a mirror of to: if that is
// unusual, and no reset permits it. A reset permits one such step.
func (f *Follower) permit(base catalogdb.Origin, to *catalogdb.Origin) error {
	if to.Version == 0 {
		return fmt.Errorf("%s has published nothing yet: publish there, or check the address", f.client.URL)
	}
	why := f.unusual(base, to)
	to.Permitted = base.Permitted && why == "" && base.Feed != ""
	if why == "" || base.Permitted {
		return nil
	}
	return f.refuse(why)
}

// refuse is the error of a step that only a reset permits.
func (f *Follower) refuse(why string) error {
	return fmt.Errorf("%s %s; if that is meant, run `palmares mirror reset` once, which permits it; until then, "+
		"what is here is served", f.client.URL, why)
}

// unusual says what an operator should know before base becomes to; "" for nothing.
func (f *Follower) unusual(base catalogdb.Origin, to *catalogdb.Origin) string {
	switch {
	case base.Feed == "":
		return ""
	case to.Feed != base.Feed:
		return fmt.Sprintf("has another database than the one that was copied (its feed is %s, and was %s)",
			to.Feed, base.Feed)
	case to.Version < base.Version || to.Position < base.Position:
		return fmt.Sprintf("has gone back in time, to version %d at position %d from version %d at position %d: "+
			"most likely a backup was restored there",
			to.Version, to.Position, base.Version, base.Position)
	case to.Records > 0 && 2*to.Records < base.Records:
		return fmt.Sprintf("has only %d of the %d records that are here, less than half", to.Records, base.Records)
	}
	return ""
}
