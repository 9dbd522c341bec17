package site

// pricesPage is the list of prices.
type pricesPage struct {
	Page    page
	Filters *filters
	Rows    []priceRow
	Total   int
	Pager   pager
}

// A priceRow is the price of a tool, with how it got there.
type priceRow struct {
	Row   toolRow
	Last  *priceMove // nil when it never changed
	Chart *chart
}

// A priceMove says how a price changed, and when.
type priceMove struct{ Words, Date string }

func (s *Site) listPrices(r *request) (*answer, error) {
	f := readFilters(r)
	category, at := f.category(r.edition), f.paging()
	list := r.snap.Prices(category, at)
	v := pricesPage{Filters: f, Total: list.Total, Pager: f.pager(at, list.Total)}
	for _, row := range r.rows(list.IDs()) {
		p := priceRow{Row: row, Chart: priceChart(row.tool, r.snap.UpdatedAt, smallChart)}
		if history := row.tool.PriceHistory; len(history) > 0 {
			p.Last = &priceMove{repricing(history[0]), history[0].ChangedAt}
		}
		v.Rows = append(v.Rows, p)
	}
	v.Page = s.page(r, "Prix", "Le prix de chaque outil en euros, et comment il a changé.", "/prix")
	f.describe(&v.Page, v.Pager, r.snap.Catalog)
	return f.answer(r, "prices", v.Page, v), nil
}
