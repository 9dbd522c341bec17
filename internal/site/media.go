package site

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"palmares/internal/cache"
	"palmares/internal/problem"
	"palmares/internal/web"
)

// Pictures returns the bytes of pictures by the hash of their content. It is the one
// thing that is read from the database while serving.
type Pictures interface {
	Read(ctx context.Context, hash string) ([]byte, error)
}

// pictureTypes are the content types of pictures, by extension.
var pictureTypes = map[string]string{
	"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp", "gif": "image/gif",
	"ico": "image/vnd.microsoft.icon",
}

// handlePicture registers what is sent as a picture, rather than as a page.
func (s *Site) handlePicture(pattern string, serve func(http.ResponseWriter, *request)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		req := &request{Request: r, view: s.current.Load()}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.write(w, req, s.failure(req, methodNotAllowed()), nil)
			return
		}
		serve(w, req)
	})
}

// media serves the pictures of the catalogue. An address that the served version does
// not use is 404 before anything is read.
func (s *Site) media(w http.ResponseWriter, r *request) {
	hash, ext, _ := strings.Cut(r.PathValue("file"), ".")
	if known, ok := r.snap.Pictures[hash]; !ok || known != ext {
		s.write(w, r, s.failure(r, notFound("Cette image n’existe pas, ou plus.")), nil)
		return
	}
	s.writePicture(w, r, picture{hash: hash, ext: ext, control: cacheYear, read: s.readPicture, cache: s.pictures})
}

// A picture is what writePicture sends.
type picture struct {
	hash, ext string
	control   string // Cache-Control
	read      func(ctx context.Context, hash string) ([]byte, error)
	cache     *pictureCache
}

// writePicture sends a picture, from the cache or from its source.
func (s *Site) writePicture(w http.ResponseWriter, r *request, p picture) {
	h := w.Header()
	tag := `"` + p.hash + `"`
	h.Del("Vary") // pictures are never compressed again
	h.Set("ETag", tag)
	h.Set("Cache-Control", p.control)
	if known := r.Header.Get("If-None-Match"); known == "*" || strings.Contains(known, tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	file, err := p.cache.Load(p.hash, func() ([]byte, error) {
		// Others wait for this read, so it goes on if this visitor leaves.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), pictureTimeout)
		defer cancel()
		return p.read(ctx, p.hash)
	})
	if err != nil {
		h.Del("ETag")
		failed := web.Unavailable(err, problem.New("picture-not-read"))
		h.Set("Retry-After", cmp.Or(failed.RetryAfter, web.RetrySoon))
		s.write(w, r, s.failure(r, unavailable("Image indisponible", failed.Text.French)), nil)
		return
	}
	h.Set("Content-Type", pictureTypes[p.ext])
	http.ServeContent(w, r.Request, "", time.Time{}, bytes.NewReader(file))
}

const (
	// pictureCacheSize is enough for some thousand logos and pictures in the sizes that pages use.
	pictureCacheSize = 64 << 20
	// pictureReads is how many are read at once. Each takes up to 10 MiB.
	pictureReads = 8
	// pictureTimeout is how long a visitor waits for the database.
	pictureTimeout = 5 * time.Second
)

// A pictureCache holds pictures by hash. They are named by their content, so nothing in it is
// ever out of date.
type pictureCache = cache.Cache[string, []byte]

// newPictureCache returns an empty cache of at most most bytes.
func newPictureCache(most int) *pictureCache {
	return cache.New(most, func(hash string, file []byte) int { return len(hash) + cap(file) })
}

var errNoPictures = errors.New("no source of pictures")

// readPicture reads a picture of the catalogue.
func (s *Site) readPicture(ctx context.Context, hash string) ([]byte, error) {
	if s.cfg.Pictures == nil {
		return nil, errNoPictures
	}
	if err := s.reads.Enter(ctx, 1); err != nil {
		return nil, err
	}
	defer s.reads.Leave(1)
	return s.cfg.Pictures.Read(ctx, hash)
}
