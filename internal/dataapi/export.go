package dataapi

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"palmares/internal/dataset"
	"palmares/internal/problem"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// getManifest returns the manifest of the export of the served version.
func (h *Handler) getManifest(r *request) (web.Response, error) {
	x, err := h.export(r, "")
	if err != nil {
		return web.Response{}, err
	}
	return web.Response{Body: wire.NewBody(wire.Sum(x.JSON), x.JSON), Link: licenseLink, NoCache: true}, nil
}

// latest stands for the served version in the address of a file.
const latest = "latest"

// getFile returns a file of an export, or a redirect to its address.
func (h *Handler) getFile(r *request) (web.Response, error) {
	name, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, dataset.Path+"/"), "/")
	_, ok := dataset.Version(name)
	switch {
	case !slices.Contains(dataset.Files, file):
		return web.Response{}, fileNotFound()
	case name == latest && h.exports != nil:
		location := dataset.Path + "/" + h.exports.Name(r.Snapshot) + "/" + file
		return web.Response{Status: http.StatusTemporaryRedirect, Location: location, NoCache: true}, nil
	case !ok:
		return web.Response{}, fileNotFound()
	}
	if dataset.NeedsKey(file) && r.Caller.Key == nil {
		return web.Response{}, web.MissingKey()
	}
	x, err := h.export(r, name)
	if err != nil {
		return web.Response{}, err
	}
	about := x.File(file)
	if about == nil {
		return web.Response{}, fileNotFound()
	}
	d := &download{h: h, export: x, file: about}
	if match := r.Header["If-None-Match"]; match != nil && web.MatchesTag(match, d.tag()) {
		return web.Response{Status: http.StatusNotModified, Handler: d}, nil
	}
	if d.lacks(r.Request) {
		return web.Response{Status: http.StatusRequestedRangeNotSatisfiable, Handler: d}, nil
	}
	return web.Response{Handler: d}, nil
}

// export returns the export of the served version or, if name is not empty, the one with
// that name. It waits for an export that is being written.
func (h *Handler) export(r *request, name string) (*dataset.Export, error) {
	if r.Snapshot.Feed.Last == 0 {
		return nil, web.NewError(web.CodeNotFound, problem.New("export-none"))
	}
	if h.exports == nil {
		return nil, exportFailed(r.Snapshot.Version)
	}
	var x *dataset.Export
	var err error
	if name == "" {
		x, err = h.exports.Get(r.Context(), r.Snapshot)
	} else {
		x, err = h.exports.Find(r.Context(), r.Snapshot, name)
	}
	switch {
	case err == nil:
		return x, nil
	case errors.Is(err, dataset.ErrPreparing):
		return nil, unavailable(problem.New("export-preparing", r.Snapshot.Version), "10")
	case errors.Is(err, dataset.ErrGone):
		return nil, web.NewError(web.CodeVersionGone, problem.New("export-gone"))
	case errors.Is(err, dataset.ErrNoFile):
		return nil, fileNotFound()
	}
	return nil, exportFailed(r.Snapshot.Version)
}

func fileNotFound() *web.Error {
	return web.NewError(web.CodeNotFound, problem.New("export-file-not-found"))
}

func exportFailed(version int64) *web.Error {
	return unavailable(problem.New("export-failed", version), "60")
}

func unavailable(text problem.Text, retryAfter string) *web.Error {
	return &web.Error{Code: web.CodeUnavailable, Text: text, RetryAfter: retryAfter}
}

// A download sends a file, or a part of it.
type download struct {
	h      *Handler
	export *dataset.Export
	file   *dataset.File
}

func (d *download) tag() string { return `"` + d.file.SHA256 + `"` }

// Header values of files.
var (
	cacheYear        = []string{"public, max-age=31536000, immutable"}
	cachePrivateYear = []string{"private, max-age=31536000, immutable"} // of what needs a key
)

// ServeHTTP sends what is asked for. Conditions are checked already, except If-Range.
func (d *download) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Cache-Control"] = cacheYear
	if dataset.NeedsKey(d.file.Name()) {
		h["Cache-Control"] = cachePrivateYear
	}
	h["Link"] = licenseLink
	if match := r.Header["If-None-Match"]; match != nil && web.MatchesTag(match, d.tag()) {
		h["ETag"] = []string{d.tag()}
		w.WriteHeader(http.StatusNotModified)
		return
	}
	content, err := d.export.Open(d.file)
	if err != nil { // removed a moment ago
		h.Del("Link")
		d.h.WriteError(w, r, unavailable(problem.New("export-preparing-again"), "10"))
		return
	}
	defer content.Close()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", d.file.Type)
	h.Set("ETag", d.tag())
	http.ServeContent(&fileWriter{ResponseWriter: d.h.ExtendTimeout(w), api: d.h, request: r}, rangeOf(r), "", time.Time{}, content)
}

// rangeOf returns a request with the headers that decide which part of a file is sent.
// Units other than bytes are ignored (RFC 9110, section 14.2).
func rangeOf(r *http.Request) *http.Request {
	asked := *r
	asked.Header = http.Header{}
	if unit, ranges, _ := strings.Cut(r.Header.Get("Range"), "="); strings.EqualFold(unit, "bytes") {
		asked.Header.Set("Range", "bytes="+ranges)
		if tags, ok := r.Header["If-Range"]; ok {
			asked.Header["If-Range"] = tags
		}
	}
	return &asked
}

// lacks reports whether a request asks for a part that the file does not have, as
// ServeHTTP will find, too: such a request is not counted.
func (d *download) lacks(r *http.Request) bool {
	asked := rangeOf(r)
	if asked.Header.Get("Range") == "" {
		return false
	}
	asked.Method = http.MethodHead
	p := probe{header: http.Header{"Content-Type": {d.file.Type}, "Etag": {d.tag()}}}
	http.ServeContent(&p, asked, "", time.Time{}, io.NewSectionReader(nil, 0, d.file.Bytes))
	return p.status == http.StatusRequestedRangeNotSatisfiable
}

// A probe is an http.ResponseWriter that only notes the status.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) WriteHeader(status int)      { p.status = status }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }

// A fileWriter responds in JSON to a range that the file does not have.
type fileWriter struct {
	http.ResponseWriter
	api     *Handler
	request *http.Request
	refused bool
}

// WriteHeader sends the header.
func (w *fileWriter) WriteHeader(status int) {
	h := w.Header()
	if status == http.StatusRequestedRangeNotSatisfiable {
		w.refused = true
		h.Del("Link")
		w.api.WriteError(w.ResponseWriter, w.request, web.NewError(web.CodeInvalidRange, problem.New("export-range")))
		return
	}
	if tag, ok := h["Etag"]; ok { // as in the documents
		h["ETag"] = tag
		delete(h, "Etag")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the file.
func (w *fileWriter) Write(b []byte) (int, error) {
	if w.refused {
		return len(b), nil // the text of net/http
	}
	return w.ResponseWriter.Write(b)
}
