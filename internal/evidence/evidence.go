// Package evidence keeps prices true by quotation. A person marks the words of a page that say a price, once; the
// program looks whether the words still stand there. It does not understand them: no words of any language, no plans,
// no tables, no dates. A page changed if the words stand there with other numbers; anything else is for a person.
package evidence

import (
	"cmp"
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

// Stale is the state of a price that was neither confirmed nor read by somebody for longer than the catalogue allows,
// if nothing else is to be said of its source.
const Stale = "stale"

// A Listed is a source, with the last look at it.
type Listed struct {
	catalog.Proof        // only slug, address and quotation if nobody looked; "" for a page that only has to be there
	State         string `json:"state"`           // a result, Stale, or "" for nothing to be said
	Price         string `json:"price,omitempty"` // as recorded; "" if it is not that of a tool, or not public
	Line          int    `json:"-"`               // of the proof in its file; 1 if it has none
	tool          *catalog.Tool
}

// List returns the sources of a catalogue without its drafts, with their proofs among those of the file, in the order of
// the file: of tools and their announced prices, if they are quoted or not public; of obituaries. A public price without
// a quotation claims nothing.
func List(c *catalog.Catalog, proofs []catalog.Proof, today string) (list []Listed) {
	add := func(slug, address, quote string, t *catalog.Tool) {
		if address != "" {
			list = append(list, Listed{Proof: catalog.Proof{Slug: slug, URL: address, Quote: quote}, Line: 1, tool: t})
		}
	}
	for i := range c.Retired {
		for _, address := range c.Retired[i].Sources {
			if !c.Retired[i].Draft {
				add(c.Retired[i].Slug, address, "", nil)
			}
		}
	}
	for _, t := range c.Tools {
		if t.Draft {
			continue
		}
		if !catalog.IsPublic(t.Pricing, t.Price) {
			add(t.Slug, t.PriceSource, t.PriceQuote, nil)
		} else if t.PriceQuote != "" {
			add(t.Slug, t.PriceSource, t.PriceQuote, t)
		}
		for _, a := range t.Announced {
			add(t.Slug, cmp.Or(a.PriceSource, a.Source), a.PriceQuote, nil)
		}
	}
	order := func(a, b Listed) int { return catalog.CompareProofs(a.Proof, b.Proof) }
	slices.SortStableFunc(list, order)
	list = slices.CompactFunc(list, func(a, b Listed) bool { return order(a, b) == 0 })
	for i := range list {
		l := &list[i]
		if n, ok := slices.BinarySearchFunc(proofs, l.Proof, catalog.CompareProofs); ok {
			l.Proof, l.Line = proofs[n], n+1
		}
		if l.State = l.Result; l.tool != nil {
			l.Price = l.tool.Price
			known := c.FreshnessOf(l.tool, today)
			if (l.State == "" || l.State == catalog.Confirmed) && (known.Day == "" || known.IsOld) {
				l.State = Stale
			}
		}
	}
	return list
}

// Day returns the day of the look; "" if nobody looked.
func (l *Listed) Day() string { return l.CheckedAt[:min(len(l.CheckedAt), len(time.DateOnly))] }

// NewPrice returns the price that the found words say, in the form of the recorded one; "" if only a person can tell:
// the number of the recorded price is not in the quotation, or more than once, or another currency than euros is, or a
// currency between digits, or the record shows other words than its price, or somebody read it since.
func (l *Listed) NewPrice() (price string) {
	if l.State != catalog.Changed || l.tool == nil || l.tool.PriceDisplay != "" || l.tool.Pricing == "gratuit" ||
		l.tool.PriceCheckedAt > l.Day() || betweenDigits.MatchString(clean(l.Quote+"\n"+l.Found)) {
		return ""
	}
	quote, found := numbers(clean(l.Quote)), numbers(clean(l.Found))
	for i := range min(len(quote), len(found)) {
		switch isOwn := amount(quote[i]) == amount(catalog.PriceNumber(l.Price)); {
		case isOwn && price != "":
			return ""
		case isOwn:
			price = priceWith(l.Price, found[i], l.Found)
		}
	}
	return price
}

// A Check looks at sources.
type Check struct {
	Reader *Reader
	Now    func() time.Time
	Limit  int // of sources; 0 for all
	// OnlyChanges leaves proofs as they are of which only the times would change.
	OnlyChanges bool
	// Each must be set. It is called with each proof, one at a time, and a function that returns all proofs so far.
	Each func(done, total int, p *catalog.Proof, all func() []catalog.Proof)
}

// Run looks at sources, those first whose last look is longest ago, and returns all proofs, new ones in the place of
// former ones; total is the number of sources to look at. It ends early, with the proofs so far, when ctx does.
func (c *Check) Run(ctx context.Context, sources []Listed) (proofs []catalog.Proof, total int) {
	var mu sync.Mutex // of the proofs
	var hosts errgroup.Group
	done, list := 0, []*Listed{}
	all := func() (list []catalog.Proof) {
		for i := range sources {
			if sources[i].CheckedAt != "" {
				list = append(list, sources[i].Proof)
			}
		}
		return list
	}
	for i := range sources {
		list = append(list, &sources[i])
	}
	slices.SortStableFunc(list, func(a, b *Listed) int { return strings.Compare(a.CheckedAt, b.CheckedAt) })
	list = list[:min(cmp.Or(c.Limit, len(list)), len(list))]
	byHost, order := map[string][]*Listed{}, []string{}
	for _, s := range list {
		host := strings.Join(strings.SplitN(s.URL, "/", 4)[:min(3, strings.Count(s.URL, "/")+1)], "/")
		if byHost[host] == nil {
			order = append(order, host)
		}
		byHost[host] = append(byHost[host], s)
	}
	hosts.SetLimit(maxHosts)
	for _, host := range order {
		hosts.Go(func() error {
			for _, s := range byHost[host] {
				p, err := c.look(ctx, s.Proof)
				if err != nil { // later, or never: the end of the context ends all others, too
					continue
				}
				mu.Lock()
				if !c.OnlyChanges || !isLike(p, s.Proof) {
					s.Proof = p
				}
				done++
				c.Each(done, len(list), &p, all)
				mu.Unlock()
			}
			return nil
		})
	}
	_ = hosts.Wait() // the sources that are left say it
	return all(), len(list)
}

// look looks at one source again.
func (c *Check) look(ctx context.Context, last catalog.Proof) (catalog.Proof, error) {
	p := last
	p.Result, p.Why, p.Found, p.TextHash, p.ETag = catalog.Unreadable, "", "", "", ""
	v, err := c.Reader.visit(ctx, last, func(ctx context.Context, page *page) {
		if p.Quote != "" {
			p.Result, p.Found = page.compare(ctx, p.Quote)
			p.Found = strings.Clone(p.Found) // without the page
		}
		p.TextHash = fmt.Sprintf("%x", sha256.Sum256([]byte(page.text)))
	})
	if err != nil {
		return last, err
	}
	p.FinalURL, p.CheckedAt, p.Status = v.final, catalog.FormatTime(c.Now()), v.status
	if v.why != nil {
		p.Why = v.why.Error()
	}
	switch {
	case v.isSame:
		p.Result, p.Found, p.TextHash, p.Status, v.tag = last.Result, last.Found, last.TextHash, last.Status, last.ETag
	case errors.Is(v.why, ErrNoHost), v.status == http.StatusNotFound, v.status == http.StatusGone:
		p.Result = catalog.Gone
	case p.Result == catalog.Unreadable && v.isElsewhere:
		p.Result, p.Found = catalog.Moved, ""
	case p.Quote == "" && v.why == nil:
		p.Result = catalog.Confirmed
	case v.why != nil && last.Result != "" && last.Result != catalog.Confirmed: // a bad night hides no finding
		p.Result, p.Found = last.Result, last.Found
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
