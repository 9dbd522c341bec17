package conform

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	tools        = "/api/v1/tools"
	comparisons  = "/api/v1/comparatifs"
	prices       = "/api/v1/pricing"
	retired      = "/api/v1/cimetiere"
	categories   = "/api/v1/categories"
	stats        = "/api/v1/stats"
	embeddings   = "/api/embeddings"
	description  = "/api/v1/openapi.json"
	cacheControl = "s-maxage=3600, stale-while-revalidate=86400"
)

// unknown is a slug that nothing has.
const unknown = "/aucun-outil-ne-porte-ce-nom-4711"

var promises = []promise{
	{text: "tools: a list of tools with all their fields", try: func(s *service) { s.all(tools, toolFields) }},
	{text: "tools: meta has total, page, limit and pages, which agree", try: func(s *service) { s.paged(tools) }},
	{text: "tools: X-Total-Count is the number before pagination", try: func(s *service) {
		r := s.ok(tools + "?limit=2")
		if got, all := r.header.Get("X-Total-Count"), s.ok(tools).meta("total"); got != strconv.Itoa(all) || r.meta("total") != all {
			fail("X-Total-Count is %q and meta.total %d, of %d", got, r.meta("total"), all)
		}
	}},
	{text: "tools: limit gives as many, up to 200, and 50 without it", try: func(s *service) { s.limited(tools) }},
	{text: "tools: pages follow each other without gaps and repetitions", try: func(s *service) { s.pages(tools) }},
	{text: "tools: category keeps those of a category", try: func(s *service) { s.filtered(tools, "category") }},
	{text: "tools: score_min keeps those with at least that score", try: filtersScore},
	{text: "tools: obsolescence_max keeps a part", try: filtersObsolescence},
	{text: "tools: sort=score_desc", try: func(s *service) { s.sorted("score_desc", -1) }},
	{text: "tools: sort=score_asc", try: func(s *service) { s.sorted("score_asc", 1) }},
	{text: "tools: sort=name_asc and sort=name_desc are each other's reverse", try: reverses},
	{text: "tools/{slug}: the tool, with all its fields", try: func(s *service) {
		path := at(tools, s.first(tools))
		has(path, s.ok(path).object(), toolFields)
	}},
	{text: "tools/{slug}: the same as in the list", try: sameTool},
	{text: "tools/{slug}: 404 with an error for an unknown slug", try: func(s *service) { s.missing(tools) }},
	{
		text: "comparatifs: a list of comparisons with all their fields",
		try:  func(s *service) { s.all(comparisons, comparisonFields) },
	},
	{
		text: "comparatifs: meta has total, page, limit and pages, which agree",
		try:  func(s *service) { s.paged(comparisons) },
	},
	{text: "comparatifs: limit gives as many, up to 200, and 50 without it", try: func(s *service) { s.limited(comparisons) }},
	{text: "comparatifs: pages follow each other", try: func(s *service) { s.pages(comparisons) }},
	{text: "comparatifs: category keeps those with a tool of a category", try: func(s *service) { s.shared(comparisons, 2) }},
	{text: "comparatifs/{slug}: both tools with their scores, and the winner", try: versus},
	{text: "comparatifs/{slug}: 404 with an error for an unknown slug", try: func(s *service) { s.missing(comparisons) }},
	{text: "pricing: a list of prices with all their fields", try: func(s *service) { s.all(prices, priceFields) }},
	{text: "pricing: limit gives as many, up to 200, and 50 without it", try: func(s *service) { s.limited(prices) }},
	{text: "pricing: pages follow each other", try: func(s *service) { s.pages(prices) }},
	{text: "pricing: category keeps those of a category", try: pricesOfCategory},
	{text: "pricing/{slug}: the price and its history", try: priceDetail},
	{text: "pricing/{slug}: 404 for an unknown slug", try: func(s *service) {
		if r := s.get(prices + unknown); r.status != http.StatusNotFound {
			fail("the status is %d", r.status)
		}
	}},
	{
		text: "cimetiere: a list of retired tools with all their fields",
		try:  func(s *service) { s.all(retired, retiredFields) },
	},
	{text: "cimetiere: limit gives as many, up to 200, and 50 without it", try: func(s *service) { s.limited(retired) }},
	{text: "cimetiere: pages follow each other", try: func(s *service) { s.pages(retired) }},
	{text: "cimetiere: category keeps those of a category", try: func(s *service) { s.shared(retired, 1) }},
	{text: "cimetiere: reason keeps those with a reason", try: func(s *service) { s.filtered(retired, "reason") }},
	{
		text: "categories: a list of categories with all their fields",
		try:  func(s *service) { s.all(categories, categoryFields) },
	},
	{text: "categories: tool_count is the number of tools of a category", try: countsCategory},
	{text: "stats: all figures, which agree with the lists", try: figures},
	{text: "every operation: Cache-Control is " + cacheControl, try: func(s *service) {
		s.everywhere("Cache-Control", func(v string) bool { return v == cacheControl })
	}},
	{text: "every operation: Access-Control-Allow-Origin is *", try: func(s *service) {
		s.everywhere("Access-Control-Allow-Origin", func(v string) bool { return v == "*" })
	}},
	{text: "every operation: a browser elsewhere may send it a key", try: func(s *service) {
		for _, path := range s.operations() {
			r := s.send(http.MethodOptions, path, "")
			allowed := strings.ToLower(r.header.Get("Access-Control-Allow-Headers"))
			if r.status > 299 || r.header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(allowed, "authorization") {
				fail("the preflight of %s has the status %d, and allows %q", path, r.status, allowed)
			}
		}
	}},
	{text: "every operation: X-Service-Updated-At is a date", try: func(s *service) {
		s.everywhere("X-Service-Updated-At", func(v string) bool { return len(v) >= 10 && isDate(v[:10]) })
	}},
	{text: "only GET is an operation", try: func(s *service) {
		for _, path := range s.operations() {
			if r := s.send(http.MethodPost, path, s.cfg.Key); r.status < 400 || r.status > 499 {
				fail("POST %s has the status %d", path, r.status)
			}
		}
	}},
	{text: "the API needs no key", try: func(s *service) {
		for _, path := range s.operations() {
			if r := s.getAs(path, ""); r.status != http.StatusOK {
				fail("without a key, %s has the status %d", path, r.status)
			}
		}
	}},
	{text: "embeddings/{slug}: not without a key", try: func(s *service) {
		path := at(embeddings, s.first(tools+best))
		if r := s.send(http.MethodGet, path, ""); r.status < 400 || r.status > 499 {
			fail("without a key, %s has the status %d", path, r.status)
		}
	}},
	{text: "embeddings/{slug}: the chunks with all their fields", keyed: true, try: chunks},
	{text: "a key: X-RateLimit-Tier, -Remaining and -Reset", keyed: true, try: quotaHeaders},
	{text: "a key: X-RateLimit-Remaining counts down", keyed: true, try: func(s *service) {
		before := 1000 // of a day
		for i := range 2 {
			r := s.send(http.MethodGet, fmt.Sprint(tools, "?limit=1&page=", i+1), s.cfg.Key)
			s.isFree(r)
			left, err := strconv.Atoi(r.header.Get("X-RateLimit-Remaining"))
			if err != nil || left >= before {
				fail("it is %q after %d", r.header.Get("X-RateLimit-Remaining"), before)
			}
			before = left
		}
	}},
	{text: "the description is OpenAPI 3.0.3, version 1.0.0, and has every operation of /api/v1", try: describes},
}

func (s *service) paged(path string) {
	r := s.ok(path)
	total, page, limit, all := r.meta("total"), r.meta("page"), r.meta("limit"), r.meta("pages")
	switch {
	case page != 1:
		fail("meta.page is %d", page)
	case limit < 1 || all != (total+limit-1)/limit && total > 0:
		fail("%d of %d to a page are %d pages", total, limit, all)
	case len(r.list()) != min(total, limit):
		fail("the first page has %d of %d elements", len(r.list()), total)
	}
}

// The address of a list's largest page, and of the tools that have embeddings first of all.
const (
	most = "?limit=200"
	best = "?sort=score_desc"
)

// limited checks how many elements the pages of a list have.
func (s *service) limited(path string) {
	all := len(s.some(path + most))
	for query, n := range map[string]int{"": 50, "?limit=2": 2, most: 200} {
		r := s.ok(path + query)
		if len(r.list()) != min(n, all) {
			fail("%s gives %d of %d elements", r.path, len(r.list()), all)
		}
		if (path == tools || path == comparisons) && r.meta("limit") != n {
			fail("meta.limit of %s is %d", r.path, r.meta("limit"))
		}
	}
	if all < 3 {
		skip("%s has too few elements to tell", path)
	}
}

func (s *service) pages(path string) {
	whole := slugs(s.ok(path + "?limit=6"))
	var joined []string
	for page := 1; page <= 3; page++ {
		r := s.ok(fmt.Sprint(path, "?limit=2&page=", page))
		if (path == tools || path == comparisons) && r.meta("page") != page {
			fail("meta.page of page %d is %d", page, r.meta("page"))
		}
		joined = append(joined, slugs(r)...)
	}
	if len(whole) < 3 {
		skip("%s has too few elements to tell", path)
	}
	if !slices.Equal(joined, whole) {
		fail("three pages of two are %v, one of six is %v", joined, whole)
	}
}

func slugs(r *reply) (list []string) {
	for _, o := range r.list() {
		list = append(list, text(o, "slug"))
	}
	return list
}

func (s *service) aCategory() string { return text(s.first(tools), "category") }

// keeps checks that a query keeps those elements of a list that it should, and no other. The order
// is not shown.
func (s *service) keeps(path, query string, should func(map[string]any) bool) {
	whole, part := s.some(path+most), s.ok(path+most+"&"+query).list()
	kept := 0
	for _, o := range whole {
		if should(o) {
			kept++
		}
	}
	for _, o := range part {
		if !should(o) {
			fail("%s gives %s", query, text(o, "slug"))
		}
	}
	switch {
	case len(part) < kept, len(whole) < 200 && len(part) > kept:
		fail("%s gives %d elements, and %d should be kept", query, len(part), kept)
	case kept == len(whole):
		skip("%s keeps all, so it cannot be told whether it is read", query)
	}
}

// filtered checks that a parameter keeps the records with a value that one has.
func (s *service) filtered(path, field string) {
	value := text(s.first(path+most), field)
	s.keeps(path, field+"="+url.QueryEscape(value), func(o map[string]any) bool { return text(o, field) == value })
}

// filtersScore tries a score that a tool has, of those that leave out others if there are any.
func filtersScore(s *service) {
	var scores []float64
	for _, o := range s.some(tools + most) {
		if n, ok := o["score"].(float64); ok {
			scores = append(scores, n)
		}
	}
	if len(scores) == 0 {
		skip("no tool has a score")
	}
	least := slices.Max(scores)
	s.keeps(tools, "score_min="+strconv.FormatFloat(least, 'f', -1, 64), func(o map[string]any) bool {
		n, ok := o["score"].(float64)
		return ok && n >= least
	})
}

// filtersObsolescence tries bounds that rise. The measure and its scale are not shown.
func filtersObsolescence(s *service) {
	s.some(tools)
	all := s.ok(tools).meta("total")
	var kept []int
	for _, bound := range []int{-1, 0, 5, 1000} {
		r := s.get(fmt.Sprint(tools, "?obsolescence_max=", bound))
		if bound < 0 && r.status == http.StatusBadRequest {
			continue
		}
		kept = append(kept, r.is(http.StatusOK).meta("total"))
	}
	switch {
	case !slices.IsSorted(kept) || slices.Max(kept) > all:
		fail("bounds that rise keep %v of %d tools", kept, all)
	case slices.Min(kept) == all:
		fail("no bound leaves out any of %d tools", all)
	}
}

// shared checks the filter by category of a list whose elements do not show theirs: each is in at
// least one category, and in as many as it has tools at most.
func (s *service) shared(path string, most int) {
	all, sum := len(s.some(path+"?limit=200")), 0
	names := s.some(categories)
	for _, o := range names {
		sum += len(s.ok(path + "?limit=200&category=" + url.QueryEscape(text(o, "slug"))).list())
	}
	switch {
	case all == 200, len(names) <= most:
		skip("it has too many elements, or the catalogue too few categories, to tell")
	case sum < all || sum > most*all:
		fail("%d elements are %d in all categories", all, sum)
	}
}

// sorted checks the scores of a list, up or down. Where tools without a score are is not shown.
func (s *service) sorted(order string, direction float64) {
	var scores []float64
	for _, o := range s.some(tools + "?limit=200&sort=" + order) {
		if n, ok := o["score"].(float64); ok {
			scores = append(scores, direction*n)
		}
	}
	if !slices.IsSorted(scores) {
		fail("they are not in this order")
	}
	if len(scores) == 0 || scores[0] == scores[len(scores)-1] {
		skip("no two scores differ")
	}
}

func reverses(s *service) {
	names := s.some(tools + "?limit=200&sort=name_asc")
	first, last := strings.ToLower(text(names[0], "name")), strings.ToLower(text(names[len(names)-1], "name"))
	if isLetter(first) && isLetter(last) && first[0] > last[0] {
		fail("name_asc begins with %q and ends with %q", first, last)
	}
	if len(names) == 1 {
		skip("there is one tool")
	}
	up := s.ok(tools + "?limit=200&sort=name_asc")
	if up.meta("total") > 200 {
		up = s.ok(tools + "?limit=1&sort=name_asc")
		last := s.ok(fmt.Sprint(tools, "?limit=1&sort=name_desc&page=", up.meta("total")))
		if !slices.Equal(slugs(up), slugs(last)) {
			fail("the first of one is not the last of the other")
		}
		return
	}
	down := slugs(s.ok(tools + "?limit=200&sort=name_desc"))
	slices.Reverse(down)
	if !slices.Equal(slugs(up), down) {
		fail("they are not")
	}
}

// isLetter reports whether a name begins with a letter that has one place in every alphabet.
func isLetter(name string) bool { return name != "" && name[0] >= 'a' && name[0] <= 'z' }

func sameTool(s *service) {
	listed := s.first(tools)
	alone := s.ok(at(tools, listed)).object()
	for _, f := range toolFields {
		if fmt.Sprint(listed[f.name]) != fmt.Sprint(alone[f.name]) {
			fail("%s is %v in the list and %v alone", f.name, listed[f.name], alone[f.name])
		}
	}
}

// missing checks the response to an unknown slug.
func (s *service) missing(path string) {
	if text(s.get(path+unknown).is(http.StatusNotFound).object(), "error") == "" {
		fail("« error » is empty")
	}
}

func versus(s *service) {
	listed := s.first(comparisons)
	path := at(comparisons, listed)
	o := s.ok(path).object()
	has(path, o, versusFields)
	if o["slug"] != listed["slug"] || o["winner"] != listed["winner"] {
		fail("%s says that %v won %v, the list %v", path, o["winner"], o["slug"], listed["winner"])
	}
	var names []string
	for _, side := range []string{"tool_a", "tool_b"} {
		tool := o[side].(map[string]any)
		has(path+" "+side, tool, sideFields)
		names = append(names, text(tool, "name"))
	}
	if winner := text(o, "winner"); !slices.Contains(names, winner) {
		fail("the winner of %s is %q, which is neither of %v", path, winner, names)
	}
}

func pricesOfCategory(s *service) {
	query := "category=" + url.QueryEscape(s.aCategory())
	want := s.ok(tools + most + "&" + query)
	if want.meta("total") > 200 {
		skip("there are too many tools of a category to tell")
	}
	of := slugs(want)
	s.keeps(prices, query, func(o map[string]any) bool { return slices.Contains(of, text(o, "slug")) })
}

func priceDetail(s *service) {
	listed := s.first(prices)
	path := at(prices, listed)
	o := s.ok(path).object()
	has(path, o, historyFields)
	if o["slug"] != listed["slug"] || o["current_price"] != listed["price"] || o["current_pricing"] != listed["pricing"] {
		fail("%s says %v, the list %v", path, o["current_price"], listed["price"])
	}
}

func countsCategory(s *service) {
	category := s.aCategory()
	for _, o := range s.ok(categories).list() {
		if text(o, "slug") != category {
			continue
		}
		total := s.ok(tools + "?category=" + url.QueryEscape(category)).meta("total")
		if int(number(o, "tool_count")) != total {
			fail("tool_count of %s is %v, and it has %d tools", category, o["tool_count"], total)
		}
		return
	}
	fail("%s, which a tool has, is missing", category)
}

func figures(s *service) {
	o := s.ok(stats).object()
	has(stats, o, statFields)
	if n := s.ok(tools).meta("total"); int(number(o, "tools_total")) != n {
		fail("tools_total is %v, and there are %d tools", o["tools_total"], n)
	}
	if n := s.ok(comparisons).meta("total"); int(number(o, "comparatifs_total")) != n {
		fail("comparatifs_total is %v, and there are %d comparisons", o["comparatifs_total"], n)
	}
	if n := len(s.ok(retired + "?limit=200").list()); n < 200 && int(number(o, "tools_retired")) != n {
		fail("tools_retired is %v, and there are %d", o["tools_retired"], n)
	}
}

// operations are the paths of all operations of /api/v1, of details as far as there are any.
func (s *service) operations() []string {
	paths := []string{tools, comparisons, prices, retired, categories, stats}
	for _, list := range []string{tools, comparisons, prices} {
		if elements := s.ok(list).list(); len(elements) > 0 {
			paths = append(paths, at(list, elements[0]))
		}
	}
	return paths
}

func (s *service) everywhere(name string, is func(string) bool) {
	for _, path := range s.operations() {
		if v := s.ok(path).header.Get(name); !is(v) {
			fail("it is %q for %s", v, path)
		}
	}
}

// document returns the path of a document: of a tool that must be in the set, or of the best.
func (s *service) document() string {
	list := s.some(tools + best)
	for _, o := range list[:min(len(list), 5)] {
		if path := at(embeddings, o); s.get(path).status == http.StatusOK {
			return path
		}
	}
	if n, _ := list[0]["score"].(float64); n >= 8 && list[0]["verifiability"] != nil && list[0]["avis_url"] != nil {
		fail("%s has the status %d", at(embeddings, list[0]), s.get(at(embeddings, list[0])).status)
	}
	skip("none of the best tools has a document")
	return ""
}

func chunks(s *service) {
	path := s.document()
	o := s.ok(path).object()
	has(path, o, documentFields)
	tool := s.ok(tools + strings.TrimPrefix(path, embeddings)).object()
	if o["slug"] != tool["slug"] || o["name"] != tool["name"] {
		fail("%s is of another tool", path)
	}
	list := s.ok(path).object()["chunks"].([]any)
	if int(number(o, "chunk_count")) != len(list) {
		fail("chunk_count is %v, and there are %d chunks", o["chunk_count"], len(list))
	}
	for i := range list {
		where := fmt.Sprintf("chunk %d of %s", i, path)
		chunk, ok := list[i].(map[string]any)
		if !ok {
			fail("%s is not an object", where)
		}
		has(where, chunk, chunkFields)
		m := chunk["metadata"].(map[string]any)
		has(where, m, metadataFields)
		switch {
		case m["section"] != chunk["id"]:
			fail("%s: section is %v, id %v", where, m["section"], chunk["id"])
		case int(number(m, "position")) != i:
			fail("%s: position is %v", where, m["position"])
		case m["slug"] != o["slug"], m["tool"] != o["name"], m["category"] != tool["category"], m["score"] != tool["score"],
			m["verifiability"] != tool["verifiability"], m["updated_at"] != o["updated_at"]:
			fail("%s is of another tool", where)
		case m["canonical_url"] != text(o, "canonical_url")+"#"+text(chunk, "id"):
			fail("%s: canonical_url is %v", where, m["canonical_url"])
		}
	}
}

func quotaHeaders(s *service) {
	r := s.ok(tools)
	s.isFree(r)
	if _, err := strconv.ParseUint(r.header.Get("X-RateLimit-Remaining"), 10, 63); err != nil {
		fail("X-RateLimit-Remaining is %q", r.header.Get("X-RateLimit-Remaining"))
	}
	reset, err := time.Parse(time.RFC3339, r.header.Get("X-RateLimit-Reset"))
	if err != nil || reset.Location() != time.UTC {
		fail("X-RateLimit-Reset is %q", r.header.Get("X-RateLimit-Reset"))
	}
}

// isFree skips what is promised to free keys only: others may have no limit.
func (s *service) isFree(r *reply) {
	switch tier := r.header.Get("X-RateLimit-Tier"); tier {
	case "free":
	case "":
		fail("X-RateLimit-Tier is missing")
	default:
		skip("the key is of the tier %s, which may have no limit", tier)
	}
}

func describes(s *service) {
	o := s.ok(description).object()
	info, _ := o["info"].(map[string]any)
	if o["openapi"] != "3.0.3" || info["version"] != "1.0.0" {
		fail("openapi is %v, and the version of the document %v", o["openapi"], info["version"])
	}
	paths, ok := o["paths"].(map[string]any)
	if !ok {
		fail("it has no paths")
	}
	for _, path := range []string{
		tools, tools + "/{slug}", comparisons, comparisons + "/{slug}", prices,
		prices + "/{slug}", retired, categories, stats,
	} {
		item, ok := paths[path].(map[string]any)
		if !ok {
			item, ok = paths[strings.TrimPrefix(path, "/api/v1")].(map[string]any)
		}
		if !ok || !isObject(item["get"]) {
			fail("GET %s is missing", path)
		}
	}
}
