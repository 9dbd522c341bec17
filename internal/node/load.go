package node

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/search"
	"palmares/internal/snapshot"
)

// load builds what is served instead of before and lets the pages show it. The API serves
// it a moment later.
func (n *node) load(ctx context.Context, before *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	defer n.running.Go(n.endLoad) // while the version is served, and the one before is garbage
	s, complete, err := n.build(ctx, before)
	if err != nil {
		return nil, err
	}
	show := n.pages.Prepare(s)
	err = complete()
	if err != nil {
		return nil, err
	}
	show()
	if !n.isDemo(s) {
		n.demo.forget()
	}
	return s, nil
}

// endLoad frees the memory of a load, and says so if the next one will not fit.
func (n *node) endLoad() {
	n.limitGarbage.Do(LimitGarbage) // only now: most of what the first load allocates stays
	debug.FreeOSMemory()
	if n.cfg.Memory == 0 {
		return
	}
	if warning := TooLarge(liveMemory(), n.cfg.Memory); warning != "" {
		n.log.Warn(warning)
	}
}

// build returns the published catalogue, or until there is one the demo, which is never
// stored; and what completes it with its search index.
func (n *node) build(
	ctx context.Context, before *snapshot.Snapshot,
) (s *snapshot.Snapshot, complete func() error, err error) {
	var earlier *catalogdb.Published
	if before != nil && before.Version > 0 {
		earlier = &catalogdb.Published{
			Catalog: before.Catalog, Version: before.Version, PublishedAt: before.PublishedAt, Feed: before.Feed,
		}
	}
	begin := time.Now()
	published, step, err := n.store.Catalogue.LoadAfter(ctx, earlier)
	if err != nil {
		return nil, nil, err
	}
	served := n.published.Load()
	switch {
	case published.Version > 0:
		n.published.Store(published.Version)
		s, complete = n.next(ctx, before, published, step, begin)
		return s, complete, nil
	case served > 0:
		return nil, nil, fmt.Errorf("the database has no catalogue any more: still serving version %d; "+
			"restore a backup or publish again, or restart palmares if this is meant", served)
	case n.cfg.Demo:
		s, err = n.demo.snapshot(ctx, n.cfg.BaseURL)
		if err != nil {
			return nil, nil, err
		}
	default:
		s = snapshot.Empty("Palmarès", n.cfg.BaseURL)
		s.SetFeed(published.Feed)
	}
	return s, func() error { return s.BuildIndex(ctx) }, nil
}

// next returns the snapshot of what is published, and what completes it with its search index,
// which is built meanwhile.
func (n *node) next(
	ctx context.Context, before *snapshot.Snapshot, published *catalogdb.Published, step *catalog.Step, begin time.Time,
) (s *snapshot.Snapshot, complete func() error) {
	n.reportStage("all tools are read, now they are sorted, rendered and indexed", published, step, begin)
	var index *search.Index
	indexed := make(chan error, 1)
	go func() {
		var err error
		index, err = snapshot.NextIndex(ctx, before, published.Catalog, step)
		indexed <- err
	}()
	s = snapshot.Next(before, published.Catalog, step, published.Version, published.ChangedOn, false)
	s.Entries, s.PublishedAt = published.Entries, published.PublishedAt
	s.SetFeed(published.Feed)
	n.reportStage("all tools are rendered, now the search index is completed", published, step, begin)
	return s, func() error {
		err := <-indexed
		if err != nil {
			return err
		}
		s.SetIndex(index)
		return nil
	}
}

// largeCatalogue is how many tools take more than a second to read and to index.
const largeCatalogue = 50_000

// reportStage logs how far the reading of a whole large catalogue is, which takes seconds.
func (n *node) reportStage(stage string, p *catalogdb.Published, step *catalog.Step, begin time.Time) {
	if step == nil && len(p.Catalog.Tools) >= largeCatalogue {
		n.log.Info(stage, "version", p.Version, "tools", len(p.Catalog.Tools),
			"took", time.Since(begin).Round(time.Millisecond).String())
	}
}

// isDemo reports whether a snapshot is the demo catalogue.
func (n *node) isDemo(s *snapshot.Snapshot) bool { return n.cfg.Demo && s.Version == 0 }
