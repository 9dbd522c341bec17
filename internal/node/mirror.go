package node

import (
	"cmp"
	"context"
	"time"

	"palmares/internal/mirror"
	"palmares/internal/snapshot"
)

// openMirror prepares a mirror before anything is served. It returns nil if the node is no mirror,
// and refuses a database that is no mirror and has a catalogue.
func (n *node) openMirror(ctx context.Context) (*mirror.Follower, error) {
	c := &n.cfg.Mirror
	if c.Origin == "" {
		was, err := n.store.Mirror.Origin(ctx)
		if err == nil && was.URL != "" {
			n.log.Warn("the database is a mirror, and nothing follows its origin: start serve with --mirror, "+
				"or end the mirror with `palmares mirror reset --detach`", "origin", was.URL)
		}
		return nil, err
	}
	follower, err := mirror.New(mirror.Config{
		Origin: c.Origin, Key: c.Key, Store: n.store.catalogue, Shared: n.store.SQL.Shared(),
		Interval: cmp.Or(c.Interval, time.Minute),
		Now:      n.cfg.Now, Log: n.log, Memory: n.cfg.Memory,
	})
	if err != nil {
		return nil, err
	}
	return follower, follower.Begin(ctx)
}

// startMirror follows the origin, and waits for the first copy.
func (n *node) startMirror(live *snapshot.Live) error {
	if n.follower == nil {
		return nil
	}
	n.metrics.Gauge("palmares_mirror_age_seconds",
		"Seconds since the origin was last seen to have nothing that is not here.", n.follower.Age)
	n.runUntilStop(n.follower.Run)
	now, replaced := live.Watch()
	if now.Version > 0 {
		return nil
	}
	n.log.Info("not ready before the first copy of the origin", "origin", n.cfg.Mirror.Origin)
	select {
	case <-replaced:
		return nil
	case <-n.ctx.Done():
		return n.ctx.Err()
	}
}
