package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"palmares/demo"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

// site prints the size and cost of each kind of page: rendered, from the cache of its
// version, and from the simplest handler that sends the same bytes.
func (b *bench) site() error {
	handler, snap, err := demoSite(b.ctx)
	if err != nil {
		return err
	}
	fmt.Println("Pages of the demo site (handler alone; br is what goes over the wire, without style and script):")
	for _, path := range []string{
		"/", "/outils", "/outils/grenier-sql", "/avis/grenier-sql", "/alternatives/grenier-sql", "/categories/code",
		"/comparatifs", "/comparatifs/mandibule-vs-escouade", "/comparer?outils=mandibule,escouade,babilune,varlope", "/prix", "/carte", "/tendances", "/cimetiere", "/docs",
	} {
		address, err := url.Parse(path)
		if err != nil {
			return err
		}
		page := &http.Request{Method: http.MethodGet, URL: address, Header: http.Header{}}
		packed := page.Clone(b.ctx)
		packed.Header.Set("Accept-Encoding", "br")
		var plain, small collector
		handler.ServeHTTP(&plain, page)
		handler.ServeHTTP(&small, packed)
		if plain.status != http.StatusOK {
			return fmt.Errorf("%s: %d", path, plain.status)
		}
		bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for name, values := range plain.header {
				w.Header()[name] = values
			}
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write(plain.body)
		})
		fmt.Printf("  %-36s %6.1f kB, br %5.1f kB   rendered %7.1f µs   cached %5.1f µs   bare %5.1f µs\n", path,
			float64(len(plain.body))/1000, float64(len(small.body))/1000,
			firstMicroseconds(handler, snap, page), microseconds(handler, page), microseconds(bare, page))
	}
	return nil
}

func demoSite(ctx context.Context) (*site.Site, *snapshot.Snapshot, error) {
	r, err := content.ReadFS(ctx, demo.Folder, content.Options{})
	if err != nil {
		return nil, nil, err
	}
	if len(r.Problems) > 0 {
		return nil, nil, fmt.Errorf("the demo is broken: %v", r.Problems[0])
	}
	c := r.Catalog
	catalog.CarryOver(&catalog.Catalog{}, c, snapshot.NewestUpdate(c))
	snap := snapshot.Build(c, 0, snapshot.NewestUpdate(c))
	pages := site.New(site.Config{
		Demo:     func(*snapshot.Snapshot) bool { return true },
		BaseURL:  "http://localhost:8080",
		Document: api.Document(),
	})
	if err := snap.BuildIndex(ctx); err != nil {
		return nil, nil, err
	}
	pages.Show(snap)
	return pages, snap, nil
}

// firstMicroseconds returns the time of the first request for a page of a version.
func firstMicroseconds(pages *site.Site, snap *snapshot.Snapshot, r *http.Request) float64 {
	const versions = 50
	var took time.Duration
	for range versions {
		pages.Show(snap)
		start := time.Now()
		pages.ServeHTTP(&sink{header: http.Header{}}, r)
		took += time.Since(start)
	}
	return float64(took.Microseconds()) / versions
}

func microseconds(h http.Handler, r *http.Request) float64 {
	result := testing.Benchmark(func(b *testing.B) {
		w := &sink{header: http.Header{}}
		for b.Loop() {
			clear(w.header)
			h.ServeHTTP(w, r)
		}
	})
	return float64(result.NsPerOp()) / 1000
}

// A collector keeps an answer.
type collector struct {
	header http.Header
	status int
	body   []byte
}

func (c *collector) Header() http.Header {
	if c.header == nil {
		c.header = http.Header{}
	}
	return c.header
}
func (c *collector) WriteHeader(status int) { c.status = status }
func (c *collector) Write(b []byte) (int, error) {
	c.body = append(c.body, b...)
	return len(b), nil
}
