// Package edition reads a content folder, with or without changes that are not in it, and shows its pages: drafts
// included, from memory, without a database.
//
// What was last read is kept once: the decoded files, the edition of the folder as it is, from which those with the
// change of one file are made, and the last editions with changes. One edition is made at a time. The folder is
// looked at again every 15 seconds, and at once by whoever wrote to it and says so (Forget).
package edition

import (
	"context"
	"io/fs"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

const (
	// maxViews is how many views are kept, beside that of the folder itself.
	maxViews = 8
	// folderAge is how long the folder is taken to be as it was.
	folderAge = 15 * time.Second
)

// Config is what Editions need.
type Config struct {
	// Folder returns the folder as it is now. It may be nil if only Read is called.
	Folder   func() fs.FS
	Document []byte // the OpenAPI document that /docs explains
	BaseURL  string
	Now      func() time.Time
	// Known finds a published picture by the SHA-256 of its file, and Published reads it, so
	// that it is not decoded again. Both may be nil.
	Known     func(ctx context.Context) (func(source string) (catalog.Picture, bool), error)
	Published site.Pictures
	// Catalog returns the published catalogue, which is in memory; nil for none.
	Catalog func() *catalog.Catalog
	// Notice returns what pages show to their author; nil for nothing but that they are drafts.
	Notice func(*snapshot.Snapshot) *site.Preview
}

// Editions makes pages of a folder, with changes or without.
type Editions struct {
	cfg  Config
	turn chan struct{} // held by whoever uses what follows

	memory content.Memory
	views  []*view // that of the folder, then the others, the last used first

	// Of the folder: how often it was read, when it is looked at again, the day of its edition and what it had then.
	revision int64
	until    time.Time
	day      string
	parts    []content.Part
}

// New returns Editions, of which none is made yet.
func New(cfg Config) *Editions {
	if cfg.Notice == nil {
		cfg.Notice = func(*snapshot.Snapshot) *site.Preview { return &site.Preview{} }
	}
	d := &Editions{cfg: cfg, turn: make(chan struct{}, 1)}
	d.views = []*view{d.newView("", false)}
	return d
}

// A Change is what differs from the folder.
type Change struct {
	Key      string // what it is about
	Revision int64  // which rises with every change of the same key
	IsPublic bool   // without drafts and what is scheduled: for readers who are not at the desk
	// Path and Data are the file that changes from one revision to the next; "" if that is not known.
	Path string
	Data []byte
	// Files returns the folder with the changes, given its edition, and reports whether they are those of Path alone.
	Files func(folder *Edition) (files fs.FS, isAlone bool, err error)
}

// An Edition is a folder as it was with some changes. If it has problems, its pages are those of
// the edition of the same key before it, if there is one.
type Edition struct {
	Catalog  *catalog.Catalog // nil if there are problems
	Problems []content.Problem
	Warnings []content.Warning
	Proofs   []catalog.Proof // all that the folder has

	revision int64            // of the change, or of the folder
	folder   int64            // the revision of the folder that it differs from
	shown    *catalog.Catalog // what its pages show; nil for nothing
	day      string           // on which that was made
	of       *Editions
	view     *view
}

// HasPages reports whether there is something to show.
func (e *Edition) HasPages() bool { return e.shown != nil }

// Pages returns the site with the changes. It is made when it is asked for.
func (e *Edition) Pages(ctx context.Context) (http.Handler, error) {
	made, err := e.Snapshot(ctx)
	if err == nil {
		e.view.site.Show(made)
	}
	return e.view.site, err
}

// Snapshot returns what the pages are to show.
func (e *Edition) Snapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	if err := e.of.enter(ctx); err != nil {
		return nil, err
	}
	defer e.of.leave()
	v := e.view
	if v.last != nil { // a newer one is shown
		e = v.last
	}
	err := v.build(ctx, e)
	return v.snapshot, err
}

func (d *Editions) enter(ctx context.Context) error {
	select {
	case d.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *Editions) leave() { <-d.turn }

// Now returns the edition of the folder as it is. An error means that it could not be read at all.
func (d *Editions) Now(ctx context.Context) (*Edition, error) {
	if err := d.enter(ctx); err != nil {
		return nil, err
	}
	defer d.leave()
	return d.now(ctx)
}

func (d *Editions) now(ctx context.Context) (*Edition, error) {
	if v := d.views[0]; v.last != nil && d.cfg.Now().Before(d.until) {
		return v.last, nil
	}
	return d.look(ctx, d.cfg.Folder())
}

// look returns the edition of the folder, the last one if nothing in it changed.
func (d *Editions) look(ctx context.Context, files fs.FS) (*Edition, error) {
	v, now := d.views[0], d.cfg.Now()
	parts, err := content.Parts(files)
	isSame := v.last != nil && err == nil && d.day == catalog.Day(now) && slices.Equal(parts, d.parts)
	if isSame {
		d.until = now.Add(folderAge)
		return v.last, nil
	}
	e, err := d.read(ctx, v, files, false)
	if err == nil {
		d.until, d.day, d.parts = now.Add(folderAge), e.day, parts
	}
	return e, err
}

// Read is Now for a folder that its caller opened, and that is looked at in any case.
func (d *Editions) Read(ctx context.Context, files fs.FS) (*Edition, error) {
	if err := d.enter(ctx); err != nil {
		return nil, err
	}
	defer d.leave()
	return d.look(ctx, files)
}

// With returns the edition of the folder as it is with a change.
func (d *Editions) With(ctx context.Context, c Change) (*Edition, error) {
	if err := d.enter(ctx); err != nil {
		return nil, err
	}
	defer d.leave()
	folder, err := d.now(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(d.views, func(v *view) bool { return v.key == c.Key && v.isPublic == c.IsPublic })
	if i < 0 {
		d.views, i = append(d.views, d.newView(c.Key, c.IsPublic)), len(d.views)
	}
	v := d.views[i]
	d.views = slices.Insert(slices.Delete(d.views, i, i+1), 1, v)
	if last := len(d.views) - 1; last > maxViews {
		d.views[last].pictures.close()
		d.views = slices.Delete(d.views, last, last+1)
	}
	if v.last != nil && v.last.revision >= c.Revision && v.last.folder == folder.revision {
		return v.last, nil
	}
	e, err := d.change(v, folder, &c)
	if e == nil && err == nil {
		var files fs.FS
		files, _, err = c.Files(folder)
		if err == nil {
			e, err = d.read(ctx, v, files, c.IsPublic)
		}
	}
	if err != nil {
		return nil, err
	}
	e.revision, e.folder = c.Revision, folder.revision
	return e, nil
}

// Forget has the next edition of a key, "" for the folder, read what it is made of.
func (d *Editions) Forget(key string) {
	d.turn <- struct{}{}
	defer d.leave()
	if key == "" {
		d.until = time.Time{}
	}
	for _, v := range d.views[1:] {
		if v.key == key {
			v.last, v.read = nil, nil
		}
	}
}

// Site returns what shows the pages of the folder.
func (d *Editions) Site() *site.Site { return d.views[0].site }

// Close removes the temporary files of all editions.
func (d *Editions) Close() {
	for _, v := range d.views {
		v.pictures.close()
	}
}

// change makes the edition of a view from its last one, or from the folder, of which one file differs; nil if that
// is not possible.
func (d *Editions) change(v *view, folder *Edition, c *Change) (*Edition, error) {
	from := v.read
	if c.Path == "" || c.IsPublic {
		return nil, nil
	}
	if v.last == nil || v.last.folder != folder.revision {
		from = folder.view.read
		_, isAlone, err := c.Files(folder)
		if !isAlone || err != nil {
			return nil, err
		}
	}
	if from == nil {
		return nil, nil
	}
	read, own, ok := from.With(c.Path, string(c.Data))
	if !ok {
		return nil, nil
	}
	if v.snapshot == nil {
		v.base = folder.view
		v.pictures.base.Store(&folder.view.pictures)
	}
	today := catalog.Day(d.cfg.Now())
	e := d.made(v, read, today)
	if read.Catalog == nil {
		v.read = from // what follows is compared with what had no problems
	} else {
		e.Warnings = append(e.Warnings, completeOne(e.Catalog, own, today)...)
	}
	return e, nil
}

// read makes the edition of a view from all files.
func (d *Editions) read(ctx context.Context, v *view, files fs.FS, isPublic bool) (_ *Edition, err error) {
	now := d.cfg.Now()
	if v.pictures.elsewhere == nil && d.cfg.Known != nil {
		v.pictures.elsewhere, err = d.cfg.Known(ctx)
		if err != nil {
			return nil, err
		}
	}
	if d.cfg.Catalog != nil {
		d.memory.Published = d.cfg.Catalog()
	}
	read, err := content.ReadFS(ctx, files, content.Options{
		Now: now, Today: catalog.Day(now), Drafts: !isPublic, Known: v.pictures.find, Memory: &d.memory,
	})
	if err != nil {
		return nil, err
	}
	d.memory.Published = nil // it is not kept longer than it is served
	debug.FreeOSMemory()     // the garbage of reading
	e := d.made(v, read, catalog.Day(now))
	d.revision++
	e.revision = d.revision
	if e.Catalog == nil {
		return e, read.Close()
	}
	v.pictures.add(read)
	e.Warnings = append(e.Warnings, complete(e.Catalog, e.Catalog, e.day)...)
	return e, nil
}

// made makes the edition of what was read the last one of its view.
func (d *Editions) made(v *view, read *content.Result, today string) *Edition {
	e := &Edition{
		Catalog: read.Catalog, Problems: read.Problems, Warnings: read.Warnings, Proofs: read.Proofs, shown: read.Catalog, day: today, of: d, view: v,
	}
	if e.shown == nil && v.shown != nil {
		e.shown, e.day = v.shown.shown, v.shown.day
	}
	if e.shown != nil {
		v.shown = e
	}
	v.last, v.read = e, read
	return e
}

// A view is the pages of a key: of its last edition without problems. Whoever has the turn uses it.
type view struct {
	key      string
	isPublic bool
	pictures pictures
	site     *site.Site
	read     *content.Result    // of the last edition without problems, or of the last one
	last     *Edition           // nil before the first
	shown    *Edition           // the last that has something to show; nil for none
	base     *view              // that of the folder, from which the first snapshot is made; nil for none
	snapshot *snapshot.Snapshot // the last that was made
}

func (d *Editions) newView(key string, isPublic bool) *view {
	v := &view{key: key, isPublic: isPublic, pictures: pictures{published: d.cfg.Published}}
	v.site = site.New(site.Config{
		Demo:     func(*snapshot.Snapshot) bool { return false },
		Preview:  d.cfg.Notice,
		BaseURL:  d.cfg.BaseURL,
		Pictures: &v.pictures,
		Document: d.cfg.Document,
		Now:      d.cfg.Now,
	})
	return v
}

// build makes the snapshot of an edition from the one before it, or from that of the folder, as far as the tools are
// the same.
func (v *view) build(ctx context.Context, e *Edition) error {
	if v.snapshot != nil && v.snapshot.Catalog == e.shown {
		return nil
	}
	if v.snapshot == nil && v.base != nil && v.base.shown != nil {
		if err := v.base.build(ctx, v.base.shown); err != nil {
			return err
		}
		v.snapshot = v.base.snapshot
	}
	var step *catalog.Step
	if v.snapshot != nil {
		step = stepBetween(v.snapshot.Catalog.Tools, e.shown.Tools)
	}
	made := snapshot.Next(v.snapshot, e.shown, step, e.revision, e.day, true)
	if err := made.BuildIndex(ctx); err != nil {
		return err // the context has ended
	}
	v.snapshot = made
	return nil
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
