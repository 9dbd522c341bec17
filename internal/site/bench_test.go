package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// sink is a ResponseWriter that keeps nothing.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(int)             {}

// BenchmarkPages is what it costs to make each kind of page. A parameter that
// nobody reads keeps the page from being kept.
func BenchmarkPages(b *testing.B) {
	v := openDemo(b)
	for _, path := range append(kinds, "/sitemap.xml", "/flux.atom") {
		b.Run(strings.ReplaceAll(path, "/", "_"), func(b *testing.B) {
			address := path + "?mesure"
			if path == "/outils?q=agent" || path == "/outils?page=2" {
				address = path
			}
			r := httptest.NewRequestWithContext(b.Context(), "GET", address, nil)
			for b.Loop() {
				v.site.ServeHTTP(&sink{http.Header{}}, r)
			}
		})
	}
}

// BenchmarkAKnownPage is a page that was made before, compressed.
func BenchmarkAKnownPage(b *testing.B) {
	v := openDemo(b)
	r := httptest.NewRequestWithContext(b.Context(), "GET", "/avis/babilune", nil)
	r.Header.Set("Accept-Encoding", "gzip, br")
	for b.Loop() {
		v.site.ServeHTTP(&sink{http.Header{}}, r)
	}
}
