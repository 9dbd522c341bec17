package worktree

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/problem"
	"palmares/internal/publication"
)

// A Publication is what somebody publishes.
type Publication struct {
	Changes                       []Change
	AuthorName                    string
	AuthorEmail                   string
	PublisherName, PublisherEmail string // who publishes it; "" for its author
	Message                       string // of the commit; "" for the one of a merge
	Note                          string // of whoever publishes it, kept with the version; "" for none
	AllowRemovals                 bool   // tools may disappear
	Undoes                        int64  // a version that is taken back on the site first, with all that it did to histories; 0 for none
	Over                          int64  // the published version that she has seen and replaces; 0 for the one that the folder contains
}

func (p *Publication) publisher() string { return cmp.Or(p.PublisherName, p.AuthorName) }

// attempts is how often a publication begins again because a colleague was faster.
const attempts = 5

// Publish pulls, writes the files, commits and pushes them, and publishes the folder. With an error
// nothing was changed, unless its text says otherwise: a ConflictError, a RefusedError, a StaleError,
// or an Error; catalogdb.RemovalsError is in one if tools would disappear. A publication.RefusedError
// says that the site cannot take a version back.
func (f *Folder) Publish(ctx context.Context, p Publication) error {
	seen := map[string]bool{}
	for _, c := range p.Changes {
		if err := checkPath(c.Path); err != nil {
			return err
		}
		if seen[c.Path] {
			return &Error{text: "Deux textes sont proposés pour " + c.Path + "\u00a0: publiez-les l’un après l’autre."}
		}
		seen[c.Path] = true
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for range attempts {
		j := &journal{Publication: p}
		var unsent error
		unsent, err = f.prepare(ctx, j)
		if unsent != nil {
			f.cfg.Log.Warn("what is published is not sent to the upstream of the desk's folder now", "reason", unsent, "error", errors.Unwrap(unsent))
		}
		if err == nil {
			_, err = f.store(ctx, j, true)
		}
		if err == nil {
			err = f.save(j)
		}
		if err == nil {
			err = f.finish(context.WithoutCancel(ctx), j) // from here on it goes forward
		}
		if !errors.Is(err, errMoved) {
			return explain(err)
		}
	}
	return &Error{"Des collègues publient en ce moment\u00a0: réessayez dans une minute. Rien n’a été publié.", err}
}

// prepare makes the commit of a journal on what colleagues pushed, and finds out whether it could be written, or outside
// git whether its changes could. unsent says why the commit cannot be sent now.
func (f *Folder) prepare(ctx context.Context, j *journal) (unsent, err error) {
	if f.repo == nil {
		head, err := f.cfg.Store.Catalogue.Head(ctx)
		if err != nil {
			return nil, err
		}
		j.Over = cmp.Or(j.Over, head.Version)
		return nil, checkBases(j.Changes, f.Read)
	}
	at, err := f.repo.position(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.repo.fetch(ctx, &at); err != nil {
		unsent = &Error{away, err}
	}
	commit, apart, err := f.commit(ctx, &at, &j.Publication)
	if err != nil {
		return nil, err
	}
	if apart != nil {
		unsent = apart
	}
	j.Commit, j.Changes, j.Stays = commit, nil, unsent != nil
	return unsent, f.repo.mayWrite(ctx, f.temp, at.head, commit)
}

// store validates what the journal has and publishes it, or with isTrial only finds out whether
// that is possible. errMoved: somebody edited the folder meanwhile.
func (f *Folder) store(ctx context.Context, j *journal, isTrial bool) (version int64, err error) {
	known, err := f.cfg.Store.Pictures.Known(ctx)
	if err != nil {
		return 0, err
	}
	to, over := f.cfg.Store.Catalogue, j.Over
	if j.Undoes > 0 { // what was taken back before stays so
		undo := publication.Undo{Version: j.Undoes, Token: j.publisher(), DryRun: isTrial, Now: f.cfg.Now, Sink: unheard{}}
		undone, err := undo.Run(ctx, to)
		if err != nil {
			return 0, err
		}
		if undone == j.Over+1 && !isTrial { // what the folder has beyond it, such as what is scheduled, follows
			over = undone
		}
	}
	files, before, err := f.filesOf(ctx, j)
	if err != nil {
		return 0, err
	}
	now := f.cfg.Now()
	read, err := content.ReadFS(ctx, files, content.Options{Now: now, Today: catalog.Day(now), Known: known})
	if err == nil {
		defer func() { err = errors.Join(err, read.Close()) }()
		if len(read.Problems) > 0 {
			return 0, &RefusedError{read.Problems}
		}
	}
	_, after, moved := f.filesOf(ctx, j)
	if moved == nil && !slices.Equal(before, after) {
		moved = errMoved
	}
	if err := errors.Join(moved, err); err != nil {
		return 0, err
	}
	if !isTrial { // what was due before
		if _, err := to.Advance(ctx, f.cfg.Now); err != nil {
			return 0, err
		}
	}
	done, err := to.Publish(ctx, read.Catalog, catalogdb.PublishOptions{
		Now: f.cfg.Now, AllowRemovals: j.AllowRemovals, DryRun: isTrial, Pictures: read.Pictures,
		Source: catalogdb.Source{Revision: j.Commit, Author: j.publisher(), Clean: j.Commit != "", Note: j.Note},
		Guard:  func(published catalogdb.Head) error { return f.mayReplace(ctx, published, j.Commit, over) },
	})
	return done.Version, err
}

// mayReplace returns a StaleError unless the published version is the expected one, or without one (0) is contained in
// the commit.
func (f *Folder) mayReplace(ctx context.Context, published catalogdb.Head, commit string, over int64) error {
	isKnown := published.Revision != "" && !published.Earlier
	switch {
	case over != 0 || f.repo == nil:
		if published.Is(over) {
			return nil
		}
	case published.Version == 0:
		return nil
	case isKnown && (published.Clean || published.Revision != commit):
		if _, err := f.repo.git(ctx, "merge-base", "--is-ancestor", published.Revision, commit); err == nil {
			return nil
		}
	}
	return &StaleError{Version: published.Version, By: published.By, Unsent: f.repo != nil && isKnown}
}

// unheard is a publication.Sink for nobody.
type unheard struct{}

func (unheard) Progress(string, int, int)            {}
func (unheard) Report(...problem.Text) error         { return nil }
func (unheard) Findings([]publication.Finding) error { return nil }
