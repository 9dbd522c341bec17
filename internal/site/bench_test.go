package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// sink is a ResponseWriter that discards everything.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(int)             {}

// BenchmarkPages renders each kind of page. An unknown parameter bypasses the cache.
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

// BenchmarkACachedPage serves a cached page, compressed.
func BenchmarkACachedPage(b *testing.B) {
	v := openDemo(b)
	r := httptest.NewRequestWithContext(b.Context(), "GET", "/avis/babilune", nil)
	r.Header.Set("Accept-Encoding", "gzip, br")
	for b.Loop() {
		v.site.ServeHTTP(&sink{http.Header{}}, r)
	}
}
