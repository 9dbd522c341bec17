package api

import (
	"net/http"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/problem"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// parameters are the names of all query parameters.
var parameters = []string{"page", "limit", "category", "score_min", "obsolescence_max", "sort", "reason"}

func params(r *request) *web.Params {
	return web.ParseParams(r.URL.RawQuery, func(name string) bool { return slices.Contains(parameters, name) })
}

func readCategory(p *web.Params) string {
	return p.Text("category", problem.New("allow-category"))
}

func readPaging(p *web.Params) snapshot.Paging {
	return snapshot.Paging{Number: p.Page(), Limit: p.Limit()}
}

func listTools(r *request) (web.Response, error) {
	p := params(r)
	q := snapshot.ToolQuery{
		Category:        readCategory(p),
		ScoreMin:        p.Number("score_min"),
		ObsolescenceMax: p.Number("obsolescence_max"),
	}
	if sort := web.Choice(p, "sort", snapshot.Sorts[:]); sort != "" {
		q.Sort = snapshot.Sort(slices.Index(snapshot.Sorts[:], sort))
	}
	at := readPaging(p)
	if err := p.Err(); err != nil {
		return web.Response{}, err
	}
	return paginated(r, p, r.Snapshot.Tools(q, at)), nil
}

// listOf is the operation that lists what find finds in a category.
func listOf(
	find func(s *snapshot.Snapshot, category string, at snapshot.Paging) *snapshot.Page,
) web.Operation[snapshot.Snapshot] {
	return func(r *request) (web.Response, error) {
		p := params(r)
		category, at := readCategory(p), readPaging(p)
		if err := p.Err(); err != nil {
			return web.Response{}, err
		}
		return paginated(r, p, find(r.Snapshot, category, at)), nil
	}
}

func listRetired(r *request) (web.Response, error) {
	p := params(r)
	category, reason, at := readCategory(p), web.Choice(p, "reason", catalog.Reasons), readPaging(p)
	if err := p.Err(); err != nil {
		return web.Response{}, err
	}
	return paginated(r, p, r.Snapshot.Retired(category, reason, at)), nil
}

func listCategories(r *request) (web.Response, error) {
	page := r.Snapshot.Categories()
	return web.Response{Body: page.Body(), Total: page.Total, IsList: true, Link: licenseLink, Cached: true}, nil
}

func getStats(r *request) (web.Response, error) { return single(r.Snapshot.Stats()), nil }

func getTool(r *request) (web.Response, error) {
	return ofTool(r, "/api/v1/tools/", r.Snapshot.Tool)
}

func getPrice(r *request) (web.Response, error) {
	return ofTool(r, "/api/v1/pricing/", r.Snapshot.Price)
}

func getEmbeddings(r *request) (web.Response, error) {
	if r.Caller.Key == nil {
		return web.Response{}, web.MissingKey()
	}
	a, err := ofTool(r, "/api/embeddings/", r.Snapshot.Embeddings)
	a.Cached = false // not for everybody
	if err != nil {
		if _, active := r.Snapshot.Tool(r.Slug); active {
			return web.Response{}, web.NewError(web.CodeNotInEmbeddingsSet,
				problem.New("tool-without-chunks", web.Shorten(r.Slug), catalog.TopSetSize, r.Slug))
		}
	}
	return a, err
}

func getComparison(r *request) (web.Response, error) {
	if body, ok := r.Snapshot.Comparison(r.Slug); ok {
		return single(body), nil
	}
	if slug, ok := r.Snapshot.Aliases[catalog.ComparisonKind][r.Slug]; ok {
		return renamed(r, "/api/v1/comparatifs/"+slug), nil
	}
	return missing, web.NewError(web.CodeComparisonNotFound, problem.New("comparison-not-found", web.Shorten(r.Slug)))
}

// renamed redirects to the current slug of a record.
func renamed(r *request, location string) web.Response {
	return web.Response{Status: http.StatusPermanentRedirect, Location: web.Location(location, r.URL.RawQuery)}
}

// ofTool returns what find returns for the tool of the path, a redirect if the
// tool was renamed, or with an error that says when it was retired.
func ofTool(r *request, prefix string, find func(slug string) (wire.Body, bool)) (web.Response, error) {
	if body, ok := find(r.Slug); ok {
		return single(body), nil
	}
	if slug, ok := r.Snapshot.Aliases[catalog.ToolKind][r.Slug]; ok {
		return renamed(r, prefix+slug), nil
	}
	if retired := r.Snapshot.RetiredTool(r.Slug); retired != nil {
		return missing, web.ToolRetired(retired.Name, retired.RetiredAt, string(retired.Reason), retired.Successor)
	}
	return missing, web.ToolNotFound(r.Slug)
}

const license = `</licence>; rel="license"`

var licenseLink = []string{license} // shared by all responses that have no other link

// missing goes with an error that says that there is nothing, to whoever asks.
var missing = web.Response{Cached: true}

func single(body wire.Body) web.Response {
	return web.Response{Body: body, Link: licenseLink, Cached: true}
}

func paginated(r *request, p *web.Params, page *snapshot.Page) web.Response {
	links := p.PageLinks(r.URL.Path, page.Number, page.Pages()) + ", " + license
	return web.Response{Body: page.Body(), Total: page.Total, IsList: true, Link: []string{links}, Cached: true}
}
