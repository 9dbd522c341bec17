package assistant

import (
	"cmp"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/search"
	"palmares/internal/snapshot"
)

// A searchHit is a tool that was found.
type searchHit struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	URL     string   `json:"url"`
	Score   *float64 `json:"score"`
	Price   *string  `json:"price"`                   // null if it is not public
	Display string   `json:"price_display,omitempty"` // as its maker says it
	AsOf    string   `json:"price_as_of,omitempty"`   // the last day on which it is known to have been that
	Monthly *float64 `json:"euros_per_month"`         // null if it cannot be said
	Snippet string   `json:"snippet"`
}

type searchResult struct {
	Results    []searchHit     `json:"results"`
	Total      int             `json:"total"`
	Partial    bool            `json:"partial,omitempty"` // no tool has all the words
	Suggestion string          `json:"suggestion,omitempty"`
	Retired    []departure     `json:"retired,omitempty"` // tools that the request names
	Articles   []snapshot.Text `json:"articles,omitempty"`
	// Constraints are those that the request itself states; nil if it states none.
	Constraints *search.Limits `json:"constraints,omitempty"`
	Next        *int           `json:"next"`
	Credit      string         `json:"credit"`
}

// A departure is a tool that left the catalogue.
type departure struct {
	Name      string `json:"name"`
	RetiredAt string `json:"retired_at"`
	Successor string `json:"successor,omitempty"` // its id
	URL       string `json:"url"`
}

// searchArguments are what a caller wants to find.
type searchArguments struct {
	Query           string          `json:"query"`
	Category        string          `json:"category"`
	ExcludeCategory string          `json:"exclude_category"`
	Usage           string          `json:"usage"`
	AlternativesTo  string          `json:"alternatives_to"`
	ScoreMin        *float64        `json:"score_min"`
	PriceMax        *float64        `json:"price_max"`
	Pricing         catalog.Pricing `json:"pricing"`
	Sort            string          `json:"sort"`
	Limit           int             `json:"limit"`
	Next            int             `json:"next"`
}

// searchTools finds tools by words, as the site does.
func searchTools(c *call) (any, error) {
	var args searchArguments
	if err := c.read(&args); err != nil {
		return nil, err
	}
	hasFilters := args != searchArguments{Query: args.Query, Limit: args.Limit, Next: args.Next}
	if strings.TrimSpace(args.Query) == "" && !hasFilters {
		return nil, refuse("Donnez query, ce que l’on cherche, ou un filtre.")
	}
	q := snapshot.SearchQuery{
		Text: strings.TrimSpace(args.Query), ToolQuery: snapshot.ToolQuery{ScoreMin: args.ScoreMin},
		Offset: args.Next, Limit: args.Limit, Limits: limitsOf(args.Pricing, args.PriceMax),
	}
	switch args.Sort {
	case "score":
		q.Sort, q.IsSorted = snapshot.ScoreDesc, true
	case "price":
		q.Sort, q.IsSorted = snapshot.PriceAsc, true
	}
	var categoryErr, excludedErr, usageErr, toolErr error
	q.Category, categoryErr = c.category(args.Category)
	q.ExcludeCategory, excludedErr = c.category(args.ExcludeCategory)
	q.Usage, usageErr = c.usage(args.Usage)
	q.AlternativesTo, toolErr = c.anyTool(args.AlternativesTo)
	if err := cmp.Or(categoryErr, excludedErr, usageErr, toolErr); err != nil {
		return nil, err
	}
	found := c.snap.Search(q)
	result := searchResult{
		Results: []searchHit{}, Total: found.Total, Partial: found.Partial, Suggestion: clip(found.Suggestion, 600),
		Articles: found.Articles(), Credit: c.credit(),
	}
	for _, r := range found.Retired {
		gone := departure{clip(r.Name, 120), r.RetiredAt, r.Successor, c.snap.Catalog.RetiredURLOf(r.Slug)}
		result.Retired = append(result.Retired, gone)
	}
	if len(found.Request.Constraints) > 0 {
		result.Constraints = new(found.Request.Limits())
	}
	room := newRoom(result)
	for n, f := range found.Hits {
		hit := c.hit(found, f.Tool)
		if !room.takes(hit) {
			result.Next = new(args.Next + n)
			return result, nil
		}
		result.Results = append(result.Results, hit)
	}
	if end := args.Next + len(found.Hits); end < found.Total && len(found.Hits) > 0 {
		result.Next = &end
	}
	return result, nil
}

// limitsOf returns the conditions that arguments state.
func limitsOf(pricing catalog.Pricing, priceMax *float64) (limits []search.Constraint) {
	if pricing != "" {
		limits = append(limits, search.Constraint{Pricing: pricing})
	}
	if priceMax != nil {
		limits = append(limits, search.Constraint{PriceMax: *priceMax})
	}
	return limits
}

func (c *call) hit(found *snapshot.Found, i int) searchHit {
	t := c.snap.Catalog.Tools[i]
	best, url := found.Passage(i)
	hit := searchHit{
		ID: t.Slug, Title: nameOf(t), URL: url, Score: t.Score, Price: catalog.PublicPrice(t.Pricing, t.Price), Display: t.PriceDisplay,
		Monthly: t.EurosPerMonth(), AsOf: c.snap.Catalog.FreshnessOf(t, "").Day, Snippet: best.Snippet,
	}
	if best.Section != "" {
		hit.ID += "#" + best.Section
	}
	if best.Section != "" && best.Heading != "" {
		hit.Title += "\u00a0: " + clip(best.Heading, 120)
	}
	return hit
}
