package site

import (
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/chart"
)

type pricesPage struct {
	Page    page
	Filters *filters
	Rows    []priceRow
	Total   int
	Pager   pager
	HasData bool // the catalogue is given away as files
}

type priceRow struct {
	Row   toolRow
	Known *freshness  // nil if nothing is known
	Last  *lastChange // nil if it never changed
	Chart *chart.Chart
}

// A lastChange is the latest change of a price.
type lastChange struct{ Words, Date string }

func (s *Site) listPrices(r *request) (*response, error) {
	f := readFilters(r)
	category, at := f.category(r.view), f.paging()
	list := r.snap.Prices(category, at)
	data := pricesPage{Filters: f, Total: list.Total, Pager: f.pager(at, list.Total), HasData: r.snap.Catalog.HasDataset()}
	for _, row := range r.rows(list.IDs()) {
		p := priceRow{Row: row, Known: r.freshness(row.tool), Chart: chart.OfPrice(row.tool, r.snap.UpdatedAt, chart.Small)}
		history := row.tool.PriceHistory
		i := slices.IndexFunc(history, func(e catalog.PriceChange) bool { return !e.IsConversion() })
		if i >= 0 {
			p.Last = &lastChange{priceWords(row.tool, &history[i]), history[i].ChangedAt}
		}
		data.Rows = append(data.Rows, p)
	}
	data.Page = s.page(r, "Prix", "Le prix de chaque outil, et comment il a changé.", "/prix")
	f.describe(&data.Page, data.Pager, r.snap.Catalog)
	return f.response(r, "prices", data.Page, data), nil
}
