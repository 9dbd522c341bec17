// Package site is what people see: pages in French, rendered on the server from
// the same Snapshot as the API.
//
// For now it is a door: a home page that says what is here, and the terms that
// every answer of the API links to.
package site

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"

	"palmares/internal/snapshot"
)

//go:embed pages.html
var pagesText string

var pages = template.Must(template.New("pages").Parse(pagesText))

// Config is what the pages need of the rest of the server.
type Config struct {
	// Snapshot gives the catalogue to show. Required.
	Snapshot func() *snapshot.Snapshot
	// Demo tells whether a snapshot is the demo catalogue. Required.
	Demo func(*snapshot.Snapshot) bool
}

// New makes the handler of every path that is not under /api.
func New(cfg Config) http.Handler {
	mux := http.NewServeMux()
	page := func(name string, status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			snap := cfg.Snapshot()
			render(w, name, status, view{
				Name: snap.Catalog.Name, URL: snap.Catalog.URL, Demo: cfg.Demo(snap),
				Tools: len(snap.Catalog.Tools), UpdatedAt: snap.UpdatedAt,
			})
		}
	}
	mux.HandleFunc("GET /{$}", page("home", http.StatusOK))
	mux.HandleFunc("GET /licence", page("licence", http.StatusOK))
	mux.HandleFunc("/", page("missing", http.StatusNotFound))
	return mux
}

// view is what the pages show.
type view struct {
	Name, URL string
	Demo      bool
	Tools     int
	UpdatedAt string
}

func render(w http.ResponseWriter, name string, status int, v view) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, v); err != nil {
		panic(err) // a template that does not fit its view: the server answers 500
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the reader is gone: nobody is left to tell
}
