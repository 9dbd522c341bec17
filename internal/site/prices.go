package site

import "palmares/internal/catalog"

// pricesPage is the list of prices.
type pricesPage struct {
	page
	Filters *filters
	Rows    []priceRow
	Total   int
	Moves   []catalog.PriceChange
	Pager   pager
}

// A priceRow is the price of a tool, with how it got there.
type priceRow struct {
	toolRow
	Last  *catalog.PriceChange // nil when it never changed
	Chart *chart
}

func (s *Site) listPrices(r *request) (*answer, error) {
	f := readFilters(r)
	category, at := f.category(r.edition), f.paging()
	list := r.snap.Prices(category, at)
	v := pricesPage{Filters: f, Total: list.Total, Pager: f.pager(at, list.Total)}
	for _, row := range r.rows(list.IDs()) {
		p := priceRow{toolRow: row, Chart: priceChart(row.Tool, r.snap.UpdatedAt, smallChart)}
		if len(row.PriceHistory) > 0 {
			p.Last = &row.PriceHistory[0]
		}
		v.Rows = append(v.Rows, p)
	}
	v.page = s.page(r, "Prix", "Le prix de chaque outil en euros, et comment il a changé.", "/prix")
	f.describe(&v.page, at, r.snap.Catalog)
	return f.answer("prices", v), nil
}
