package dataapi

import (
	"time"

	"palmares/internal/catalog"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// getFreshness returns how many prices are confirmed today, in all and by category.
func getFreshness(r *request) (web.Response, error) {
	type categoryRow struct {
		Slug string `json:"slug"`
		catalog.ConfirmedPrices
	}
	var body struct {
		Data struct {
			catalog.ConfirmedPrices
			Categories []categoryRow `json:"categories"`
		} `json:"data"`
		Meta struct {
			Day string `json:"day"`
		} `json:"meta"`
	}
	body.Meta.Day = catalog.Day(time.Now())
	all, byCategory := r.Snapshot.Catalog.ConfirmedPrices(body.Meta.Day)
	body.Data.ConfirmedPrices, body.Data.Categories = all, []categoryRow{}
	for _, c := range r.Snapshot.Catalog.InOrder().Categories {
		body.Data.Categories = append(body.Data.Categories, categoryRow{c.Slug, byCategory[c.Slug]})
	}
	b := wire.AppendJSON(nil, body)
	return web.Response{Body: wire.NewBody(wire.Sum(b), b), Link: licenseLink}, nil
}
