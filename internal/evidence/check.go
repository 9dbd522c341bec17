package evidence

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"palmares/internal/catalog"
)

// A Source is a page to look at, and what should stand there.
type Source struct {
	Slug string
	URL  string
	Claim
	IsPrice bool // of a price; others are outside the figures
	tool    *catalog.Tool
}

// Sources returns the sources of a catalogue without its drafts: of each tool its price_source, or else the
// sources on its own domain; those of what is announced; those of obituaries.
func Sources(c *catalog.Catalog) (list []Source) {
	for i := range c.Retired {
		for _, address := range c.Retired[i].Sources {
			if !c.Retired[i].Draft {
				list = append(list, Source{Slug: c.Retired[i].Slug, URL: address, Claim: Claim{Presence: true}})
			}
		}
	}
	for _, t := range c.Tools {
		if t.Draft {
			continue
		}
		claim := claimOf(t)
		for _, address := range PriceSources(t) {
			list = append(list, Source{Slug: t.Slug, URL: address, Claim: *claim, IsPrice: !claim.Presence, tool: t})
		}
		for _, a := range t.Announced {
			if a.Source != "" {
				list = append(list, Source{Slug: t.Slug, URL: a.Source, Claim: Claim{Presence: true}})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Source) int { return cmp.Or(strings.Compare(a.Slug, b.Slug), strings.Compare(a.URL, b.URL)) })
	return slices.CompactFunc(list, func(a, b Source) bool { return a.Slug == b.Slug && a.URL == b.URL })
}

func claimOf(t *catalog.Tool) *Claim {
	return &Claim{
		Name: t.Name, Pricing: t.Pricing, Price: t.Price, Display: t.PriceDisplay, Hint: t.PriceSourceHint,
		Presence: !catalog.IsPublic(t.Pricing, t.Price),
	}
}

// PriceSources returns the pages that have the price of a tool.
func PriceSources(t *catalog.Tool) (list []string) {
	if t.PriceSource != "" {
		return []string{t.PriceSource}
	}
	for _, address := range t.Sources {
		if onDomain(address, t.Domain) {
			list = append(list, address)
		}
	}
	return list
}

func onDomain(address, domain string) bool {
	u, err := url.Parse(address)
	if err != nil || domain == "" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// A Check looks at sources.
type Check struct {
	Reader *Reader
	Now    func() time.Time
	Limit  int // of sources; 0 for all
	// OnlyChanges leaves proofs as they are of which only the times would change.
	OnlyChanges bool
	// Each is called with what is known of a source, one at a time.
	Each func(done, total int, p Proof)
}

const (
	maxHosts = 8 // at once
	maxPages = 2 // in memory, parsed, at once
)

// Run looks at the sources whose last look is longest ago first, and returns all proofs: those of
// before, but for sources that no longer exist, with those of now in their place; total is how many it
// should have looked at. It ends early, with what is done, when ctx does.
func (c *Check) Run(ctx context.Context, sources []Source, before []Proof) (list []Proof, total int) {
	known := map[[2]string]Proof{}
	for _, p := range before {
		known[[2]string{p.Slug, p.URL}] = p
	}
	byHost, total := c.plan(sources, known)
	var (
		mu      sync.Mutex
		done    int
		workers sync.WaitGroup
		parsing = make(chan struct{}, maxPages)
		places  = make(chan struct{}, maxHosts)
	)
	for _, list := range byHost {
		places <- struct{}{}
		workers.Go(func() {
			defer func() { <-places }()
			for _, s := range list {
				mu.Lock()
				last := known[[2]string{s.Slug, s.URL}]
				mu.Unlock()
				p, err := c.look(ctx, &s, last, parsing)
				if errors.Is(err, errLater) {
					continue
				}
				if err != nil {
					return
				}
				mu.Lock()
				if !c.OnlyChanges || !p.isLike(&last) {
					known[[2]string{s.Slug, s.URL}] = p
				}
				done++
				c.Each(done, total, p)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	for _, s := range sources {
		if p, ok := known[[2]string{s.Slug, s.URL}]; ok {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, compareProofs)
	return list, total
}

// plan returns the sources to look at, oldest look first, by host.
func (c *Check) plan(sources []Source, known map[[2]string]Proof) (byHost [][]Source, total int) {
	sources = slices.Clone(sources)
	last := func(s Source) time.Time { return known[[2]string{s.Slug, s.URL}].CheckedAt }
	slices.SortStableFunc(sources, func(a, b Source) int { return last(a).Compare(last(b)) })
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
func (c *Check) look(ctx context.Context, s *Source, last Proof, parsing chan struct{}) (Proof, error) {
	known := &Proof{}
	if s.isHeldBy(&last) {
		known = &last
	}
	v, err := c.Reader.visit(ctx, s.URL, known)
	if err != nil {
		return Proof{}, err
	}
	p := Proof{
		Slug: s.Slug, URL: s.URL, FinalURL: v.final, CheckedAt: c.Now().UTC().Truncate(time.Second), Status: v.status,
		Result: v.result,
	}
	if s.IsPrice {
		p.Price = s.wanted()
	}
	if p.Price == last.Price {
		p.ConfirmedAt = last.ConfirmedAt
	}
	switch {
	case v.same:
		p.Result, p.Found, p.TextHash, p.FinalURL, p.Status, p.ETag = last.Result, last.Found, last.TextHash, last.FinalURL, last.Status, last.ETag
	case v.result == "":
		parsing <- struct{}{}
		text := ""
		p.Result, p.Found, text = judgeAt(&s.Claim, v.page, v.final)
		<-parsing
		plan := `(?i)(?:^|\PL)` + strings.Join(strings.Fields(regexp.QuoteMeta(s.Hint)), `[\s\pZ]+`) + `(?:\PL|$)`
		p.NoPlan = p.Result != Confirmed && s.Hint != "" && len(p.Found) == 0 && !regexp.MustCompile(plan).MatchString(text)
		sum := sha256.Sum256([]byte(text))
		p.TextHash = hex.EncodeToString(sum[:])
	}
	if p.Result == Confirmed {
		p.ConfirmedAt, p.ETag = p.CheckedAt, cmp.Or(v.tag, p.ETag)
	}
	return p, nil
}

// isLike reports whether only the times of two proofs differ, and by what the server knows the page.
func (p *Proof) isLike(other *Proof) bool {
	a, b := *p, *other
	a.CheckedAt, a.ConfirmedAt, a.ETag, b.CheckedAt, b.ConfirmedAt, b.ETag = time.Time{}, time.Time{}, "", time.Time{}, time.Time{}, ""
	return bytes.Equal(a.line(), b.line())
}

// isHeldBy reports whether a proof would be the same if the page is: it confirmed what is looked for now.
func (s *Source) isHeldBy(last *Proof) bool {
	return last.Result == Confirmed && s.IsPrice && last.Price == s.wanted()
}
