package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"palmares/internal/catalog"
)

// A Check looks at sources.
type Check struct {
	Reader *Reader
	Now    func() time.Time
	Limit  int // of sources; 0 for all
	// OnlyChanges leaves proofs as they are of which only the times would change.
	OnlyChanges bool
	// Each is called with each proof, one at a time, and with a function that returns all proofs so far.
	Each func(done, total int, p *catalog.Proof, all func() []catalog.Proof)
}

const maxHosts = 8 // at once

// Run looks at sources, those first whose last look is longest ago, and returns all proofs: the former ones of sources
// that still exist, with the new ones in their place; total is the number of sources to look at. It ends early, with
// the proofs so far, when ctx does.
func (c *Check) Run(ctx context.Context, sources []Source, before []catalog.Proof) (list []catalog.Proof, total int) {
	known := map[key]catalog.Proof{}
	for _, p := range before {
		known[keyOf(&p)] = p
	}
	all := func() (list []catalog.Proof) {
		for i := range sources {
			if p, ok := known[sources[i].key()]; ok {
				list = append(list, p)
			}
		}
		return list
	}
	byHost, total := c.plan(sources, known)
	var (
		mu      sync.Mutex
		done    int
		workers sync.WaitGroup
		places  = make(chan struct{}, maxHosts)
	)
	for _, list := range byHost {
		places <- struct{}{}
		workers.Go(func() {
			defer func() { <-places }()
			for _, s := range list {
				mu.Lock()
				last := known[s.key()]
				mu.Unlock()
				p, err := c.look(ctx, &s, last)
				if errors.Is(err, errLater) {
					continue
				}
				if err != nil {
					return
				}
				mu.Lock()
				if !c.OnlyChanges || !isLike(p, last) {
					known[s.key()] = p
				}
				done++
				c.Each(done, total, &p, all)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return all(), total
}

// plan returns the sources to look at, oldest look first, by host.
func (c *Check) plan(sources []Source, known map[key]catalog.Proof) (byHost [][]Source, total int) {
	sources = slices.Clone(sources)
	slices.SortStableFunc(sources, func(a, b Source) int {
		return strings.Compare(known[a.key()].CheckedAt, known[b.key()].CheckedAt)
	})
	if c.Limit > 0 {
		sources = sources[:min(c.Limit, len(sources))]
	}
	place := map[string]int{}
	for _, s := range sources {
		host := ""
		if u, err := url.Parse(s.URL); err == nil {
			host = u.Host
		}
		i, ok := place[host]
		if !ok {
			i = len(byHost)
			place[host] = i
			byHost = append(byHost, nil)
		}
		byHost[i] = append(byHost[i], s)
	}
	return byHost, len(sources)
}

// look looks at one source.
func (c *Check) look(ctx context.Context, s *Source, last catalog.Proof) (catalog.Proof, error) {
	tag := ""
	if last.Result == catalog.Confirmed {
		tag = last.ETag
	}
	v, err := c.Reader.visit(ctx, s.URL, last.FinalURL, tag)
	if err != nil {
		return last, err
	}
	p := catalog.Proof{
		Slug: s.Slug, URL: s.URL, Quote: s.Quote, FinalURL: v.final, CheckedAt: catalog.FormatTime(c.Now()), Status: v.status,
		ConfirmedAt: last.ConfirmedAt,
	}
	switch {
	case v.isSame:
		p.Result, p.Found, p.TextHash, p.Status, p.ETag = last.Result, last.Found, last.TextHash, last.Status, last.ETag
	case v.why != nil:
		p.Result = v.result()
	default:
		p.Result, p.Found = catalog.Confirmed, ""
		if s.Quote != "" {
			p.Result, p.Found = v.page.compare(s.Quote)
		}
		if p.Result != catalog.Confirmed && v.isElsewhere {
			p.Result = catalog.Moved
		}
		sum := sha256.Sum256([]byte(v.page.text))
		p.TextHash = hex.EncodeToString(sum[:])
	}
	if p.Result == catalog.Confirmed {
		p.ConfirmedAt = p.CheckedAt
		if !v.isSame {
			p.ETag = v.tag
		}
	}
	return p, nil
}

// isLike reports whether only the times of two proofs differ, and the tag of the page.
func isLike(a, b catalog.Proof) bool {
	a.CheckedAt, a.ConfirmedAt, a.ETag, b.CheckedAt, b.ConfirmedAt, b.ETag = "", "", "", "", "", ""
	return a == b
}
