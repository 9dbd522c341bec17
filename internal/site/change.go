package site

import (
	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/chronicle"
	"palmares/internal/markdown"
	"palmares/internal/problem"
)

// A change is something that happened to the catalogue, in a list.
type change struct {
	Date  string // YYYY-MM-DD
	Label string
	Title string
	Path  string
}

// lastChanges returns the last things that happened. Nothing happened after it was published.
func (v *view) lastChanges(most int) (list []change) {
	for _, e := range chronicle.Latest(v.snap) {
		if len(list) < most && e.What != catalog.WhatNew {
			list = append(list, change{
				Date: min(e.Day, chronicle.Time(&e)[:len(e.Day)]), Label: chronicle.Label(&e),
				Title: chronicle.Title(&e, problem.French), Path: chronicle.About(v.snap, &e).Path,
			})
		}
	}
	return list
}

// pageFunctions are what templates call beside french.Functions.
var pageFunctions = map[string]any{
	"breakable": breakable, "typeset": markdown.NoBreak, "minutes": minutes, "prices": prices,
}

// prices is chart.PricesOf for templates.
func prices(t *catalog.Tool, p *catalog.PriceChange) [2]string {
	old, now := chart.PricesOf(t, p)
	return [2]string{old, now}
}

// priceWords says how a price changed, as the history of the tool tells it.
func priceWords(t *catalog.Tool, p *catalog.PriceChange) string {
	old, now := chart.PricesOf(t, p)
	return chronicle.PriceWords(catalog.PriceValue{Pricing: p.OldPricing, Price: p.OldPrice, Display: old},
		catalog.PriceValue{Pricing: p.NewPricing, Price: p.NewPrice, Display: now}, problem.French)
}
