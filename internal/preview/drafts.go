package preview

import (
	"context"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

// maxViews is how many views are kept, beside that of the folder itself.
const maxViews = 8

// DraftsConfig is what Drafts need.
type DraftsConfig struct {
	Document []byte // the OpenAPI document that /docs explains
	BaseURL  string
	Now      func() time.Time
	// Known finds a published picture by the SHA-256 of its file, and Published reads it, so
	// that it is not decoded again. Both may be nil.
	Known     func(ctx context.Context) (func(source string) (catalog.Picture, bool), error)
	Published site.Pictures
	// Notice returns what pages show to their author; nil for nothing but that they are drafts.
	Notice func(*snapshot.Snapshot) *site.Preview
}

// Drafts makes pages of a folder with changes that are not in it. What was last read is kept in memory, so
// that the next change of one file costs little; one edition is made at a time.
type Drafts struct {
	cfg    DraftsConfig
	turn   chan struct{}  // held by whoever makes an edition
	memory content.Memory // of whoever has the turn

	mu    sync.Mutex
	views []*view // the last used first
}

// NewDrafts returns Drafts without an edition.
func NewDrafts(cfg DraftsConfig) *Drafts {
	if cfg.Notice == nil {
		cfg.Notice = func(*snapshot.Snapshot) *site.Preview { return &site.Preview{} }
	}
	return &Drafts{cfg: cfg, turn: make(chan struct{}, 1)}
}

// A Source is a folder with changes.
type Source struct {
	Key      string // what the changes are about; "" for the folder itself
	Revision int64  // of the changes
	Folder   int64  // the revision of the folder without them
	IsPublic bool   // without drafts and what is scheduled: for readers who are not at the desk
	// Path and Data are the file that changes from one revision to the next; "" if that is not known.
	Path string
	Data []byte
	// Files returns the folder with the changes, and reports whether they are those of Path alone.
	Files func() (files fs.FS, isAlone bool, err error)
}

// An Edition is a folder as it was with some changes. If it has problems, its pages are those of
// the edition of the same key before it, if there is one.
type Edition struct {
	Catalog  *catalog.Catalog // nil if there are problems
	Problems []content.Problem
	Warnings []content.Warning

	revision, folder int64
	view             *view
}

// HasPages reports whether there is something to show.
func (e *Edition) HasPages() bool {
	e.view.mu.Lock()
	defer e.view.mu.Unlock()
	return e.view.good != nil
}

// Pages returns the site with the changes. It is made when it is asked for.
func (e *Edition) Pages(ctx context.Context) (http.Handler, error) {
	made, err := e.view.snapshot(ctx)
	if err == nil {
		e.view.site.Show(made)
	}
	return e.view.site, err
}

// Open returns the edition of a source, which is made unless it is there already. An error means that the
// folder could not be read at all.
func (d *Drafts) Open(ctx context.Context, s Source) (*Edition, error) {
	v := d.use(&s)
	if e := v.newest(&s); e != nil {
		return e, nil
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e := v.newest(&s); e != nil { // somebody else made it meanwhile
		return e, nil
	}
	e := &Edition{revision: s.Revision, folder: s.Folder, view: v}
	isMade, err := d.change(e, &s)
	if !isMade && err == nil {
		err = d.read(ctx, e, &s)
	}
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = e
	if e.Catalog != nil {
		v.good, v.day = e.Catalog, catalog.Day(d.cfg.Now())
	}
	return e, nil
}

// Forget has the next edition of a key read everything.
func (d *Drafts) Forget(key string) {
	v := d.use(&Source{Key: key})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = nil
}

// use returns the view of a source, and forgets the one that was not used for longest.
func (d *Drafts) use(s *Source) *view {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.views, func(v *view) bool { return v.key == s.Key && v.isPublic == s.IsPublic })
	if i < 0 {
		v := &view{key: s.Key, isPublic: s.IsPublic, pictures: pictures{published: d.cfg.Published}}
		v.site = site.New(site.Config{
			Demo:     func(*snapshot.Snapshot) bool { return false },
			Preview:  d.cfg.Notice,
			BaseURL:  d.cfg.BaseURL,
			Pictures: &v.pictures,
			Document: d.cfg.Document,
			Now:      d.cfg.Now,
		})
		d.views, i = append(d.views, v), len(d.views)
	}
	v := d.views[i]
	d.views = slices.Insert(slices.Delete(d.views, i, i+1), 0, v)
	if len(d.views) > maxViews+1 {
		last := len(d.views) - 1
		if d.views[last].key == "" {
			last--
		}
		d.views[last].pictures.close()
		d.views = slices.Delete(d.views, last, last+1)
	}
	return v
}

// Close removes the temporary files of all editions.
func (d *Drafts) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range d.views {
		v.pictures.close()
	}
	d.views = nil
}

// change makes an edition of the one before it, or of the folder, of which one file differs. It reports
// whether that was possible.
func (d *Drafts) change(e *Edition, s *Source) (bool, error) {
	v, from := e.view, e.view
	if s.Path == "" || s.Key == "" || s.IsPublic {
		return false, nil
	}
	if v.last == nil || v.last.folder != s.Folder {
		from = d.use(&Source{})
		if from.last == nil || from.last.folder != s.Folder {
			return false, nil
		}
		_, isAlone, err := s.Files()
		if !isAlone || err != nil {
			return false, err
		}
	}
	if from.read == nil {
		return false, nil
	}
	read, own, ok := from.read.With(s.Path, string(s.Data))
	if !ok {
		return false, nil
	}
	e.Catalog, e.Problems, e.Warnings = read.Catalog, read.Problems, read.Warnings
	if e.Catalog == nil {
		read = from.read // what follows is compared with what had no problems
	} else {
		e.Warnings = append(e.Warnings, completeOne(e.Catalog, own, catalog.Day(d.cfg.Now()))...)
	}
	v.read = read
	if from != v {
		v.setBase(from)
	}
	return true, nil
}

// read makes an edition of all files.
func (d *Drafts) read(ctx context.Context, e *Edition, s *Source) error {
	v, today := e.view, catalog.Day(d.cfg.Now())
	files, _, err := s.Files()
	if err != nil {
		return err
	}
	if v.pictures.elsewhere == nil && d.cfg.Known != nil {
		v.pictures.elsewhere, err = d.cfg.Known(ctx)
		if err != nil {
			return err
		}
	}
	read, err := content.ReadFS(ctx, files, content.Options{
		Now: d.cfg.Now(), Today: today, Drafts: !s.IsPublic, Known: v.pictures.find, Memory: &d.memory,
	})
	if err != nil {
		return err
	}
	e.Catalog, e.Problems, e.Warnings, v.read = read.Catalog, read.Problems, read.Warnings, read
	if len(read.Problems) > 0 {
		return read.Close()
	}
	v.pictures.add(read)
	e.Warnings = append(e.Warnings, complete(e.Catalog, e.Catalog, today)...)
	return nil
}

// A view is the pages of a key: of its last edition without problems.
type view struct {
	key      string
	isPublic bool
	pictures pictures
	site     *site.Site
	read     *content.Result // of the last edition without problems, or of the last one; used by whoever has the turn

	mu    sync.Mutex
	last  *Edition           // nil before the first
	good  *catalog.Catalog   // of the last edition without problems; nil if there was none
	day   string             // on which it was made
	base  *view              // that of the folder, from which the first snapshot is made; nil for none
	shown *snapshot.Snapshot // the last that was made
}

// newest returns the last edition, if it is that of a source or a newer one.
func (v *view) newest(s *Source) *Edition {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last == nil || v.last.revision < s.Revision || v.last.folder != s.Folder {
		return nil
	}
	return v.last
}

func (v *view) setBase(base *view) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.base = base
	v.pictures.base.Store(&base.pictures)
}

// snapshot returns the snapshot of the last edition without problems. It is made from the one before it, or
// from that of the folder, as far as the tools are the same.
func (v *view) snapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shown != nil && v.shown.Catalog == v.good {
		return v.shown, nil
	}
	if v.shown == nil && v.base != nil {
		base, err := v.base.snapshot(ctx)
		if err != nil {
			return nil, err
		}
		v.shown = base
	}
	var step *catalog.Step
	if v.shown != nil {
		step = stepBetween(v.shown.Catalog.Tools, v.good.Tools)
	}
	made := snapshot.Next(v.shown, v.good, step, v.last.revision, v.day)
	if err := made.BuildIndex(ctx); err != nil {
		return nil, err // the context has ended
	}
	v.shown = made
	return made, nil
}

// stepBetween returns how a list of tools became another one, of which most are the very same; nil if they
// are not.
func stepBetween(old, next []*catalog.Tool) *catalog.Step {
	at := make(map[*catalog.Tool]int32, len(next))
	for i, t := range next {
		at[t] = int32(i)
	}
	step := &catalog.Step{Moved: make([]int32, len(old))}
	for i, t := range old {
		to, isSame := at[t]
		if !isSame {
			to = -1
		}
		step.Moved[i] = to
		delete(at, t)
	}
	step.Fresh = slices.Sorted(maps.Values(at))
	switch {
	case len(step.Fresh) > len(next)/2:
		return nil
	case len(step.Fresh) == 0 && len(old) == len(next):
		return &catalog.Step{}
	}
	return step
}

// pictures are those of a view: what was published before, and what the folder has beside it.
type pictures struct {
	spools
	published site.Pictures
	elsewhere func(source string) (catalog.Picture, bool) // finds what was published; may be nil
	base      atomic.Pointer[pictures]                    // of the folder; nil for none
}

// find implements content.Options.Known.
func (p *pictures) find(source string) (catalog.Picture, bool) {
	own, ok := p.known(source)
	if !ok && p.elsewhere != nil {
		return p.elsewhere(source)
	}
	return own, ok
}

// Read implements site.Pictures.
func (p *pictures) Read(ctx context.Context, hash string) ([]byte, error) {
	file, err := p.spools.Read(ctx, hash)
	if base := p.base.Load(); err != nil && base != nil {
		return base.Read(ctx, hash)
	}
	if err != nil && p.published != nil {
		return p.published.Read(ctx, hash)
	}
	return file, err
}
