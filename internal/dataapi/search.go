package dataapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/search"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

const (
	searchPath   = "/data/v1/search"
	maxQuery     = 200 // characters, as on the site
	queryAllowed = "ce que l’on cherche, en 200 caractères au plus"
)

var searchParams = []string{"q", "category", "score_min", "pricing", "price_max", "limit", "page"}

// pricings are the models that a search can be limited to.
var pricings = func() []string {
	names := make([]string, len(catalog.Pricings))
	for i, p := range catalog.Pricings {
		names[i] = string(p)
	}
	return names
}()

// A searchQuery selects tools by words and by what their records say.
type searchQuery struct {
	text     string
	category string // "" for all
	scoreMin *float64
	pricing  catalog.Pricing // "" for all
	priceMax *float64        // euros a month
	at       snapshot.Paging
}

func readSearch(p *web.Params) searchQuery {
	q := searchQuery{text: p.Required("q", queryAllowed)}
	if p.Err() == nil && (strings.TrimSpace(q.text) == "" || utf8.RuneCountInString(q.text) > maxQuery) {
		p.Refuse("q", q.text, queryAllowed)
	}
	q.category = p.Text("category", "l’identifiant d’une catégorie, voir /api/v1/categories")
	q.scoreMin = p.Number("score_min")
	if i, given := p.Choice("pricing", pricings); given {
		q.pricing = catalog.Pricings[i]
	}
	q.priceMax = p.Number("price_max")
	if q.priceMax != nil && *q.priceMax < 0 {
		p.Refuse("price_max", strconv.FormatFloat(*q.priceMax, 'g', -1, 64), "un nombre d’euros par mois, positif ou nul")
	}
	q.at = snapshot.Paging{Limit: p.Limit(), Number: p.Page()}
	return q
}

// keeps reports whether a tool passes the filters.
func (q *searchQuery) keeps(snap *snapshot.Snapshot, i int) bool {
	t := snap.Catalog.Tools[i]
	return (q.category == "" || t.Category == q.category) &&
		(q.scoreMin == nil || t.Score != nil && *t.Score >= *q.scoreMin) &&
		(q.pricing == "" || t.Pricing == q.pricing) &&
		(q.priceMax == nil || snap.Index.Meets(i, search.Constraint{PriceMax: *q.priceMax}))
}

// A hit is a tool that matches, with the passage that answers best.
type hit struct {
	Record  json.RawMessage `json:"record"`  // without its body
	Section *section        `json:"section"` // null if Snippet is the tagline
	URL     string          `json:"url"`
	Snippet string          `json:"snippet"`
}

// A section is one of a review.
type section struct {
	ID      string `json:"id"`
	Heading string `json:"heading"` // "" for the introduction
}

type searchMeta struct {
	Total      int     `json:"total"`
	Page       int64   `json:"page"`
	Limit      int     `json:"limit"`
	Pages      int64   `json:"pages"`
	Suggestion *string `json:"suggestion"`

	Constraints search.Limits `json:"constraints"` // that the request states
}

// searchTools answers with the tools that match a query, best first, as on the site.
func searchTools(r *request) (web.Response, error) {
	p := web.ParseParams(r.URL.RawQuery, func(name string) bool { return slices.Contains(searchParams, name) })
	q := readSearch(p)
	if err := p.Err(); err != nil {
		return web.Response{}, err
	}
	for i := range r.Snapshot.Catalog.Categories {
		if c := &r.Snapshot.Catalog.Categories[i]; slices.Contains(c.Aliases, q.category) {
			q.category = c.Slug
		}
	}
	asked := r.Snapshot.Index.ReadRequest(q.text)
	result := r.Snapshot.Index.Search(search.Query{
		Text: asked.Text, Constraints: asked.Constraints, Limit: q.at.Limit, Offset: q.at.Offset(len(r.Snapshot.Catalog.Tools)),
		Keep: func(i int) bool { return q.keeps(r.Snapshot, i) },
	})
	list := snapshot.Page{Paging: q.at, Total: result.Total}
	body := struct {
		Data []hit      `json:"data"`
		Meta searchMeta `json:"meta"`
	}{hits(r.Snapshot, asked.Text, result.Hits), searchMeta{result.Total, q.at.Number, q.at.Limit, list.Pages(), null(result.Suggestion), asked.Limits()}}
	b := wire.AppendJSON(nil, body)
	return web.Response{
		Body: wire.NewBody(wire.Sum(b), b), Total: result.Total, IsList: true, Large: len(b) > large,
		Link: []string{p.PageLinks(searchPath, q.at.Number, list.Pages()) + ", " + licenseLink[0]},
	}, nil
}

// hits returns what is shown of the tools that match a text.
func hits(snap *snapshot.Snapshot, text string, found []search.Hit) []hit {
	list := make([]hit, len(found))
	if len(found) == 0 {
		return list
	}
	c, passages := snap.Catalog, snap.Index.Passages(text)
	for n, f := range found {
		t := c.Tools[f.Tool]
		best := passages.Best(f.Tool)
		list[n] = hit{Record: head(snap, t), URL: c.CanonicalURLOf(t), Snippet: best.Snippet}
		if best.Section != "" {
			list[n].Section = &section{best.Section, best.Heading}
			list[n].URL = c.ReviewURLOf(t) + "#" + best.Section
		}
	}
	return list
}

// head returns the record of a tool without its body.
func head(snap *snapshot.Snapshot, t *catalog.Tool) []byte {
	r := record.OfTool(snap.Catalog, t)
	var images []record.Image
	if snap.Feed() == nil {
		images = r.Images(snap.Catalog)
	} else if change := snap.Change(record.Tool, t.Slug); change != nil {
		images = change.Images
	}
	return r.Head().Append(nil, images)
}
