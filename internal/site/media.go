package site

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"palmares/internal/web"
)

// Pictures returns the bytes of pictures by the hash of their content. It is the one
// thing that is read from the database while serving.
type Pictures interface {
	Read(ctx context.Context, hash string) ([]byte, error)
}

// pictureTypes are the content types of pictures, by extension.
var pictureTypes = map[string]string{"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp", "gif": "image/gif"}

// media serves the pictures of the catalogue. An address that the served version does
// not use is 404 before anything is read.
func (s *Site) media(w http.ResponseWriter, r *http.Request) {
	req := &request{Request: r, view: s.current.Load()}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.write(w, r, s.failure(req, methodNotAllowed()), nil)
		return
	}
	hash, ext, _ := strings.Cut(r.PathValue("file"), ".")
	if known, ok := req.snap.Picture(hash); !ok || known != ext {
		s.write(w, r, s.failure(req, notFound("Cette image n’existe pas, ou plus.")), nil)
		return
	}
	s.writePicture(w, req, picture{hash: hash, ext: ext, cache: cacheYear, from: s.cfg.Pictures, kept: &s.pictures})
}

// A picture is what writePicture sends.
type picture struct {
	hash, ext string
	cache     string // Cache-Control
	from      Pictures
	kept      *pictureCache
}

// writePicture sends a picture, from the cache or from its source.
func (s *Site) writePicture(w http.ResponseWriter, r *request, p picture) {
	h := w.Header()
	tag := `"` + p.hash + `"`
	h.Del("Vary") // pictures are never compressed again
	h.Set("ETag", tag)
	h.Set("Cache-Control", p.cache)
	if known := r.Header.Get("If-None-Match"); known == "*" || strings.Contains(known, tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	file, err := p.kept.get(r.Context(), p.hash, p.from)
	if err != nil {
		h.Del("ETag")
		unavailable := web.Unavailable(err, "Cette image ne peut pas être lue")
		h.Set("Retry-After", cmp.Or(unavailable.RetryAfter, web.RetrySoon))
		s.write(w, r.Request, s.failure(r, pictureUnavailable(unavailable.Text)), nil)
		return
	}
	h.Set("Content-Type", pictureTypes[p.ext])
	if r.Header.Get("Range") != "" {
		http.ServeContent(w, r.Request, "", time.Time{}, bytes.NewReader(file))
		return
	}
	h.Set("Accept-Ranges", "bytes")
	h.Set("Content-Length", strconv.Itoa(len(file)))
	_, _ = w.Write(file) // fails only when the client is gone
}

func pictureUnavailable(text string) *failure {
	return &failure{
		status: http.StatusServiceUnavailable, title: "Image indisponible", cache: noStore,
		text: text,
	}
}

const (
	// pictureCacheSize bounds the memory for pictures: some thousand logos and
	// pictures in the sizes that pages use.
	pictureCacheSize = 64 << 20
	// pictureReads is how many are read at once. Each takes up to 10 MiB.
	pictureReads = 8
	// pictureTimeout is how long a visitor waits for the database.
	pictureTimeout = 5 * time.Second
)

// A pictureCache holds the pictures that were served last. Pictures are named by their
// content, so nothing in it is ever out of date.
type pictureCache struct {
	most    int // bytes
	mu      sync.Mutex
	size    int
	entries map[string]*list.Element // of *cachedPicture, by hash
	recent  list.List                // the last used first
	reading map[string]*pictureRead  // by hash
	slots   chan struct{}            // one per read under way
}

// newPictureCache returns an empty cache of at most most bytes, which reads up to reads
// pictures at once.
func newPictureCache(most, reads int) pictureCache {
	return pictureCache{most: most, entries: map[string]*list.Element{}, reading: map[string]*pictureRead{}, slots: make(chan struct{}, reads)}
}

type cachedPicture struct {
	hash string
	file []byte
}

// A pictureRead is a read under way, which others wait for.
type pictureRead struct {
	done chan struct{} // closed when file and err are set
	file []byte
	err  error
}

var errNoPictures = errors.New("no source of pictures")

// get returns a picture from the cache, or reads it. Of several requests for a
// picture at once, one reads it.
func (c *pictureCache) get(ctx context.Context, hash string, from Pictures) ([]byte, error) {
	if from == nil {
		return nil, errNoPictures
	}
	c.mu.Lock()
	if e := c.entries[hash]; e != nil {
		c.recent.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*cachedPicture).file, nil
	}
	read := c.reading[hash]
	if read != nil {
		c.mu.Unlock()
		select {
		case <-read.done:
			return read.file, read.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	read = &pictureRead{done: make(chan struct{}), err: errInterrupted}
	c.reading[hash] = read
	c.mu.Unlock()

	defer c.finish(hash, read)
	// Others wait for this read, so it goes on if this visitor leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pictureTimeout)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		read.err = ctx.Err()
		return nil, read.err
	}
	read.file, read.err = from.Read(ctx, hash)
	return read.file, read.err
}

// errInterrupted is what waiting requests get if a read panics.
var errInterrupted = errors.New("the read was interrupted")

// finish keeps what was read and wakes those who wait for it.
func (c *pictureCache) finish(hash string, read *pictureRead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.reading, hash)
	close(read.done)
	if read.err != nil {
		return
	}
	c.entries[hash] = c.recent.PushFront(&cachedPicture{hash, read.file})
	for c.size += len(read.file); c.size > c.most && c.recent.Len() > 1; {
		oldest := c.recent.Remove(c.recent.Back()).(*cachedPicture)
		delete(c.entries, oldest.hash)
		c.size -= len(oldest.file)
	}
}
