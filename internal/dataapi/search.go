package dataapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/problem"
	"palmares/internal/record"
	"palmares/internal/search"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

const (
	searchPath = "/data/v1/search"
	maxQuery   = 200 // characters, as on the site
)

var searchParams = []string{
	"q", "category", "exclude_category", "usage", "score_min", "pricing", "price_max", "alternatives_to", "sort", "limit", "page",
}

// searchSorts are the orders of a search, the default first.
var searchSorts = []string{"relevance", "score", "price"}

// readSearch reads the parameters of a search.
func readSearch(p *web.Params, snap *snapshot.Snapshot) (q snapshot.SearchQuery, at snapshot.Paging) {
	queryAllowed, categoryAllowed := problem.New("allow-query"), problem.New("allow-category")
	q.Text = p.Text("q", queryAllowed)
	if q.Text != "" && (strings.TrimSpace(q.Text) == "" || utf8.RuneCountInString(q.Text) > maxQuery) {
		p.Refuse("q", q.Text, queryAllowed)
	}
	q.Category = p.Text("category", categoryAllowed)
	q.ExcludeCategory = p.Text("exclude_category", categoryAllowed)
	q.Usage = p.Text("usage", problem.New("allow-usage"))
	q.AlternativesTo = p.Matching("alternatives_to", problem.New("allow-tool"), func(slug string) bool {
		_, isAlias := snap.Aliases[catalog.ToolKind][slug]
		return isAlias || snap.Catalog.Tool(slug) != nil || snap.RetiredTool(slug) != nil
	})
	switch web.Choice(p, "sort", searchSorts) {
	case "score":
		q.IsSorted = true
	case "price":
		q.IsSorted, q.Sort = true, snapshot.PriceAsc
	}
	q.ScoreMin = p.Number("score_min")
	q.Pricing = web.Choice(p, "pricing", catalog.Pricings)
	q.PriceMax = p.Number("price_max")
	if q.PriceMax != nil && *q.PriceMax < 0 {
		given := strconv.FormatFloat(*q.PriceMax, 'g', -1, 64)
		p.Refuse("price_max", given, problem.New("allow-euros"))
	}
	return q, snapshot.Paging{Limit: p.Limit(), Number: p.Page()}
}

// A hit is a tool that matches, with the passage that fits best.
type hit struct {
	Record  json.RawMessage `json:"record"`  // without its body
	Section *section        `json:"section"` // null if Snippet is the tagline
	URL     string          `json:"url"`
	Snippet string          `json:"snippet"`
	Monthly *float64        `json:"euros_per_month"` // null if it cannot be said
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
	Partial    bool    `json:"partial"` // no tool has all the words
	Suggestion *string `json:"suggestion"`

	Constraints search.Limits   `json:"constraints"` // that the request states
	Retired     []departure     `json:"retired"`     // tools that the request names
	Articles    []snapshot.Text `json:"articles"`    // that the request is about
}

// A departure is a tool that left the catalogue.
type departure struct {
	Name      string  `json:"name"`
	RetiredAt string  `json:"retired_at"`
	Successor *string `json:"successor"` // slug; null for none
	URL       string  `json:"url"`
}

// searchTools returns the tools that match a query, best first, as on the site. Without words it
// returns all that pass the filters, by score.
func searchTools(r *request) (web.Response, error) {
	p := web.ParseParams(r.URL.RawQuery, func(name string) bool { return slices.Contains(searchParams, name) })
	q, at := readSearch(p, r.Snapshot)
	if err := p.Err(); err != nil {
		return web.Response{}, err
	}
	q.Offset, q.Limit = at.Offset(len(r.Snapshot.Catalog.Tools)), at.Limit
	found := r.Snapshot.Search(q)
	pages := (&snapshot.Page{Paging: at, Total: found.Total}).Pages()
	meta := searchMeta{
		Total: found.Total, Page: at.Number, Limit: at.Limit, Pages: pages, Partial: found.Partial,
		Suggestion: null(found.Suggestion), Constraints: found.Request.Limits(), Retired: []departure{}, Articles: found.Articles(),
	}
	for _, t := range found.Retired {
		url := r.Snapshot.Catalog.RetiredURLOf(t.Slug)
		meta.Retired = append(meta.Retired, departure{t.Name, t.RetiredAt, null(t.Successor), url})
	}
	b := wire.AppendJSON(nil, struct {
		Data []hit      `json:"data"`
		Meta searchMeta `json:"meta"`
	}{hits(r.Snapshot, found), meta})
	return web.Response{
		Body: wire.NewBody(wire.Sum(b), b), Total: found.Total, IsList: true, Size: len(b),
		Link: []string{p.PageLinks(searchPath, at.Number, pages) + ", " + licenseLink[0]},
	}, nil
}

// hits returns what is shown of the tools that were found.
func hits(snap *snapshot.Snapshot, found *snapshot.Found) []hit {
	list := make([]hit, len(found.Hits))
	for n, f := range found.Hits {
		best, url := found.Passage(f.Tool)
		t := snap.Catalog.Tools[f.Tool]
		list[n] = hit{Record: head(snap, t), URL: url, Snippet: best.Snippet, Monthly: t.EurosPerMonth()}
		if best.Section != "" {
			list[n].Section = &section{best.Section, best.Heading}
		}
	}
	return list
}

// head returns the record of a tool without its body.
func head(snap *snapshot.Snapshot, t *catalog.Tool) []byte {
	r := record.Of(snap.Catalog, t)
	var images []record.Image
	if snap.Feed == nil {
		images = r.Images(snap.Catalog)
	} else if change := snap.Change(catalog.ToolKind, t.Slug); change != nil {
		images = change.Images
	}
	return r.Head().Append(nil, images)
}
