package site

import (
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/chart"
)

type pricesPage struct {
	Filters *filters
	Rows    []toolRow
	Total   int
	Pager   pager
}

// Spark returns the history of the price in the size of a table.
func (t *toolRow) Spark() *chart.Chart {
	return chart.OfPrice(t.Tool, t.view.snap.UpdatedAt, chart.Small)
}

// A lastChange is the latest change of a price.
type lastChange struct{ Words, Date string }

// LastPrice returns the latest change of the price; nil if it never changed.
func (t *toolRow) LastPrice() *lastChange {
	history := t.Tool.PriceHistory
	i := slices.IndexFunc(history, func(e catalog.PriceChange) bool { return !e.IsConversion() })
	if i < 0 {
		return nil
	}
	return &lastChange{priceWords(t.Tool, &history[i]), history[i].ChangedAt}
}

func (s *Site) listPrices(r *request) (*response, error) {
	f := readFilters(r)
	category, at := f.category(r.view), f.paging()
	list := r.snap.Prices(category, at)
	data := pricesPage{Filters: f, Rows: r.rows(list.IDs()), Total: list.Total, Pager: f.pager(at, list.Total)}
	p := s.page(r, "Prix", "Le prix de chaque outil, et comment il a changé.", "/prix")
	f.describe(&p, data.Pager, r.snap.Catalog)
	return f.response(r, "prices", p, data), nil
}
