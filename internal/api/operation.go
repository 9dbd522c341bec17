package api

import (
	"net/http"

	"palmares/internal/catalog"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// isKnown reports whether any operation reads a parameter.
func isKnown(name string) bool {
	switch name {
	case "page", "limit", "category", "score_min", "obsolescence_max", "sort", "reason":
		return true
	}
	return false
}

func (r *request) params() *web.Params { return web.ParseParams(r.URL.RawQuery, isKnown) }

func readCategory(p *web.Params) string {
	return p.Text("category", "l’identifiant d’une catégorie, voir /api/v1/categories")
}

func readPaging(p *web.Params) snapshot.Paging {
	return snapshot.Paging{Number: p.Page(), Limit: p.Limit()}
}

var reasons = func() []string {
	names := make([]string, len(catalog.Reasons))
	for i, r := range catalog.Reasons {
		names[i] = string(r)
	}
	return names
}()

func (h *Handler) unknownPath(*request) (web.Answer, error) { return missing, pathNotFound() }

func (h *Handler) getDocument(r *request) (web.Answer, error) {
	a := single(h.document.Body(r.snap))
	a.Free = true
	return a, nil
}

func (h *Handler) listTools(r *request) (web.Answer, error) {
	p := r.params()
	q := snapshot.ToolQuery{
		Category:        readCategory(p),
		ScoreMin:        p.Number("score_min"),
		ObsolescenceMax: p.Number("obsolescence_max"),
	}
	sort, _ := p.Choice("sort", snapshot.Sorts[:])
	q.Sort = snapshot.Sort(sort)
	at := readPaging(p)
	if err := p.Err(); err != nil {
		return web.Answer{}, err
	}
	return paginated(r, p, r.snap.Tools(q, at)), nil
}

func (h *Handler) listComparisons(r *request) (web.Answer, error) {
	p := r.params()
	category, at := readCategory(p), readPaging(p)
	if err := p.Err(); err != nil {
		return web.Answer{}, err
	}
	return paginated(r, p, r.snap.Comparisons(category, at)), nil
}

func (h *Handler) listPrices(r *request) (web.Answer, error) {
	p := r.params()
	category, at := readCategory(p), readPaging(p)
	if err := p.Err(); err != nil {
		return web.Answer{}, err
	}
	return paginated(r, p, r.snap.Prices(category, at)), nil
}

func (h *Handler) listRetired(r *request) (web.Answer, error) {
	p := r.params()
	category := readCategory(p)
	var reason catalog.Reason
	if i, given := p.Choice("reason", reasons); given {
		reason = catalog.Reasons[i]
	}
	at := readPaging(p)
	if err := p.Err(); err != nil {
		return web.Answer{}, err
	}
	return paginated(r, p, r.snap.Retired(category, reason, at)), nil
}

func (h *Handler) listCategories(r *request) (web.Answer, error) {
	page := r.snap.Categories()
	return web.Answer{Body: page.Body(), Total: page.Total, IsList: true, Link: licenseLink, Cached: true}, nil
}

func (h *Handler) getStats(r *request) (web.Answer, error) { return single(r.snap.Stats()), nil }

func (h *Handler) getTool(r *request) (web.Answer, error) {
	return ofTool(r, "/api/v1/tools/", r.snap.Tool)
}

func (h *Handler) getPrice(r *request) (web.Answer, error) {
	return ofTool(r, "/api/v1/pricing/", r.snap.Price)
}

func (h *Handler) getEmbeddings(r *request) (web.Answer, error) {
	if r.Caller.Key == nil {
		return web.Answer{}, web.MissingKey()
	}
	a, err := ofTool(r, "/api/embeddings/", r.snap.Embeddings)
	a.Cached = false // not for everybody
	if err != nil {
		if _, active := r.snap.Tool(r.slug); active {
			return web.Answer{}, notInEmbeddingsSet(r.slug)
		}
	}
	return a, err
}

func (h *Handler) getComparison(r *request) (web.Answer, error) {
	if body, ok := r.snap.Comparison(r.slug); ok {
		return single(body), nil
	}
	if slug, ok := r.snap.ComparisonAlias(r.slug); ok {
		return renamed(r, "/api/v1/comparatifs/"+slug), nil
	}
	return missing, comparisonNotFound(r.slug)
}

// renamed redirects to the current slug of a record.
func renamed(r *request, location string) web.Answer {
	return web.Answer{Status: http.StatusPermanentRedirect, Location: web.Location(location, r.URL.RawQuery)}
}

// ofTool answers with what find returns for the tool of the path, with a redirect if the
// tool was renamed, or with an error that says when it was retired.
func ofTool(r *request, prefix string, find func(slug string) (wire.Body, bool)) (web.Answer, error) {
	if body, ok := find(r.slug); ok {
		return single(body), nil
	}
	if slug, ok := r.snap.Alias(r.slug); ok {
		return renamed(r, prefix+slug), nil
	}
	if retired := r.snap.RetiredTool(r.slug); retired != nil {
		return missing, web.ToolRetired(retired.Name, retired.RetiredAt, string(retired.Reason), retired.Successor)
	}
	return missing, web.ToolNotFound(r.slug)
}

const license = `</licence>; rel="license"`

var licenseLink = []string{license} // shared by all answers that have no other link

// missing goes with an error that says that there is nothing, to whoever asks.
var missing = web.Answer{Cached: true}

func single(body wire.Body) web.Answer {
	return web.Answer{Body: body, Link: licenseLink, Cached: true}
}

func paginated(r *request, p *web.Params, page *snapshot.Page) web.Answer {
	links := p.PageLinks(r.URL.Path, page.Number, page.Pages()) + ", " + license
	return web.Answer{Body: page.Body(), Total: page.Total, IsList: true, Link: []string{links}, Cached: true}
}
