package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/publication"
)

// A Publication is what somebody publishes.
type Publication struct {
	Changes       []Change
	AuthorName    string
	AuthorEmail   string
	Message       string // of the commit; "" for one that names the files
	AllowRemovals bool   // tools may disappear
	Over          int64  // the published version that she has seen and replaces; 0 for the one that the folder contains
}

// A Result is what was published.
type Result struct {
	Version int64 // that is published now
	Unsent  bool  // the upstream could not be reached, or is to be joined first
}

// attempts is how often a publication begins again because a colleague was faster.
const attempts = 5

// Publish pulls, writes the files, commits and pushes them, and publishes the folder. With an error
// nothing was changed, unless its text says otherwise: a ConflictError, a RefusedError, a StaleError,
// or an Error; catalogdb.RemovalsError is in one if tools would disappear.
func (f *Folder) Publish(ctx context.Context, p Publication) (done Result, err error) {
	seen := map[string]bool{}
	for _, c := range p.Changes {
		if err := checkPath(c.Path); err != nil {
			return done, err
		}
		if seen[c.Path] {
			return done, &Error{text: "Deux textes sont proposés pour " + c.Path + "\u00a0: publiez-les l’un après l’autre."}
		}
		seen[c.Path] = true
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return done, err
	}
	defer unlock()
	for range attempts {
		done, err = f.attempt(ctx, &p)
		if !errors.Is(err, errMoved) {
			return done, explain(err)
		}
	}
	return done, &Error{"Des collègues publient en ce moment\u00a0: réessayez dans une minute. Rien n’a été publié.", err}
}

func (f *Folder) attempt(ctx context.Context, p *Publication) (Result, error) {
	j := &journal{Step: stepPublish, Author: p.AuthorName, AllowRemovals: p.AllowRemovals, Over: p.Over}
	prepare := f.prepareFiles
	if f.repo != nil {
		prepare = f.prepareCommit
	}
	err := prepare(ctx, p, j)
	if err == nil {
		_, err = f.store(ctx, j, true)
	}
	if err == nil {
		err = f.save(j)
	}
	if err != nil {
		return Result{}, err
	}
	return f.finish(context.WithoutCancel(ctx), j) // from here on it goes forward
}

// prepareFiles finds out whether the files can be published outside git.
func (f *Folder) prepareFiles(ctx context.Context, p *Publication, j *journal) error {
	head, err := f.cfg.Store.Catalogue.Head(ctx)
	if err != nil {
		return err
	}
	if j.Over == 0 {
		j.Over = head.Version
	}
	j.Changes = p.Changes
	return checkBases(p.Changes, f.Read)
}

// prepareCommit makes the commit that would be published.
func (f *Folder) prepareCommit(ctx context.Context, p *Publication, j *journal) error {
	r := f.repo
	at, err := r.position(ctx)
	if err != nil {
		return err
	}
	if err := r.fetch(ctx, &at); err != nil {
		f.cfg.Log.Warn("the upstream of the desk's folder cannot be reached; what is published is sent later", "error", err)
		j.Stays = true
	}
	base, err := f.base(ctx, &at, p.Changes)
	if err != nil {
		return err
	}
	j.Stays = j.Stays || base.apart != nil
	err = checkBases(p.Changes, func(path string) ([]byte, error) {
		held := base.tree
		if slices.Contains(base.settled, r.prefix+path) {
			held = at.upstream // her own she has written
		}
		return r.file(ctx, held, r.prefix+path)
	})
	if err != nil {
		return err
	}
	tree, err := r.change(ctx, f.temp, base.tree, p.Changes)
	if err != nil {
		return err
	}
	j.Commit = base.parents[0]
	before, err := r.git(ctx, "rev-parse", "--verify", j.Commit+"^{tree}")
	if err == nil && (tree != before || base.settled != nil) {
		j.Commit, err = r.commitTree(ctx, tree, base.parents, person{p.AuthorName, p.AuthorEmail}, f.cfg.Now(), message(p))
	}
	if err != nil {
		return err
	}
	return r.mayWrite(ctx, f.temp, at.head, j.Commit)
}

// A base is what a commit is made on.
type base struct {
	tree    string
	parents []string
	settled []string       // files from the top that both changed, and about which changes decide
	apart   *ConflictError // why the upstream cannot be joined yet; nil if it is
}

// base returns what a commit with changes is made on: HEAD, the upstream, or a merge of the two. Where
// both changed files, that needs changes of all of them; without any of them, the upstream waits.
func (f *Folder) base(ctx context.Context, at *position, changes []Change) (base, error) {
	alone := base{tree: at.head, parents: []string{at.head}}
	if at.upstream == "" {
		return alone, nil
	}
	joined, err := f.repo.join(ctx, at.head, at.upstream, f.cfg.Now())
	if err != nil || joined.commit != "" {
		return base{tree: joined.commit, parents: []string{joined.commit}}, err
	}
	settled := 0
	for _, c := range changes {
		if slices.Contains(joined.conflicts, f.repo.prefix+c.Path) {
			settled++
		}
	}
	if settled == len(joined.conflicts) {
		return base{tree: joined.tree, parents: []string{at.head, at.upstream}, settled: joined.conflicts}, nil
	}
	alone.apart = &ConflictError{Files: map[string][]byte{}}
	for _, full := range joined.conflicts {
		path := strings.TrimPrefix(full, f.repo.prefix)
		alone.apart.Paths = append(alone.apart.Paths, path)
		theirs, err := f.repo.file(ctx, at.upstream, full)
		if err == nil {
			alone.apart.Files[path] = theirs
		} else if !errors.Is(err, fs.ErrNotExist) {
			return alone, err
		}
	}
	if settled > 0 {
		return alone, alone.apart
	}
	f.cfg.Log.Warn("the desk's folder and its upstream changed the same files, and somebody must choose; until then "+
		"nothing is sent", "files", alone.apart.Paths)
	return alone, nil
}

// message returns the message of the commit.
func message(p *Publication) string {
	if p.Message != "" {
		return strings.TrimSpace(p.Message) + "\n"
	}
	var lines []string
	for _, c := range p.Changes {
		verb := "Modifie"
		switch {
		case c.Data == nil:
			verb = "Retire"
		case c.Base == "":
			verb = "Ajoute"
		}
		lines = append(lines, verb+" "+strings.TrimSuffix(c.Path, path.Ext(c.Path))+"\n")
	}
	if len(lines) == 1 {
		return lines[0]
	}
	return fmt.Sprintf("Publie %d changements\n\n%s", len(lines), strings.Join(lines, ""))
}

// findings is a publication.Sink that keeps the problems.
type findings struct{ problems []publication.Finding }

func (*findings) Progress(string, int, int) {}
func (*findings) Report(string) error       { return nil }

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
	job := &publication.Job{
		Name: f.cfg.Dir, Now: f.cfg.Now, Known: known, Sink: &found, AllowRemovals: j.AllowRemovals, DryRun: isTrial,
		Source: catalogdb.Source{Revision: j.Commit, Author: j.Author, Clean: j.Commit != ""},
	}
	origin, checkout := &publication.Revision{}, (*publication.Checkout)(nil)
	if j.Over != 0 || f.repo == nil {
		origin.Expect = &j.Over
	}
	if f.repo != nil {
		job.Source.Author, err = f.repo.git(ctx, "log", "-1", "--format=%an", j.Commit)
		if err != nil {
			return 0, err
		}
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
