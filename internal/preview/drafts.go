package preview

import (
	"context"
	"io/fs"
	"net/http"
	"slices"
	"sync"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

// maxEditions is how many editions are kept: each holds a whole catalogue.
const maxEditions = 4

// DraftsConfig is what Drafts need.
type DraftsConfig struct {
	Document []byte // the OpenAPI document that /docs explains
	BaseURL  string
	Now      func() time.Time
	// Known finds a published picture by the SHA-256 of its file, and Published reads it, so
	// that it is not decoded again. Both may be nil.
	Known     func(ctx context.Context) (func(source string) (catalog.Picture, bool), error)
	Published site.Pictures
}

// Drafts makes pages of a folder with changes that are not in it. The last few editions are
// kept in memory; one is made at a time.
type Drafts struct {
	cfg    DraftsConfig
	turn   chan struct{}  // held by whoever makes an edition
	memory content.Memory // of whoever has the turn

	mu       sync.Mutex
	editions []*Edition // the last used first
}

// NewDrafts returns Drafts without an edition.
func NewDrafts(cfg DraftsConfig) *Drafts { return &Drafts{cfg: cfg, turn: make(chan struct{}, 1)} }

// An Edition is a folder as it was with some changes. If it has problems, its pages are those of
// the edition of the same key before it, if there is one.
type Edition struct {
	Catalog  *catalog.Catalog // nil if there are problems
	Problems []content.Problem
	Warnings []content.Warning

	key       string
	revision  int64
	hasDrafts bool
	pages     *site.Site // nil if the folder never was without problems
	pictures  *pictures
}

// HasPages reports whether there is something to show.
func (e *Edition) HasPages() bool { return e.pages != nil }

// ServeHTTP serves the site with the changes.
func (e *Edition) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.pages.ServeHTTP(w, r) }

// Open returns the edition of a revision of what a key stands for. It is made of fsys unless it is
// there already. An error means that fsys could not be read at all.
func (d *Drafts) Open(ctx context.Context, key string, revision int64, fsys fs.FS) (*Edition, error) {
	return d.open(ctx, &Edition{key: key, revision: revision, hasDrafts: true}, fsys)
}

// OpenPublic is Open without the drafts and what is scheduled: for readers who are not at the desk.
func (d *Drafts) OpenPublic(ctx context.Context, key string, revision int64, fsys fs.FS) (*Edition, error) {
	return d.open(ctx, &Edition{key: "public " + key, revision: revision}, fsys)
}

// open returns the edition next, which is made unless it is there already.
func (d *Drafts) open(ctx context.Context, next *Edition, fsys fs.FS) (*Edition, error) {
	key, revision := next.key, next.revision
	if e := d.use(key); e != nil && e.revision >= revision {
		return e, nil
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	last := d.use(key)
	if last != nil && last.revision >= revision { // somebody else made it meanwhile
		return last, nil
	}
	if last != nil {
		next.pages, next.pictures = last.pages, last.pictures
	} else {
		next.pictures = &pictures{published: d.cfg.Published, elsewhere: func(string) (p catalog.Picture, ok bool) { return p, false }}
		if d.cfg.Known != nil {
			known, err := d.cfg.Known(ctx)
			if err != nil {
				return nil, err
			}
			next.pictures.elsewhere = known
		}
	}
	if err := d.read(ctx, next, fsys); err != nil {
		if last == nil {
			next.pictures.close()
		}
		return nil, err
	}
	d.keep(next)
	return next, nil
}

// use returns the edition of a key, or nil, and makes it the last used.
func (d *Drafts) use(key string) *Edition {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.editions, func(e *Edition) bool { return e.key == key })
	if i < 0 {
		return nil
	}
	e := d.editions[i]
	d.editions = slices.Insert(slices.Delete(d.editions, i, i+1), 0, e)
	return e
}

// keep adds an edition in the place of the one before it, and forgets the one that was not used for
// longest.
func (d *Drafts) keep(e *Edition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.editions = slices.DeleteFunc(d.editions, func(other *Edition) bool { return other.key == e.key })
	d.editions = slices.Insert(d.editions, 0, e)
	for len(d.editions) > maxEditions {
		d.editions[maxEditions].pictures.close()
		d.editions = d.editions[:maxEditions]
	}
}

// Close removes the temporary files of all editions.
func (d *Drafts) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.editions {
		e.pictures.close()
	}
	d.editions = nil
}

func (d *Drafts) read(ctx context.Context, e *Edition, fsys fs.FS) error {
	today := catalog.Day(d.cfg.Now())
	read, err := content.ReadFS(ctx, fsys, content.Options{
		Now: d.cfg.Now(), Today: today, Drafts: e.hasDrafts, Known: e.pictures.find, Memory: &d.memory,
	})
	if err != nil {
		return err
	}
	e.Problems, e.Warnings = read.Problems, read.Warnings
	if len(read.Problems) > 0 {
		return read.Close()
	}
	e.pictures.add(read)
	e.Warnings = append(e.Warnings, complete(read.Catalog, today)...)
	e.Catalog = read.Catalog
	made := snapshot.Build(read.Catalog, e.revision, today)
	if err := made.BuildIndex(ctx); err != nil {
		return err // the context has ended
	}
	if e.pages == nil {
		e.pages = site.New(site.Config{
			Demo:     func(*snapshot.Snapshot) bool { return false },
			Preview:  func(*snapshot.Snapshot) *site.Preview { return &site.Preview{} },
			BaseURL:  d.cfg.BaseURL,
			Pictures: e.pictures,
			Document: d.cfg.Document,
			Now:      d.cfg.Now,
		})
	}
	e.pages.Show(made)
	return nil
}

// pictures are those of an edition: what was published before, and what the folder has beside it.
type pictures struct {
	spools
	published site.Pictures
	elsewhere func(source string) (catalog.Picture, bool) // finds what was published
}

// find implements content.Options.Known.
func (p *pictures) find(source string) (catalog.Picture, bool) {
	if own, ok := p.known(source); ok {
		return own, true
	}
	return p.elsewhere(source)
}

// Read implements site.Pictures.
func (p *pictures) Read(ctx context.Context, hash string) ([]byte, error) {
	file, err := p.spools.Read(ctx, hash)
	if err != nil && p.published != nil {
		return p.published.Read(ctx, hash)
	}
	return file, err
}
