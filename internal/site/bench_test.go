package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// sink is a ResponseWriter that discards everything.
// BenchmarkPages renders each kind of page.
func BenchmarkPages(b *testing.B) {
	v := openDemo(b)
	for _, path := range append(kinds, "/sitemap.xml", "/flux.atom") {
		b.Run(strings.ReplaceAll(path, "/", "_"), func(b *testing.B) {
			r := httptest.NewRequestWithContext(b.Context(), "GET", path, nil)
			for b.Loop() {
				v.site.ForgetPages()
				v.site.ServeHTTP(&sink{header: http.Header{}}, r)
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
		v.site.ServeHTTP(&sink{header: http.Header{}}, r)
	}
}
