package snapshot

import (
	"slices"
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// Paging selects a part of a list. Number counts from 1. The caller has checked
// both.
type Paging struct {
	Number int64
	Limit  int
}

// Offset returns the place of the first item of the page in a list of n, which is n past
// its end.
func (p Paging) Offset(n int) int {
	if p.Number > int64(n) {
		return n
	}
	return min(int(p.Number-1)*p.Limit, n)
}

// A Page is a part of a list.
type Page struct {
	Paging
	Total int
	Bare  bool // without meta, for a list that is not paginated

	from    fragments
	ids     []int32
	records []*fragment // of the ids, once there is a body
}

// Pages returns the number of pages of the list.
func (p *Page) Pages() int64 { return (int64(p.Total) + int64(p.Limit) - 1) / int64(p.Limit) }

// IDs returns the indexes of the records of the page: in Catalog.Tools for tools and
// prices, in Published for comparisons, and in Catalog.Retired and
// Catalog.Categories for the others. The caller must not modify them.
func (p *Page) IDs() []int32 { return p.ids }

// Body returns the body of the page.
func (p *Page) Body() wire.Body {
	// The digest is computed from those of the records and from meta; hashing the
	// whole body would cost more than sending it.
	var buf [(200 + 8) * len(wire.Digest{})]byte
	b := append(buf[:0], "page\x00"...)
	p.records = make([]*fragment, len(p.ids))
	for n, i := range p.ids {
		p.records[n] = p.from.at(i)
		b = append(b, p.records[n].digest[:]...)
	}
	return wire.NewParts(wire.Sum(p.appendMeta(b)), p)
}

// Append appends the bytes of the body to b.
func (p *Page) Append(b []byte) []byte {
	size := 200 // of what is around the records
	for _, r := range p.records {
		size += len(r.json) + 1
	}
	b = append(slices.Grow(b, size), `{"data":[`...)
	for n, r := range p.records {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, r.json...)
	}
	b = append(b, ']')
	return p.appendMeta(b)
}

func (p *Page) appendMeta(b []byte) []byte {
	if p.Bare {
		return append(b, '}')
	}
	b = append(b, `,"meta":{"total":`...)
	b = strconv.AppendInt(b, int64(p.Total), 10)
	b = append(b, `,"page":`...)
	b = strconv.AppendInt(b, p.Number, 10)
	b = append(b, `,"limit":`...)
	b = strconv.AppendInt(b, int64(p.Limit), 10)
	b = append(b, `,"pages":`...)
	b = strconv.AppendInt(b, p.Pages(), 10)
	return append(b, '}', '}')
}

// A ToolQuery selects tools. The zero value selects all of them, by score.
type ToolQuery struct {
	Category        string // "" for all
	Sort            Sort
	ScoreMin        *float64
	ObsolescenceMax *float64
}

// Tools lists tools.
func (s *Snapshot) Tools(q ToolQuery, at Paging) *Page {
	p := &Page{Paging: at, from: s.tools}
	orders, ok := s.toolOrders[q.Category]
	if !ok {
		return p
	}
	ids := orders[q.Sort]
	if q.ScoreMin == nil && q.ObsolescenceMax == nil {
		p.slice(ids)
		return p
	}
	skipped := p.Offset(len(ids))
	total := 0
	for _, i := range ids {
		if q.ScoreMin != nil && !(s.scores[i] >= *q.ScoreMin) ||
			q.ObsolescenceMax != nil && !(s.obsolescences[i] <= *q.ObsolescenceMax) {
			continue
		}
		if total >= skipped && len(p.ids) < p.Limit {
			p.ids = append(p.ids, i)
		}
		total++
	}
	p.Total = total
	return p
}

// Prices lists the prices of the tools of a category, or of all, by name.
func (s *Snapshot) Prices(category string, at Paging) *Page {
	p := &Page{Paging: at, from: s.prices}
	if orders, ok := s.toolOrders[category]; ok {
		p.slice(orders[NameAsc])
	}
	return p
}

// Comparisons lists published comparisons.
func (s *Snapshot) Comparisons(category string, at Paging) *Page {
	p := &Page{Paging: at, from: s.comparisons}
	p.slice(s.comparisonOrders[category])
	return p
}

// Retired lists retired tools.
func (s *Snapshot) Retired(category string, reason catalog.Reason, at Paging) *Page {
	p := &Page{Paging: at, from: s.retired}
	p.slice(s.retiredOrders[retiredKey{category, reason}])
	return p
}

// Categories lists all categories.
func (s *Snapshot) Categories() *Page {
	return &Page{Bare: true, Total: len(s.categoryOrder), from: s.categories, ids: s.categoryOrder}
}

// slice takes the page from an unfiltered list.
func (p *Page) slice(ids []int32) {
	p.Total = len(ids)
	start := p.Offset(len(ids))
	p.ids = ids[start:min(start+p.Limit, len(ids))]
}
