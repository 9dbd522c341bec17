package desk

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// showPreview shows the site with a working copy in it, below an address of the desk.
func (d *copies) showPreview(r *request, c *draft) (*response, error) {
	e, err := d.edition(r.Context(), c, false)
	if err != nil {
		return nil, err
	}
	if !e.HasPages() {
		return nil, &failure{Status: http.StatusConflict, Title: "Pas encore d’aperçu", Text: "L’aperçu viendra quand il n’y aura plus rien à corriger dans la fiche."}
	}
	pages, err := e.Pages(r.Context())
	return &response{Write: under(c.Href()+"/apercu", pages)}, err
}

// under serves the pages of a site below a prefix. Their links stay there; only what is the same on
// every site of ours, under /static, is taken from the root.
func under(prefix string, pages http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		inner := r.Clone(r.Context())
		inner.URL = &url.URL{Path: "/" + strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, prefix), "/"), RawQuery: r.URL.RawQuery}
		for _, name := range []string{"Accept-Encoding", "If-None-Match", "Range"} {
			inner.Header.Del(name)
		}
		page := &recorder{header: http.Header{}, status: http.StatusOK}
		pages.ServeHTTP(page, inner)
		body := page.body.Bytes()
		h := w.Header()
		for name, values := range page.header {
			h[name] = values
		}
		if strings.HasPrefix(h.Get("Content-Type"), "text/html") {
			// Addresses of our own, except those under /static.
			for _, attribute := range []string{"href", "src", "action", "srcset"} {
				start := []byte(" " + attribute + `="/`)
				body = bytes.ReplaceAll(body, start, []byte(" "+attribute+`="`+prefix+"/"))
				body = bytes.ReplaceAll(body, []byte(" "+attribute+`="`+prefix+"/static/"), append(start, "static/"...))
			}
			body = relinkMedia(body, prefix) // further ones of a srcset
		}
		if to := h.Get("Location"); strings.HasPrefix(to, "/") {
			h.Set("Location", prefix+to)
		}
		h.Set("Content-Security-Policy",
			strings.Replace(h.Get("Content-Security-Policy"), "frame-ancestors 'none'", "frame-ancestors 'self'", 1))
		h.Set("Cache-Control", "no-store")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		h.Del("ETag")
		h.Del("Link") // of the public page
		h.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(page.status)
		_, _ = w.Write(body) // fails only when the client is gone
	}
}

// A recorder keeps a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(b []byte) (int, error) { return w.body.Write(b) }
