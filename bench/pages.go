package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/snapshot"
	"palmares/internal/synthetic"
	"palmares/internal/web"
)

// pages compares the cost of a page in a catalogue of a thousand tools and in
// one of many: filtered, sorted, deep. The handler runs alone, without a network,
// so that only the catalogue makes a difference.
func (b *bench) pages(tools int) {
	const small = 1000
	fmt.Printf("One page of 50 tools, %d tools against %d (handler alone, medians of %d rounds):\n", tools, small, rounds)
	few, many := handlerOver(small), handlerOver(tools)
	for _, q := range []struct{ name, query, deep string }{
		{"first page", "", "1"},
		{"deep page", "", "last"},
		{"category, name order", "category=code&sort=name_asc", "last"},
		{"score_min", "score_min=6.5", "last"},
		{"score_min, name order", "score_min=6.5&sort=name_asc", "last"},
		{"all filters", "category=chat&score_min=5&obsolescence_max=7&sort=name_desc", "last"},
	} {
		var ofFew, ofMany []float64
		var bytesA, bytesZ int64
		for range rounds {
			var a, z float64
			a, bytesA = cost(few, q.query, q.deep)
			z, bytesZ = cost(many, q.query, q.deep)
			ofFew, ofMany = append(ofFew, a), append(ofMany, z)
		}
		a, z := median(ofFew), median(ofMany)
		fmt.Printf("  %-24s %6.1f µs against %6.1f µs   ratio %.2f (at most 1.25)   allocated %d B against %d B\n",
			q.name, z/1000, a/1000, z/a, bytesZ, bytesA)
	}
}

func handlerOver(tools int) http.Handler {
	c := synthetic.Catalog(tools, 1)
	catalog.CarryOver(&catalog.Catalog{}, c, "2026-01-01")
	snap := snapshot.Build(c, 1, "2026-01-01")
	return api.New(api.Config{
		Snapshot: func() *snapshot.Snapshot { return snap },
		Callers: web.AuthorizerFunc(func(context.Context, *http.Request) (web.Caller, error) {
			return web.Caller{Key: &account.Key{}}, nil
		}),
	})
}

// cost returns the time and the memory of one request. A deep page is the last full
// one: the one before the last.
func cost(h http.Handler, query, page string) (nanoseconds float64, bytes int64) {
	const limit = 50
	if page == "last" {
		w := &sink{header: http.Header{}}
		h.ServeHTTP(w, request(query))
		total := 0
		fmt.Sscan(w.header.Get("X-Total-Count"), &total)
		page = fmt.Sprint(max(1, total/limit))
	}
	r := request(query + "&page=" + page)
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		w := &sink{header: http.Header{}}
		for b.Loop() {
			clear(w.header)
			h.ServeHTTP(w, r)
		}
		if w.status != http.StatusOK {
			b.Fatalf("%s: %d", query, w.status)
		}
	})
	return float64(result.NsPerOp()), result.AllocedBytesPerOp()
}

func request(query string) *http.Request {
	return &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/api/v1/tools", RawQuery: query}, Header: http.Header{}}
}

// A sink discards the body of an answer.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
