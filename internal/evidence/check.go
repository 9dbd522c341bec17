package evidence

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

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

// Run looks at sources, those first whose last look is longest ago, and returns all proofs, new ones in the place of
// former ones; total is the number of sources to look at. It ends early, with the proofs so far, when ctx does.
func (c *Check) Run(ctx context.Context, sources []Listed) (proofs []catalog.Proof, total int) {
	var (
		mu    sync.Mutex // of the proofs
		done  int
		hosts errgroup.Group
	)
	all := func() (list []catalog.Proof) {
		for i := range sources {
			if sources[i].CheckedAt != "" {
				list = append(list, sources[i].Proof)
			}
		}
		return list
	}
	byHost, total := c.plan(sources)
	hosts.SetLimit(maxHosts)
	for _, list := range byHost {
		hosts.Go(func() error {
			for _, s := range list {
				p, err := c.look(ctx, s.Proof)
				if errors.Is(err, errLater) {
					continue
				}
				if err != nil {
					return err
				}
				mu.Lock()
				if !c.OnlyChanges || !isLike(p, s.Proof) {
					s.Proof = p
				}
				done++
				c.Each(done, total, &p, all)
				mu.Unlock()
			}
			return nil
		})
	}
	_ = hosts.Wait() // the sources that are left say it
	return all(), total
}

// plan returns the sources to look at, oldest look first, by host.
func (c *Check) plan(sources []Listed) (byHost [][]*Listed, total int) {
	var list []*Listed
	for i := range sources {
		list = append(list, &sources[i])
	}
	slices.SortStableFunc(list, func(a, b *Listed) int { return strings.Compare(a.CheckedAt, b.CheckedAt) })
	if c.Limit > 0 {
		list = list[:min(c.Limit, len(list))]
	}
	places := map[string]int{}
	for _, s := range list {
		host := strings.Join(strings.SplitN(s.URL, "/", 4)[:min(3, strings.Count(s.URL, "/")+1)], "/")
		if _, ok := places[host]; !ok {
			places[host] = len(byHost)
			byHost = append(byHost, nil)
		}
		byHost[places[host]] = append(byHost[places[host]], s)
	}
	return byHost, len(list)
}

// look looks at one source again.
func (c *Check) look(ctx context.Context, last catalog.Proof) (catalog.Proof, error) {
	p := last
	p.Result, p.Found, p.TextHash, p.ETag = catalog.Unreadable, "", "", ""
	v, err := c.Reader.visit(ctx, p.URL, last.FinalURL, last.ETag, func(page *page) {
		if p.Quote != "" {
			p.Result, p.Found = page.compare(p.Quote)
		}
		p.TextHash = fmt.Sprintf("%x", sha256.Sum256([]byte(page.text)))
	})
	if err != nil {
		return last, err
	}
	p.FinalURL, p.CheckedAt, p.Status = v.final, catalog.FormatTime(c.Now()), v.status
	switch {
	case v.isSame:
		p.Result, p.Found, p.TextHash, p.Status, v.tag = last.Result, last.Found, last.TextHash, last.Status, last.ETag
	case errors.Is(v.why, ErrNoHost), v.status == http.StatusNotFound, v.status == http.StatusGone:
		p.Result = catalog.Gone
	case p.Result == catalog.Unreadable && v.isElsewhere:
		p.Result, p.Found = catalog.Moved, ""
	case p.Quote == "" && v.why == nil:
		p.Result = catalog.Confirmed
	}
	if p.Result == catalog.Confirmed {
		p.ConfirmedAt, p.ETag = p.CheckedAt, v.tag
	}
	return p, nil
}

// isLike reports whether only the times of two proofs differ, and the tag of the page.
func isLike(a, b catalog.Proof) bool {
	a.CheckedAt, a.ConfirmedAt, a.ETag, b.CheckedAt, b.ConfirmedAt, b.ETag = "", "", "", "", "", ""
	return a == b
}
