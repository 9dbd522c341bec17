package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

// onePicture is a source of pictures that has one.
type onePicture []byte

func (p onePicture) Read(context.Context, string) ([]byte, error) { return p, nil }

var stylesheet = regexp.MustCompile(`/static/[^"]+\.css`)

// picture compares the cost of a picture from the cache with that of a static asset of
// the same size.
func (b *bench) picture() error {
	hash := strings.Repeat("a", 64)
	c := &catalog.Catalog{Pictures: map[string]catalog.Picture{"images/a.png": {Hash: hash, Ext: "png"}}}
	snap := snapshot.Build(c, 1, "2026-01-01")
	if err := snap.BuildIndex(b.ctx); err != nil {
		return err
	}
	cfg := site.Config{Demo: func(*snapshot.Snapshot) bool { return false }, Document: api.Document()}
	get := func(path string) *http.Request {
		return (&http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{}}).WithContext(b.ctx)
	}
	var home, css collector
	pages := site.New(cfg)
	pages.Show(snap)
	pages.ServeHTTP(&home, get("/"))
	asset := get(string(stylesheet.Find(home.body)))
	pages.ServeHTTP(&css, asset)
	if css.status != http.StatusOK || len(css.body) == 0 {
		return fmt.Errorf("%s: %d", asset.URL.Path, css.status)
	}
	cfg.Pictures = onePicture(css.body)
	pages = site.New(cfg)
	pages.Show(snap)
	var ofPicture, ofAsset []float64
	for range rounds {
		ofPicture = append(ofPicture, microseconds(pages, get("/media/"+hash+".png")))
		ofAsset = append(ofAsset, microseconds(pages, asset))
	}
	p, a := median(ofPicture), median(ofAsset)
	fmt.Printf("A picture of %.0f kB from the cache, against a static asset of that size (handler alone): %.1f µs against %.1f µs   ratio %.2f\n",
		float64(len(css.body))/1000, p, a, p/a)
	return nil
}
