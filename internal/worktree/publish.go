package worktree

import (
	"cmp"
	"context"
	"errors"
	"slices"

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

// attempts is how often a publication begins again because a colleague was faster.
const attempts = 5

// Publish pulls, writes the files, commits and pushes them, and publishes the folder. With an error
// nothing was changed, unless its text says otherwise: a ConflictError, a RefusedError, a StaleError,
// or an Error; catalogdb.RemovalsError is in one if tools would disappear. A publication.RefusedError
// says that the site cannot take a version back.
func (f *Folder) Publish(ctx context.Context, p Publication) error {
	seen := map[string]bool{}
	for _, c := range p.Changes {
		if err := CheckPath(c.Path); err != nil {
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
		err = f.attempt(ctx, &p)
		if !errors.Is(err, errMoved) {
			return explain(err)
		}
	}
	return &Error{"Des collègues publient en ce moment\u00a0: réessayez dans une minute. Rien n’a été publié.", err}
}

func (f *Folder) attempt(ctx context.Context, p *Publication) error {
	j := &journal{Author: cmp.Or(p.PublisherName, p.AuthorName), AllowRemovals: p.AllowRemovals, Over: p.Over, Undoes: p.Undoes, Note: p.Note}
	err := f.prepare(ctx, p, j)
	if err == nil {
		_, err = f.store(ctx, j, true)
	}
	if err == nil {
		err = f.save(j)
	}
	if err != nil {
		return err
	}
	return f.finish(context.WithoutCancel(ctx), j) // from here on it goes forward
}

// prepare finds out what would be published, and whether it could be written.
func (f *Folder) prepare(ctx context.Context, p *Publication, j *journal) error {
	if f.repo == nil {
		j.Changes = p.Changes
		head, err := f.cfg.Store.Catalogue.Head(ctx)
		if err != nil {
			return err
		}
		j.Over = cmp.Or(j.Over, head.Version)
		return checkBases(p.Changes, f.Read)
	}
	commit, unsent, err := f.prepareCommit(ctx, p)
	if unsent != nil {
		f.cfg.Log.Warn("what is published is not sent to the upstream of the desk's folder now", "reason", unsent, "error", errors.Unwrap(unsent))
	}
	j.Commit, j.Stays = commit, unsent != nil
	return err
}

// prepareCommit makes the commit that would be published, on what colleagues pushed. unsent says why it
// cannot be sent now.
func (f *Folder) prepareCommit(ctx context.Context, p *Publication) (commit string, unsent, err error) {
	at, err := f.repo.position(ctx)
	if err != nil {
		return "", nil, err
	}
	if err := f.repo.fetch(ctx, &at); err != nil {
		unsent = &Error{away, err}
	}
	commit, apart, err := f.commit(ctx, &at, p)
	if err != nil {
		return "", nil, err
	}
	if apart != nil {
		unsent = apart
	}
	return commit, unsent, f.repo.mayWrite(ctx, f.temp, at.head, commit)
}

// findings is a publication.Sink that keeps the problems.
type findings struct{ problems []publication.Finding }

func (*findings) Progress(string, int, int)    {}
func (*findings) Report(...problem.Text) error { return nil }

func (s *findings) Findings(all []publication.Finding) error {
	for _, f := range all {
		if f.Severity == "error" {
			s.problems = append(s.problems, f)
		}
	}
	return nil
}

// store validates what the journal has and publishes it, or with isTrial only finds out whether
// that is possible.
func (f *Folder) store(ctx context.Context, j *journal, isTrial bool) (version int64, err error) {
	known, err := f.cfg.Store.Pictures.Known(ctx)
	if err != nil {
		return 0, err
	}
	var found findings
	over := j.Over
	if j.Undoes > 0 { // what was taken back before stays so
		undo := publication.Undo{Version: j.Undoes, Token: j.Author, DryRun: isTrial, Now: f.cfg.Now, Sink: &found}
		undone, err := undo.Run(ctx, f.cfg.Store.Catalogue)
		if err != nil {
			return 0, err
		}
		if undone == j.Over+1 && !isTrial { // what the folder has beyond it, such as what is scheduled, follows
			over = undone
		}
	}
	job := &publication.Job{
		Name: f.cfg.Dir, Now: f.cfg.Now, Known: known, Sink: &found, AllowRemovals: j.AllowRemovals, DryRun: isTrial,
		Source: catalogdb.Source{Revision: j.Commit, Author: j.Author, Clean: j.Commit != "", Note: j.Note},
	}
	origin, checkout := &publication.Revision{}, (*publication.Checkout)(nil)
	if j.Over != 0 || f.repo == nil {
		origin.Expect = &over
	}
	if f.repo != nil {
		checkout = publication.At(ctx, f.repo.top, j.Commit)
	}
	guard := origin.Guard(checkout)
	job.Guard = func(head catalogdb.Head) error {
		if guard(head) == nil {
			return nil
		}
		return &StaleError{Version: head.Version, By: head.By, Unsent: f.repo != nil && head.Revision != "" && !head.Earlier}
	}
	read, err := f.readJob(ctx, job, j)
	if _, ok := errors.AsType[*publication.RefusedError](err); ok {
		return 0, &RefusedError{found.problems}
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	return job.Publish(ctx, f.cfg.Store.Catalogue, read)
}

// readJob reads the folder as the journal has it. errMoved: somebody edited it meanwhile.
func (f *Folder) readJob(ctx context.Context, job *publication.Job, j *journal) (*content.Result, error) {
	if f.repo == nil {
		job.Files = f.With(j.Changes)
		return job.Read(ctx)
	}
	files, before, err := f.filesOf(ctx, j.Commit)
	if err != nil {
		return nil, err
	}
	job.Files = files
	read, err := job.Read(ctx)
	_, after, diffErr := f.filesOf(ctx, j.Commit)
	if diffErr == nil && !slices.Equal(before, after) {
		diffErr = errMoved
	}
	if diffErr != nil && read != nil {
		diffErr = errors.Join(diffErr, read.Close())
	}
	return read, errors.Join(diffErr, err)
}
