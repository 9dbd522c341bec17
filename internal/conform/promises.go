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

var lists = []string{tools, comparisons, prices, retired, categories}

// unknown is a slug that nothing has.
const unknown = "/aucun-outil-ne-porte-ce-nom-4711"

var promises = []promise{
	{text: "tools: a list of tools with all their fields", try: func(s *service) { s.ok(tools).all(toolFields) }},
	{text: "tools: meta has total, page, limit and pages, which agree", try: func(s *service) { s.paged(tools) }},
	{text: "tools: X-Total-Count is the number before pagination", try: func(s *service) {
		r := s.ok(tools + "?limit=2")
		if got := r.header.Get("X-Total-Count"); got != strconv.Itoa(r.meta("total")) {
			fail("X-Total-Count is %q, meta.total %d", got, r.meta("total"))
		}
	}},
	{text: "tools: 50 to a page unless limit says otherwise", try: func(s *service) {
		if n := s.ok(tools).meta("limit"); n != 50 {
			fail("meta.limit is %d", n)
		}
	}},
	{text: "tools: limit gives as many, up to 200", try: func(s *service) {
		for _, n := range []int{2, 200} {
			r := s.ok(fmt.Sprint(tools, "?limit=", n))
			if r.meta("limit") != n || len(r.list()) != min(n, r.meta("total")) {
				fail("limit=%d gives %d elements, and meta.limit is %d", n, len(r.list()), r.meta("limit"))
			}
		}
	}},
	{text: "tools: pages follow each other without gaps and repetitions", try: pages},
	{text: "tools: category keeps those of a category", try: func(s *service) { s.filtered(tools, "category", s.aCategory()) }},
	{text: "tools: score_min keeps those with at least that score", try: filtersScore},
	{text: "tools: obsolescence_max keeps a part", try: func(s *service) {
		some, all := s.ok(tools+"?obsolescence_max=5").meta("total"), s.ok(tools).meta("total")
		if some > all {
			fail("obsolescence_max=5 gives %d of %d tools", some, all)
		}
	}},
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
		try:  func(s *service) { s.ok(comparisons).all(comparisonFields) },
	},
	{
		text: "comparatifs: meta has total, page, limit and pages, which agree",
		try:  func(s *service) { s.paged(comparisons) },
	},
	{text: "comparatifs: limit is read", try: func(s *service) { s.limited(comparisons) }},
	{text: "comparatifs/{slug}: both tools with their scores, and the winner", try: versus},
	{text: "comparatifs/{slug}: 404 with an error for an unknown slug", try: func(s *service) { s.missing(comparisons) }},
	{text: "pricing: a list of prices with all their fields", try: func(s *service) { s.ok(prices).all(priceFields) }},
	{text: "pricing: limit is read", try: func(s *service) { s.limited(prices) }},
	{text: "pricing: category keeps those of a category", try: pricesOfCategory},
	{text: "pricing/{slug}: the price and its history", try: priceDetail},
	{text: "pricing/{slug}: 404 for an unknown slug", try: func(s *service) {
		if r := s.get(prices + unknown); r.status != http.StatusNotFound {
			fail("the status is %d", r.status)
		}
	}},
	{
		text: "cimetiere: a list of retired tools with all their fields",
		try:  func(s *service) { s.ok(retired).all(retiredFields) },
	},
	{text: "cimetiere: reason keeps those with a reason", try: func(s *service) {
		s.filtered(retired, "reason", text(s.first(retired), "reason"))
	}},
	{
		text: "categories: a list of categories with all their fields",
		try:  func(s *service) { s.ok(categories).all(categoryFields) },
	},
	{text: "categories: tool_count is the number of tools of a category", try: countsCategory},
	{text: "stats: all figures, which agree with the lists", try: figures},
	{text: "every list: Cache-Control is " + cacheControl, try: func(s *service) {
		s.everyList("Cache-Control", func(v string) bool { return v == cacheControl })
	}},
	{text: "every list: Access-Control-Allow-Origin is *", try: func(s *service) {
		s.everyList("Access-Control-Allow-Origin", func(v string) bool { return v == "*" })
	}},
	{text: "every list: X-Service-Updated-At is a date", try: func(s *service) {
		s.everyList("X-Service-Updated-At", func(v string) bool { return len(v) >= 10 && isDate(v[:10]) })
	}},
	{text: "only GET is an operation", try: func(s *service) {
		if r := s.send(http.MethodPost, tools, s.cfg.Key); r.status < 400 || r.status > 499 {
			fail("POST %s has the status %d", tools, r.status)
		}
	}},
	{text: "the API needs no key", try: func(s *service) {
		if r := s.send(http.MethodGet, stats, ""); r.status != http.StatusOK {
			fail("without a key, %s has the status %d", stats, r.status)
		}
	}},
	{text: "embeddings/{slug}: not without a key", try: func(s *service) {
		path := at(embeddings, s.first(tools+"?sort=score_desc"))
		if r := s.send(http.MethodGet, path, ""); r.status < 400 || r.status > 499 {
			fail("without a key, %s has the status %d", path, r.status)
		}
	}},
	{text: "embeddings/{slug}: the chunks with all their fields", keyed: true, try: chunks},
	{text: "a key: X-RateLimit-Tier, -Remaining and -Reset", keyed: true, try: quotaHeaders},
	{text: "a key: X-RateLimit-Remaining counts down", keyed: true, try: func(s *service) {
		var before int
		for i := range 2 {
			r := s.send(http.MethodGet, fmt.Sprint(tools, "?limit=1&page=", i+1), s.cfg.Key)
			if r.header.Get("X-RateLimit-Tier") != "free" {
				return
			}
			left, err := strconv.Atoi(r.header.Get("X-RateLimit-Remaining"))
			if err != nil || i > 0 && left >= before {
				fail("it is %q after %d", r.header.Get("X-RateLimit-Remaining"), before)
			}
			before = left
		}
	}},
	{text: "the description is OpenAPI 3.0 and has every operation of /api/v1", try: describes},
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

// limited checks that a list has one element with limit=1.
func (s *service) limited(path string) {
	if n := len(s.ok(path + "?limit=1").list()); n > 1 || n == 0 && len(s.ok(path).list()) > 0 {
		fail("limit=1 gives %d elements", n)
	}
}

func pages(s *service) {
	whole := slugs(s.ok(tools + "?limit=6"))
	var joined []string
	for page := 1; page <= 3; page++ {
		r := s.ok(fmt.Sprint(tools, "?limit=2&page=", page))
		if r.meta("page") != page {
			fail("meta.page of page %d is %d", page, r.meta("page"))
		}
		joined = append(joined, slugs(r)...)
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

// filtered checks that a parameter keeps the records with a value that one has.
func (s *service) filtered(path, field, value string) {
	r := s.ok(path + "?" + field + "=" + url.QueryEscape(value))
	if len(r.list()) == 0 {
		fail("%s=%s gives nothing, although a tool has it", field, value)
	}
	for _, o := range r.list() {
		if text(o, field) != value {
			fail("%s=%s gives one of %s", field, value, o[field])
		}
	}
}

func filtersScore(s *service) {
	r := s.ok(tools + "?score_min=8")
	for _, o := range r.list() {
		if number(o, "score") < 8 {
			fail("score_min=8 gives %s with %v", o["slug"], o["score"])
		}
	}
	if all := s.ok(tools); r.meta("total") > all.meta("total") {
		fail("score_min=8 gives more tools than there are")
	}
	for _, o := range s.ok(tools + "?limit=200").list() {
		if n, ok := o["score"].(float64); ok && n >= 8 && len(r.list()) == 0 {
			fail("score_min=8 gives nothing, although %s has %v", o["slug"], n)
		}
	}
}

// sorted checks the scores of a list, up or down. Where tools without a score are is not shown.
func (s *service) sorted(order string, direction float64) {
	var scores []float64
	for _, o := range s.ok(tools + "?limit=200&sort=" + order).list() {
		if n, ok := o["score"].(float64); ok {
			scores = append(scores, direction*n)
		}
	}
	if !slices.IsSorted(scores) {
		fail("they are not in this order")
	}
}

func reverses(s *service) {
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
	path := at(comparisons, s.first(comparisons))
	o := s.ok(path).object()
	has(path, o, versusFields)
	var names []string
	for _, side := range []string{"tool_a", "tool_b"} {
		tool := o[side].(map[string]any)
		has(path+" "+side, tool, sideFields)
		names = append(names, text(tool, "name"))
	}
	if winner := text(o, "winner"); !slices.Contains(names, winner) && winner != "" {
		fail("the winner of %s is %q, which is neither of %v", path, winner, names)
	}
}

func pricesOfCategory(s *service) {
	category := url.QueryEscape(s.aCategory())
	want := s.ok(tools + "?limit=200&category=" + category)
	got := s.ok(prices + "?limit=200&category=" + category)
	if want.meta("total") <= 200 && len(got.list()) != len(want.list()) {
		fail("%d prices for %d tools", len(got.list()), len(want.list()))
	}
}

func priceDetail(s *service) {
	listed := s.first(prices)
	path := at(prices, listed)
	o := s.ok(path).object()
	has(path, o, historyFields)
	if o["current_price"] != listed["price"] || o["current_pricing"] != listed["pricing"] {
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

func (s *service) everyList(name string, is func(string) bool) {
	for _, path := range lists {
		if v := s.ok(path).header.Get(name); !is(v) {
			fail("it is %q for %s", v, path)
		}
	}
}

func chunks(s *service) {
	path := at(embeddings, s.first(tools+"?sort=score_desc"))
	o := s.ok(path).object()
	has(path, o, documentFields)
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
		case m["slug"] != o["slug"] || m["tool"] != o["name"]:
			fail("%s is of another tool", where)
		case !strings.HasSuffix(text(m, "canonical_url"), "#"+text(chunk, "id")):
			fail("%s: canonical_url is %v", where, m["canonical_url"])
		}
	}
}

func quotaHeaders(s *service) {
	r := s.ok(tools)
	if r.header.Get("X-RateLimit-Tier") == "" {
		fail("X-RateLimit-Tier is missing")
	}
	if r.header.Get("X-RateLimit-Tier") != "free" {
		return // other tiers may have no limit
	}
	if _, err := strconv.ParseUint(r.header.Get("X-RateLimit-Remaining"), 10, 63); err != nil {
		fail("X-RateLimit-Remaining is %q", r.header.Get("X-RateLimit-Remaining"))
	}
	reset, err := time.Parse(time.RFC3339, r.header.Get("X-RateLimit-Reset"))
	if err != nil || reset.Location() != time.UTC {
		fail("X-RateLimit-Reset is %q", r.header.Get("X-RateLimit-Reset"))
	}
}

func describes(s *service) {
	o := s.ok(description).object()
	if !strings.HasPrefix(text(o, "openapi"), "3.0.") {
		fail("openapi is %v", o["openapi"])
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
